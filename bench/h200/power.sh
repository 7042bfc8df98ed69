#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Where each watt goes, and how well the device's counters predict it: a model fitted to one recording of mixed work and held against another in
# another order (MIXED_S seconds each, 100; in pieces of PIECE_S, 3). Then limits under a product: only where the file "allow-set" lies in OUT_FOLDER. Needs PyTorch, root for the limits, and one GPU; 7 minutes.
# usage: power.sh KWHY_FOLDER OUT_FOLDER
set -euo pipefail
kwhy=$(realpath "$1")/bin/kwhy
here=$(dirname "$(realpath "$0")")
python=python3
[ ! -x /opt/torch/.venv/bin/python ] || python=/opt/torch/.venv/bin/python
mkdir -p "$2"
out=$(realpath "$2")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
for seed in 1 2; do
	"$kwhy" record -q --power-only -o "$work/mixed-$seed.kwhy" -- "$python" "$here/programs/mixed.py" "${MIXED_S:-100}" "$seed" "${PIECE_S:-3}"
done
(cd "$work" && tar -czf - -- *.kwhy) > "$out/power-recordings.tar.gz"
"$kwhy" model power --json -o "$out/power.json" "$work/mixed-1.kwhy"
"$kwhy" model power --json -o "$out/power-held-out.json" --fit "$work/mixed-1.kwhy" "$work/mixed-2.kwhy"
"$kwhy" model power --fit "$work/mixed-1.kwhy" "$work/mixed-2.kwhy" | tee "$out/power.txt"
if [ -e "$out/allow-set" ]; then
	"$kwhy" tune cap --allow-set --values 8 --json -o "$out/cap.json" -- "$python" "$here/programs/product.py" 10
	nvidia-smi -q -d POWER > "$out/limit-after.txt"
fi
