#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# train on an H200: the guide's training in all variants with energy, PyTorch beside it, one check at full width, and
# checkpointing and micro-batches where activations are large.
# Usage: train.sh KWHY_FOLDER OUT_FOLDER [short|several]     (the folder of the portable build; about 4 minutes; short: 80 s, fewer runs and less
# PyTorch; several: two GPUs alone, a minute)
set -u
here=$(cd "$(dirname "$0")" && pwd)
kwhy=$(cd "$1" && pwd)
mkdir -p "$2"
part=${3:-all}
out=$(cd "$2" && pwd)
program=$kwhy/bin/kwhy
# shellcheck source=programs/libraries.sh
. "$(dirname "$(realpath "$0")")/programs/libraries.sh"
use_libraries 'libnvrtc.so.1*' 'libcublas.so.1*'
use_package "$kwhy"

step() {
	local name=$1
	shift
	local start=$SECONDS
	timeout "${LIMIT:-60}" "$@" > "$out/$name.out" 2> "$out/$name.err"
	echo "$name: exit $?, $((SECONDS - start)) s" | tee -a "$out/log.txt"
}

nvidia-smi --query-gpu=name,driver_version,temperature.gpu,clocks.sm,power.draw,power.limit --format=csv > "$out/gpu.csv" 2>&1
# Two GPUs, where there are: the batch of the guide, where handing weights round takes longest, and one that is worth sharing.
several() {
	step parallel_64 "$program" bench train --dp 2 --variant queued,graph,pipeline,parallel --repeat 5 --seconds 2 -o "$out/parallel_64.json"
	step parallel_8192 "$program" bench train --dp 2 --variant queued,accumulate,pipeline,parallel --layers 8 --batch 8192 --samples 8192 --steps 8 --repeat 3 --seconds 2 \
		-o "$out/parallel_8192.json"
}

if [ "$part" = several ]; then
	several
	cat "$out/log.txt"
	exit
fi
if [ "$part" = short ]; then
	step train "$program" bench train --repeat 3 --seconds 1 -o "$out/train.json" --csv "$out/losses.csv"
	step torch "$python" "$here/train_torch.py" --peers eager,graph --seconds 1 --repeat 3 -o "$out/torch.json"
	for batch in 4096 8192; do
		step "deep_$batch" "$program" bench train --variant graph,checkpoint,accumulate --layers 16 --batch $batch --samples 8192 --steps $((32768 / batch)) \
			--check-width 128 --repeat 3 --seconds 1 -o "$out/deep_$batch.json"
	done
	cat "$out/log.txt"
	exit
fi
# What matters most first: all variants (each checked before it is timed), then PyTorch.
LIMIT=120 step train "$program" bench train --repeat 10 --seconds 2.5 -o "$out/train.json" --csv "$out/losses.csv"
LIMIT=150 step torch "$python" "$here/train_torch.py" --peers eager,guide,fp32,graph --seconds 2.5 --repeat 5 -o "$out/torch.json"
# Case D: at 16 layers, checkpointing on a batch of 8,192 beside none on 4,096: large tiles, fewer activations kept.
step deep_4096 "$program" bench train --variant queued,cublas,graph,checkpoint,accumulate --layers 16 --batch 4096 --samples 8192 --steps 8 --repeat 3 --seconds 2.5 -o "$out/deep_4096.json"
# One step at the width that is measured: the host takes seconds for that.
step wide "$program" bench train --variant fp32,graph --repeat 1 --seconds 0 --steps 1 --check-width 4096 --json
step deep_8192 "$program" bench train --variant graph,checkpoint --layers 16 --batch 8192 --samples 8192 --steps 4 --repeat 3 --seconds 2.5 -o "$out/deep_8192.json"
step torch_deep "$python" "$here/train_torch.py" --peers eager --layers 16 --batch 4096 --steps 8 --seconds 2.5 --repeat 3 -o "$out/torch_deep.json"
if [ "$(nvidia-smi -L | wc -l)" -ge 2 ] && [[ ${CUDA_VISIBLE_DEVICES:-0,1} == *,* ]]; then
	several
fi
nvidia-smi --query-gpu=temperature.gpu,clocks.sm,power.draw --format=csv >> "$out/gpu.csv" 2>&1
cat "$out/log.txt"
