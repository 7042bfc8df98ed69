#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Tests that clang-format 14 would change no C or C++ file.
# Usage: format.sh SOURCE_DIR
set -euo pipefail
cd "$1"
command -v clang-format-14 >/dev/null || { echo "skipped: clang-format-14 is not installed"; exit 77; }
find src lab tests bench -name '*.[ch]' -o -name '*.cc' | sort | xargs clang-format-14 --dry-run -Werror --ferror-limit=3
