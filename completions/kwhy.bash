# SPDX-License-Identifier: Apache-2.0
# Written by scripts/completions from the option tables; do not edit.
_kwhy()
{
	local word=${COMP_WORDS[COMP_CWORD]} options= first=1 command
	# "kwhy help model cost" completes like "kwhy model cost".
	[[ ${COMP_WORDS[1]} != help ]] || [ "$COMP_CWORD" -eq 1 ] || first=2
	if [ "$COMP_CWORD" -eq "$first" ] && [[ $word != -* ]]; then
		COMPREPLY=($(compgen -W "record probe report digest compare whatif replay doctor export stat calibrate verify watch serve job model tune bench llm mcp study help version" -- "$word"))
		return
	fi
	command=${COMP_WORDS[first]}
	case $command in
	model) options="cost carbon tokens power cap scale roofline audit" ;;
	tune) options="cap clock" ;;
	bench) options="transfer pairs ops" ;;
	esac
	if [ -n "$options" ]; then
		if [ "$COMP_CWORD" -eq "$((first + 1))" ]; then
			COMPREPLY=($(compgen -W "$options" -- "$word"))
			return
		fi
		command+=" ${COMP_WORDS[first + 1]}"
	fi
	[ "$first" -eq 1 ] || command=help
	options=
	case $command in
	"record") options="--output -o --one-file --digest --digest-every --delay --duration --range --duty --window --graphs --memory --no-calls --no-lines --power-only --progress --gauges --max-size --work --count --device --meter --power-file --counters --counter-share --quiet -q --help -h" ;;
	"probe") options="--output -o --one-file --within --budget --memory --verify --skip --seed --share --burst --append --progress --gauges --max-size --work --count --device --meter --power-file --counters --counter-share --quiet -q --help -h" ;;
	"report") options="--power --section --plan --output -o --json --brief --csv --no-color --power-device --power-zone --machine-profile --powers --partial --assume-power --price --intensity --place --collective-names --steps --work --threshold --min-gain --seed --quiet -q --verbose -v --help -h" ;;
	"digest") options="--output -o --task --replace --running --run --power --power-device --power-zone --machine-profile --powers --partial --assume-power --price --intensity --place --collective-names --steps --work --threshold --min-gain --seed --quiet -q --verbose -v --help -h" ;;
	"compare") options="--power-a --power-b --trace-a --trace-b --fail-if --projected --summary --output -o --json --no-color --power-device --power-zone --machine-profile --powers --partial --assume-power --price --intensity --place --collective-names --steps --work --threshold --min-gain --seed --quiet -q --verbose -v --help -h" ;;
	"whatif") options="--plan --numerics --keep-on-device --pack-h2d --pack-d2h --thin-collectives --bigger-batch --batch --fuse --pool --drop-waits --event-waits --join-waits --pinned --overlap-copies --overlap-collectives --prefetch --graph --tensor-cores --host-speed --power --output -o --json --no-color --power-device --power-zone --machine-profile --powers --partial --assume-power --price --intensity --place --collective-names --steps --work --threshold --min-gain --seed --quiet -q --verbose -v --help -h" ;;
	"replay") options="--backend --device --repeat --seconds --keep-on-device --pack-h2d --pack-d2h --thin-collectives --bigger-batch --batch --fuse --pool --drop-waits --event-waits --join-waits --pinned --overlap-copies --overlap-collectives --prefetch --graph --tensor-cores --host-speed --power --output -o --json --no-color --power-device --power-zone --machine-profile --powers --partial --assume-power --price --intensity --place --collective-names --steps --work --threshold --min-gain --seed --quiet -q --verbose -v --help -h" ;;
	"doctor") options="--device --output -o --json --no-color --verbose -v --help -h" ;;
	"export") options="--to --output -o --power --power-device --power-zone --machine-profile --powers --partial --assume-power --price --intensity --place --collective-names --steps --work --threshold --min-gain --seed --quiet -q --verbose -v --help -h" ;;
	"stat") options="--repeat -r --warmup --work --metric --interval -I --idle-baseline --device --meter --power-file --save-power --powers --json --csv --output -o --verbose -v --help -h" ;;
	"calibrate") options="--device --output -o --json --save --from --seconds --quick --seed --quiet -q --help -h" ;;
	"verify") options="--json --help -h" ;;
	"watch") options="--once --device --meter --power-file --interval --ascii --no-color --help -h" ;;
	"serve") options="--listen --token --tls-cert --tls-key --allow-open --accounts --job-mapping --owners-max --otlp --root --unconfined --verbose -v --device --meter --power-file --interval --help -h" ;;
	"job") options="--accounts --since --by --user --namespace --wait --price --place --intensity --pue --output -o --json --csv --help -h" ;;
	"model cost") options="--price --hourly-price --joules --seconds --work --runs-per-day --pue --output -o --json --help -h" ;;
	"model carbon") options="--place --intensity --list --car --joules --seconds --work --runs-per-day --pue --output -o --json --help -h" ;;
	"model tokens") options="--tokens --phase --joules --seconds --output -o --json --help -h" ;;
	"model power") options="--fit --power --machine-profile --device --window --power-device --power-zone --partial --output -o --json --help -h" ;;
	"model cap") options="--slower --output -o --json --help -h" ;;
	"model scale") options="--at --output -o --json --help -h" ;;
	"model roofline") options="--ops --arithmetic --memory --flop-per-s --byte-per-s --joules-per-flop --joules-per-byte --constant --output -o --json --help -h" ;;
	"model audit") options="--output -o --json --help -h" ;;
	"tune cap") options="--allow-set --device --from --to --values --repeat -r --warmup --work --slower --seed --output -o --json --help -h" ;;
	"tune clock") options="--allow-set --device --from --to --values --repeat -r --warmup --work --slower --seed --output -o --json --help -h" ;;
	"bench transfer") options="--backend --device --strategy --direction --min-size --max-size --random-sizes --quick --time --seed --data --energy --burst --compat --save --resume --from --output -o --json --header --update-profile --verbose -v --no-color --quiet -q --help -h" ;;
	"bench pairs") options="--backend --device --ranks --engine --timing --min-size --max-size --random-sizes --no-loads --communicators --time --warm --keep-warm --lock-clocks --allow-set --clock-time --energy --burst --pinning --seed --save --resume --from --simulators --against --compat --output -o --json --verbose -v --no-color --quiet -q --help -h" ;;
	"bench ops") options="--backend --device --only --seconds --memory --no-energy --seed --update-profile --output -o --json --csv --quiet -q --help -h" ;;
	"llm") options="--url --model --concurrency -c --rate -r --arrivals --burstiness --slo --search --seconds --ramp --stall --idle --endpoint --prompt-words --tokenizer --prompt-tokens --shared-words --turns --prompts --trace --trace-speed --max-tokens --ignore-eos --no-stream --seed --meters --meters-token --meters-ca --device --power-file --design --details --compat --requests --windows --recording --result --no-energy --output -o --json --quiet -q --help -h" ;;
	"mcp") options="--help -h" ;;
	"study") options="--output -o --backend --url --work --quick --dry-run --quiet -q --help -h" ;;
	"help") options="--all -a --help -h" ;;
	"version") options="--verbose -v --help -h" ;;
	esac
	COMPREPLY=()
	# If there is nothing to offer, bash completes file names (-o default).
	if [[ $word == -* ]]; then
		COMPREPLY=($(compgen -W "$options" -- "$word"))
	fi
}
complete -o default -F _kwhy kwhy
