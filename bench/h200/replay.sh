#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Measures the errors of kwhy replay. Variants of kwhy-lab's twin (v0, v3, v6, v8), two loops of PyTorch (mlp,
# decode) and the example recordings of an H200 in KWHY_FOLDER (h200-train, h200-decode) are replayed unchanged and
# compared with their recordings. v0 and v3 are also replayed with the change that leads to the next variant, and
# compared with kwhy's projection of it.
# Usage: replay.sh KWHY_FOLDER OUT_FOLDER [NAME...]     (KWHY_FOLDER: that of the portable build)
# The most important parts come first. All of them take 6 minutes; v8 takes half a minute, mlp and decode one minute
# each.
set -u
kwhy=$(cd "$1" && pwd)
mkdir -p "$2"
out=$(cd "$2" && pwd)
program=$kwhy/bin/kwhy
examples=$kwhy/share/kwhy/examples
programs=$(dirname "$(realpath "$0")")/programs
python=python3
[ -x /opt/torch/.venv/bin/python ] && python=/opt/torch/.venv/bin/python
# shellcheck source=programs/libraries.sh
. "$programs/libraries.sh"
use_libraries 'libnvrtc.so.1*'

step() {
	local name=$1
	shift
	local start=$SECONDS
	timeout 90 "$@" > "$out/$name.out" 2> "$out/$name.err"
	echo "$name: exit $?, $((SECONDS - start)) s" | tee -a "$out/log.txt"
}

# record NAME STEPS RUNS: records the variant NAME of twin. RUNS must be enough for half a second of
# work, since the energy counter is updated every 0.1 s.
record() {
	step "record-$1" "$program" record -q -o "$out/$1.kwhy" -- \
		"${program%/*}/kwhy-lab" twin --variant "$1" --steps "$2" --repeat "$3" --seconds 0 --runs-only --json
}

# record_loop NAME COUNT: records from ten seconds after the start on, when the GPU is warm
record_loop() {
	step "record-$1" "$program" record -q --delay 10 -o "$out/$1.kwhy" -- "$python" "$programs/steady.py" "$1" "$2" 10.8
}

# replay NAME SECONDS RECORDING... OPTIONS: replays the recording as it is and, if there are changes, with them
replay() {
	local name=$1 seconds=$2
	shift 2
	step "replay-$name" "$program" replay -q --seconds "$seconds" --json -o "$out/$name.json" "$@"
}

# Summary of all results that exist when the script ends, even if it ends early.
summary() {
	python3 - "$out" << 'EOF' | tee -a "$out/log.txt"
import json, os, sys

def percent(ratio):
    return "n/a" if ratio is None else f"{100 * ratio:+.1f} %"

for name in "v8 mlp decode v3 v6 v0 h200-train h200-decode".split():
    path = os.path.join(sys.argv[1], name + ".json")
    if not os.path.exists(path):
        continue
    replay = json.load(open(path))
    as_recorded, changed = replay["as_recorded"], replay["changed"]
    off = as_recorded["off_ratio"]
    words = f"{name}: first run {percent(replay['first_off_ratio'])}, above idle {percent(replay['first_net_off_ratio'])}, settled: time {percent(off['span'])}, energy {percent(off['energy'])}, above idle {percent(off['net'])}"
    if changed:
        off, saved = changed["off_ratio"], changed["saved_ratio"]
        words += (f"; changed, against the projection: time {percent(off['span'])}, energy {percent(off['energy'])}; "
                  f"saves {percent(saved['span'])} and {percent(saved['energy'])}")
    print(words)
EOF
}
trap summary EXIT

nvidia-smi --query-gpu=name,driver_version,temperature.gpu,clocks.sm,power.draw --format=csv > "$out/gpu.csv" 2>&1
names=("${@:3}")
[ ${#names[@]} -gt 0 ] || names=(v8 mlp decode v3 v0 v6 h200-train h200-decode)
for name in "${names[@]}"; do
	case $name in
	v3)
		record v3 288 20
		replay v3 2 "$out/v3.kwhy" --fuse
		;;
	v0)
		record v0 24 1
		replay v0 2 "$out/v0.kwhy" --pack-h2d --pack-d2h --pinned --event-waits
		;;
	v6)
		record v6 288 50
		replay v6 2 "$out/v6.kwhy"
		;;
	v8)
		record v8 288 250
		replay v8 2 "$out/v8.kwhy"
		;;
	mlp | decode)
		record_loop "$name" "$([ "$name" = mlp ] && echo 20 || echo 4)"
		replay "$name" 2 "$out/$name.kwhy"
		;;
	h200-*) replay "$name" 2 --repeat 2 "$examples/$name/trace.json.zst" --power "$examples/$name/power.csv" ;;
	esac
done
# Measures, without a recorder, the variants to which the changes lead.
step truth-24 "${program%/*}/kwhy-lab" twin --variant v0,v3 --steps 24 --repeat 5 --seconds 0 --runs-only --json
step truth "${program%/*}/kwhy-lab" twin --variant v3,v5,v6,v8 --repeat 20 --seconds 0 --runs-only --json
