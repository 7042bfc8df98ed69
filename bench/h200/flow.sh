#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# flow on an H200: the best variants and PyTorch beside them, with few flows and many; as `naive` the slow ones, as `rest` what allocates,
# flows that choose their way, cuBLAS in other precisions and PyTorch's other programs; as `several` two GPUs; as `energy` long windows,
# and recordings.
# Usage: flow.sh KWHY_FOLDER OUT_FOLDER [short|naive|rest|several|energy|all]     (the folder of the portable build; about a minute each)
set -u
here=$(cd "$(dirname "$0")" && pwd)
kwhy=$(cd "$1" && pwd)
part=${3:-short}
mkdir -p "$2"
out=$(cd "$2" && pwd)
program=$kwhy/bin/kwhy
nvrtc=$(find / -xdev -name 'libnvrtc.so.1*' 2> /dev/null | head -1)
cublas=$(find / -xdev -name 'libcublas.so.1*' 2> /dev/null | head -1)
LD_LIBRARY_PATH=${LD_LIBRARY_PATH:-}:/usr/local/cuda/lib64:$(dirname "${nvrtc:-/x}"):$(dirname "${cublas:-/x}")
export LD_LIBRARY_PATH
PYTHONPATH=$kwhy/share/kwhy/python
KWHY_LIBRARY=$(find "$kwhy" -name 'libkwhy.so.0' | head -1)
export PYTHONPATH KWHY_LIBRARY
python=python3
[ -x /opt/torch/.venv/bin/python ] && python=/opt/torch/.venv/bin/python

step() {
	local name=$1
	shift
	local start=$SECONDS
	timeout 60 "$@" > "$out/$name.out" 2> "$out/$name.err"
	echo "$name: exit $?, $((SECONDS - start)) s" | tee -a "$out/log.txt"
}

nvidia-smi --query-gpu=name,driver_version,temperature.gpu,clocks.sm,power.draw,power.limit --format=csv > "$out/gpu.csv" 2>&1
if [ "$part" = short ] || [ "$part" = all ]; then
	# Few and many flows, kwhy's best and PyTorch right after each other; then the naive ones and how it grows.
	step long "$program" bench flow --variant n3,n4,n5,n5w --steps 1000 --repeat 10 --seconds 2 -o "$out/long.json"
	step torch "$python" "$here/flow_torch.py" --peers graph,bf16 --seconds 0 -o "$out/torch.json"
	step many "$program" bench flow --variant n4,n5,n5w --flows 100000 --steps 100 --repeat 5 --seconds 1 -o "$out/many.json"
	step torch_many "$python" "$here/flow_torch.py" --peers graph,bf16 --flows 100000 --steps 100 --repeat 3 --seconds 0 -o "$out/torch_many.json"
	step sweep "$program" bench flow --variant n4,n5,n5w --flows 1,10,100,10000 --steps 100 --repeat 3 --seconds 0 -o "$out/sweep.json"
fi
if [ "$part" = naive ] || [ "$part" = all ]; then
	step flow "$program" bench flow --variant n0,n1,n2 --steps 20 --repeat 3 --seconds 2 -o "$out/flow.json" --csv "$out/steps.csv"
fi
if [ "$part" = rest ] || [ "$part" = all ]; then
	step churn "$program" bench flow --variant n0,n0c,n0p --flows 100 --steps 20 --repeat 5 --seconds 0 -o "$out/churn.json"
	step argmax "$program" bench flow --variant n2,n3,n4,n5,n5w --path argmax --repeat 2 --seconds 0 -o "$out/argmax.json"
	step fp32 "$program" bench flow --variant n2,n3,n5 --precision fp32 --steps 200 --repeat 5 --seconds 0 -o "$out/fp32.json"
	step bf16 "$program" bench flow --variant n2,n3,n5 --precision bf16 --steps 200 --repeat 5 --seconds 0 -o "$out/bf16.json"
	step fp32_many "$program" bench flow --variant n5 --precision fp32 --flows 100000 --steps 100 --repeat 3 --seconds 0 -o "$out/fp32_many.json"
	step bf16_many "$program" bench flow --variant n5 --precision bf16 --flows 100000 --steps 100 --repeat 3 --seconds 0 -o "$out/bf16_many.json"
	step torch_rest "$python" "$here/flow_torch.py" --peers naive,compile --seconds 0 -o "$out/torch_rest.json"
fi
if [ "$part" = several ]; then
	step several "$program" bench flow --device 0,1 --variant n2,n6 --flows 1000,10000,100000 --steps 60 --repeat 3 --seconds 0 -o "$out/several.json"
fi
if [ "$part" = energy ] || [ "$part" = all ]; then
	step energy "$program" bench flow --variant n0,n1,n2,n3,n4,n5,n5w --repeat 3 --seconds 10 -o "$out/energy.json"
	step record_n0 "$program" record -o "$out/n0.kwhy" -- "$program" bench flow --variant n0 --steps 10 --repeat 3 --seconds 0 --runs-only --json
	step record_n3 "$program" record -o "$out/n3.kwhy" -- "$program" bench flow --variant n3 --repeat 30 --seconds 0 --runs-only --json
	step report_n0 "$program" report "$out/n0.kwhy" --json
	step report_n3 "$program" report "$out/n3.kwhy" --json
fi
nvidia-smi --query-gpu=temperature.gpu,clocks.sm,power.draw --format=csv >> "$out/gpu.csv" 2>&1
cat "$out/log.txt"
