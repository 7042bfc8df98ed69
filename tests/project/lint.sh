#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# clang-tidy with the checks of .clang-tidy over every source that this build compiles below src/, or over those named.
# Usage: lint.sh SOURCE_DIR BUILD_DIR [SOURCE...]
set -euo pipefail
cd "$1"
build=$2
shift 2
command -v run-clang-tidy-14 >/dev/null || { echo "skipped: clang-tidy-14 is not installed"; exit 77; }
log=$(mktemp)
trap 'rm -f "$log"' EXIT
# run-clang-tidy takes patterns of paths.
if [ $# -eq 0 ]; then
	patterns=("^$PWD/src/")
else
	patterns=("${@/#/^$PWD/}")
	patterns=("${patterns[@]/%/\$}")
fi
# The analyser's budget a function: its default finds nothing more here and takes four times as long.
budget=(-extra-arg=-Xclang -extra-arg=-analyzer-config -extra-arg=-Xclang -extra-arg=max-nodes=40000)
if ! run-clang-tidy-14 -quiet -p "$build" -j "$(nproc)" "${budget[@]}" "${patterns[@]}" >"$log" 2>&1; then
	grep -E '(warning|error):' -A3 "$log" || cat "$log"
	exit 1
fi
grep -q 'clang-tidy' "$log" || { echo "clang-tidy checked nothing"; exit 1; }
