#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Tests that no function in src/, lab/ and bindings/ has more than 60 lines or a cyclomatic complexity above 15, without
# exceptions. Headers are left out: pmccabe cannot read their column macros, and their inline functions are short.
# Usage: functions.sh SOURCE_DIR
set -euo pipefail
cd "$1"
command -v pmccabe >/dev/null || { echo "skipped: pmccabe is not installed"; exit 77; }

folders=(src lab)
[ ! -d bindings ] || folders+=(bindings)
find "${folders[@]}" -name '*.c' -o -name '*.cc' | sort | xargs pmccabe | awk -F'\t' '
	$5 > 60 || $2 > 15 { printf "%s: %s has %d lines, complexity %d\n", $6, $7, $5, $2; bad = 1 }
	{ lines[NR] = $5 }
	END {
		if (NR == 0) { print "pmccabe found no functions"; exit 1 }
		over = 0
		for (i = 1; i <= NR; i++) if (lines[i] > 40) over++
		printf "%d functions, %d over 40 lines\n", NR, over
		exit bad
	}'
