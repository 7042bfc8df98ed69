#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Builds the programs that pairs.sh, ranks.sh and transfers.sh hold kwhy against, from sources that lie here, into a folder for PATH: nccl-tests and nvbandwidth.
# They are for sm_90 and need of the other machine its driver and libnccl.so.2 alone. Needs nvcc, cmake, Boost's program_options (static), NCCL_HOME with
# include/nccl.h and lib/libnccl.so.2 (of a toolkit, or nvidia/nccl of the wheel), and, where the compiler does not find nvml.h and libnvidia-ml.so, NVML_HOME.
# usage: peers.sh OUT_FOLDER NCCL_TESTS_SOURCE NVBANDWIDTH_SOURCE
set -euo pipefail
mkdir -p "$1"
out=$(realpath "$1")
tests=$(realpath "$2")
bandwidth=$(realpath "$3")
cuda=${CUDA_HOME:-/usr/local/cuda}
nccl=$(realpath "${NCCL_HOME:-$cuda}")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export PATH=$cuda/bin:$PATH

# A wheel has no libnccl.so to link with.
mkdir "$work/nccl"
ln -s "$nccl/include" "$work/nccl/include"
mkdir "$work/nccl/lib"
ln -s "$nccl/lib/libnccl.so.2" "$work/nccl/lib/libnccl.so"
cp -r "$tests" "$work/tests"
make -s -C "$work/tests" -j"$(nproc)" CUDA_HOME="$cuda" NCCL_HOME="$work/nccl" CUDARTLIB=cudart_static NVCC_GENCODE=-gencode=arch=compute_90,code=sm_90 BUILDDIR="$work/built"
for name in sendrecv all_reduce all_gather reduce_scatter broadcast alltoall; do
	install -s "$work/built/${name}_perf" "$out/"
done

flags=()
[ -z "${NVML_HOME:-}" ] || flags=("-DCMAKE_CXX_FLAGS=-I$(realpath "$NVML_HOME")/include" "-DCMAKE_CUDA_FLAGS=-I$(realpath "$NVML_HOME")/include"
	"-DCMAKE_EXE_LINKER_FLAGS=-L$(realpath "$NVML_HOME")/lib -L$cuda/lib64/stubs")
cmake -S "$bandwidth" -B "$work/nvbandwidth" -DCMAKE_BUILD_TYPE=Release -DCMAKE_CUDA_ARCHITECTURES=90 "${flags[@]}" > /dev/null
cmake --build "$work/nvbandwidth" -j"$(nproc)" > /dev/null
install -s "$work/nvbandwidth/nvbandwidth" "$out/"
for program in "$out"/*; do
	echo "$program: needs $(readelf -d "$program" | sed -n 's/.*NEEDED.*\[\(.*\)\]/\1/p' | paste -sd ' ')"
done
