#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Tests whether kwhy stat reads all power samples of the driver's ring buffer, and what reading them costs, while
# other programs may run on the GPU. Needs one GPU; 10.5 minutes, so start it in the background of other scripts.
# usage: ring.sh KWHY_FOLDER OUT_FOLDER [SECONDS]
set -euo pipefail
kwhy=$(realpath "$1")/bin/kwhy
here=$(dirname "$(realpath "$0")")
mkdir -p "$2"
"$kwhy" stat --device "${DEVICE:-${CUDA_VISIBLE_DEVICES:-0}}" --json -o "$2/ring.json" --save-power "$2/ring.csv" -- sleep "${3:-630}"
python3 "$here/programs/ring.py" "$2/ring.csv" "$2/ring.json" | tee "$2/ring.txt"
gzip -f "$2/ring.csv"
