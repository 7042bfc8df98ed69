#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# decode on an H200: the decoder by batch and launching with energy, PyTorch's beside it, other weights last.
# Usage: decode.sh KWHY_FOLDER OUT_FOLDER [STEPS]    (the folder of the portable build; STEPS of "graph early device torch
# weights drawn products bits record profile large torch_all torch_compiled autotune"; the first five when not given: about 2 minutes;
# profile, kernel by kernel, wants torch_compiled before it and takes 100 s)
set -u
here=$(cd "$(dirname "$0")" && pwd)
kwhy=$(cd "$1" && pwd)
mkdir -p "$2"
out=$(cd "$2" && pwd)
steps=${3:-graph early device torch weights}
program=$kwhy/bin/kwhy
# shellcheck source=programs/libraries.sh
. "$(dirname "$(realpath "$0")")/programs/libraries.sh"
use_libraries 'libnvrtc.so.1*' 'libcublasLt.so.1*'
use_package "$kwhy"
limit=60

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
# Tokens that are drawn instead of chosen, and sequences that arrive at random.
wants drawn && step drawn "$program" bench decode --batch 1,64,256 --launch early --temperature 0.8 --top-k 40 --top-p 0.95 --seconds 1 --repeat 3 \
	-o "$out/drawn.json"
wants drawn && step arrivals "$program" bench decode --batch 8,64 --launch calls,graph --arrivals 300 --seconds 1 --repeat 3 -o "$out/arrivals.json"
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
	# One ledger from outside: is the energy of the benchmark's own windows, by the ledger of that same process, what the benchmark says?
	IFS=, read -ra visible <<< "${CUDA_VISIBLE_DEVICES:-0}"
	step record "$program" record -q --one-file --device "${visible[0]}" -o "$out/decode.kwhy" -- "$program" bench decode --batch 8,64 --launch graph \
		--seconds 6 --repeat 3 -o "$out/recorded.json"
	step report "$program" report "$out/decode.kwhy" --json -o "$out/decode.report.json"
	python3 - "$out" << 'P' | tee -a "$out/log.txt"
import json, sys
ranges = {r["name"]: r["window_energy_nj"] for r in json.load(open(f"{sys.argv[1]}/decode.report.json"))["ranges"]}
for row in json.load(open(f"{sys.argv[1]}/recorded.json"))["rows"]:
    for name in "reading", "writing":
        phase, ledger_nj = row[name], ranges.get(f"{row['id']} {name}")
        if phase["gross_j_per_token"]["value"] is None or ledger_nj is None:
            print(f"{row['id']} {name}: the benchmark or the ledger has no energy")
            continue
        said_j = phase["gross_j_per_token"]["value"] * phase["tokens_a_run"] * phase["energy_runs"]
        print(f"{row['id']} {name}: {said_j:.5g} J in {phase['window_s']:.2f} s by the benchmark, {1e-9 * ledger_nj:.5g} by the ledger, {100 * (1e-9 * ledger_nj / said_j - 1):+.2f} %")
P
fi
# Kernel by kernel, a second and more of tokens by one graph each, ours and PyTorch's: accounts.csv has time, joules and counts.
profile() {
	local name=$1
	shift
	step "$name" "$program" record -q --one-file --graphs node -o "$out/$name.kwhy" -- "$@"
	step "$name.accounts" "$program" report -q "$out/$name.kwhy" --csv accounts -o "$out/$name.accounts.csv"
	step "$name.report" "$program" report -q "$out/$name.kwhy" --json -o "$out/$name.report.json"
}
if wants profile; then
	for batch in 1 64 256; do
		repeat=$((batch == 1 ? 40 : batch == 64 ? 20 : 10))
		profile "profile_$batch" "$program" bench decode --batch $batch --launch graph --seconds 0 --repeat $repeat -o "$out/profile_$batch.json"
		profile "profile_torch_$batch" "$python" "$here/decode_torch.py" --peers compile --compiled --batches $batch --seconds 0 --repeat $repeat \
			-o "$out/profile_torch_$batch.json"
	done
fi
limit=400
wants large && step large "$program" bench decode --shape opt-1.3b --batch 1,8,64 --launch graph,early,device --seconds 5 \
	-o "$out/large.json"
wants autotune && step autotune "$python" "$here/decode_torch.py" --peers autotune --seconds 5 -o "$out/autotune.json"
nvidia-smi --query-gpu=temperature.gpu,clocks.sm,power.draw --format=csv >> "$out/gpu.csv" 2>&1
cat "$out/log.txt"
