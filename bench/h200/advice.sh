#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Measures what docs/results/advice.md states about PyTorch programs. Part `one`, on one GPU: time and joules of
# variants of attention, perceptrons, memory layouts, streams and CUDA_DEVICE_MAX_CONNECTIONS, whose runs alternate
# (programs/advice.py), and data loaders that read ahead. Part `host`: what other processes, the placement of threads,
# data preparation on the host and the power limit cost (programs/host.py). Part `nccl`: an all-reduce over two GPUs
# with NCCL's variables; the file nccl-WARN.json has NCCL's defaults.
# Usage: advice.sh KWHY_FOLDER OUT_FOLDER ["one host nccl"]     (one, host: about a minute each; nccl: 40 s)
set -u
here=$(cd "$(dirname "$(realpath "$0")")" && pwd)
kwhy=$(cd "$1" && pwd)
parts=${3:-one}
mkdir -p "$2"
out=$(cd "$2" && pwd)
# shellcheck source=programs/libraries.sh
. "$here/programs/libraries.sh"
use_libraries 'libnvrtc.so.1*' 'libnccl.so.2*'
use_package "$kwhy"

step() {
	local name=$1 start=$SECONDS
	shift
	timeout 90 "$@" > "$out/$name.out" 2> "$out/$name.err"
	echo "$name: exit $?, $((SECONDS - start)) s" | tee -a "$out/log.txt"
}

if [[ " $parts " == *" one "* ]]; then
	step advice "$python" "$here/programs/advice.py" "$out/advice.json"
	step loaders "$kwhy/bin/kwhy" bench transfer -q --strategy loader,loader-ahead,pinned --direction h2d --min-size 64KiB --quick --time 10 -o "$out/loaders.json"
fi
if [[ " $parts " == *" host "* ]]; then
	step host "$python" "$here/programs/host.py" "$out/host.json"
	cat "$out/host.out"
fi
if [[ " $parts " == *" nccl "* ]]; then
	for variable in NCCL_DEBUG=WARN NCCL_PROTO=LL NCCL_PROTO=LL128 NCCL_PROTO=Simple NCCL_ALGO=Ring NCCL_ALGO=Tree; do
		step "nccl-${variable#*=}" env "$variable" "$kwhy/bin/kwhy" bench pairs -q --engine all-reduce --no-loads --time 5 -o "$out/nccl-${variable#*=}.json"
	done
fi
cat "$out/log.txt"
