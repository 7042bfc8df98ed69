#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# A study from end to end on the host back end: every step has a result apart from those for which nothing was given, the page has each
# step's command and text, and a second call runs nothing again. Usage: study.sh KWHY NAME
set -euo pipefail
kwhy=$1
name=$2
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
fail() {
	echo "$*"
	exit 1
}

"$kwhy" study "$name" --backend host --quick -q >out 2>err || { cat err; fail "the study $name failed"; }
grep -qE '^[1-5] of [1-5] steps have a result: study-'"$name"'/study.html$' out || fail "said: $(cat out)"
page=study-$name/study.html
commands=$("$kwhy" study "$name" --backend host --quick --dry-run | grep -c '^kwhy ')
[ "$(grep -c '^<p><code>kwhy ' "$page")" -ge "$commands" ] || fail "the page lacks commands"
[ "$(grep -c '^<p class="note">It took ' "$page")" -eq "$commands" ] || fail "the page lacks results"
[ "$(grep -c '^<pre>' "$page")" -ge 1 ] || fail "the page has no text"
# What was not given is all that is not measured.
if grep '^<p class="missing">' "$page" | grep -v 'no program was given\|no server was given'; then
	fail "the page misses a result"
fi
if grep -iE '<script|https?://' "$page"; then
	fail "the page needs something else"
fi
find "study-$name" -type f ! -name study.html ! -name study.json -exec stat -c '%n %Y %s' {} + | sort >before
"$kwhy" study "$name" --backend host --quick >out 2>err || { cat err; fail "the second call failed"; }
find "study-$name" -type f ! -name study.html ! -name study.json -exec stat -c '%n %Y %s' {} + | sort >after
diff before after || fail "the second call ran a step again"
[ "$(grep -c ': kept, nothing has changed$' err)" -eq "$commands" ] || fail "said: $(cat err)"
echo "$name: $commands commands"
