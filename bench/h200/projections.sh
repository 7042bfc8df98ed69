#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# How far projections are off on an H200: variants of twin are recorded, the next one is projected from the recording of the one
# before alone, and compared with its own recording. Costs are those that the recording shows, else of a profile that is measured
# first: curves of copies, graphs and queues. Then plans as text, and one as a page.
# Usage: projections.sh KWHY_FOLDER OUT_FOLDER     (the folder of the portable build; under 2 minutes)
set -u
kwhy=$(cd "$1" && pwd)
mkdir -p "$2"
out=$(cd "$2" && pwd)
program=$kwhy/bin/kwhy
nvrtc=$(find / -xdev -name 'libnvrtc.so.1*' 2> /dev/null | head -1)
LD_LIBRARY_PATH=${LD_LIBRARY_PATH:-}:/usr/local/cuda/lib64:$(dirname "${nvrtc:-/x}")
export LD_LIBRARY_PATH
bundled=$(find "$kwhy" -name 'nvidia-h200.json' | head -1)
profile=$out/profile.json

say() {
	echo "$*" | tee -a "$out/log.txt"
}

step() {
	local name=$1 start=$SECONDS
	shift
	timeout 90 "$@" > "$out/$name.out" 2> "$out/$name.err"
	say "$name: exit $?, $((SECONDS - start)) s"
}

# VARIANT STEPS REPEAT: into VARIANT-STEPS-REPEAT.kwhy
record() {
	step "$1-$2-$3" "$program" record -q --one-file -o "$out/$1-$2-$3.kwhy" -- \
		"$program" bench twin --runs-only --variant "$1" --steps "$2" --repeat "$3" --seconds 0 --json
}

# BEFORE AFTER STEPS REPEAT CHANGES...
pair() {
	local before=$1-$3-$4 after=$2-$3-$4 name=$1-$2-$3
	shift 4
	timeout 60 "$program" whatif -q --profile "$profile" "$@" "$out/$before.kwhy" -o "$out/$name.json" 2>> "$out/$name.err"
	timeout 60 "$program" compare -q --profile "$profile" --projected "$out/$name.json" \
		"$out/$before.kwhy" "$out/$after.kwhy" --json > "$out/$name.compare.json" 2>> "$out/$name.err"
	say "$name ($*): exit $?"
}

nvidia-smi --query-gpu=name,driver_version,temperature.gpu,clocks.sm,power.draw --format=csv > "$out/gpu.csv" 2>&1
# Costs of this card. Where one cannot be measured, the bundled profile stands in.
step calibrate "$program" calibrate -q --quick --json -o "$profile"
[ -s "$profile" ] || cp "$bundled" "$profile"
step curves "$program" bench transfer -q --quick --strategy pinned,pageable --direction h2d,d2h --max-size 64MiB --time 8 --profile "$profile"

# One run in few steps, where the slow variants take seconds; many runs of the fast ones, for their energy.
for variant in v0 v1 v2 v3 v6; do record "$variant" 96 1; done
for variant in v2 v3 v5 v6 v9 v9b; do record "$variant" 288 40; done
say "recorded after $SECONDS s; from here on the GPU idles"

pair v0 v1 96 1 --event-waits --join-waits --pinned &
pair v1 v2 96 1 --pack-d2h &
pair v0 v3 96 1 --pack-h2d --pack-d2h --pinned --event-waits &
pair v0 v6 96 1 --pack-h2d --pack-d2h --fuse --pinned --event-waits --graph &
pair v2 v3 288 40 --pack-h2d &
pair v3 v5 288 40 --fuse &
pair v5 v6 288 40 --graph &
pair v9 v9b 288 40 --thin-collectives 4 &
for recording in v0-96-1 v1-96-1 v3-288-40; do
	timeout 60 "$program" whatif -q --profile "$profile" --plan --numerics "$out/$recording.kwhy" -o "$out/plan-$recording.txt" 2>> "$out/plan.err" &
done
timeout 60 "$program" whatif -q --profile "$profile" --plan --numerics "$out/v3-288-40.kwhy" -o "$out/plan.html" 2>> "$out/plan.err" &
wait

python3 - "$out" << 'TABLE' | tee -a "$out/log.txt"
import glob, json, os, statistics, sys

def percent(ratio):
    return "n/a" if ratio is None else f"{100 * ratio:+.1f} %"

errors = {"time": [], "energy": []}
for path in sorted(glob.glob(os.path.join(sys.argv[1], "*.compare.json"))):
    name = os.path.basename(path)[: -len(".compare.json")]
    try:
        made = json.load(open(path))["projection"]
        low, high = made["time_low_ns"] / 1e6, made["time_high_ns"] / 1e6
        print(f"{name:16} {made['changes']:50} time {made['time_ns'] / 1e6:9.2f} ms ({low:.2f} to {high:.2f}), off by "
              f"{percent(made['time_error_ratio'])}; energy off by {percent(made['energy_error_ratio'])}")
        for key in errors:
            if made[key + "_error_ratio"] is not None:
                errors[key].append(abs(made[key + "_error_ratio"]))
    except (KeyError, TypeError, ValueError) as error:
        print(name, "no comparison:", error)
for key, values in errors.items():
    if values:
        print(f"{key}: median {percent(statistics.median(values))}, worst {percent(max(values))} of {len(values)}")
TABLE
say "all: $SECONDS s"
