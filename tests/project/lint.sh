#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Runs clang-tidy with the checks of .clang-tidy over every source below src/ that this build compiles, or over the
# given ones.
# Usage: lint.sh SOURCE_DIR BUILD_DIR [SOURCE...]
set -euo pipefail
cd "$1"
build=$2
shift 2
command -v clang-tidy-14 >/dev/null || { echo "skipped: clang-tidy-14 is not installed"; exit 77; }
place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT
if [ $# -eq 0 ]; then
	sed -n "s|^ *\"file\": \"$PWD/\(src/.*\)\",\?$|\1|p" "$build/compile_commands.json" | sort -u
else
	printf '%s\n' "$@"
fi >"$place/sources"
count=$(wc -l <"$place/sources")
[ "$count" -gt 0 ] || { echo "$build compiles no source below src/"; exit 1; }

# tidy SOURCES_A_PROCESS NODES CHECKS: runs these checks on the sources on standard input, one a line. NODES: limit of
# the static analyser's steps for a function
failed=0
tidy() {
	xargs -r -d '\n' -P "$(nproc)" -n "$1" clang-tidy-14 -quiet -p "$build" -extra-arg=-Xclang -extra-arg=-analyzer-config \
		-extra-arg=-Xclang -extra-arg=max-nodes="$2" -checks="$3" >>"$place/log" 2>&1 || failed=1
}

# Starting clang-tidy takes as long as checking a small source, so a process gets up to 16 sources. One check is run
# apart, with a process for each source: that of va_start() and similar, which Clang 14 recognises only in the first
# source of a process.
each=$(((count + $(nproc) - 1) / $(nproc)))
[ "$each" -lt 16 ] || each=16
# The analyser's checkers for Objective-C, macOS, Fuchsia, WebKit, LLVM, MPI and nullability, and in C those for C++,
# find nothing here and take a fifth of the time, so they are switched off.
foreign=
for group in osx optin.osx optin.mpi optin.performance.GCDAntipattern webkit fuchsia nullability apiModeling.llvm \
	apiModeling.google; do
	foreign+=,-clang-analyzer-$group*
done
plus_plus=',-clang-analyzer-cplusplus.*,-clang-analyzer-optin.cplusplus.*'
# Sources that read data of other programs get twice the analyser's steps of others. clang-tidy's default, 225,000,
# finds nothing more in any source.
strangers='^src/(import|recording|serve|bench/pairs)/'
tidy "$each" 40000 "-clang-analyzer-valist.*$foreign$plus_plus" < <(grep -E "$strangers.*\.c\$" "$place/sources")
tidy "$each" 20000 "-clang-analyzer-valist.*$foreign$plus_plus" < <(grep -vE "$strangers" "$place/sources" | grep '\.c$')
tidy "$each" 40000 "-clang-analyzer-valist.*$foreign" < <(grep -v '\.c$' "$place/sources")
tidy 1 40000 '-*,clang-analyzer-valist.*' < <(xargs -d '\n' grep -lE '\bva_(start|copy|list)\b' <"$place/sources")
if [ "$failed" -ne 0 ]; then
	grep -E '(warning|error):' -A3 "$place/log" || cat "$place/log"
	exit 1
fi
echo "$count sources were checked"
