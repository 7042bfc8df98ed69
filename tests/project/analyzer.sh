#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# gcc's analyser finds no leak, double free, use of NULL or descriptor left open in what reads the files and messages
# of others: import, recording and the wire of ranks. Usage: analyzer.sh SOURCE_DIR BUILD_DIR [FILE...]
set -euo pipefail
command -v gcc >/dev/null || { echo "skipped: no gcc"; exit 77; }
log=$(mktemp)
trap 'rm -f "$log"' EXIT

cd "$1"
if [ $# -gt 2 ]; then
	files=("${@:3}")
else
	mapfile -t files < <(find src/import src/recording src/bench/pairs -name '*.c' \
		\( -path '*/import/*' -o -path '*/recording/*' -o -name 'rank*' \) | sort)
fi
# pkg-config knows where the headers of the libraries are.
read -ra libraries < <(pkg-config --cflags jansson sqlite3 zlib libzstd)
fails=0
for file in "${files[@]}"; do
	gcc -fanalyzer -O1 -std=gnu17 -D_GNU_SOURCE -DKWHY_VERSION='"0"' -Isrc -Iinclude "${libraries[@]}" \
		-c "$file" -o /dev/null 2>"$log" || { cat "$log"; echo "$file does not compile"; exit 1; }
	if grep -q 'Wanalyzer' "$log"; then
		grep -A 30 'Wanalyzer' "$log" | head -60
		fails=$((fails + 1))
	fi
done
[ "$fails" = 0 ] || { echo "gcc -fanalyzer warns of $fails files"; exit 1; }
echo "gcc -fanalyzer has no warning of ${#files[@]} files"
