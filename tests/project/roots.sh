#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Tests that the wheel, the .deb and the archive in dist/ each give a report after two commands in a fresh root file
# system of Debian 11, 12 and 13. The root file systems are kept in build/roots. A Debian release that the mirror lacks
# is skipped; then the test is skipped, unless another release failed.
# Usage: roots.sh SOURCE_DIR
set -euo pipefail
source_dir=$(readlink -f "$1")
skip() {
	echo "skipped: $*"
	exit 77
}
[ -s "$source_dir/dist/SHA256SUMS" ] || skip "no release in dist/; make release makes one"
[ "$(id -u)" -eq 0 ] || skip "a root can be made by root alone"
command -v debootstrap >/dev/null || skip "no debootstrap; scripts/setup release installs it"
[ "$(uname -m)" = x86_64 ] || skip "roots are made for x86_64"
mirror=${KWHY_DEBIAN_MIRROR:-http://deb.debian.org}/debian
roots=$source_dir/build/roots
mkdir -p "$roots"
place=$(mktemp -d "$roots/fresh-XXXXXX")
trap 'rm -rf "$place"' EXIT
bad=0

skipped=()

# base_root SUITE: makes a root file system as a user has it before installing kwhy: a minimal Debian with zstd and
# Python's virtual environments. Returns false if the mirror lacks the suite or making it fails.
base_root() {
	[ ! -e "$roots/$1/.made" ] || return 0
	rm -rf "${roots:?}/$1"
	if ! wget -q -O /dev/null "$mirror/dists/$1/Release"; then
		skipped+=("$1")
		return 1
	fi
	if ! debootstrap --variant=minbase --include=ca-certificates,python3-venv,zstd "$1" "$roots/$1" "$mirror" \
		>"$roots/$1.log" 2>&1; then
		echo "debootstrap of $1 failed: $(tail -n 1 "$roots/$1.log")"
		bad=1
		return 1
	fi
	touch "$roots/$1/.made"
}

# inside ROOT ARGUMENTS...: runs a command by chroot, with /proc mounted in ROOT until it ends. The loader needs /proc
# to find libraries next to the program.
inside() {
	unshare --mount --pid --fork --mount-proc="$1/proc" chroot "${@:2}"
}

# from_nothing SUITE WHAT FILE PREPARATION COMMAND COMMAND: copies FILE into a fresh copy of the root, runs PREPARATION
# there, then the two commands, whose time is printed
from_nothing() {
	local suite=$1 what=$2 file=$3 root=$place/$1-$2 began seconds
	cp -a --reflink=auto "$roots/$suite" "$root"
	mkdir "$root/new"
	cp "$file" "$root/new/"
	cp "$source_dir/examples/recordings/decode.kwhy" "$root/new/"
	inside "$root" "$root" sh -c "cd /new; $4" >"$place/log" 2>&1 || { cat "$place/log"; exit 1; }
	began=$(date +%s%N)
	if inside "$root" "$root" env -i PATH=/new/v/bin:/usr/sbin:/usr/bin:/sbin:/bin DEBIAN_FRONTEND=noninteractive \
		sh -c "cd /new; $5 >/new/log 2>&1 && $6" >"$place/report" 2>"$place/errors" && grep -q 'NVIDIA H200' "$place/report"; then
		seconds=$((($(date +%s%N) - began) / 1000000))
		echo "$suite, $what: $((seconds / 1000)).$(printf %03d $((seconds % 1000))) s"
	else
		cat "$root/new/log" "$place/errors"
		echo "$suite: no report from the $what"
		bad=1
	fi
	rm -rf "$root"
}

cd "$source_dir/dist"
for suite in bullseye bookworm trixie; do
	base_root "$suite" || continue
	from_nothing "$suite" wheel kwhy-*-manylinux_*_x86_64.whl "python3 -m venv v" \
		"pip install --no-index kwhy-*.whl" "kwhy report decode.kwhy"
	from_nothing "$suite" deb kwhy_*_amd64.deb "apt-get -qq update" \
		"apt-get install -qq -y --no-install-recommends ./kwhy_*.deb" "kwhy report decode.kwhy"
	from_nothing "$suite" archive kwhy-*-x86_64.tar.zst true \
		"tar --zstd -xf kwhy-*.tar.zst" "kwhy-*/bin/kwhy report decode.kwhy"
done
# The root of the container image must have everything that an unprivileged user needs.
mkdir "$place/image"
tar -xf kwhy-*-x86_64-root.tar -C "$place/image"
cp "$source_dir/examples/recordings/decode.kwhy" "$place/image/data/"
inside "$place/image" --userspec=65532:65532 "$place/image" /bin/kwhy report /data/decode.kwhy | grep -q 'NVIDIA H200' ||
	{ echo "no report in the container's root"; bad=1; }
inside "$place/image" --userspec=65532:65532 "$place/image" /bin/kwhy report --output /tmp/report.json /data/decode.kwhy ||
	{ echo "no folder for temporary files in the container's root"; bad=1; }
[ "$bad" -eq 0 ] || exit 1
[ "${#skipped[@]}" -eq 0 ] || skip "$mirror has no ${skipped[*]}, or does not answer"
