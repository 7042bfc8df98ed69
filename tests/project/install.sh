#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Tests that what `cmake --install` installs is complete and runs from there.
# Usage: install.sh SOURCE_DIR BUILD_DIR
set -euo pipefail
stage=$(mktemp -d)
trap 'rm -rf "$stage"' EXIT

cmake --install "$2" --prefix "$stage/usr" >/dev/null
cd "$stage/usr"
bad=0
for file in bin/kwhy share/man/man1/kwhy.1 share/kwhy/profiles/nvidia-h200.json share/kwhy/profiles/nvidia-h100.json \
	share/kwhy/examples/h200-decode/trace.json.zst share/bash-completion/completions/kwhy \
	share/zsh/site-functions/_kwhy share/fish/vendor_completions.d/kwhy.fish share/doc/kwhy/README.md; do
	[ -s "$file" ] || { echo "not installed: $file"; bad=1; }
done
env -i bin/kwhy version >/dev/null || { echo "the installed program does not start"; bad=1; }
example=share/kwhy/examples/h200-mix-burst
env -i bin/kwhy report "$example/activities.csv" --power "$example/power.csv" >/dev/null ||
	{ echo "the installed program cannot report on an example"; bad=1; }

# `make install` builds the target `installed` first. Tests that this target builds all libraries and programs that are
# installed.
ninja -C "$2" -t commands installed > "$stage/commands"
while read -r file; do
	grep -qF -- "$file" "$stage/commands" || { echo "the target installed does not build $file"; bad=1; }
done < <(find "$2" -name cmake_install.cmake -not -path "*/portable/*" -exec grep -hoE "FILES \"$2/[^\"]*(\.so|/kwhy)\"" {} + |
	sed -e "s|^FILES \"$2/||" -e 's|"$||' | sort -u)
exit "$bad"
