#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Tests that a portable build of kwhy runs from another folder with an empty environment, and needs no newer glibc than
# 2.36.
# Usage: portable.sh SOURCE_DIR BUILD_DIR
set -euo pipefail
source_dir=$1
build=$2/portable
place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT

cmake -S "$source_dir" -B "$build" -G Ninja -DCMAKE_BUILD_TYPE=Release -DKWHY_PORTABLE=ON -DKWHY_TESTS=OFF \
	-DKWHY_BENCH=OFF -DKWHY_WERROR=ON >"$place/log" 2>&1 && cmake --build "$build" >>"$place/log" 2>&1 || {
	tail -n 30 "$place/log"
	exit 1
}
folders=("$build"/kwhy-*-"$(uname -m)")
[ "${#folders[@]}" -eq 1 ] || { echo "expected one folder, found: ${folders[*]}"; exit 1; }
cp -a "${folders[0]}" "$place/moved here"
cd "$place/moved here"

bad=0
complain() {
	echo "$*"
	bad=1
}

env -i bin/kwhy version >/dev/null || complain "bin/kwhy does not start with an empty environment"
bash "$source_dir/tests/project/hardening.sh" "$source_dir" "$build" || complain "the portable build is not hardened"
example=share/kwhy/examples/h200-mix-burst
env -i bin/kwhy report "$example/activities.csv" --power "$example/power.csv" >"$place/report" ||
	complain "bin/kwhy cannot report on a bundled example"
grep -q 'NVIDIA' "$place/report" || complain "the report does not name the device"
for part in lib/kwhy/libkwhy-inject.so share/terminfo/x/xterm share/kwhy/monitoring share/kwhy/profiles share/man/man1 share/kwhy/examples LICENSE; do
	[ -e "$part" ] || complain "$part is missing"
done

from_glibc='^(linux-vdso|ld-linux-x86-64|libc|libm|libdl|librt|libpthread)\.so'
libraries=0
needed() {
	env -i ldd bin/kwhy
	env -i ldd lib/libkwhy-analyse.so
}
while IFS='|' read -r name path; do
	libraries=$((libraries + 1))
	[[ $(basename "$name") =~ $from_glibc ]] || [[ $path == "$PWD"/* ]] ||
		complain "$name comes from outside the folder: $path"
done < <(needed | sed -E 's/^[ \t]*([^ ]+)( => (.*[^ ]))?( \(0x[0-9a-f]+\))$/\1|\3/; s/^[ \t]*([^ ]+) => not found$/\1|not found/')
[ "$libraries" -gt 0 ] || complain "ldd says nothing about bin/kwhy and lib/libkwhy-analyse.so"

newest=$(readelf --version-info --wide bin/kwhy lib/*.so* | grep -oE 'GLIBC_2\.[0-9]+' | sort -t. -k2 -n | tail -n 1)
if [ -n "$newest" ] && [ "${newest#GLIBC_2.}" -gt 36 ]; then
	. /etc/os-release
	if [ "$ID-${VERSION_ID:-}" = debian-12 ]; then
		complain "needs $newest; the limit is GLIBC_2.36"
	else
		echo "built on $PRETTY_NAME this folder needs $newest; build on Debian 12 for GLIBC_2.36"
	fi
fi
exit "$bad"
