#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Tests that every folder of src/ includes only what the table of layers in ARCHITECTURE.md permits and, in a built
# tree, that it calls nothing else.
# Usage: layers.sh SOURCE_DIR [BUILD_DIR]
set -euo pipefail
build=${2:+$(realpath -m "$2")}
cd "$1"

# Prints "folder|may use" for each row of the table in ARCHITECTURE.md that begins with "| folder | holds | may use |".
layer_table() {
	awk -F'|' '
		function trim(text) { gsub(/^[ \t]+|[ \t]+$/, "", text); return text }
		/^\| folder \| holds \| may use \|/ { inside = 1; getline; next }
		inside && !/^\|/ { exit }
		inside { print trim($2) "|" trim($4) }
	' ARCHITECTURE.md
}

# Prints "file:line folder included" for every quoted include below src/.
includes() {
	grep -rnoE --include='*.[ch]' --include='*.cc' --include='*.def' '^[ \t]*#[ \t]*include[ \t]*"[^"]+"' src |
		sed -E 's/^(src\/([^/]+)\/[^:]*:[0-9]+):.*"([^"]+)"/\1 \2 \3/'
}

# Prints "folder letter symbol" for each symbol with the prefix kwhy_ that the library of a folder defines or uses.
# Letter: as nm prints it; U: used and not defined.
symbols() {
	for library in "$build"/src/*/libkwhy_*.a; do
		[ -e "$library" ] || continue
		nm "$library" 2>/dev/null | awk -v folder="$(basename "$(dirname "$library")")" \
			'NF >= 2 && $NF ~ /^_?kwhy_/ && $(NF - 1) ~ /^[A-Z]$/ { print folder, $(NF - 1), $NF }'
	done
}

# Prints "user symbol owner" for each symbol that the library of folder `user` uses and that of folder `owner` defines.
uses() {
	symbols | awk '
		$2 == "U" { used[$1 " " $3] = 1; next }
		{ owner[$3] = $1 }
		END {
			for (use in used) {
				split(use, part, " ")
				if (part[2] in owner && owner[part[2]] != part[1])
					print part[1], part[2], owner[part[2]]
			}
		}' | sort
}

declare -A allowed
while IFS='|' read -r folder uses; do
	[ "$uses" != nothing ] || uses=
	allowed[$folder]=" $folder $uses "
done < <(layer_table)
[ "${#allowed[@]}" -gt 0 ] || { echo "ARCHITECTURE.md has no layer table"; exit 1; }

bad=0
complain() {
	echo "$*"
	bad=1
}

for folder in src/*/; do
	folder=$(basename "$folder")
	[ -n "${allowed[$folder]:-}" ] || complain "src/$folder is not in the layer table of ARCHITECTURE.md"
done
for folder in "${!allowed[@]}"; do
	[ -d "src/$folder" ] || complain "ARCHITECTURE.md names src/$folder, which does not exist"
done
count=0
while read -r place folder included; do
	count=$((count + 1))
	layer=${included%%/*}
	if [ "$layer" = "$included" ]; then
		complain "$place: \"$included\" does not name its folder"
	elif [[ "${allowed[$folder]:-}" != *" $layer "* ]]; then
		complain "$place: $folder may not use $layer (\"$included\")"
	fi
done < <(includes)
[ "$count" -gt 0 ] || complain "no includes found below src/"
while read -r folder symbol owner; do
	[[ "${allowed[$folder]:-}" == *" $owner "* ]] || complain "src/$folder calls $symbol of src/$owner, which it may not use"
done < <([ -z "$build" ] || uses)
exit "$bad"
