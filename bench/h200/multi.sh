#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Records two ranks of torchrun, which communicate by NCCL, with one kwhy record. Shows for each device the rank, the
# numbers of kernels and collectives, and whether the attributed energy equals the measured energy. Needs PyTorch and
# two GPUs; 2 minutes.
# usage: multi.sh KWHY_FOLDER OUT_FOLDER
set -euo pipefail
kwhy=$(realpath "$1")/bin/kwhy
here=$(dirname "$(realpath "$0")")
mkdir -p "$2"
torchrun=$(command -v torchrun || echo /opt/torch/.venv/bin/torchrun)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
"$kwhy" record -o "$work/multi.kwhy" --work 'steps=made ([0-9]+)' -- "$torchrun" --standalone --nproc-per-node 2 "$here/programs/rank.py" 2> "$2/multi-first-screen.txt"
"$kwhy" verify "$work/multi.kwhy" | tee "$2/multi-verify.txt"
"$kwhy" report "$work/multi.kwhy" > "$2/multi-report.txt"
"$kwhy" report --json -o "$2/multi.json" "$work/multi.kwhy"
tar -C "$work" -czf "$2/multi-recording.tar.gz" multi.kwhy
python3 - "$2/multi.json" <<'P'
import json, sys
report = json.load(open(sys.argv[1]))
for device in report["devices"]:
    energy = device["energy"] or {}
    is_attributed = energy.get("measured_nj") == energy.get("attributed_nj")
    print("GPU", device["index"], "rank", device["rank"], "kernels", device["kernels"]["count"], "collectives", device["collectives"], "all energy attributed", is_attributed,
          "idle W without and with a context", energy.get("clean_idle_w"), energy.get("context_idle_w"))
print("work", report["work"])
P
