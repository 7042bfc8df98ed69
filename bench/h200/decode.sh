#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# decode on an H200: logits first, then times and energy of the decoder by batch, PyTorch's beside it, other weights last.
# Usage: decode.sh KWHY_FOLDER OUT_FOLDER [STEPS]    (the folder of the portable build; STEPS of "bits main torch more
# record large autotune", default the first four: about 2 minutes on the GPU, and torch.compile's time on the host)
set -u
here=$(cd "$(dirname "$0")" && pwd)
kwhy=$(cd "$1" && pwd)
mkdir -p "$2"
out=$(cd "$2" && pwd)
steps=${3:-bits main torch more}
program=$kwhy/bin/kwhy
nvrtc=$(find / -xdev -name 'libnvrtc.so.1*' 2> /dev/null | head -1)
LD_LIBRARY_PATH=${LD_LIBRARY_PATH:-}:/usr/local/cuda/lib64:$(dirname "${nvrtc:-/x}")
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
	timeout 400 "$@" > "$out/$name.out" 2> "$out/$name.err"
	echo "$name: exit $?, $((SECONDS - start)) s" | tee -a "$out/log.txt"
}

wants() { [[ " $steps " == *" $1 "* ]]; }

nvidia-smi --query-gpu=name,driver_version,temperature.gpu,clocks.sm,power.draw,power.limit --format=csv > "$out/gpu.csv" 2>&1
if wants bits; then
	# Every kind of weights and way of launching, without energy: a row that is wrong says so.
	step bits_small "$program" bench decode --shape small --weights fp32,tf32,bf16,fp16,fp8,int8,int4 --batch 1,16,17,65 \
		--launch calls,graph,early,device --prompt 8 --tokens 8 --repeat 1 --seconds 0 -o "$out/bits_small.json"
	step bits "$program" bench decode --weights bf16 --batch 1,8,16,64,256 --launch graph,early,device --seconds 0
fi
if wants main; then
	step main "$program" bench decode --batch 1,8,64,256 --launch early,device --seconds 5 -o "$out/decode.json"
fi
if wants torch; then
	step torch "$python" "$here/decode_torch.py" --seconds 5 -o "$out/torch.json"
fi
if wants more; then
	step more "$program" bench decode --weights fp32,tf32,fp16,fp8,int8,int4 --batch 1,64 --launch early --seconds 2 \
		-o "$out/weights.json"
fi
if wants record; then
	# One ledger from outside: its energy and times beside those of decode.json.
	step record "$program" record -o "$out/decode.kwhy" -- "$program" bench decode --batch 64 --launch graph --seconds 0 \
		--repeat 20
	step report "$program" report "$out/decode.kwhy" --json
fi
if wants large; then
	step large "$program" bench decode --shape opt-1.3b --batch 1,8,64 --launch early,device --seconds 5 -o "$out/large.json"
fi
if wants autotune; then
	step autotune "$python" "$here/decode_torch.py" --peers autotune --seconds 5 -o "$out/autotune.json"
fi
nvidia-smi --query-gpu=temperature.gpu,clocks.sm,power.draw --format=csv >> "$out/gpu.csv" 2>&1
cat "$out/log.txt"
