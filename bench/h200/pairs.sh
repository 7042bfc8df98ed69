#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Runs kwhy bench pairs on two or four H200 of one host, without NVLink multicast. Parts, the most important first:
# copies and NCCL, twice; `ways`: all engines in both directions; `all`: all engines with random sizes, contention and
# joules, the page, and inputs for simulators; `killed`: a run that is killed and resumed; `profiled`: a folder of
# torch.profiler's traces. SKIP=ways,all,killed,profiled leaves these out. COMMUNICATORS=12: the first part uses
# twelve NCCL communicators.
# Usage: pairs.sh KWHY_FOLDER OUT_FOLDER [cuda|host]     (about 2.5 minutes on two GPUs)
# Targets (issue 7): copies and NCCL between all pairs at all sizes in less than 60 s for four GPUs; coefficient of
# variation of repetitions below 5 %, its median below 1 %; 95 % of the points within 2 % in the second run; about 396
# GB/s in one direction and 784 in both; error of the model at sizes that it was not fitted to below 3 % (median) and
# 10 % (largest); ASTRA-sim's input within 5 % from 64 KiB on.
set -u
kwhy=$(cd "$1" && pwd)/bin/kwhy || exit 2
here=$(cd "$(dirname "$0")" && pwd)
[ -x "$kwhy" ] || { echo "pairs.sh: no bin/kwhy in $1" >&2; exit 2; }
mkdir -p "$2"
out=$(cd "$2" && pwd)
backend=${3:-cuda}
# shellcheck source=programs/libraries.sh
. "$(dirname "$(realpath "$0")")/programs/libraries.sh"
use_libraries 'libnvrtc.so.1*' 'libnccl.so.2'
export NCCL_NVLS_ENABLE=0
python=/opt/torch/.venv/bin/python3
[ -x "$python" ] || python=python3
pairs=("$kwhy" bench pairs --backend "$backend" --quiet)
sent=nccl
both="nccl-exchange"
limits=()
[ "$backend" != host ] || { limits=(--max-size 1MiB); sent="read"; both="exchange"; }

step() {
	local name=$1 limit=$2
	shift 2
	local start
	start=$(date +%s.%N)
	timeout "$limit" "$@" > "$out/$name.out" 2> "$out/$name.err"
	echo "$name: exit $?, $(date +%s.%N | awk -v start="$start" '{ printf "%.1f", $1 - start }') s" | tee -a "$out/log.txt"
}

wants() {
	case ",${SKIP:-}," in *",$1,"*) return 1 ;; esac
}

if command -v nvidia-smi > /dev/null; then
	nvidia-smi topo -m > "$out/topology.txt" 2>&1
	nvidia-smi nvlink -s > "$out/nvlink.txt" 2>&1
fi
echo "NCCL of $(library 'libnccl.so.2')" | tee -a "$out/log.txt"
# Copies and NCCL, without contention, twice with different seeds.
for run in 1 2; do
	step "times_$run" 60 "${pairs[@]}" --engine "write,$sent" --timing back-to-back --no-loads --communicators "${COMMUNICATORS:-1}" --time 45 --seed "$run" \
		-o "$out/times_$run.json" "${limits[@]}"
done
# Each engine alone; then both directions of a pair at the same time, compared with each direction
# alone.
wants ways && step ways 45 "${pairs[@]}" --engine "write,read,kernel,put,exchange,$sent,$both" --timing back-to-back --no-loads --random-sizes 8 --time 30 -o "$out/ways.json" "${limits[@]}"
# All engines, with the samples kept; then new estimates from these samples, which need no GPU.
if wants all; then
	step all 170 "${pairs[@]}" --random-sizes 8 --time 45 --warm 2 --energy --burst 0.4 --pinning --save "$out/traces" -o "$out/all.txt" "${limits[@]}"
	folder=$(find "$out/traces" -mindepth 1 -maxdepth 1 -type d | head -1)
	step again 60 "$kwhy" report "$folder" --verbose -o "$out/all_verbose.txt"
	step page 60 "$kwhy" report "$folder" -o "$out/pairs.html"
	for name in nvbandwidth nccl-tests p2p; do
		step "compat_$name" 60 "$kwhy" bench pairs --from "$folder" --compat "$name"
	done
	step simulators 60 "$kwhy" bench pairs --from "$folder" --simulators "$out/simulators" -o "$out/simulators.txt"
fi
# A run that is killed and then resumed.
if wants killed; then
	"${pairs[@]}" --engine write,read --timing back-to-back --no-loads --time 30 --seed 3 --save "$out/killed" "${limits[@]}" > /dev/null 2>&1 &
	for _ in $(seq 100); do
		sleep 0.1
		[ "$(cat "$out"/killed/*/samples.csv 2> /dev/null | wc -l)" -lt 300 ] || break
	done
	kill -9 $! 2> /dev/null
	wait $! 2> /dev/null
	killed=$(find "$out/killed" -mindepth 1 -maxdepth 1 -type d | head -1)
	cp "$killed/samples.csv" "$out/killed_samples.csv"
	echo "lines when killed: $(wc -l < "$killed/samples.csv")" | tee -a "$out/log.txt"
	step carried_on 40 "${pairs[@]}" --engine write,read --timing back-to-back --no-loads --time 15 --seed 3 --resume "$killed" -o "$out/killed.json" "${limits[@]}"
	# Number of complete lines of samples from before the kill that the resumed run has lost; it
	# must be 0.
	echo "lines lost: $(head -n -1 "$out/killed_samples.csv" | grep -cvxFf "$killed/samples.csv")" | tee -a "$out/log.txt"
	rm "$out/killed_samples.csv"
fi
# Traces of torch.profiler from sends between two processes, read by kwhy report.
if wants profiled && [ "$backend" = cuda ]; then
	step profiled 60 "$python" "$here/programs/profiled_pairs.py" "$out/profiled"
	step profiled_report 30 "$kwhy" report "$out/profiled"
fi

python3 "$here/programs/pairs_summary.py" "$out" | tee -a "$out/log.txt"
rm -f "$out"/*/*/rank_*_trace.json "$out"/*/*/rank_*.pt.trace.json # large; samples.csv holds all that is in them
gzip -f "$out"/*/*/samples.csv "$out"/*/*/execution_log.csv "$out"/profiled/*.json 2> /dev/null
cat "$out/all.txt" "$out/log.txt" 2> /dev/null || true # without all.txt where it was left out
