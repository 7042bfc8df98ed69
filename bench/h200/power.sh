#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Measures how well a GPU's gauges (kwhy record --gauges) predict its power with kwhy model power. One model is fitted
# to a recording of mixed work (MIXED_S seconds, default 105). It is compared with a recording of the same work in
# another order, with one of other kinds of work (OTHER_S, 20), and with token generation (kwhy-lab decode, DECODE_S per
# phase, 4). A second model is fitted to token generation and compared with token generation at other batch sizes. Only
# if OUT_FOLDER has a file "allow-set", kwhy tune cap then sets power limits while a matrix product runs. Needs PyTorch,
# one GPU and, for the limits, root; 7.5 minutes.
# usage: power.sh KWHY_FOLDER OUT_FOLDER
set -euo pipefail
kwhy=$(realpath "$1")/bin/kwhy
here=$(dirname "$(realpath "$0")")
python=python3
[ ! -x /opt/torch/.venv/bin/python ] || python=/opt/torch/.venv/bin/python
# shellcheck source=programs/libraries.sh
. "$here/programs/libraries.sh"
use_libraries 'libnvrtc.so.1*' 'libcublasLt.so.1*'
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

decode() {
	"$kwhy" record -q --power-only --gauges 0.2 -o "$work/$1.kwhy" -- "${kwhy%/*}/kwhy-lab" decode --batch "$2" --repeat 3 \
		--seconds "${DECODE_S:-4}" -o "$out/power-$1-run.json"
}

model() {
	"$kwhy" model power --json -o "$out/power-$1.json" "${@:2}"
	echo "$1"
	"$kwhy" model power "${@:2}" | tee "$out/power-$1.txt"
}

mixed mixed-1 "${MIXED_S:-105}" 1
mixed mixed-2 "${MIXED_S:-105}" 2
mixed other "${OTHER_S:-20}" 3 other
decode decode-1 1,4,16,64,256
decode decode-2 2,8,32,128
model fitted "$work/mixed-1.kwhy"
model held-out --fit "$work/mixed-1.kwhy" "$work/mixed-2.kwhy"
model other --fit "$work/mixed-1.kwhy" "$work/other.kwhy"
model decode-by-mixed --fit "$work/mixed-1.kwhy" "$work/decode-1.kwhy"
model decode "$work/decode-1.kwhy"
model decode-held-out --fit "$work/decode-1.kwhy" "$work/decode-2.kwhy"
if [ -e "$out/allow-set" ]; then
	"$kwhy" tune cap --allow-set --values 8 --json -o "$out/cap.json" -- "$python" "$here/programs/product.py" 10
	nvidia-smi -q -d POWER > "$out/limit-after.txt"
fi
