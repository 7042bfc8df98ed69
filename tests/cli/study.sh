#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Tests `kwhy study NAME` on the host back end. Each step must have a result, except those that need a program or a
# server that was not given. The page must have the command and the output of each step. A second call must run no step
# again. With SERVER, a fake server of language models (tests/fakes/llm), the steps that need a server are measured,
# too.
# Usage: study.sh KWHY NAME [SERVER]
set -euo pipefail
kwhy=$1
name=$2
given=(--backend host --quick)
folder=$(mktemp -d)
server=
trap '[ -z "$server" ] || kill -KILL "$server"; rm -rf "$folder"' EXIT
cd "$folder"
fail() {
	echo "$*"
	exit 1
}

if [ $# -gt 2 ]; then
	command -v python3 >/dev/null || { echo "skipped: no python3"; exit 77; }
	python3 "$3" well port &
	server=$!
	until [ -s port ] || ! kill -0 "$server" 2>/dev/null; do :; done
	given+=(--url "http://127.0.0.1:$(cat port)/v1")
fi
"$kwhy" study "$name" "${given[@]}" -q >out 2>err || { cat err; fail "the study $name failed"; }
page=study-$name/study.html
"$kwhy" study "$name" "${given[@]}" --dry-run >script
commands=$(grep -c '^kwhy ' script)
steps=$(grep -cE '^(# )?kwhy ' script)
grep -qx "$commands of $steps steps have a result: $page" out || fail "not $commands of $steps steps: $(cat out)"
[ "$(grep -c '^<p><code>kwhy ' "$page")" -ge "$commands" ] || fail "the page lacks commands"
[ "$(grep -c '^<p class="note">It took ' "$page")" -eq "$commands" ] || fail "the page lacks results"
[ "$(grep -c '^<pre>' "$page")" -ge 1 ] || fail "the page has no text"
# A step may lack a result only because no program or no server was given for it.
if grep '^<p class="missing">' "$page" | grep -v 'no program was given\|no server was given'; then
	fail "the page misses a result"
fi
if sed "s|${given[-1]}||" "$page" | grep -iE '<script|https?://'; then
	fail "the page needs something else"
fi
find "study-$name" -type f ! -name study.html ! -name study.json -exec stat -c '%n %Y %s' {} + | sort >before
"$kwhy" study "$name" "${given[@]}" >out 2>err || { cat err; fail "the second call failed"; }
find "study-$name" -type f ! -name study.html ! -name study.json -exec stat -c '%n %Y %s' {} + | sort >after
diff before after || fail "the second call ran a step again"
[ "$(grep -c ': kept, nothing has changed$' err)" -eq "$commands" ] || fail "said: $(cat err)"
echo "$name: $commands commands"
