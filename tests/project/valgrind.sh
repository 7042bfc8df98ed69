#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Tests by valgrind's memcheck that a report on measured kernels and the quick tests of the ledger do not use
# uninitialised memory.
# Usage: valgrind.sh SOURCE_DIR BUILD_DIR
set -euo pipefail
command -v valgrind >/dev/null || { echo "skipped: no valgrind; scripts/setup check installs it"; exit 77; }
if grep -qE '^KWHY_SANITIZE:[A-Z]+=.' "$2/CMakeCache.txt"; then
	echo "skipped: a sanitizer's program does not run under valgrind"
	exit 77
fi
log=$(mktemp)
trap 'rm -f "$log"' EXIT

check() {
	valgrind --quiet --error-exitcode=99 "$@" >"$log" 2>&1 || { tail -40 "$log"; echo "fails: $*"; exit 1; }
}

cd "$1/examples/h200-mix-burst"
check "$2/src/cli/kwhy" report --json activities.csv --power power.csv --machine-profile "$1/profiles/nvidia-h200.json"
# Tests of the ledger that valgrind runs quickly. Left out are slow ones: clean_idle, answers and posterior would take a
# minute.
tests=(accounts energy_apportion energy_response energy_unfitted overhead roofline sums sweep time windows)
for test in "${tests[@]}"; do
	check "$2/tests/unit/ledger/unit_ledger_$test"
done
echo "one report and ${#tests[@]} tests read no memory that nobody has set"
