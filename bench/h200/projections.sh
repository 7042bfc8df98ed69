#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# How far projections are off on an H200: each variant of twin is recorded, the next one is projected from the recording
# of the one before alone, and compared with its own recording. Also the speed of a full plan.
# Usage: projections.sh KWHY_FOLDER OUT_FOLDER     (the folder of the portable build; about 4 minutes)
set -u
kwhy=$(cd "$1" && pwd)
mkdir -p "$2"
out=$(cd "$2" && pwd)
program=$kwhy/bin/kwhy
nvrtc=$(find / -xdev -name 'libnvrtc.so.1*' 2> /dev/null | head -1)
LD_LIBRARY_PATH=${LD_LIBRARY_PATH:-}:/usr/local/cuda/lib64:$(dirname "${nvrtc:-/x}")
export LD_LIBRARY_PATH

# Runs of each variant: enough for seconds of work, since the counter ticks every 0.1 s.
runs() {
	case $1 in
	v0 | v1) echo 1 ;;
	v2 | v3 | v4) echo 40 ;;
	*) echo 400 ;;
	esac
}

record() {
	timeout 60 "$program" record -q -o "$out/$1-$2.kwhy" -- \
		"$program" bench twin --variant "$1" --repeat "$2" --seconds 0 --json > "$out/$1-$2.out" 2> "$out/$1-$2.err"
}

# BEFORE AFTER CHANGES...: both in as many runs as suit the slower one.
pair() {
	local before=$1 after=$2 count
	shift 2
	count=$(runs "$before")
	[ -e "$out/$before-$count.kwhy" ] || record "$before" "$count"
	[ -e "$out/$after-$count.kwhy" ] || record "$after" "$count"
	timeout 60 "$program" whatif -q "$@" "$out/$before-$count.kwhy" -o "$out/$before-$after.json" 2>> "$out/log.txt"
	timeout 60 "$program" compare -q --projected "$out/$before-$after.json" \
		"$out/$before-$count.kwhy" "$out/$after-$count.kwhy" --json > "$out/$before-$after.compare.json" 2>> "$out/log.txt"
	echo "$before to $after ($*): exit $?" | tee -a "$out/log.txt"
	grep '"projection"' "$out/$before-$after.compare.json" | tee -a "$out/log.txt"
}

nvidia-smi --query-gpu=name,driver_version,temperature.gpu,clocks.sm,power.draw --format=csv > "$out/gpu.csv" 2>&1
pair v0 v1 --pinned --event-waits
pair v1 v2 --pack-d2h
pair v2 v3 --pack-h2d
pair v3 v5 --fuse
pair v5 v6 --graph
pair v0 v3 --pack-h2d --pack-d2h --pinned --event-waits
pair v0 v6 --pack-h2d --pack-d2h --fuse --pinned --event-waits --graph
pair v9 v9b --thin-collectives 4
for recording in "$out"/v0-1.kwhy "$out"/v3-40.kwhy; do
	timeout 60 "$program" whatif -q --plan --numerics "$recording" > "$out/plan-$(basename "$recording").txt" 2>> "$out/log.txt"
done
