#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Tests that each command has a man page, that the page lists the options of the command and no others, each with or
# without a value as in the option table, that scdoc can make every page, and that --help lists all options, too.
# Usage: man_pages.sh SOURCE_DIR BUILD_DIR
set -euo pipefail
pages=$1/docs/man
bad=0
complain() {
	echo "$*"
	bad=1
}

# shown_options PAGE: prints the options in the page's section OPTIONS: the bold words "--name" and "-x" at the start of
# a line. Appends " =" if the rest of the line names a value.
shown_options() {
	awk '
		/^# / { inside = ($2 == "OPTIONS") }
		inside && /^\*-/ {
			count = 0
			while (match($0, /\*--?[a-zA-Z][a-z0-9-]*\*/)) {
				names[++count] = substr($0, RSTART + 1, RLENGTH - 2)
				$0 = substr($0, 1, RSTART - 1) substr($0, RSTART + RLENGTH)
			}
			for (i = 1; i <= count; i++) print names[i] (/[A-Za-z]/ ? " =" : "")
		}' "$1" | sort -u
}

# table_options COMMAND: prints the options of the command in the option table of kwhy, in the same form.
table_options() {
	awk -F'\t' -v command="$1" '
		$1 == command && $2 != "-" {
			value = $4 == "-" ? "" : " ="
			print $2 value
			if ($3 != "-") print $3 value
		}' <<<"$listing" | sort -u
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
	diff <(table_options "$command") <(shown_options "$page") ||
		complain "$name(1) and the option table differ (< table, > page)"
	# shellcheck disable=SC2086 # a command of two words
	help=$("$2/src/cli/kwhy" $command --help)
	while read -r option _; do
		grep -qE -e "(^|[ ,])$option([ ,[]|\$)" <<<"$help" || complain "kwhy $command --help does not show $option"
	done < <(table_options "$command")
done < <(awk -F'\t' '$2 == "-" {print $1}' <<<"$listing")
for page in "$pages"/*.scd; do
	command=$(basename "$page" .1.scd)
	command=${command#kwhy-}
	[ "$command" = kwhy ] || grep -qE "^${command/-/[ -]}	-" <<<"$listing" || complain "a page without a command: $page"
	[ -s "$2/man/$(basename "$page" .scd)" ] || complain "not made: $(basename "$page" .scd)"
done
exit "$bad"
