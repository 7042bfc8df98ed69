#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Measures kwhy-lab's workload `decode` on a GPU, in at most 100 s, in four parts: `bits` compares every kind of
# weights with the reference; `batch` measures bf16 with energy by batch size; `kinds` measures all kinds of weights
# with energy, with 8 and 64 sequences; `arrivals` serves sequences that arrive at random times. If a part fails, the
# others are still run. Each writes its JSON.
# Usage: decode.sh KWHY_FOLDER OUT_FOLDER (KWHY_FOLDER: a build or a package that has kwhy-lab)
set -u
here=$(cd "$(dirname "$0")" && pwd)
kwhy=$(cd "$1" && pwd)
mkdir -p "$2"
out=$(cd "$2" && pwd)
program=$(find "$kwhy" -name kwhy-lab -type f -perm -u+x | head -1)
[ -n "$program" ] || { echo "decode.sh: no kwhy-lab in $kwhy; build with -DKWHY_LAB=ON" >&2; exit 2; }
# shellcheck source=../../bench/h200/programs/libraries.sh
. "$here/../../bench/h200/programs/libraries.sh"
use_libraries 'libnvrtc.so.1*' 'libcublasLt.so.1*'
kinds=fp32,tf32,bf16,fp16,fp8,int8,int4,fp16-2:4
failed=0

# lab NAME SECONDS OPTIONS...: runs decode, for at most SECONDS, and writes NAME.json
lab() {
	local name=$1 limit=$2 start=$SECONDS status
	timeout -s INT "$limit" "$program" decode "${@:3}" -q -o "$out/$name.json" > "$out/$name.out" 2> "$out/$name.err"
	status=$?
	[ $status -eq 0 ] || failed=1
	echo "$name: exit $status, $((SECONDS - start)) s" | tee -a "$out/log.txt"
	[ ! -s "$out/$name.err" ] || sed "s/^/$name: /" "$out/$name.err" | tee -a "$out/log.txt"
}

nvidia-smi --query-gpu=name,driver_version,temperature.gpu,clocks.sm,power.draw,power.limit --format=csv > "$out/gpu.csv" 2>&1
# Batches of 1, 17 and 65 sequences, launched by calls and by graphs. cuBLASLt's kernels for 1 token differ from those
# for more than 16, so both sorts run.
lab bits 25 --shape small --weights $kinds --batch 1,17,65 --launch calls,graph --prompt 40 --tokens 8 --repeat 1 --seconds 0
lab batch 18 --weights bf16 --batch 1,8,64 --repeat 3 --seconds 0.7
lab kinds 42 --weights $kinds --batch 8,64 --repeat 2 --seconds 0.5
lab arrivals 15 --weights bf16 --batch 8 --arrivals 300 --repeat 1 --seconds 0.7
nvidia-smi --query-gpu=temperature.gpu,clocks.sm,power.draw --format=csv >> "$out/gpu.csv" 2>&1
# Shows the rows that could not be run, and those with wrong results.
python3 - "$out" << 'P' | tee -a "$out/log.txt"
import json, os, sys
for name in "bits", "batch", "kinds", "arrivals":
    path = f"{sys.argv[1]}/{name}.json"
    if not os.path.exists(path):
        print(f"{name}: no result")
        continue
    root = json.load(open(path))
    for row in root["rows"]:
        for what in "missing", "wrong":
            if row[what]:
                print(f"{name}: {row['id']}: {what}: {row[what]}")
        if name == "kinds" and not row["missing"]:
            print(f"{row['id']}: logits off by {row['error']['relative']}, {row['decoder']['products']}, "
                  f"{row['decoder']['kernels_a_token']} kernels a token")
    for what in "ended", "energy_missing":
        if root[what]:
            print(f"{name}: {what}: {root[what]}")
P
exit $failed
