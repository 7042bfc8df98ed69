#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Runs kwhy bench pairs between processes (--ranks) on two or more H200 of one host, without NVLink multicast. Parts,
# the most important first: `ranks`: all engines between two processes; `one`: the same in one process; `queued`: NCCL
# timed as nccl-tests does; `visible`: processes that each see only one GPU; `killed`: a rank that is killed;
# `torchrun`: processes that torchrun starts. SKIP=one,queued,visible,killed,torchrun leaves parts out.
# Usage: ranks.sh KWHY_FOLDER OUT_FOLDER [cuda|host]     (about 100 s of GPU on two GPUs)
# Questions: are copies between processes as fast as within one (within 2 %)? Does NCCL reach other figures in one
# process than with one process per GPU? Is all data right?
set -u
kwhy=$(cd "$1" && pwd)/bin/kwhy || exit 2
[ -x "$kwhy" ] || { echo "ranks.sh: no bin/kwhy in $1" >&2; exit 2; }
mkdir -p "$2"
out=$(cd "$2" && pwd)
backend=${3:-cuda}
# shellcheck source=programs/libraries.sh
. "$(dirname "$(realpath "$0")")/programs/libraries.sh"
use_libraries 'libnvrtc.so.1*' 'libnccl.so.2'
export NCCL_NVLS_ENABLE=0
torchrun=/opt/torch/.venv/bin/torchrun
[ -x "$torchrun" ] || torchrun=$(command -v torchrun)
pairs=("$kwhy" bench pairs --backend "$backend" --quiet)
together=all-reduce,all-gather,reduce-scatter,broadcast,all-to-all
limits=()
[ "$backend" != host ] || limits=(--max-size 1MiB)

step() {
	local name=$1 limit=$2
	shift 2
	local start=$SECONDS
	timeout "$limit" "$@" > "$out/$name.out" 2> "$out/$name.err"
	echo "$name: exit $?, $((SECONDS - start)) s" | tee -a "$out/log.txt"
}

wants() {
	case ",${SKIP:-}," in *",$1,"*) return 1 ;; esac
}

# Between two processes, all engines except sockets. For half a second at the start and at the end, the clocks of the
# two processes are compared.
step ranks 60 "${pairs[@]}" --ranks 2 --engine "write,read,kernel,put,exchange,nccl,nccl-exchange,$together" --timing back-to-back --time 30 --clock-time 0.5 \
	--save "$out/traces" -o "$out/ranks.txt" "${limits[@]}"
folder=$(find "$out/traces" -mindepth 1 -maxdepth 1 -type d | head -1)
cp "$folder/pairs.json" "$out/ranks.json"
# The same engines in one process.
wants one && step one 45 "${pairs[@]}" --ranks 1 --engine "write,read,kernel,put,exchange,nccl,nccl-exchange,$together" --timing back-to-back --no-loads --time 25 -o "$out/one.json" "${limits[@]}"
# NCCL, timed as nccl-tests times it.
wants queued && step queued 30 "${pairs[@]}" --ranks 2 --engine nccl-exchange,all-reduce --timing queued --time 10 -o "$out/queued.json" "${limits[@]}"
# Processes as a launcher starts them, each of which sees only its own GPU.
visible() {
	local rank
	for rank in 1 0; do
		env RANK=$rank WORLD_SIZE=2 LOCAL_RANK=$rank MASTER_ADDR=127.0.0.1 MASTER_PORT=29611 CUDA_VISIBLE_DEVICES=$rank \
			"${pairs[@]}" --engine write,nccl,all-reduce --timing back-to-back --time 3 -o "$out/visible.json" "${limits[@]}" &
	done
	wait $!
	local code=$?
	wait
	return $code
}
start=$SECONDS
if wants visible; then
	visible > "$out/visible.out" 2> "$out/visible.err"
	echo "visible: exit $?, $((SECONDS - start)) s" | tee -a "$out/log.txt"
fi
# Kills rank 1 during the run. The other rank must print one sentence and exit with status 1, and the run can
# be resumed.
killed() {
	"${pairs[@]}" --ranks 2 --engine nccl,nccl-exchange,all-reduce --timing back-to-back --time 40 --save "$out/killed" "${limits[@]}" &
	local leader=$! child
	for _ in $(seq 100); do
		sleep 0.1
		[ "$(cat "$out"/killed/*/samples.csv 2> /dev/null | wc -l)" -lt 300 ] || break
	done
	child=$(cat "/proc/$leader/task/$leader/children" 2> /dev/null)
	[ -n "$child" ] || child=$(pgrep -P "$leader")
	echo "killing $child"
	# shellcheck disable=SC2086 # one number
	kill -9 $child
	wait "$leader"
}
if wants killed; then
	start=$SECONDS
	killed > "$out/killed.out" 2> "$out/killed.err"
	echo "killed: exit $? (1 is right), $((SECONDS - start)) s; $(grep -h 'Ended early' "$out/killed.out")" | tee -a "$out/log.txt"
	folder=$(find "$out/killed" -mindepth 1 -maxdepth 1 -type d | head -1)
	echo "lines when killed: $(wc -l < "$folder/samples.csv")" | tee -a "$out/log.txt"
	step carried_on 25 "${pairs[@]}" --ranks 2 --engine nccl,nccl-exchange,all-reduce --timing back-to-back --time 3 --resume "$folder" -o "$out/carried_on.json" "${limits[@]}"
fi
# Started by torchrun, with all GPUs visible; importing torch takes some of the seconds.
[ -z "$torchrun" ] || ! wants torchrun || step torchrun 40 "$torchrun" --standalone --nproc-per-node 2 --no-python "${pairs[@]}" --engine write,nccl --timing back-to-back \
	--time 3 -o "$out/torchrun.json" "${limits[@]}"

python3 - "$out" <<'P' | tee -a "$out/log.txt"
import json, sys
out = sys.argv[1]
def load(name):
    path = f"{out}/{name}"
    try:
        return json.load(open(path))
    except (OSError, ValueError):
        print(f"{name}: not available")
        return {"configs": [], "conditions": {}, "absent": []}
runs = {name: load(path) for name, path in (("ranks", "ranks.json"), ("one", "one.json"), ("torchrun", "torchrun.json"), ("visible", "visible.json"))}
def key(c):
    return c["engine"], c["src"], c["dst"], c["size"]
medians = {name: {key(c): c for c in run["configs"] if c["clock"] == "back-to-back" and c["load"] == "alone"} for name, run in runs.items()}
for name, run in runs.items():
    wrong = sum(not c["verified"] for c in run["configs"])
    print(f"{name}: {len(run['configs'])} configurations, {wrong} not verified; absent: {[(a['engine'], a['reason']) for a in run['absent']]}")
print("engine          size        one process   two processes   ratio  (two processes' rate, bus rate)")
for k, c in sorted(medians["ranks"].items()):
    if k in medians["one"] and k[3] in (8, 4096, 65536, 1 << 20, 1 << 24, 1 << 28, 1 << 30) and (k[1] == 0 or c.get("bus_bytes_per_s")):
        one = medians["one"][k]["median_s"]
        print("%-15s %-11d %10.2f us %12.2f us %8.3f  %.1f GB/s %s" % (k[0], k[3], one * 1e6, c["median_s"] * 1e6, c["median_s"] / one,
              c["bytes_per_s"] / 1e9, "%.1f GB/s" % (c["bus_bytes_per_s"] / 1e9) if c.get("bus_bytes_per_s") else ""))
for name in ("torchrun", "visible"):
    apart = sorted(abs(c["median_s"] / medians["ranks"][k]["median_s"] - 1) for k, c in medians[name].items() if k in medians["ranks"])
    if apart:
        print("%s against --ranks: median %.2f %% apart, worst %.1f %%" % (name, 100 * apart[len(apart) // 2], 100 * apart[-1]))
for i, rank in enumerate(runs["ranks"]["conditions"].get("ranks", [])):
    print("rank %d: clock %s +- %s ns, drift %s +- %s ppm" % (i, rank["clock_offset_ns"], rank["clock_offset_half_width_ns"],
          rank["host_clock_drift_ppm"], rank["host_clock_drift_half_width_ppm"]))
P
rm -f "$out"/*/*/rank_*_trace.json "$out"/*/*/rank_*.pt.trace.json # large; samples.csv holds all that is in them
gzip -f "$out"/*/*/samples.csv "$out"/*/*/execution_log.csv 2> /dev/null
cat "$out/ranks.txt" "$out/log.txt"
