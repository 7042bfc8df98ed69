#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Tests that the shell completions in the source tree are those that scripts/completions writes for the built kwhy, and
# that each installed shell can read its own file.
# Usage: completions.sh SOURCE_DIR BUILD_DIR
set -euo pipefail
fresh=$(mktemp -d)
trap 'rm -rf "$fresh"' EXIT

"$1/scripts/completions" "$2/src/cli/kwhy" "$fresh"
diff -ru "$1/completions" "$fresh" || {
	echo "stale: run scripts/completions $2/src/cli/kwhy completions"
	exit 1
}
bash -n "$fresh/kwhy.bash"
if command -v zsh >/dev/null; then zsh -n "$fresh/_kwhy"; else echo "skipped: the completions for zsh: there is no zsh"; fi
if command -v fish >/dev/null; then
	fish --no-execute "$fresh/kwhy.fish"
else
	echo "skipped: the completions for fish: there is no fish"
fi

# bash must complete "kwhy " to commands such as report, and "kwhy report --pow" to --power.
. "$fresh/kwhy.bash"
COMP_WORDS=(kwhy "") COMP_CWORD=1
_kwhy
[[ " ${COMPREPLY[*]} " == *" report "* ]] || { echo "bash does not complete 'report'"; exit 1; }
COMP_WORDS=(kwhy report --pow) COMP_CWORD=2
_kwhy
[[ " ${COMPREPLY[*]} " == *" --power "* ]] || { echo "bash does not complete 'report --pow'"; exit 1; }
