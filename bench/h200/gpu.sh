#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Measures the host time of each call of src/gpu/gpu.h on a real driver (bench/gpu_calls.c). If KWHY_FOLDER/tests
# has gpu_contract (from build/release/tests/unit/gpu) and libcmocka.so.0 (from the distribution), it also tests
# that the CUDA back end does what gpu.h specifies, with both signatures that CUDA has for batches of copies. Needs
# one GPU, a C compiler and this checkout; 1 minute.
# usage: gpu.sh KWHY_FOLDER OUT_FOLDER
set -uo pipefail
source=$(realpath "$(dirname "$0")/../..")
folder=$(realpath "$1")
mkdir -p "$2"
out=$(realpath "$2")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export XDG_CACHE_HOME=$work/cache
# shellcheck source=programs/libraries.sh
. "$(dirname "$(realpath "$0")")/programs/libraries.sh"
use_libraries 'libnvrtc.so.1*'
nvidia-smi --query-gpu=name,driver_version,temperature.gpu,clocks.sm,pcie.link.gen.current,pcie.link.width.current --format=csv > "$out/gpu.csv"

if [ -x "$folder/tests/gpu_contract" ]; then
	LD_LIBRARY_PATH=$folder/tests:$LD_LIBRARY_PATH "$folder/tests/gpu_contract" cuda > "$out/contract.txt" 2>&1
	echo "contract: exit $?" | tee -a "$out/contract.txt"
fi
for name in burn gate; do
	sed "s|@name@|$name|g; s|@file@|$source/src/gpu/kernels/$name.cu|" "$source/cmake/kernels.c.in" > "$work/$name.c"
done
cc -O2 -std=gnu17 -D_GNU_SOURCE -I "$source/src" -o "$work/calls" "$source/bench/gpu_calls.c" "$source"/src/gpu/*.c \
	"$source"/src/vendor/{driver,rtc}.c "$source"/src/base/*.c "$source/src/fit/median.c" "$work"/{burn,gate}.c -lpthread -ldl -lm || exit 1
for round in 1 2 3; do
	"$work/calls" cuda 2000 > "$out/calls-$round.csv" 2> "$out/calls-$round.txt"
	echo "calls, round $round: exit $?"
done
cat "$out/calls-1.csv"
