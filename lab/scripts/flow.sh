#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# flow on an H200: the best variants and PyTorch beside them, with few flows and many; as `naive` the slow ones, as `rest` what allocates,
# flows that choose their way, cuBLAS in other precisions and PyTorch's other programs; as `sweep` how they grow; as `profile` the kernels of
# n5w one by one; as `several` two GPUs, with own copies and with NCCL, as `four` four; as `reports` what kwhy report says of n0, n0c, n1 and
# n5; as `energy` long windows, and recordings; as `components` the text bridge, and each component of the source document by itself:
# measured alone, and as ranges of recordings.
# Usage: flow.sh KWHY_FOLDER OUT_FOLDER ["short|naive|rest|sweep|profile|several|four|energy|components|reports|all ..."]
# (the folder of the portable build; about a minute each, sweep, profile and reports less, energy and components two and a half)
set -u
here=$(cd "$(dirname "$0")" && pwd)
kwhy=$(cd "$1" && pwd)
parts=${3:-short}
limit=60
mkdir -p "$2"
out=$(cd "$2" && pwd)
program=$kwhy/bin/kwhy
# shellcheck source=programs/libraries.sh
. "$(dirname "$(realpath "$0")")/programs/libraries.sh"
use_libraries 'libnvrtc.so.1*' 'libcublas.so.1*' 'libnccl.so.2'
# One user's NVLink multicast can take the GPUs of a whole host out of service.
export NCCL_NVLS_ENABLE=0
use_package "$kwhy"

step() {
	local name=$1
	shift
	local start=$SECONDS
	timeout "$limit" "$@" > "$out/$name.out" 2> "$out/$name.err"
	echo "$name: exit $?, $((SECONDS - start)) s" | tee -a "$out/log.txt"
}

# wants PART...
wants() {
	local part
	for part in "$@"; do
		[[ " $parts " == *" $part "* ]] && return
	done
	false
}

nvidia-smi --query-gpu=name,driver_version,temperature.gpu,clocks.sm,power.draw,power.limit --format=csv > "$out/gpu.csv" 2>&1
if wants short all; then
	# Few and many flows, kwhy's best and PyTorch right after each other; then the naive ones and how it grows.
	step long "$program" bench flow --variant n3,n4,n5,n5w --steps 1000 --repeat 10 --seconds 2 -o "$out/long.json"
	step torch "$python" "$here/flow_torch.py" --peers graph,bf16 --seconds 0 -o "$out/torch.json"
	step many "$program" bench flow --variant n4,n5,n5w --flows 100000 --steps 100 --repeat 5 --seconds 1 -o "$out/many.json"
	step torch_many "$python" "$here/flow_torch.py" --peers graph,bf16 --flows 100000 --steps 100 --repeat 3 --seconds 0 -o "$out/torch_many.json"
fi
if wants sweep short all; then
	step sweep "$program" bench flow --variant n4,n5,n5w --flows 1,10,100,1000,10000,100000 --steps 100 --repeat 3 --seconds 0 -o "$out/sweep.json"
fi
if wants profile all; then
	step profile "$program" record -q --one-file --graphs node -o "$out/profile.kwhy" -- \
		"$program" bench flow --variant n5w --flows 100000 --steps 100 --repeat 100 --seconds 0 --runs-only -o "$out/profile.json"
	step profile_accounts "$program" report -q "$out/profile.kwhy" --csv accounts -o "$out/profile.accounts.csv"
	step profile_report "$program" report -q "$out/profile.kwhy" --json -o "$out/profile.report.json"
fi
if wants naive all; then
	step flow "$program" bench flow --variant n0,n1,n2 --steps 20 --repeat 3 --seconds 2 -o "$out/flow.json" --csv "$out/steps.csv"
fi
if wants rest all; then
	step churn "$program" bench flow --variant n0,n0c,n0p --flows 100 --steps 20 --repeat 5 --seconds 0 -o "$out/churn.json"
	step argmax "$program" bench flow --variant n2,n3,n4,n5,n5w --path argmax --repeat 2 --seconds 0 -o "$out/argmax.json"
	step fp32 "$program" bench flow --variant n2,n3,n5 --precision fp32 --steps 200 --repeat 5 --seconds 0 -o "$out/fp32.json"
	step bf16 "$program" bench flow --variant n2,n3,n5 --precision bf16 --steps 200 --repeat 5 --seconds 0 -o "$out/bf16.json"
	step fp32_many "$program" bench flow --variant n5 --precision fp32 --flows 100000 --steps 100 --repeat 3 --seconds 0 -o "$out/fp32_many.json"
	step bf16_many "$program" bench flow --variant n5 --precision bf16 --flows 100000 --steps 100 --repeat 3 --seconds 0 -o "$out/bf16_many.json"
	step torch_rest "$python" "$here/flow_torch.py" --peers naive,compile --seconds 0 -o "$out/torch_rest.json"
fi
if wants components all; then
	limit=120
	step components "$program" bench flow --variant n0,n0c,n0t,n1,n2,n2t,n3 --flows 100,1000 --steps 20 --repeat 5 --seconds 1 --components \
		-o "$out/components.json"
	for variant in n0t n2t; do
		step "record_$variant" "$program" record -q --one-file -o "$out/$variant.kwhy" -- \
			"$program" bench flow --variant "$variant" --steps 20 --repeat 3 --seconds 0 --runs-only -o "$out/$variant.json"
		step "report_$variant" "$program" report -q "$out/$variant.kwhy" --json -o "$out/$variant.report.json"
	done
	limit=60
fi
# several NAME GPUS
several() {
	step "$1" "$program" bench flow --device "$2" --variant n2,n6 --flows 1000,10000,100000 --steps 60 --repeat 3 --seconds 0 -o "$out/$1.json"
	step "$1_nccl" "$program" bench flow --device "$2" --variant n6 --collectives nccl --flows 1000,10000,100000 --steps 60 --repeat 3 --seconds 0 \
		-o "$out/$1_nccl.json"
}
if wants several; then
	several several 0,1
fi
if wants four; then
	several four 0,1,2,3
fi
if wants reports all; then
	# Few steps of the slow ones; their recordings come back for the findings.
	for variant in n0:4 n0c:4 n1:20 n5:60; do
		step "record_${variant%:*}" "$program" record -q --one-file -o "$out/${variant%:*}.kwhy" -- "$program" bench flow \
			--variant "${variant%:*}" --steps "${variant#*:}" --repeat 3 --seconds 0 --runs-only -o "$out/${variant%:*}.json"
		step "report_${variant%:*}" "$program" report -q "$out/${variant%:*}.kwhy" -o "$out/${variant%:*}.txt"
	done
fi
if wants energy all; then
	limit=150
	step energy "$program" bench flow --variant n0,n1,n2,n3,n4,n5,n5w --repeat 3 --seconds 10 -o "$out/energy.json"
	step record_n0 "$program" record -o "$out/n0.kwhy" -- "$program" bench flow --variant n0 --steps 10 --repeat 3 --seconds 0 --runs-only --json
	step record_n3 "$program" record -o "$out/n3.kwhy" -- "$program" bench flow --variant n3 --repeat 30 --seconds 0 --runs-only --json
	step report_n0 "$program" report "$out/n0.kwhy" --json
	step report_n3 "$program" report "$out/n3.kwhy" --json
fi
nvidia-smi --query-gpu=temperature.gpu,clocks.sm,power.draw --format=csv >> "$out/gpu.csv" 2>&1
cat "$out/log.txt"
