#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Tests that docs/ has a short page on each study of kwhy study, with the commands that the study runs.
# Usage: studies.sh SOURCE_DIR BUILD_DIR
set -euo pipefail
kwhy=$2/src/cli/kwhy
bad=0
complain() {
	echo "$*"
	bad=1
}
names=$("$kwhy" study | awk '/^[a-z]/ { print $1 }')
[ "$(wc -w <<<"$names")" -eq 5 ] || complain "kwhy study lists: $names"
for name in $names; do
	page=$1/docs/studies/$name.md
	[ -f "$page" ] || { complain "no page: $page"; continue; }
	[ "$(wc -w <"$page")" -le 450 ] || complain "$page has more than 450 words"
	grep -qF "($name.md)" "$1/docs/studies/README.md" || complain "docs/studies/README.md does not list $name"
	shown=$(sed -n 's/^    \(kwhy .*\)/\1/p' "$page" | sort)
	runs=$({
		"$kwhy" study "$name" run.kwhy --url http://localhost:8000/v1 --dry-run
		"$kwhy" study "$name" --work tokens=16384 --dry-run -- python3 generate.py
		"$kwhy" study "$name" --dry-run -- python3 train.py
		"$kwhy" study "$name" --dry-run
	} | sed -n 's/^kwhy /&/p' | sort -u)
	missing=$(comm -23 <(echo "$shown") <(echo "$runs"))
	[ -z "$missing" ] || complain "$page shows what the study does not run: $missing"
	steps=$("$kwhy" study "$name" --dry-run -- true | grep -cE '^(# )?kwhy ')
	[ "$(wc -l <<<"$shown")" -eq "$steps" ] || complain "$page shows $(wc -l <<<"$shown") of $steps commands"
done
exit $bad
