#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Tests kwhy record --duty, which records activities only in windows: what it costs to start and end windows, whether
# kernels that run across the end of a window are recorded, and whether the accounts' shares by windows equal those
# of a complete recording. Needs PyTorch and one GPU; 80 seconds.
# usage: duty.sh KWHY_FOLDER OUT_FOLDER
set -euo pipefail
kwhy=$(realpath "$1")/bin/kwhy
here=$(dirname "$(realpath "$0")")
mkdir -p "$2"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
one() { # one NAME LOOP SECONDS OPTIONS...
	"$kwhy" record -q -o "$work/$1.kwhy" "${@:4}" -- python3 "$here/programs/repeat.py" "$2" "$3" > /dev/null
	"$kwhy" verify "$work/$1.kwhy" | tail -1
	"$kwhy" report --json -o "$work/$1.json" "$work/$1.kwhy"
}
one decode decode 8s
one decode-10 decode 15s --duty 10%
one decode-short decode 8s --duty 10% --window 0.02
one products-30 products 6s --duty 30%
one train train 6s
one train-10 train 15s --duty 10%
python3 "$here/programs/windows.py" "$2/duty.json" "$work"/*.kwhy
(cd "$work" && tar -czf - -- *.json) > "$2/duty-reports.tar.gz"
