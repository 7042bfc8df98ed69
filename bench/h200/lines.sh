#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Measures what call stacks cost, and shows whether findings name the program's lines. Each program is recorded
# alternately with call stacks and without them (--no-lines), REPEATS times each (default 3). Shows the ratio of the
# median times, the frames and samples of the recordings, whether the programs' outputs are equal, and the first screen
# and findings of the last recording with call stacks. Needs one GPU and what the programs import; a recording of
# hf_train takes about half a minute. PYTHON names another interpreter.
# Target: a ratio of at most 1.01; file and line in each of the first three findings.
# usage: lines.sh KWHY_FOLDER OUT_FOLDER PROGRAM_FOLDER [PROGRAM...]     (default: hf_train)
set -uo pipefail
kwhy=$(realpath "$1")/bin/kwhy
mkdir -p "$2"
out=$(realpath "$2")
programs=$(realpath "$3")
shift 3
own=$(dirname "$(realpath "$0")")
python=${PYTHON:-python3}
[ -n "${PYTHON:-}" ] || [ ! -x /opt/torch/.venv/bin/python ] || python=/opt/torch/.venv/bin/python

# recorded NAME PROGRAM OPTIONS: records a program into NAME.kwhy; its output goes to NAME.out, its
# duration to NAME.seconds
recorded() {
	local name=$1 program=$2
	shift 2
	timeout -k 5 "${LIMIT_S:-120}" "$kwhy" record -q --one-file -o "$out/$name.kwhy" "$@" -- \
		"$python" "$own/programs/timed.py" "$out/$name.seconds" "$programs/$program.py" > "$out/$name.out" 2> "$out/$name.err" ||
		echo "$name: exit $?: $(tail -n 1 "$out/$name.err")"
}

median() {
	cat "$@" 2> /dev/null | sort -g | awk '{ s[NR] = $1 } END { print NR % 2 ? s[(NR + 1) / 2] : (s[NR / 2] + s[NR / 2 + 1]) / 2 }'
}

[ $# -gt 0 ] || set -- hf_train
for program in "$@"; do
	recorded "$program-first" "$program" # files and compiled kernels come into memory
	for i in $(seq "${REPEATS:-3}"); do
		recorded "$program-lines-$i" "$program"
		recorded "$program-none-$i" "$program" --no-lines
		cmp -s "$out/$program-lines-$i.out" "$out/$program-none-$i.out" || echo "$program: outputs of repetition $i differ"
	done
	with=$(median "$out/$program"-lines-?.seconds)
	without=$(median "$out/$program"-none-?.seconds)
	echo "$program: with lines $with s ($(cat "$out/$program"-lines-?.seconds | tr '\n' ' ')), without $without s ($(cat "$out/$program"-none-?.seconds | tr '\n' ' '))"
	awk -v a="$with" -v b="$without" -v name="$program" 'BEGIN { if (b > 0) printf "%s: ratio %.4f (target 1.01)\n", name, a / b }'
	last=$out/$program-lines-${REPEATS:-3}.kwhy
	"$kwhy" verify "$last" | grep -E 'call|frame|sample'
	"$kwhy" report -o "$out/$program-lines.txt" "$last"
	"$kwhy" report -o "$out/$program-lines.json" "$last"
	head -n 40 "$out/$program-lines.txt"
	sed -n '/^Findings/,/^ *4\. /p' "$out/$program-lines.txt" | head -n 60
done 2>&1 | tee "$out/lines.txt"
