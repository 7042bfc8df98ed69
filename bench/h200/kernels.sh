#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Compares the power that kwhy finds for each of five kernels in recordings of three random mixtures with the
# kernel's power in a recording of it alone. Where the basis is `data`, the two must agree within 5 %; otherwise the
# interval must contain the power alone. At least 80 % of the busy energy must have the basis `data`. Needs nvcc and
# one GPU; 90 seconds.
# usage: kernels.sh KWHY_FOLDER OUT_FOLDER
set -euo pipefail
kwhy=$(realpath "$1")/bin/kwhy
here=$(dirname "$(realpath "$0")")
mkdir -p "$2"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
nvcc -O3 -arch=native -o "$work/five" "$here/programs/five.cu"
one() { # one NAME ARGUMENTS...
	"$kwhy" record -q -o "$work/$1.kwhy" -- "$work/five" "${@:2}"
	"$kwhy" report --json -o "$work/$1.json" "$work/$1.kwhy"
}
for kind in 0 1 2 3 4; do one "alone$kind" "$kind" 5; done
for seed in 1 2 3; do one "mix$seed" mix 15 "$seed"; done
python3 "$here/programs/five.py" "$2/kernels.json" "$work"/alone{0,1,2,3,4}.json "$work"/mix{1,2,3}.json | tee "$2/kernels.txt"
(cd "$work" && tar -czf - -- *.json) > "$2/kernels-reports.tar.gz"
