#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The pages of advice and cases name findings, checks of kwhy doctor, and files. Tests that each of
# these exists. (invocations.sh tests command lines, links.sh tests links.)
set -euo pipefail
cd "$1"
shopt -s nullglob
pages=(docs/advice.md docs/results/advice.md {docs,lab/results}/cases.m[d])
[ "${#pages[@]}" -ge 3 ] || { echo "the page of cases is missing"; exit 1; }
bad=0
complain() {
	echo "$*"
	bad=1
}

# named KIND: prints the words in backquotes after "KIND"; there may be several, with commas or "and" between them
named() {
	grep -ohE "\b$1 \`[a-z0-9_-]+\`((,| and) \`[a-z0-9_-]+\`)*" "${pages[@]}" | grep -oE '`[^`]+`' | tr -d '`' | sort -u
}
for id in $(named 'findings?'); do
	grep -qF "\"$id\"" src/detect/detect.c || complain "no such finding: $id"
done
for id in $(named 'doctor'); do
	grep -qF "\"$id\"" src/host/gpu_checks.c src/host/machine_checks.c src/host/variables.c || complain "no such check: $id"
done
for path in $(grep -ohE '`(bench|examples|docs|tests)/[^` ]+`' "${pages[@]}" | tr -d '`' | sort -u); do
	[ -e "$path" ] || complain "no such file: $path"
done
exit "$bad"
