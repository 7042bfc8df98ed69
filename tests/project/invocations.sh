#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Tests that command lines of kwhy in documents, scripts, plans and messages name existing commands and options.
# Usage: invocations.sh SOURCE_DIR BUILD_DIR
set -euo pipefail
cd "$1"
mapfile -d '' files < <(find README.md ARCHITECTURE.md CONTRIBUTING.md docs bench bindings examples scripts src \
	'(' -name '*.md' -o -name '*.scd' -o -name '*.sh' -o -name '*.plan' -o -name '*.c' -o -path 'scripts/*' ')' -type f -print0)
# These files have about 600 command lines of kwhy. Finding fewer than 500 means that invocations.awk overlooks some,
# and fails.
awk -v least=500 -f tests/project/invocations.awk <("$2/src/cli/kwhy" help --all) "${files[@]}"
