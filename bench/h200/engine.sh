#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Measures the transfer engine on an H200: its property test on the real driver, the host time of a step, the overlap of
# copy and compute on 1 GiB, and the engine compared with a loop of copies and with one batch of them, in pairs within
# one run. Compiles this tree's bench/transfer_engine*.c and tests/property/transfer_test.c with the installed C
# compiler; neither CUDA's headers nor cmocka are needed. If nvcc is installed, the time of a launch by the size of its
# argument is measured, too.
# Usage: engine.sh KWHY_FOLDER OUT_FOLDER [cuda|hip|host]     (about 2 minutes on an H200)
# PARTS="steps pieces": only these parts. ENGINE_SECONDS: seconds of the comparison with loops (default 60).
# Targets (issue 6): at most 5 us of host time per step; an overlap efficiency of at least 0.95; the engine, with
# page-locked memory, takes at most 1.03 times as long as the better of loop and batch everywhere ("pinned/better").
set -u
root=$(cd "$(dirname "$0")/../.." && pwd)
kwhy=$(cd "$1" && pwd) || exit 2
[ -x "$kwhy/bin/kwhy" ] || { echo "engine.sh: no bin/kwhy in $kwhy" >&2; exit 2; }
mkdir -p "$2"
out=$(cd "$2" && pwd)
backend=${3:-cuda}
made=$(mktemp -d)
trap 'rm -rf "$made"' EXIT

step() {
	local name=$1
	shift
	local start=$SECONDS
	timeout "${STEP_LIMIT:-300}" "$@" > "$out/$name.out" 2> "$out/$name.err"
	echo "$name: exit $?, $((SECONDS - start)) s" | tee -a "$out/log.txt"
}

# Embeds the kernels, as kwhy_kernels() of cmake/KwhyOptions.cmake does.
for kernel in "$root"/src/gpu/kernels/*.cu "$root"/src/transfer/kernels/*.cu; do
	name=$(basename "$kernel" .cu)
	sed -e "s/@name@/$name/g" -e "s,@file@,$kernel,g" "$root/cmake/kernels.c.in" > "$made/$name.c"
done
flags=(-std=gnu17 -D_GNU_SOURCE -DKWHY_VERSION='"bench"' -O3 -fno-trapping-math -DNDEBUG -fPIC -ffunction-sections "-Wl,--gc-sections"
	-I"$root/src" -I"$root/include" -I"$root/bench" -I"$made" -I"$root/tests")
engine=("$made"/*.c "$root"/src/transfer/*.c "$root"/src/gpu/*.c "$root"/src/vendor/*.c "$root"/src/base/*.c -ldl -lpthread -lm)
step compile_bench "${CC:-cc}" "${flags[@]}" -o "$made/bench" "$root"/bench/transfer_engine*.c "${engine[@]}" &
# A header in place of cmocka.h, with the few functions of cmocka that the property test uses.
cat > "$made/cmocka.h" <<'C'
#pragma once
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#define fail_msg(...) (fprintf(stderr, __VA_ARGS__), fputc('\n', stderr), exit(1))
#define assert_true(what) ((what) ? (void)0 : (void)fail_msg("line %d: not so: %s", __LINE__, #what))
#define assert_non_null(what) assert_true((what) != NULL)
#define assert_memory_equal(a, b, bytes) assert_true(memcmp((a), (b), (bytes)) == 0)
#define cmocka_unit_test(test) {#test, test}
struct CMUnitTest { const char *name; void (*run)(void **state); };
#define cmocka_run_group_tests(tests, set_up, done) \
	(set_up(NULL) ? 1 : ((tests)[0].run(NULL), printf("passed: %s\n", (tests)[0].name), 0))
C
step compile_test "${CC:-cc}" "${flags[@]}" -o "$made/transfer_test" "$root/tests/property/transfer_test.c" "${engine[@]}"
wait

nvidia-smi --query-gpu=name,driver_version,temperature.gpu,clocks.sm,power.draw,power.limit --format=csv > "$out/gpu.csv" 2>&1
case $backend in cuda) number=0 ;; hip) number=1 ;; *) number=2 ;; esac
step property env KWHY_TEST_BACKEND=$number "$made/transfer_test"
for part in ${PARTS:-steps overlap pieces}; do
	step "$part" "$made/bench" --backend "$backend" --part "$part" --seconds "${ENGINE_SECONDS:-60}" --csv "$out"
done
# Measures the host time of a kernel launch by the size of the kernel's argument.
if command -v nvcc > /dev/null; then
	step compile_launches nvcc -O3 -std=c++17 -arch=native -o "$made/launches" "$root/bench/h200/programs/launches.cu" \
		-L"$(dirname "$(command -v nvcc)")/../lib64/stubs" -lcuda
	step launches "$made/launches"
fi
# Measures on this machine from which size which method of copying is fastest, for comparison with
# the sizes that are built into the engine.
[ -n "${PARTS:-}" ] || step crossover "$kwhy/bin/kwhy" bench transfer --backend "$backend" --quick --header "$out/crossover.h"
nvidia-smi --query-gpu=temperature.gpu,clocks.sm,power.draw --format=csv >> "$out/gpu.csv" 2>&1
cat "$out/log.txt" "$out/property.out" "$out"/{steps,overlap,pieces}.out 2> /dev/null || true
