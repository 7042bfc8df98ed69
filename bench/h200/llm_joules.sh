#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Tests the joules that kwhy llm fits to mixed loads: do those of a prompt token and of an output token equal those of
# prefill alone and of decoding alone? Do the joules of requests add up to the meter and, in windows of 10 s, to NVML's
# counter, which another program reads at the same time? The server is llm_llama.py. Needs torch and libcurl.so.4; about
# 2 minutes for each shape. All files are also in OUT_FOLDER/llm_joules.tar.gz.
# Usage: llm_joules.sh KWHY_FOLDER OUT_FOLDER [joules SHAPE... | transformers SHAPE | study]
#   joules        the questions above, for each shape; default 1b 8b
#   transformers  the same with the continuous batching of transformers; default shape 1b
#   study         kwhy study llm-energy of generate.py and of the 1b server (needs transformers; 2 minutes)
# LOAD_S: seconds of a load, for a short trial. KWHY_LLM_OPTIONS: further options of each kwhy llm, such as
# --power-file.
set -euo pipefail
kwhy=$(realpath "$1")/bin/kwhy
here=$(dirname "$(realpath "$0")")
python=${PYTHON:-python3}
[ ! -x /opt/torch/.venv/bin/python ] || python=/opt/torch/.venv/bin/python
mkdir -p "$2"
out=$(realpath "$2")
device=${DEVICE:-${CUDA_VISIBLE_DEVICES:-0}}
export CUDA_VISIBLE_DEVICES=$device
load_s=${LOAD_S:-11.5} alone_s=${LOAD_S:-8} output=640

server=
counter=
stop() {
	for pid in $server $counter; do kill "$pid" 2>/dev/null || true; done
	wait
	server='' counter=''
}
trap stop EXIT

start() { # start NAME OPTIONS...
	local name=$1 from=$SECONDS
	shift
	rm -f "$out/port"
	"$python" "$here/llm_llama.py" "$out/port" "$@" >"$out/$name-server.log" 2>&1 &
	server=$!
	while [ ! -e "$out/port" ]; do
		kill -0 "$server" 2>/dev/null || { echo "the server ended:" && tail -n 8 "$out/$name-server.log" && return 1; }
		[ $((SECONDS - from)) -lt 100 ] || { echo "the server did not start in 100 s" && return 1; }
		sleep 0.2
	done
	url=http://127.0.0.1:$(cat "$out/port")/v1
	echo "== $name: the server was there after $((SECONDS - from)) s"
}

load() { # load NAME OPTIONS...
	local name=$1 from=$SECONDS
	shift
	# shellcheck disable=SC2086 # options are words
	"$kwhy" llm --url "$url" --device "$device" --seconds "$load_s" --ramp 1 --quiet -o "$out/$name.json" \
		--windows "$out/$name-windows.csv" --requests "$out/$name-requests.csv" ${KWHY_LLM_OPTIONS:-} "$@" >"$out/$name.log" 2>&1 ||
		{ echo "$name: exit $?" && tail -n 5 "$out/$name.log"; }
	echo "== $name: $((SECONDS - from)) s"
}

joules() { # joules NAME OPTIONS...: a server's options
	local name=$1
	shift
	start "$name" "$@" || return 0
	"$python" "$here/programs/llm_joules.py" count "$device" "$out/$name-counter.csv" &
	counter=$!
	load "$name-warm" -c 8 --prompt-words uniform:256,768 --max-tokens 32 --seconds 3 --ramp 0.5 --idle 1
	load "$name-mixed" --design --prompt-words 384 --max-tokens 128 --idle 5
	load "$name-prefill" -c 4 --prompt-words uniform:256,768 --max-tokens 1 --idle 4 --seconds "$alone_s"
	load "$name-decode" -c 1,8 --prompt-words 4 --max-tokens "$output" --ignore-eos --idle 4 --seconds "$alone_s"
	stop
	"$python" "$here/programs/llm_joules.py" check "$out/$name" | tee "$out/$name-check.txt" || true
}

study() {
	start study --shape 1b || return 0
	(cd "$out" && "$kwhy" study llm-energy --quick --url "$url" --work tokens=32768 -o study -- "$python" "$here/programs/generate.py" 60 16) >"$out/study.log" 2>&1 ||
		echo "study: exit $?"
	stop
	tail -n 20 "$out/study.log"
}

nvidia-smi --query-gpu=name,driver_version --format=csv >"$out/gpu.csv" 2>&1 || true
case "${3:-joules}" in
joules)
	for shape in ${4:-1b 8b} "${@:5}"; do joules "$shape" --shape "$shape"; done
	;;
transformers) output=160 && joules "transformers-${4:-1b}" --shape "${4:-1b}" --engine transformers ;;
study) study ;;
*) sed -n 's/^# Usage: //p' "$0" && exit 2 ;;
esac
cd "$out" && find . -maxdepth 2 -type f ! -name '*.tar.gz' ! -name '*.kwhy' ! -name port -print0 | sort -z | tar czf llm_joules.tar.gz --null -T -
ls -l llm_joules.tar.gz
