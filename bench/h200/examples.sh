#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Makes the recordings of examples/: of token generation, of training and of a program that mostly copies, each in one
# file of less than 3 MB. Needs PyTorch; 2 minutes.
# usage: examples.sh KWHY_FOLDER OUT_FOLDER
set -euo pipefail
kwhy=$(realpath "$1")/bin/kwhy
here=$(dirname "$(realpath "$0")")
mkdir -p "$2"
one() { # one NAME LOOP AMOUNT UNIT
	"$kwhy" record --one-file -o "$out/$1.kwhy" --work "$4=made ([0-9]+)" -- python3 "$here/programs/repeat.py" "$2" "$3" > "$out/$1.out" 2> "$out/$1.txt"
	"$kwhy" verify "$out/$1.kwhy" | tail -1
	stat -c '%n %s bytes' "$out/$1.kwhy"
}
out=$2
one decode decode 8 tokens
one train train 300 steps
one transfer transfer 12 pieces
for file in "$out"/{decode,train,transfer}.kwhy; do
	[ "$(stat -c %s "$file")" -lt 3000000 ] || { echo "$file is 3 MB or more" >&2; exit 1; }
done
