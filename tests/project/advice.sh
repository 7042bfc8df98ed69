#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# What docs/advice.md and docs/cases.md name is there: commands with their options, findings, checks of the doctor, files.
# Usage: advice.sh SOURCE_DIR BUILD_DIR
set -euo pipefail
cd "$1"
pages=(docs/advice.md docs/cases.md)
listing=$("$2/src/cli/kwhy" help --all)
bad=0
complain() {
	echo "$*"
	bad=1
}

# Lines "`kwhy ...`" and those of code blocks, from kwhy on; what a command runs itself ends its words.
commands() {
	{
		grep -ohE '`kwhy [^`]+`' "${pages[@]}" | tr -d '`'
		grep -ohE '^    .*\bkwhy [a-z].*' "${pages[@]}" | grep -oE 'kwhy [a-z].*'
	} | sed 's/ -- .*//; s/ | .*//; s/ && .*//' | sort -u
}

# The one or two words of a command line that name a command; fails where there is none such.
command_of() {
	local second=${3:-}
	for name in "$2 $second" "$2"; do
		if awk -F'\t' -v name="$name" '$1 == name && $2 == "-" {found = 1} END {exit !found}' <<<"$listing"; then
			echo "$name"
			return
		fi
	done
	return 1
}

count=0
while read -r line; do
	read -ra words <<<"$line"
	count=$((count + 1))
	command=$(command_of "${words[@]}") || {
		complain "no such command: $line"
		continue
	}
	for word in "${words[@]}"; do
		[[ $word == --[a-z]* ]] || continue
		awk -F'\t' -v command="$command" -v option="${word%%=*}" '$1 == command && $2 == option {found = 1} END {exit !found}' \
			<<<"$listing" || complain "kwhy $command has no ${word%%=*}: $line"
	done
done < <(commands)
[ "$count" -ge 20 ] || complain "only $count commands were found in ${pages[*]}"

# named KIND: the words in backquotes behind "KIND", several with commas or "and" between.
named() {
	grep -ohE "\b$1 \`[a-z0-9_-]+\`((,| and) \`[a-z0-9_-]+\`)*" "${pages[@]}" | grep -oE '`[^`]+`' | tr -d '`' | sort -u
}
for id in $(named 'findings?'); do
	grep -qF "\"$id\"" src/detect/detect.c || complain "no such finding: $id"
done
for id in $(named 'doctor'); do
	grep -qF "\"$id\"" src/host/gpu_checks.c src/host/machine_checks.c src/host/variables.c || complain "no such check: $id"
done
for link in $(grep -ohE '\]\([^)#]+' "${pages[@]}" | cut -c3- | sort -u); do
	[[ $link == http* ]] || [ -e "docs/$link" ] || complain "no such file: $link"
done
for path in $(grep -ohE '`(bench|examples|docs|tests)/[^` ]+`' "${pages[@]}" | tr -d '`' | sort -u); do
	[ -e "$path" ] || complain "no such file: $path"
done
exit "$bad"
