#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Where each watt goes, and how well the device's counters predict it: a model fitted to one recording of mixed work, held against another in another
# order (MIXED_S seconds each, 60) and against work of other kinds (OTHER_S, 12). Then limits under a product: only where the file "allow-set" lies in
# OUT_FOLDER. Needs PyTorch, root for the limits, and one GPU; 2.5 minutes.
# usage: power.sh KWHY_FOLDER OUT_FOLDER
set -euo pipefail
kwhy=$(realpath "$1")/bin/kwhy
here=$(dirname "$(realpath "$0")")
python=python3
[ ! -x /opt/torch/.venv/bin/python ] || python=/opt/torch/.venv/bin/python
mkdir -p "$2"
out=$(realpath "$2")
work=$(mktemp -d)
finish() {
	(cd "$work" && tar -czf - -- *.kwhy) > "$out/power-recordings.tar.gz"
	rm -rf "$work"
}
trap finish EXIT

mixed() {
	"$kwhy" record -q --power-only --gauges 0.2 -o "$work/$1.kwhy" -- "$python" "$here/programs/mixed.py" "${@:2}"
}

model() {
	"$kwhy" model power --json -o "$out/power-$1.json" "${@:2}"
	echo "$1"
	"$kwhy" model power "${@:2}" | tee "$out/power-$1.txt"
}

mixed mixed-1 "${MIXED_S:-60}" 1
mixed mixed-2 "${MIXED_S:-60}" 2
mixed other "${OTHER_S:-12}" 3 other
model fitted "$work/mixed-1.kwhy"
model held-out --fit "$work/mixed-1.kwhy" "$work/mixed-2.kwhy"
model other --fit "$work/mixed-1.kwhy" "$work/other.kwhy"
if [ -e "$out/allow-set" ]; then
	"$kwhy" tune cap --allow-set --values 8 --json -o "$out/cap.json" -- "$python" "$here/programs/product.py" 10
	nvidia-smi -q -d POWER > "$out/limit-after.txt"
fi
