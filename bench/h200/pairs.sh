#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# kwhy bench pairs on two (or four) H200 of one host, NVLink multicast off: copies twice against each other, everything with random sizes and joules, its
# page, other tools' numbers by their definitions (and the tools themselves where they are installed), a kill in the middle, a folder of torch.profiler.
# Usage: pairs.sh KWHY_FOLDER OUT_FOLDER [cuda|hip|host]     (about 2 minutes of GPU on two of them)
# Targets (issue 7): copies between all pairs at all sizes under 60 s for four GPUs; variation of repetitions under 5 %, median under 1 %;
# 95 % of the points within 2 % when repeated; about 396 GB/s one way and 784 both; held-out error under 3 % (median) and 10 % (worst).
set -u
here=$(cd "$(dirname "$0")" && pwd)
kwhy=$(cd "$1" && pwd)/bin/kwhy || exit 2
[ -x "$kwhy" ] || { echo "pairs.sh: no bin/kwhy in $1" >&2; exit 2; }
mkdir -p "$2"
out=$(cd "$2" && pwd)
backend=${3:-cuda}
nvrtc=$(find / -xdev -name 'libnvrtc.so.1*' 2> /dev/null | head -1)
nccl=$(find / -xdev -name 'libnccl.so.2' 2> /dev/null | head -1)
LD_LIBRARY_PATH=${LD_LIBRARY_PATH:-}:/usr/local/cuda/lib64:$(dirname "${nvrtc:-/x}"):$(dirname "${nccl:-/x}")
export LD_LIBRARY_PATH NCCL_NVLS_ENABLE=0
python=/opt/torch/.venv/bin/python3
[ -x "$python" ] || python=python3
pairs=("$kwhy" bench pairs --backend "$backend" --quiet)
limits=()
[ "$backend" != host ] || limits=(--max-size 1MiB)

step() {
	local name=$1 limit=$2
	shift 2
	local start=$SECONDS
	timeout "$limit" "$@" > "$out/$name.out" 2> "$out/$name.err"
	echo "$name: exit $?, $((SECONDS - start)) s" | tee -a "$out/log.txt"
}

if command -v nvidia-smi > /dev/null; then
	nvidia-smi topo -m > "$out/topology.txt" 2>&1
	nvidia-smi nvlink -s > "$out/nvlink.txt" 2>&1
fi
# Copies alone, twice.
for run in 1 2; do
	step "copies_$run" 40 "${pairs[@]}" --engine write --clock back-to-back --no-loads --time 10 --seed "$run" \
		-o "$out/copies_$run.json" "${limits[@]}"
done
# Everything, kept; then worked out again from what was kept, which takes no GPU.
step all 140 "${pairs[@]}" --random-sizes 8 --time 32 --warm 3 --energy --burst 0.4 --pinning --save "$out/traces" -o "$out/all.txt" "${limits[@]}"
folder=$(find "$out/traces" -mindepth 1 -maxdepth 1 -type d | head -1)
step again 60 "$kwhy" report "$folder" --verbose -o "$out/all_verbose.txt"
step page 60 "$kwhy" report "$folder" -o "$out/pairs.html"
for peer in nvbandwidth nccl-tests p2p; do
	step "compat_$peer" 60 "$kwhy" bench pairs --from "$folder" --compat "$peer"
done
step simulators 60 "$kwhy" bench pairs --from "$folder" --simulators "$out/simulators" -o "$out/simulators.txt"
# Killed in the middle, then carried on with.
"${pairs[@]}" --engine write,read --clock back-to-back --no-loads --time 30 --save "$out/killed" "${limits[@]}" > /dev/null 2>&1 &
sleep 5
kill -9 $! 2> /dev/null
wait $! 2> /dev/null
killed=$(find "$out/killed" -mindepth 1 -maxdepth 1 -type d | head -1)
echo "lines when killed: $(wc -l < "$killed/samples.csv")" | tee -a "$out/log.txt"
step carried_on 40 "${pairs[@]}" --engine write,read --clock back-to-back --no-loads --time 8 --resume "$killed" -o "$out/killed.json" "${limits[@]}"
# What another program's profiler keeps of sends between two processes, read by the same report.
if [ "$backend" = cuda ]; then
	step profiled 40 "$python" "$here/programs/profiled_pairs.py" "$out/profiled"
	step profiled_report 30 "$kwhy" report "$out/profiled"
fi
# The peers themselves, last: they may not be there.
command -v nvbandwidth > /dev/null && step nvbandwidth 30 nvbandwidth -b 512 -t device_to_device_memcpy_read_ce \
	device_to_device_memcpy_write_ce device_to_device_bidirectional_memcpy_write_ce
command -v sendrecv_perf > /dev/null && step nccl_tests 30 sendrecv_perf -b 8 -e 1G -f 2 -g 2

python3 - "$out" <<'P' | tee -a "$out/log.txt"
import json, statistics, sys
out = sys.argv[1]
runs = [json.load(open(f"{out}/copies_{i}.json")) for i in (1, 2)]
medians = [{(c["src"], c["dst"], c["size"]): c["median_s"] for c in r["configs"] if c["load"] == "alone"} for r in runs]
apart = sorted(abs(medians[1][k] / medians[0][k] - 1) for k in medians[0] if k in medians[1])
print("copies: %.1f s, %d configurations" % (runs[0]["conditions"]["time_pass_s"], len(medians[0])))
if apart:
    print("repeated: %.1f %% within 2 %%, median %.2f %%, worst %.1f %%" % (
        100 * sum(a <= 0.02 for a in apart) / len(apart), 100 * apart[len(apart) // 2], 100 * apart[-1]))
varies = [c["deviation_s"] / c["mean_s"] for c in runs[0]["configs"] if c["deviation_s"] is not None]
print("variation: median %.2f %%, worst %.1f %%" % (100 * statistics.median(varies), 100 * max(varies)))
held = [(c["held_out_median_ratio"], c["held_out_worst_ratio"]) for c in runs[0]["curves"] if c["held_out_median_ratio"] is not None]
for median, worst in held:
    print("held out: median %.2f %%, worst %.1f %%" % (100 * median, 100 * worst))
for route in runs[0]["routes"]:
    reached = route["one_way"]["of_limit"]
    print("%d > %d: %s, limit %s, reached %s" % (route["src"], route["dst"], route["text"], route["limit_bytes_per_s"], reached))
P
rm -f "$out"/*/*/rank_*_trace.json "$out"/*/*/rank_*.pt.trace.json # large; samples.csv holds all that is in them
gzip -f "$out"/traces/*/samples.csv "$out"/traces/*/execution_log.csv "$out"/profiled/*.json 2> /dev/null
cat "$out/all.txt" "$out/log.txt"
