#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Command lines of kwhy in documents, scripts, plans and messages name commands and options that there are.
# Usage: invocations.sh SOURCE_DIR BUILD_DIR
set -euo pipefail
cd "$1"
mapfile -d '' files < <(find README.md ARCHITECTURE.md CONTRIBUTING.md docs bench bindings examples scripts src \
	'(' -name '*.md' -o -name '*.scd' -o -name '*.sh' -o -name '*.plan' -o -name '*.c' -o -path 'scripts/*' ')' -type f -print0)
# The fewest that there are if none is overlooked: about 600 of them stand in the documents.
awk -v least=500 -f tests/project/invocations.awk <("$2/src/cli/kwhy" help --all) "${files[@]}"
