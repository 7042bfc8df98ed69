#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# decode on an H200: the decoder by batch and launching with energy, PyTorch's beside it, other weights last.
# Usage: decode.sh KWHY_FOLDER OUT_FOLDER [STEPS]    (the folder of the portable build; STEPS of "graph early device torch
# weights products bits record large torch_all torch_compiled autotune"; the first five when not given: about 2 minutes)
set -u
here=$(cd "$(dirname "$0")" && pwd)
kwhy=$(cd "$1" && pwd)
mkdir -p "$2"
out=$(cd "$2" && pwd)
steps=${3:-graph early device torch weights}
program=$kwhy/bin/kwhy
nvrtc=$(find / -xdev -name 'libnvrtc.so.1*' 2> /dev/null | head -1)
cublaslt=$(find / -xdev -name 'libcublasLt.so.1*' 2> /dev/null | head -1)
LD_LIBRARY_PATH=${LD_LIBRARY_PATH:-}:/usr/local/cuda/lib64:$(dirname "${nvrtc:-/x}"):$(dirname "${cublaslt:-/x}")
export LD_LIBRARY_PATH
PYTHONPATH=$kwhy/share/kwhy/python
KWHY_LIBRARY=$(find "$kwhy" -name 'libkwhy.so.0' | head -1)
export PYTHONPATH KWHY_LIBRARY
python=python3
limit=60
[ -x /opt/torch/.venv/bin/python ] && python=/opt/torch/.venv/bin/python

step() {
	local name=$1
	shift
	local start=$SECONDS
	timeout "$limit" "$@" > "$out/$name.out" 2> "$out/$name.err"
	echo "$name: exit $?, $((SECONDS - start)) s" | tee -a "$out/log.txt"
}

wants() { [[ " $steps " == *" $1 "* ]]; }

nvidia-smi --query-gpu=name,driver_version,temperature.gpu,clocks.sm,power.draw,power.limit --format=csv > "$out/gpu.csv" 2>&1
for launch in graph early; do
	wants $launch && step $launch "$program" bench decode --batch 1,8,64,256 --launch $launch --seconds 1.5 -o "$out/$launch.json"
done
wants device && step device "$program" bench decode --batch 1,8 --launch device --seconds 2 -o "$out/device.json"
limit=150
wants torch_all && step torch_all "$python" "$here/decode_torch.py" --batches 64,256,8,1 --seconds 1.5 \
	-o "$out/torch_all.json"
wants torch_compiled && step torch_compiled "$python" "$here/decode_torch.py" --peers compile --batches 64,256,8,1 --seconds 1 \
	-o "$out/torch_compiled.json"
wants torch && step torch "$python" "$here/decode_torch.py" --batches 1,64 --seconds 2 --repeat 3 -o "$out/torch.json"
wants weights && step weights "$program" bench decode --weights fp16,fp8,int8,int4,tf32,fp32 --batch 1,64 --launch graph \
	--seconds 1 --repeat 3 -o "$out/weights.json"
# Who multiplies prompts and many sequences faster?
for who in own cublaslt; do
	wants products && step products_$who "$program" bench decode --products $who --batch 1,8,32,64,128,256 --launch early \
		--seconds 0 --repeat 3 -o "$out/products_$who.json"
done
# Every kind of weights and way of launching, small and without energy: a row that is wrong says so.
wants bits && step bits "$program" bench decode --shape small --weights fp32,tf32,bf16,fp16,fp8,int8,int4 --batch 1,16,17,65 \
	--launch calls,graph,early,device --prompt 8 --tokens 8 --repeat 1 --seconds 0 -o "$out/bits.json"
wants bits && step bits_long "$program" bench decode --shape small --weights fp32,tf32,bf16,fp16,fp8,int8,int4 --batch 1,5,65 \
	--launch graph,early --products cublaslt --prompt 200 --tokens 8 --repeat 1 --seconds 0 -o "$out/bits_long.json"
if wants record; then
	# One ledger from outside: its energy and times beside those of graph.json.
	step record "$program" record -o "$out/decode.kwhy" -- "$program" bench decode --batch 64 --launch graph --seconds 0 \
		--repeat 20
	step report "$program" report "$out/decode.kwhy" --json
fi
limit=400
wants large && step large "$program" bench decode --shape opt-1.3b --batch 1,8,64 --launch graph,early,device --seconds 5 \
	-o "$out/large.json"
wants autotune && step autotune "$python" "$here/decode_torch.py" --peers autotune --seconds 5 -o "$out/autotune.json"
nvidia-smi --query-gpu=temperature.gpu,clocks.sm,power.draw --format=csv >> "$out/gpu.csv" 2>&1
cat "$out/log.txt"
