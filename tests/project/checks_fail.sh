#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Tests the checks in tests/project: on a small correct source tree each of them must pass, and after a fault was put
# into the tree it must fail.
# Usage: checks_fail.sh SOURCE_DIR
set -euo pipefail
source_dir=$1
checks=$source_dir/tests/project
tree=$(mktemp -d)
trap 'rm -rf "$tree"' EXIT

clean_tree() {
	rm -rf "${tree:?}"/*
	mkdir -p "$tree"/{src/low,src/high,lab,tests,bench,scripts,docs}
	printf '| term | meaning | unit | not |\n|---|---|---|---|\n| x | y | | foretold, `standin` |\n' >"$tree/docs/terms.md"
	cp "$source_dir/.clang-format" "$tree/"
	printf '| folder | holds | may use |\n|---|---|---|\n| low | x | nothing |\n| high | y | low |\n' >"$tree/ARCHITECTURE.md"
	printf '/* SPDX-License-Identifier: Apache-2.0 */\nint low_call(void);\n' >"$tree/src/low/low.h"
	printf '/* SPDX-License-Identifier: Apache-2.0 */\n#include "low/low.h"\n\nint high_call(void)\n{\n\treturn low_call();\n}\n' \
		>"$tree/src/high/high.c"
}

bad=0
# expect pass|fail CHECK WHAT: runs the check on the tree, which must pass or fail; WHAT: the state
# of the tree, for the message
expect() {
	local status=pass
	bash "$checks/$2.sh" "$tree" "$tree/build" >"$tree/log" 2>&1 || status=fail
	if [ "$status" != "$1" ]; then
		echo "$2: expected $1 with $3, got $status:"
		cat "$tree/log"
		bad=1
	fi
	clean_tree
}

# Adds a build folder with two libraries, which the check of layers reads: `low` calls a function of `high` that no
# header declares.
build_tree() {
	mkdir -p "$tree"/build/src/{low,high}
	echo "int kwhy_high(void) { return 1; }" | cc -x c -c -o "$tree/high.o" -
	echo "int kwhy_high(void); int kwhy_low(void) { return kwhy_high(); }" | cc -x c -c -o "$tree/low.o" -
	ar rc "$tree/build/src/high/libkwhy_high.a" "$tree/high.o"
	ar rc "$tree/build/src/low/libkwhy_low.a" "$tree/low.o"
}

long_function() {
	printf '/* SPDX-License-Identifier: Apache-2.0 */\nint f(int x)\n{\n'
	printf '\tx++;\n%.0s' {1..70}
	printf '\treturn x;\n}\n'
}

clean_tree
for check in layers functions format words; do
	expect pass "$check" "a clean tree"
done
echo '#include "high/high.h"' >>"$tree/src/low/low.h"
expect fail layers "an include of the layer above"
echo '#include "low.h"' >>"$tree/src/high/high.c"
expect fail layers "an include without a folder"
build_tree
expect fail layers "a call of the layer above"
mkdir "$tree/src/stray"
expect fail layers "a folder outside the table"
long_function >"$tree/src/low/long.c"
expect fail functions "a function of 74 lines"
echo 'int  spaced;' >>"$tree/src/low/low.h"
expect fail format "two spaces"
echo '/* TO''DO: later */' >>"$tree/src/low/low.h"
expect fail words "an unfinished mark"
cp "$tree/src/low/low.h" "$tree/src/low/utils.h"
expect fail words "a file without a subject"
echo 'int bare;' >"$tree/src/low/bare.h"
expect fail words "no licence line"
echo '/* see /ho''me/me/notes */' >>"$tree/src/low/low.h"
expect fail words "a path of one machine"
echo 'int low_call(void) { return set''env("A", "b", 1); }' >>"$tree/src/high/high.c"
expect fail words "a change of our own environment"
echo '/* It was foretold. */' >>"$tree/src/high/high.c"
expect fail words "a denied word in a comment"
echo 'int standin_count;' >>"$tree/src/high/high.c"
expect fail words "a denied part of an identifier"
echo 'struct kwhy_thing {' >>"$tree/src/low/low.h"
printf '/* SPDX-License-Identifier: Apache-2.0 */
struct kwhy_thing {' >"$tree/src/high/high.h"
expect fail words "a tag of two headers"

# Adds what the lint check reads of a built tree: two equal sources, of which a sed command ($1) changes the second.
# Both are checked by one process of clang-tidy, so it must find a fault in a source that is not its first.
lint_tree() {
	mkdir -p "$tree/build"
	cp "$source_dir/.clang-tidy" "$tree/"
	printf '/* SPDX-License-Identifier: Apache-2.0 */\n#include <stdarg.h>\n#include <stdio.h>\n\nint %s(int *place, ...)\n{\n%s}\n' \
		first $'\tva_list more;\n\tva_start(more, place);\n\tint length = vprintf("%d", more);\n\tva_end(more);\n\treturn length + *place;\n' \
		>"$tree/src/low/first.c"
	sed "s/first/last/; $1" "$tree/src/low/first.c" >"$tree/src/low/last.c"
	for file in first last; do
		printf '{\n  "directory": "%s",\n  "command": "cc -c src/low/%s.c",\n  "file": "%s"\n},\n' "$tree" "$file" "$tree/src/low/$file.c"
	done | sed '1i[' | sed '$s/,$/]/' >"$tree/build/compile_commands.json"
}

if command -v clang-tidy-14 >/dev/null; then
	lint_tree ''
	expect pass lint "clean sources"
	lint_tree 's/return.*/return place ? length : *place;/'
	expect fail lint "a null pointer that is used"
	lint_tree '/va_start/d'
	expect fail lint "arguments that were not started"
fi
exit "$bad"
