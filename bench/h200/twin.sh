#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# twin on an H200: all variants with energy, the PyTorch peers beside them, and a recording of the best and the naive one.
# Usage: twin.sh KWHY_FOLDER OUT_FOLDER     (the folder of the portable build; about 4 minutes; DEVICE=N: that GPU)
set -u
here=$(cd "$(dirname "$0")" && pwd)
kwhy=$(cd "$1" && pwd)
mkdir -p "$2"
out=$(cd "$2" && pwd)
program=$kwhy/bin/kwhy
nvrtc=$(find / -xdev -name 'libnvrtc.so.1*' 2> /dev/null | head -1)
LD_LIBRARY_PATH=${LD_LIBRARY_PATH:-}:/usr/local/cuda/lib64:$(dirname "${nvrtc:-/x}")
export LD_LIBRARY_PATH
PYTHONPATH=$kwhy/share/kwhy/python
KWHY_LIBRARY=$(find "$kwhy" -name 'libkwhy.so.0' | head -1)
export PYTHONPATH KWHY_LIBRARY

step() {
	local name=$1
	shift
	local start=$SECONDS
	timeout 300 "$@" > "$out/$name.out" 2> "$out/$name.err"
	echo "$name: exit $?, $((SECONDS - start)) s" | tee -a "$out/log.txt"
}

nvidia-smi --query-gpu=name,driver_version,temperature.gpu,clocks.sm,power.draw,power.limit --format=csv > "$out/gpu.csv" 2>&1
# The bits first, of every variant, then times and energy; the cheap ones often, the naive one as often as ten seconds allow.
step bits "$program" bench twin ${DEVICE:+--device "$DEVICE"} --repeat 1 --seconds 0 --json
step ranks "$program" bench twin ${DEVICE:+--device "$DEVICE"} --ranks 4 --steps 48 --variant v5,v6,v7,v8,v9,v9b --repeat 1 --seconds 0 --json
step open "$program" bench twin ${DEVICE:+--device "$DEVICE"} --loop open --variant v3,v6,v8 --repeat 1 --seconds 0 --json
step twin "$program" bench twin ${DEVICE:+--device "$DEVICE"} --repeat 3 --seconds 10 -o "$out/twin.json" --csv "$out/steps.csv"
step text "$program" bench twin ${DEVICE:+--device "$DEVICE"} --variant cpu,v6,v7,v8 --repeat 50 --seconds 0
step torch python3 "$here/twin_torch.py" --seconds 5 -o "$out/torch.json"
# One ledger before and after, from outside: agreement of its energy and times with twin.json is to be shown.
step record_v0 "$program" record -o "$out/v0.kwhy" -- "$program" bench twin ${DEVICE:+--device "$DEVICE"} --variant v0 --repeat 1 --seconds 0 --json
step record_v8 "$program" record -o "$out/v8.kwhy" -- "$program" bench twin ${DEVICE:+--device "$DEVICE"} --variant v8 --repeat 2000 --seconds 0 --json
step report_v0 "$program" report "$out/v0.kwhy" --json
step report_v8 "$program" report "$out/v8.kwhy" --json
nvidia-smi --query-gpu=temperature.gpu,clocks.sm,power.draw --format=csv >> "$out/gpu.csv" 2>&1
cat "$out/log.txt"
