#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Measures kwhy-lab's workload `train` on a GPU, in at most 60 s: every variant is compared with the reference, then
# timed, and its energy is measured; then one check at full width, checkpointing with large activations (case D of the
# published guide that lab/README.md names), and, if there are two GPUs, gradients summed over both. Each part writes
# its JSON.
# Usage: train.sh KWHY_FOLDER OUT_FOLDER (KWHY_FOLDER: a build or a package that has kwhy-lab)
set -u
here=$(cd "$(dirname "$0")" && pwd)
kwhy=$(cd "$1" && pwd)
mkdir -p "$2"
out=$(cd "$2" && pwd)
program=$(find "$kwhy" -name kwhy-lab -type f -perm -u+x | head -1)
[ -n "$program" ] || { echo "train.sh: no kwhy-lab in $kwhy; build with -DKWHY_LAB=ON" >&2; exit 2; }
# shellcheck source=../../bench/h200/programs/libraries.sh
. "$here/../../bench/h200/programs/libraries.sh"
use_libraries 'libnvrtc.so.1*' 'libcublasLt.so.1*' 'libnccl.so.2*'
failed=0
one=plain,tf32,bf16,pinned,prefetch,queued,fused,graph,checkpoint,accumulate

# lab NAME SECONDS OPTIONS...: runs train, for at most SECONDS, and writes NAME.json
lab() {
	local name=$1 limit=$2 start=$SECONDS status
	timeout "$limit" "$program" train "${@:3}" -q -o "$out/$name.json" > "$out/$name.out" 2> "$out/$name.err"
	status=$?
	[ $status -eq 0 ] || failed=1
	echo "$name: exit $status, $((SECONDS - start)) s" | tee -a "$out/log.txt"
	[ ! -s "$out/$name.err" ] || sed "s/^/$name: /" "$out/$name.err" | tee -a "$out/log.txt"
}

nvidia-smi --query-gpu=name,driver_version,temperature.gpu,clocks.sm,power.draw,power.limit --format=csv > "$out/gpu.csv" 2>&1
lab train 30 --variant $one --repeat 2 --seconds 0.7 --csv "$out/losses.csv"
lab wide 20 --variant $one --check-width 4096 --steps 1 --repeat 1 --seconds 0
lab deep-4096 15 --layers 16 --batch 4096 --samples 8192 --steps 8 --variant graph,checkpoint --check-width 128 --repeat 2 --seconds 0.5
lab deep-8192 15 --layers 16 --batch 8192 --samples 8192 --steps 4 --variant graph,checkpoint --check-width 128 --repeat 2 --seconds 0.5
if [ "$(nvidia-smi -L | wc -l)" -ge 2 ]; then
	lab two-gpus 20 --variant fused,parallel --dp 2 --repeat 2 --seconds 0.7
fi
nvidia-smi --query-gpu=temperature.gpu,clocks.sm,power.draw --format=csv >> "$out/gpu.csv" 2>&1
# Shows the rows that could not be run, and those with wrong results.
python3 - "$out" << 'P' | tee -a "$out/log.txt"
import json, os, sys
for name in "train", "wide", "deep-4096", "deep-8192", "two-gpus":
    path = f"{sys.argv[1]}/{name}.json"
    for row in json.load(open(path))["rows"] if os.path.exists(path) else []:
        if row["missing"] or row["wrong"]:
            print(f"{name}: {row['name']}: {row['missing'] or row['wrong']}")
P
exit $failed
