#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# twin on an H200: all variants with energy, the PyTorch peers beside them, and a recording of the best and the naive one.
# Usage: twin.sh KWHY_FOLDER OUT_FOLDER [ledger]     (the folder of the portable build; about 4 minutes; DEVICE=N: that GPU; ledger: a minute,
# is the energy of the benchmark's own window, by the ledger of that same process, what the benchmark says?)
set -u
here=$(cd "$(dirname "$0")" && pwd)
kwhy=$(cd "$1" && pwd)
mkdir -p "$2"
out=$(cd "$2" && pwd)
program=$kwhy/bin/kwhy
# shellcheck source=programs/libraries.sh
. "$(dirname "$(realpath "$0")")/programs/libraries.sh"
use_libraries 'libnvrtc.so.1*'
use_package "$kwhy"

step() {
	local name=$1
	shift
	local start=$SECONDS
	timeout 300 "$@" > "$out/$name.out" 2> "$out/$name.err"
	echo "$name: exit $?, $((SECONDS - start)) s" | tee -a "$out/log.txt"
}

nvidia-smi --query-gpu=name,driver_version,temperature.gpu,clocks.sm,power.draw,power.limit --format=csv > "$out/gpu.csv" 2>&1
if [ "${3:-}" = ledger ]; then
	# The meters of that GPU alone, whose number there is not the program's.
	IFS=, read -ra visible <<< "${CUDA_VISIBLE_DEVICES:-0,1,2,3,4,5,6,7}"
	for variant in v0 v8; do
		step "ledger_$variant" "$program" record -q --one-file --device "${visible[${DEVICE:-0}]}" -o "$out/$variant.kwhy" -- "$program" bench twin ${DEVICE:+--device "$DEVICE"} --variant $variant \
			--repeat 1 --seconds 10 --runs-only -o "$out/$variant.json"
		step "report_$variant" "$program" report "$out/$variant.kwhy" --json -o "$out/$variant.report.json"
	done
	python3 - "$out" << 'P' | tee -a "$out/log.txt"
import json, sys
for name in "v0", "v8":
    try:
        row = json.load(open(f"{sys.argv[1]}/{name}.json"))["variants"][0]
        ranges = json.load(open(f"{sys.argv[1]}/{name}.report.json"))["ranges"]
    except OSError as problem:
        print(problem)
        continue
    energy, windows = row["energy"], [r["window_energy_nj"] for r in ranges if r["kind"] == "user" and r["name"] == name]
    said_j = energy["gross_j_a_run"]["value"]
    if said_j is None or not windows or windows[0] is None:
        print(f"{name}: the benchmark says {said_j} J a run, the ledger {windows} nJ of its window")
        continue
    ledger_j = 1e-9 * windows[0] / energy["runs"]
    print(f"{name}: {energy['runs']} runs in {energy['window_s']:.2f} s, median {row['run_s']['median']:.4g} s: {said_j:.5g} J a run by the benchmark, {ledger_j:.5g} by the "
          f"ledger, {100 * (ledger_j / said_j - 1):+.2f} %")
P
	cat "$out/log.txt"
	exit
fi
# The bits first, of every variant, then times and energy; the cheap ones often, the naive one as often as ten seconds allow.
step bits "$program" bench twin ${DEVICE:+--device "$DEVICE"} --repeat 1 --seconds 0 --json
step ranks "$program" bench twin ${DEVICE:+--device "$DEVICE"} --ranks 4 --steps 48 --variant v5,v6,v7,v8,v9,v9b --repeat 1 --seconds 0 --json
step open "$program" bench twin ${DEVICE:+--device "$DEVICE"} --loop open --variant v3,v6,v8 --repeat 1 --seconds 0 --json
step twin "$program" bench twin ${DEVICE:+--device "$DEVICE"} --repeat 3 --seconds 10 -o "$out/twin.json" --csv "$out/steps.csv"
step text "$program" bench twin ${DEVICE:+--device "$DEVICE"} --variant cpu,v6,v7,v8 --repeat 50 --seconds 0
step torch python3 "$here/twin_torch.py" --seconds 5 -o "$out/torch.json"
# One ledger before and after, from outside: agreement of its energy and times with twin.json is to be shown.
step record_v0 "$program" record -o "$out/v0.kwhy" -- "$program" bench twin ${DEVICE:+--device "$DEVICE"} --variant v0 --repeat 1 --seconds 0 --json
step record_v8 "$program" record -o "$out/v8.kwhy" -- "$program" bench twin ${DEVICE:+--device "$DEVICE"} --variant v8 --repeat 2000 --seconds 0 --json
step report_v0 "$program" report "$out/v0.kwhy" --json
step report_v8 "$program" report "$out/v8.kwhy" --json
nvidia-smi --query-gpu=temperature.gpu,clocks.sm,power.draw --format=csv >> "$out/gpu.csv" 2>&1
cat "$out/log.txt"
