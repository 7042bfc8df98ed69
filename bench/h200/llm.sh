#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Runs kwhy llm against a server of a language model on this GPU (llm_server.py, which uses transformers): closed
# loops with 1 to 8 concurrent requests, one of them twice to show how well figures repeat, and requests at fixed
# rates. Takes five minutes; LOAD_S: seconds per load (default 20). Needs torch, transformers and libcurl.so.4.
# Usage: llm.sh KWHY_FOLDER OUT_FOLDER [one|batches]
# one: only a closed loop with four concurrent requests. batches (two minutes): a server of 32 slots that takes
# requests only when all slots are free or whenever one is, and launches a step by single calls or as one graph.
set -euo pipefail
kwhy=$(realpath "$1")/bin/kwhy
here=$(dirname "$(realpath "$0")")
python=python3
[ ! -x /opt/torch/.venv/bin/python ] || python=/opt/torch/.venv/bin/python
mkdir -p "$2"
out=$(realpath "$2")

server=
trap 'kill "$server" 2>/dev/null || true' EXIT
start() { # start OPTIONS...
	[ -z "$server" ] || kill "$server"
	rm -f "$out/port"
	"$python" "$here/llm_server.py" "$out/port" "$@" >"$out/server.log" 2>&1 &
	server=$!
	for _ in $(seq 600); do
		[ ! -e "$out/port" ] || break
		kill -0 "$server" 2>/dev/null || { tail -n 5 "$out/server.log"; exit 1; }
		sleep 0.2
	done
	[ -e "$out/port" ] || { echo "the server did not start in two minutes"; exit 1; }
	url=http://127.0.0.1:$(cat "$out/port")/v1
}

load() {
	local name=$1
	shift
	echo "== $name: kwhy llm $*"
	"$kwhy" llm --url "$url" --device "${CUDA_VISIBLE_DEVICES:-0}" --seconds "${LOAD_S:-20}" --ramp "${RAMP_S:-3}" --quiet -o "$out/$name.json" "$@" ||
		echo "$name: exit $?"
}
summary() { # summary NAME...
	python3 - "$out" "$@" <<'EOF'
import json, sys
for name in sys.argv[2:]:
    try:
        loads = json.load(open(f"{sys.argv[1]}/{name}.json"))["loads"]
    except OSError:
        continue
    for load in loads:
        joules = load["energy"]["j_a_token"]
        print(name, load["concurrency"], load["rate_per_s"], load["outcomes"], "tokens/s", load["tokens_per_s"], "first p50, p95", load["first_s"]["p50"],
              load["first_s"]["p95"], "answer p50, p95", load["answer_s"]["p50"], load["answer_s"]["p95"], "J/token", joules["value"], joules["low"], joules["high"])
EOF
}
nvidia-smi --query-gpu=name,driver_version --format=csv >"$out/gpu.csv" || true
if [ "${3:-}" = batches ]; then
	for way in together-calls free-calls together-graph free-graph; do
		start --slots 32 --take "${way%-*}" --launch "${way#*-}"
		load "$way" --rate "${RATES:-10,40}" --max-tokens 64 --idle 2
	done
	summary together-calls free-calls together-graph free-graph
	exit
fi
start
if [ "${3:-}" = one ]; then
	load closed -c 4 --max-tokens 64 --idle 2
	cat "$out/closed.json"
	exit
fi
load closed -c 1,2,4,8 --max-tokens 64
load closed-again -c 4 --max-tokens 64
load open --rate 1,4 --max-tokens 32
summary closed closed-again open
