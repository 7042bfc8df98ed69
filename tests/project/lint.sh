#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# clang-tidy with the checks of .clang-tidy over every source that this build compiles below src/.
# Usage: lint.sh SOURCE_DIR BUILD_DIR
set -euo pipefail
cd "$1"
command -v run-clang-tidy-14 >/dev/null || { echo "clang-tidy-14 is not installed"; exit 77; }
log=$(mktemp)
trap 'rm -f "$log"' EXIT
# The analyser's budget a function: its default finds nothing more here and takes four times as long.
budget=(-extra-arg=-Xclang -extra-arg=-analyzer-config -extra-arg=-Xclang -extra-arg=max-nodes=40000)
if ! run-clang-tidy-14 -quiet -p "$2" -j "$(nproc)" "${budget[@]}" "^$PWD/src/" >"$log" 2>&1; then
	grep -E '(warning|error):' -A3 "$log" || cat "$log"
	exit 1
fi
grep -q 'clang-tidy' "$log" || { echo "clang-tidy checked nothing"; exit 1; }
