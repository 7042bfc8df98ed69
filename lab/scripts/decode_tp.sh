#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# decode on two GPUs, and as `four` on four, that share a decoder: every kind of weights held against the reference first, then both shapes on one and
# two GPUs with energy and with what waiting for each other costs; then, on one, what pages of keys
# and values cost and save, beams, and sparse weights.
# Usage: decode_tp.sh KWHY_FOLDER OUT_FOLDER [STEPS]    (the folder of the portable build; STEPS of "bits small large graph
# pages beams sparse four"; the first three when not given: about 100 s)
set -u
kwhy=$(cd "$1" && pwd)
mkdir -p "$2"
out=$(cd "$2" && pwd)
steps=${3:-bits small large}
program=$kwhy/bin/kwhy
# shellcheck source=programs/libraries.sh
. "$(dirname "$(realpath "$0")")/programs/libraries.sh"
use_libraries 'libnvrtc.so.1*'

step() {
	local name=$1
	shift
	local start=$SECONDS
	timeout "$limit" "$@" > "$out/$name.out" 2> "$out/$name.err"
	echo "$name: exit $?, $((SECONDS - start)) s" | tee -a "$out/log.txt"
}

wants() { [[ " $steps " == *" $1 "* ]]; }

nvidia-smi --query-gpu=name,driver_version,temperature.gpu,clocks.sm,power.draw,power.limit --format=csv > "$out/gpu.csv" 2>&1
nvidia-smi topo -m > "$out/topo.txt" 2>&1
limit=60
wants small && step small "$program" bench decode --batch 1,8,64 --launch early --tp 1,2 --repeat 3 --seconds 0.8 -o "$out/small.json"
limit=30
wants bits && step bits "$program" bench decode --shape small --weights bf16,fp32,int8 --batch 1,16,17,65 \
	--launch calls,graph,early --tp 2 --prompt 8 --tokens 8 --repeat 1 --seconds 0 -o "$out/bits.json"
wants bits && step beam_bits "$program" bench decode --shape small --weights bf16,fp32 --batch 1,9 --beam 4 --page 0,64 \
	--launch calls,graph,early --prompt 70 --tokens 70 --repeat 1 --seconds 0 -o "$out/beam_bits.json"
limit=75
wants large && step large "$program" bench decode --shape opt-1.3b --batch 1,8,64 --launch early --tp 1,2 --repeat 3 --seconds 0.8 \
	-o "$out/large.json"
wants graph && step graph "$program" bench decode --batch 1,8 --launch graph --tp 1,2 --seconds 1.5 -o "$out/graph.json"
wants pages && step pages "$program" bench decode --batch 8,64 --page 0,64 --launch graph --arrivals 300 --repeat 3 \
	--seconds 0.8 -o "$out/pages.json"
wants sparse && step sparse "$program" bench decode --weights fp16,fp16-2:4 --batch 1,16,64 --launch early --repeat 3 --seconds 0.8 \
	-o "$out/sparse.json"
# How it grows, and the laws that fit.
for batch in 8 64 256; do
	wants four && step four_$batch "$program" bench decode --shape opt-1.3b --batch $batch --launch early --tp 1,2,4 --repeat 3 --seconds 0.8 \
		-o "$out/four_$batch.json" --csv "$out/four_$batch.csv"
	wants four && step scale_$batch "$program" model scale "$out/four_$batch.csv"
done
for beams in 1 4; do
	wants beams && step beams_$beams "$program" bench decode --batch 1,16 --beam $beams --launch early --repeat 3 --seconds 0.8 \
		-o "$out/beams_$beams.json"
done
nvidia-smi --query-gpu=temperature.gpu,clocks.sm,power.draw --format=csv >> "$out/gpu.csv" 2>&1
cat "$out/log.txt"
