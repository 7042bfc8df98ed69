#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Tests that programs and libraries to be installed are hardened: position-independent code, relocations read-only
# before main(), no executable stack, stack canaries, checked calls of the C library (_FORTIFY_SOURCE), and marked
# targets of indirect jumps. Skipped for other builds than those for users.
# Usage: hardening.sh SOURCE_DIR BUILD_DIR
set -euo pipefail
build=$2
if grep -q '^KWHY_HARDEN:BOOL=OFF' "$build/CMakeCache.txt" || ! grep -qE '^CMAKE_BUILD_TYPE:[A-Z]+=Rel' "$build/CMakeCache.txt" || grep -qE '^KWHY_SANITIZE:[A-Z]+=.' "$build/CMakeCache.txt"; then
	echo "skipped: only builds for users are hardened"
	exit 77
fi
bad=0
complain() {
	echo "$file: $*"
	bad=1
}

# Marks of jump targets: endbr64 on x86, bti c on ARM. Counts the instructions, because the linker marks the whole file
# only if the C library's start files have marks, which some distributions' have not.
case $(uname -m) in
x86_64) target='\xf3\x0f\x1e\xfa' ;;
aarch64) target='\x5f\x24\x03\xd5' ;;
*) target= ;;
esac
for file in src/cli/kwhy src/measure/libkwhy.so src/analyse/libkwhy-analyse.so src/inject/libkwhy-inject.so; do
	path=$build/$file
	[ -e "$path" ] || { complain "was not built"; continue; }
	header=$(readelf --wide --file-header "$path")
	segments=$(readelf --wide --program-headers "$path")
	dynamic=$(readelf --wide --dynamic "$path")
	symbols=$(readelf --wide --dyn-syms "$path")
	grep -q 'Type: *DYN' <<<"$header" || complain "its code is not position-independent"
	grep -q 'GNU_RELRO' <<<"$segments" && grep -qE 'BIND_NOW|FLAGS.*NOW' <<<"$dynamic" || complain "relocations stay writable"
	grep -E 'GNU_STACK' <<<"$segments" | grep -q 'RW ' || complain "its stack may be executed"
	! grep -E '^ *LOAD' <<<"$segments" | grep -q 'RWE' || complain "a segment may be written and executed"
	! grep -qE 'TEXTREL' <<<"$dynamic" || complain "relocations are in its code"
	grep -q '__stack_chk_fail' <<<"$symbols" || complain "no canaries on its stack"
	grep -qE '__[a-z]+_chk' <<<"$(grep -v __stack_chk_fail <<<"$symbols")" || complain "calls of the C library are not checked"
	[ -z "$target" ] || [ "$(LC_ALL=C grep -aoP "$target" "$path" | wc -l)" -gt 100 ] || complain "jumps are not checked"
done
exit "$bad"
