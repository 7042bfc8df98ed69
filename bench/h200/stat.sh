#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Measures joules per token and per step of two PyTorch programs that only print their counts: text generation by
# transformers, and a training loop. Each is measured by kwhy stat over several runs and, for comparison, by kwhy record
# in one run. Needs PyTorch, transformers and one GPU; 2 minutes.
# usage: stat.sh KWHY_FOLDER OUT_FOLDER
set -u
kwhy=$(realpath "$1")/bin/kwhy
here=$(dirname "$(realpath "$0")")
mkdir -p "$2"
out=$(realpath "$2")

step() {
	local name=$1
	shift
	local start=$SECONDS
	timeout 200 "$@" > "$out/$name.out" 2> "$out/$name.err"
	echo "$name: exit $?, $((SECONDS - start)) s" | tee -a "$out/log.txt"
}

nvidia-smi --query-gpu=name,driver_version,temperature.gpu,clocks.sm,power.draw,power.limit --format=csv > "$out/gpu.csv" 2>&1
step generate "$kwhy" stat -r 3 --idle-baseline 3 --work 'tokens=made ([0-9]+)' -o "$out/generate.json" -- python3 "$here/programs/generate.py" 12
step train "$kwhy" stat -r 3 --work 'steps=made ([0-9]+)' -o "$out/train.json" -- python3 "$here/programs/repeat.py" train 6s
step record "$kwhy" record --one-file -o "$out/generate.kwhy" --work 'tokens=made ([0-9]+)' -- python3 "$here/programs/generate.py" 4
step report "$kwhy" report --json "$out/generate.kwhy"
python3 - "$out" <<'P' 2>&1 | tee -a "$out/log.txt"
import json, sys
for name in "generate", "train":
    result = json.load(open(f"{sys.argv[1]}/{name}.json"))
    device = result["domains"][0]
    print(name, "energy", {k: device["energy_j"][k] for k in ("mean", "low", "high")}, "J")
    for run in result["runs"]:
        print("  run", run["elapsed_s"], "s", run["domains"][0]["joules"], "J", run["work"])
report = json.load(open(f"{sys.argv[1]}/report.out"))
for device in report["devices"]:
    energy = device["energy"] or {}
    measured = energy.get("measured_nj")
    print("record: all energy attributed", measured is not None and measured == energy.get("attributed_nj"), "work", report["work"])
P
cat "$out/generate.err" "$out/train.err"
