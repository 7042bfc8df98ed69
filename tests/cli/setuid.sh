#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Tests that a setuid program that uses libkwhy ignores the environment variables of the user who starts it: no library
# is loaded and no file is written. Without the setuid bit the same variables must have an effect, or the test would
# prove nothing.
# Usage: setuid.sh REGIONS_PROGRAM
set -euo pipefail
[ "$(id -u)" -eq 0 ] || { echo "skipped: only root can make a program setuid root"; exit 77; }
command -v setpriv >/dev/null || { echo "skipped: no setpriv"; exit 77; }
place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT
chmod 755 "$place"
install -d -m 777 "$place/folder"
cp "$1" "$place/program"
cat >"$place/planted.c" <<'END'
#include <stdio.h>
#include <stdlib.h>
__attribute__((constructor)) static void loaded(void)
{
	fclose(fopen(getenv("MARK"), "w"));
}
void kwhy_inject_take_range(const char *name, long long start, long long end);
void kwhy_inject_take_range(const char *name, long long start, long long end)
{
	(void)name, (void)start, (void)end;
}
END
${CC:-cc} -shared -fPIC -o "$place/planted.so" "$place/planted.c"

# run: starts the program as user 65534, with variables that name a library and files which that
# user planted
run() {
	rm -f "$place/folder/mark"
	: >"$place/folder/work"
	chmod 666 "$place/folder/work"
	(cd "$place" && setpriv --reuid=65534 --regid=65534 --clear-groups env MARK="$place/folder/mark" \
		KWHY_RECORD_DIR="$place/folder" KWHY_WORK_FILE="$place/folder/work" CUDA_INJECTION64_PATH="$place/planted.so" \
		"$place/program")
}

chmod 4755 "$place/program"
if findmnt --noheadings --output OPTIONS --target "$place" | grep -qw nosuid; then
	echo "skipped: programs in the folder for temporary files cannot be setuid"
	exit 77
fi
library=$(ldd "$place/program" | awk '/libkwhy/ {print $3}')
setpriv --reuid=65534 --regid=65534 --clear-groups test -r "$library" || {
	echo "skipped: another user cannot read $library"
	exit 77
}
chmod 755 "$place/program"

bad=0
run || bad=1
[ -e "$place/folder/mark" ] && [ -s "$place/folder/work" ] || { echo "without the bit, the variables were not obeyed"; bad=1; }
chmod 4755 "$place/program"
run || bad=1
[ ! -e "$place/folder/mark" ] || { echo "a stranger's library was loaded"; bad=1; }
[ ! -s "$place/folder/work" ] || { echo "a stranger's file was written"; bad=1; }
exit "$bad"
