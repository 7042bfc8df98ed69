#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Measures rates and joules of single operations on an H200 with kwhy bench ops.
# Usage: ops.sh KWHY_FOLDER OUT_FOLDER     (KWHY_FOLDER: that of the portable build; about 100 seconds; DEVICE=N:
# measures GPU N)
set -u
kwhy=$(cd "$1" && pwd)
mkdir -p "$2"
out=$(cd "$2" && pwd)
program=$kwhy/bin/kwhy
# shellcheck source=programs/libraries.sh
. "$(dirname "$(realpath "$0")")/programs/libraries.sh"
use_libraries 'libnvrtc.so.1*'

step() {
	local name=$1
	shift
	local start=$SECONDS
	timeout 200 "$@" > "$out/$name.out" 2> "$out/$name.err"
	echo "$name: exit $?, $((SECONDS - start)) s" | tee -a "$out/log.txt"
}

nvidia-smi --query-gpu=name,driver_version,temperature.gpu,clocks.sm,power.draw,power.limit --format=csv > "$out/gpu.csv" 2>&1
step ops "$program" bench ops ${DEVICE:+--device "$DEVICE"} --seconds 3 -o "$out/ops.json" --csv "$out/ops.csv"
# Some of the operations again; the differences from ops.json show how well the figures repeat.
step again "$program" bench ops ${DEVICE:+--device "$DEVICE"} --seconds 3 --only fp32,bf16-tensor,memory-copy,h2d-small -o "$out/again.json"
nvidia-smi --query-gpu=temperature.gpu,clocks.sm,power.draw --format=csv >> "$out/gpu.csv" 2>&1
cat "$out/log.txt"
