#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Every command has a page that shows each of its options and no other; every page can be made.
# Usage: man_pages.sh SOURCE_DIR BUILD_DIR
set -euo pipefail
pages=$1/docs/man
bad=0
complain() {
	echo "$*"
	bad=1
}

# Options shown by a page: the bold words "--name" and "-x" that start a line of its OPTIONS section.
shown_options() {
	awk '/^# / { inside = ($2 == "OPTIONS") } inside && /^\*-/' "$1" | grep -oE '\*--?[a-zA-Z][a-z0-9-]*\*' | tr -d '*' | sort -u
}

listing=$("$2/src/cli/kwhy" help --all)
[ -n "$listing" ] || complain "kwhy help --all prints nothing"
while read -r command; do
	name=kwhy-${command// /-}
	grep -qE "^\*$name\*\(1\)|^\*$command\*" "$pages/kwhy.1.scd" || complain "kwhy.1 does not list $command"
	page=$pages/$name.1.scd
	if [ ! -f "$page" ]; then
		complain "no man page: docs/man/$name.1.scd"
		continue
	fi
	diff <(awk -F'\t' -v command="$command" '$1 == command && $2 != "-" {print $2; if ($3 != "-") print $3}' <<<"$listing" | sort -u) \
		<(shown_options "$page") || complain "$name(1) and the option table differ (< table, > page)"
done < <(awk -F'\t' '$2 == "-" {print $1}' <<<"$listing")
for page in "$pages"/*.scd; do
	command=$(basename "$page" .1.scd)
	command=${command#kwhy-}
	[ "$command" = kwhy ] || grep -qE "^${command/-/[ -]}	-" <<<"$listing" || complain "a page without a command: $page"
	[ -s "$2/man/$(basename "$page" .scd)" ] || complain "not made: $(basename "$page" .scd)"
done
exit "$bad"
