#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Runs kwhy llm three times: with the meters of a kwhy serve next to the server (--meters), and before and after that
# with this host's meters. Joules per token of the three loads must agree. Makes a page of the three loads by --meters.
# Needs torch, transformers and libcurl.so.4.
# Usage: llm_meters.sh KWHY_FOLDER OUT_FOLDER     (the folder of the portable build; about 2 minutes; DEVICE=N: that GPU)
set -u
here=$(cd "$(dirname "$0")" && pwd)
python=python3
[ ! -x /opt/torch/.venv/bin/python ] || python=/opt/torch/.venv/bin/python
kwhy=$(cd "$1" && pwd)
mkdir -p "$2"
out=$(cd "$2" && pwd)
program=$kwhy/bin/kwhy
device=${DEVICE:-${CUDA_VISIBLE_DEVICES:-0}}

step() {
	local name=$1
	shift
	local start=$SECONDS
	timeout 150 "$@" > "$out/$name.out" 2> "$out/$name.err"
	echo "$name: exit $?, $((SECONDS - start)) s" | tee -a "$out/log.txt"
}

# wait_for SECONDS COMMAND...: repeats the command until it succeeds, for at most SECONDS; its
# status is that of the last try
wait_for() {
	local left=$(($1 * 10))
	shift
	until "$@" || ((left-- <= 0)); do sleep 0.1; done
	"$@"
}

nvidia-smi --query-gpu=name,driver_version,power.draw --format=csv > "$out/gpu.csv" 2>&1
rm -f "$out/port"
CUDA_VISIBLE_DEVICES=$device "$python" "$here/llm_server.py" "$out/port" > "$out/server.log" 2>&1 &
server=$!
"$program" serve --listen 127.0.0.1:0 2> "$out/serve.log" &
meters=$!
trap 'kill "$server" "$meters" 2> /dev/null' EXIT
wait_for 90 test -e "$out/port" || { tail -n 5 "$out/server.log"; exit 1; }
wait_for 10 grep -q /metrics "$out/serve.log" || { cat "$out/serve.log"; exit 1; }
url=http://127.0.0.1:$(cat "$out/port")/v1
remote=$(sed -n 's/.*metrics at //p' "$out/serve.log")

load=("$program" llm --url "$url" --device "$device" -q --idle 3 --ramp 1 --max-tokens 64)
step local "${load[@]}" -c 4 --seconds 18 -o "$out/local.json"
step remote "${load[@]}" -c 4 --seconds 18 --meters "$remote" -o "$out/remote.json"
step local_again "${load[@]}" -c 4 --seconds 18 -o "$out/local_again.json"
step page "${load[@]}" -c 1,2,8 --seconds 8 --meters "$remote" -o "$out/llm.html"
step compare python3 - "$out" << 'PYTHON'
import json, sys
for name in ("local", "remote", "local_again"):
    result = json.load(open(f"{sys.argv[1]}/{name}.json"))
    load = result["loads"][0]
    print(name, "tokens/s", load["tokens_per_s"], "idle W", result["idle_w"], "energy", load["energy"])
PYTHON
cat "$out/compare.out" "$out/log.txt"
