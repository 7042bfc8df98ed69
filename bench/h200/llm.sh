#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# kwhy llm against a real server process on this GPU (llm_server.py over transformers): closed loops, rates,
# and one load twice, to see what repeats. Five minutes. Needs torch, transformers and libcurl.so.4.
# Usage: llm.sh KWHY_FOLDER OUT_FOLDER
set -euo pipefail
kwhy=$(realpath "$1")/bin/kwhy
here=$(dirname "$(realpath "$0")")
mkdir -p "$2"
out=$(realpath "$2")

rm -f "$out/port"
python3 "$here/llm_server.py" "$out/port" >"$out/server.log" 2>&1 &
server=$!
trap 'kill "$server" 2>/dev/null || true' EXIT
for _ in $(seq 120); do
	[ ! -e "$out/port" ] || break
	kill -0 "$server" 2>/dev/null || { tail -n 5 "$out/server.log"; exit 1; }
	sleep 1
done
[ -e "$out/port" ] || { echo "the server did not start in two minutes"; exit 1; }
url=http://127.0.0.1:$(cat "$out/port")/v1

load() {
	local name=$1
	shift
	echo "== $name: kwhy llm $*"
	"$kwhy" llm --url "$url" --seconds 20 --ramp 3 --quiet -o "$out/$name.json" "$@" ||
		echo "$name: exit $?"
}
nvidia-smi --query-gpu=name,driver_version --format=csv >"$out/gpu.csv" || true
load closed -c 1,2,4,8 --max-tokens 64
load closed-again -c 4 --max-tokens 64
load open --rate 1,4 --max-tokens 32
python3 - "$out" <<'EOF'
import json, sys
for name in ("closed", "closed-again", "open"):
    try:
        loads = json.load(open(f"{sys.argv[1]}/{name}.json"))["loads"]
    except OSError:
        continue
    for load in loads:
        joules = load["energy"]["j_a_token"]
        print(name, load["concurrency"], load["rate_per_s"], load["outcomes"], "tokens/s", load["tokens_per_s"],
              "first p50", load["first_s"]["p50"], "J/token", joules["value"], joules["low"], joules["high"])
EOF
