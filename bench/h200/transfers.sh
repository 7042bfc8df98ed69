#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Runs kwhy bench transfer on an H200: the whole sweep of methods and sizes; nvbandwidth's method before and after it;
# compression of text and of weights; a run that is killed and resumed; and two equal runs, which show how well medians
# repeat. transfer_energy.sh measures joules.
# Usage: transfers.sh KWHY_FOLDER OUT_FOLDER [cuda|hip|host]     (about 5 minutes on an H200; DEVICE=N: measures GPU N)
# Targets (issue 6), pinned memory, to/from the device: at least 55.56/55.44 GB/s at 512 MiB and 48.6/49.1 GB/s at 1
# MiB; the part of the sweep that measures times in less than 180 s; 95 % of the points within 2 % in a second run;
# every point's data verified.
set -u
kwhy=$(cd "$1" && pwd)/bin/kwhy || exit 2
[ -x "$kwhy" ] || { echo "transfers.sh: no bin/kwhy in $1" >&2; exit 2; }
mkdir -p "$2"
out=$(cd "$2" && pwd)
backend=${3:-cuda}
made=$(mktemp -d)
trap 'rm -rf "$made"' EXIT
transfer=("$kwhy" bench transfer --backend "$backend" --quiet ${DEVICE:+--device "$DEVICE"})
limits=()
[ "$backend" != host ] || limits=(--max-size 1MiB)

step() {
	local name=$1 limit=$2
	shift 2
	local start=$SECONDS
	timeout "$limit" "$@" > "$out/$name.out" 2> "$out/$name.err"
	echo "$name: exit $?, $((SECONDS - start)) s" | tee -a "$out/log.txt"
}

command -v nvidia-smi > /dev/null && nvidia-smi -q > "$out/nvidia-smi.txt" 2>&1

# The method of nvbandwidth before and after the sweep, so that drift shows.
step compat_before 40 "${transfer[@]}" --compat nvbandwidth "${limits[@]}"
step compat_1mib 20 "${transfer[@]}" --compat nvbandwidth --max-size 1MiB

step sweep 200 "${transfer[@]}" --save "$out/sweep" -o "$out/sweep.txt" "${limits[@]}"
head -4 "$out/sweep.txt" | tee -a "$out/log.txt"
step again 60 "${transfer[@]}" --from "$out/sweep" -o "$out/sweep.json" --header "$out/choices.h"
step verbose 60 "${transfer[@]}" --from "$out/sweep" --verbose -o "$out/sweep-verbose.txt"
gzip -f "$out/sweep/samples.csv" # estimated again with: gunzip, then kwhy bench transfer --from
step compat_after 40 "${transfer[@]}" --compat nvbandwidth "${limits[@]}"

# Data that can be compressed: source text, and weights as bfloat16.
find / -xdev -name '*.py' -size +20k 2> /dev/null | head -400 | xargs cat 2> /dev/null | head -c 67108864 > "$made/text"
python3 - "$made/weights" <<'P'
import random, struct, sys
random.seed(1)
with open(sys.argv[1], "wb") as file:
    for _ in range(16):
        file.write(b"".join(struct.pack("<f", random.gauss(0, 0.02))[2:] for _ in range(65536)))
P
for data in text weights; do
	step "compress_$data" 40 "${transfer[@]}" --strategy pinned,compressed,compressed-overlap,expand,compress --direction h2d --min-size 64KiB \
		--quick --time 8 --data "$made/$data" -o "$out/compress_$data.json" "${limits[@]}"
done
# A run that is killed and then resumed.
"${transfer[@]}" --strategy pinned,pageable --quick --save "$out/killed" > /dev/null 2>&1 &
sleep 3
kill -9 $! 2> /dev/null
wait $! 2> /dev/null
echo "lines when killed: $(wc -l < "$out/killed/samples.csv")" | tee -a "$out/log.txt"
step carried_on 60 "${transfer[@]}" --strategy pinned,pageable --quick --time 6 --resume "$out/killed" -o "$out/killed.json"

# Two equal runs show by how much medians differ between runs. Before each, a CUDA program that makes
# copies in the same way is run, to show how much of the difference is the machine's.
control() {
	if [ "$backend" = cuda ] && command -v nvcc > /dev/null; then
		[ -x "$made/copies" ] || step compile_copies 60 nvcc -O3 -arch=native -o "$made/copies" "$(dirname "$(realpath "$0")")/programs/repeat_copies.cu"
		step "control_$1" 30 env ${DEVICE:+CUDA_VISIBLE_DEVICES="$DEVICE"} "$made/copies"
	fi
}
for run in 1 2; do
	control "$run"
	step "repeat_$run" 60 "${transfer[@]}" --strategy pinned,pageable,copy-kernel,mapped,packed,batch --quick --time 30 \
		--seed "$run" -o "$out/repeat_$run.json" "${limits[@]}"
done
python3 - "$out" <<'P' | tee -a "$out/log.txt"
import csv, json, sys
out = sys.argv[1]
key = lambda p: (p["strategy"], p["direction"], p["clock"], p["bytes"], p["pieces"])
runs = [{key(p): p["median_s"] for p in json.load(open(f"{out}/repeat_{i}.json"))["points"] if p["median_s"]} for i in (1, 2)]
apart = sorted(abs(runs[1][k] / runs[0][k] - 1) for k in runs[0] if k in runs[1])
if apart:
    print("repeated: %d points, %.1f %% within 2 %%, median %.2f %%, worst %.1f %%" % (
        len(apart), 100 * sum(a <= 0.02 for a in apart) / len(apart), 100 * apart[len(apart) // 2], 100 * apart[-1]))
try:
    rows = [{tuple(r[:5]): float(r[6]) for r in csv.reader(open(f"{out}/control_{i}.out")) if r[0] == "whole"} for i in (1, 2)]
    apart = [abs(rows[1][k] / rows[0][k] - 1) for k in rows[0]]
    print("a CUDA program: %d points, %.1f %% within 2 %%" % (len(apart), 100 * sum(a <= 0.02 for a in apart) / len(apart)))
except OSError:
    pass
points = [p for p in json.load(open(f"{out}/sweep.json"))["points"] if p["samples"]]
narrow = sum(p["high_s"] is not None and p["high_s"] - p["low_s"] <= 0.02 * p["median_s"] for p in points)
print("sweep: %d points, %d verified, %d with an interval of 2 %% or less" % (len(points), sum(p["verified"] for p in points), narrow))
for p in points:
    if p["strategy"] == "pinned" and p["clock"] == "back-to-back" and p["bytes"] in (1, 1 << 20, 512 << 20, 1 << 30):
        print("pinned %s %d B: %.2f GB/s, %.3g us" % (p["direction"], p["bytes"], p["bytes_per_s"] / 1e9, p["median_s"] * 1e6))
P
cat "$out/compat_before.out" "$out/log.txt"
