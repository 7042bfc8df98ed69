#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Tests that libkwhy.so and libkwhy-analyse.so export exactly the symbols in their linker maps, that libkwhy.so needs
# only the system's libraries, that programs can be built against an installed kwhy by pkg-config and by CMake, and that
# Python finds the library.
# Usage: library.sh SOURCE_DIR BUILD_DIR
set -euo pipefail
source_dir=$1
build=$2
place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT

bad=0
complain() {
	echo "$*"
	bad=1
}

# check FOLDER NAME: checks that src/FOLDER/NAME.so exports the symbols in NAME.map, that include/kwhy declares these,
# and that its soname is NAME.so.0
check() {
	local library=$build/src/$1/$2.so shown mapped declared
	[ -e "$library" ] || { echo "$library was not built"; exit 1; }
	shown=$(nm -D --defined-only "$library" | awk '$2 != "A" {sub(/@.*/, "", $3); print $3}' | sort)
	mapped=$(sed -n 's/^\t\(kwhy_[a-z_]*\);$/\1/p' "$source_dir/src/$1/$2.map" | sort)
	declared=$(cat "$source_dir"/include/kwhy/*.h | grep -o 'kwhy_[a-z_]*(' | tr -d '(' | sort -u | grep -Fx "$mapped" || true)
	[ "$shown" = "$mapped" ] || complain "$2: shown and mapped differ: $(diff <(echo "$shown") <(echo "$mapped") | tr '\n' ' ')"
	[ "$declared" = "$mapped" ] || complain "$2: not declared in include/kwhy: $(comm -13 <(echo "$declared") <(echo "$mapped") | tr '\n' ' ')"
	readelf -d "$library" | grep -q "SONAME.*\[$2\.so\.0\]" || complain "the soname is not $2.so.0"
}

check measure libkwhy
check analyse libkwhy-analyse

# libkwhy-inject.so is loaded into other programs. It exports only its entry points, because other symbols could take
# the place of symbols of these programs.
shown=$(nm -D --defined-only "$build/src/inject/libkwhy-inject.so" | awk '{print $3}' | sort | tr '\n' ' ')
[ "$shown" = 'InitializeInjection InitializeInjectionNvtx2 kwhy_inject_take_range ' ] || complain "libkwhy-inject.so shows: $shown"

library=$build/src/measure/libkwhy.so
if ! readelf -d "$library" | grep -q 'NEEDED.*san\.so'; then # a sanitizer's build needs its own
	needed=$(readelf -d "$library" | sed -n 's/.*NEEDED.*\[\(.*\)\]/\1/p' | grep -vE '^(libc|libm|libdl|libpthread|ld-linux.*)\.so' || true)
	[ -z "$needed" ] || complain "needs more than the system's libraries: $needed"
else
	exit "$bad"
fi

cmake --install "$build" --prefix "$place/usr" >/dev/null
power=$source_dir/examples/h200-mix-burst/power.csv
example=$place/usr/share/kwhy/examples/measure
pc=$(dirname "$(find "$place/usr" -name kwhy.pc)")
if command -v pkg-config >/dev/null; then
	flags=$(PKG_CONFIG_PATH=$pc pkg-config --cflags --libs kwhy)
	# shellcheck disable=SC2086 # several words
	${CC:-cc} -std=c17 -Werror=implicit-function-declaration -o "$place/by-pkg-config" "$example/region.c" $flags
	LD_LIBRARY_PATH=$(dirname "$pc") "$place/by-pkg-config" "$power" >"$place/results.json" || complain "the program built by pkg-config fails"
	grep -q '"name": "step", "count": 20' "$place/results.json" || complain "its results do not show the region"
	grep -q '"state": "measured", "basis": "counter+power"' "$place/results.json" || complain "its results have no energy"
else
	echo "skipped: a program built by pkg-config, which is not installed"
fi
transfer=$place/usr/share/kwhy/examples/transfer
cmake -S "$transfer" -B "$place/transfer" -DCMAKE_PREFIX_PATH="$place/usr" >"$place/log" 2>&1 &&
	cmake --build "$place/transfer" >>"$place/log" 2>&1 || {
	cat "$place/log"
	complain "the transfer examples do not build"
}
"$place/transfer/pieces" host | grep -q '^4400 pieces in 100 flushes: 200 calls' || complain "examples/transfer/pieces does not move 4400 pieces by 200 calls"
"$place/transfer/stream" "$power" | grep -q "^$(wc -c <"$power") bytes, sum [1-9]" || complain "examples/transfer/stream does not stream a file"
cmake -S "$example" -B "$place/by-cmake" -DCMAKE_PREFIX_PATH="$place/usr" >"$place/log" 2>&1 &&
	cmake --build "$place/by-cmake" >>"$place/log" 2>&1 && "$place/by-cmake/region" "$power" >/dev/null || {
	cat "$place/log"
	complain "the program built by CMake fails"
}
analyse=$place/usr/share/kwhy/examples/analyse
decode=$source_dir/examples/recordings/decode.kwhy
if command -v pkg-config >/dev/null; then
	flags=$(PKG_CONFIG_PATH=$pc pkg-config --cflags --libs kwhy-analyse)
	# shellcheck disable=SC2086 # several words
	${CC:-cc} -std=c17 -Werror=implicit-function-declaration -o "$place/findings" "$analyse/findings.c" $flags
	[ "$(LD_LIBRARY_PATH=$(dirname "$pc") "$place/findings" "$decode" | grep -cE '^  (saves|frees)')" = 3 ] ||
		complain "examples/analyse does not print three findings"
fi
cmake -S "$analyse" -B "$place/analyse" -DCMAKE_PREFIX_PATH="$place/usr" >"$place/log" 2>&1 &&
	cmake --build "$place/analyse" >>"$place/log" 2>&1 && "$place/analyse/findings" "$decode" >"$place/findings.txt" || {
	cat "$place/log"
	complain "the analysis example built by CMake fails"
}
if command -v python3 >/dev/null; then
	env -i PATH="$PATH" PYTHONPATH="$place/usr/share/kwhy/python" PYTHONDONTWRITEBYTECODE=1 python3 -c '
import sys, kwhy
with kwhy.Session(replay_path=sys.argv[1]) as session:
    with session.measure("from python"):
        pass
    assert session.results()["from python"].count == 1' "$power" || complain "Python does not find the installed library"
	env -i PATH="$PATH" PYTHONPATH="$place/usr/share/kwhy/python" PYTHONDONTWRITEBYTECODE=1 python3 "$analyse/findings.py" "$decode" |
		cmp - "$place/findings.txt" || complain "examples/analyse/findings.py and findings.c do not print the same"
else
	echo "skipped: the library from Python, which is not installed"
fi
if command -v python3 >/dev/null && python3 -c 'import jsonschema' 2>/dev/null && [ -s "$place/results.json" ]; then
	python3 -c '
import json, jsonschema, sys
jsonschema.validate(json.load(open(sys.argv[1])), json.load(open(sys.argv[2])))' "$place/results.json" \
		"$source_dir/docs/formats/measure.schema.json" || complain "the results do not fit their schema"
else
	echo "skipped: the schema of the results: the Python module jsonschema is not installed"
fi
exit "$bad"
