#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Runs lint.sh over the sources below src/ that have changed since the branch left main, uncommitted changes included.
# On main itself, if nothing below src/ is uncommitted, it takes the changes of the last commit. For a header, it takes
# one source that includes it. Files that were only moved count as unchanged.
# Usage: lint_changed.sh SOURCE_DIR BUILD_DIR
set -euo pipefail
cd "$1"
skip() {
	echo "skipped: $*"
	exit 77
}
git rev-parse --git-dir >/dev/null 2>&1 || skip "not a git checkout; make check-all lints the whole tree"

base=
for main in main origin/main; do
	if git rev-parse -q --verify "$main^{commit}" >/dev/null; then
		base=$(git merge-base "$main" HEAD) || base=
		break
	fi
done
if [ -z "$base" ] || { [ "$base" = "$(git rev-parse HEAD)" ] && [ -z "$(git status --porcelain -- src)" ]; }; then
	base=$(git rev-parse -q --verify HEAD~1) || skip "the commit before is not here; make check-all lints the whole tree"
fi

# Prints the path of each source that changed since $base and was not deleted; of a moved file that changed, the new
# path. Files that were only moved are left out; new files that git does not know are included.
changed() {
	git diff --name-status -M --diff-filter=d "$base" -- src | grep -v '^R100' | awk -F '\t' '{print $NF}' || true
	git ls-files --others --exclude-standard -- src
}
sources=()
while read -r file; do
	case $file in
	*.c | *.cc) ;;
	*.h)
		same=${file%.h}.c
		if [ -e "$same" ]; then
			file=$same
		else
			file=$(grep -rlF --include='*.c' --include='*.cc' "\"${file#src/}\"" src | head -n 1) || true
		fi
		;;
	*) continue ;;
	esac
	# clang-tidy can read only what this build compiles.
	[ -z "$file" ] || ! grep -qF "/$file\"" "$2/compile_commands.json" || sources+=("$file")
done < <(changed)
[ "${#sources[@]}" -gt 0 ] || skip "no source of this build below src/ changed since $(git log -1 --format='%h (%s)' "$base")"
mapfile -t sources < <(printf '%s\n' "${sources[@]}" | sort -u)
echo "${#sources[@]} sources changed since $(git log -1 --format='%h' "$base")"
exec tests/project/lint.sh "$PWD" "$2" "${sources[@]}"
