#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Each pair is the recording of a PyTorch program before a change and the one after it. Compares the time that kwhy
# projects for the change from the first recording with the time that the second one took. Skipped (77) if the
# recordings are missing.
# Usage: pairs_projected.sh SOURCE_DIR KWHY
set -euo pipefail
pairs=$1/../shared/data/changes
kwhy=$2
[ -d "$pairs" ] || { echo "skipped: the pairs (../shared/data/changes) are not here"; exit 77; }
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

# check NAME CHANGE PERCENT PROFILE: the projected time may differ from the measured one by PERCENT
# %. Where the projected saving is an upper bound, the projected time may be shorter than the
# measured one by any amount. For PERCENT = 100 the measured time must also lie within the projected
# interval.
check() {
	tar -xJf "$pairs/$1.tar.xz" -C "$folder"
	"$kwhy" whatif -q "$2" --machine-profile "$4" --json "$folder/$1.before.kwhy" >"$folder/$1.json"
	"$kwhy" report -q --json "$folder/$1.after.kwhy" >"$folder/$1.after.json"
	python3 - "$folder" "$1" "$3" <<'PY'
import json, sys
folder, name, percent = sys.argv[1], sys.argv[2], float(sys.argv[3])
change = json.load(open(f"{folder}/{name}.json"))["changes"][-1]
report = json.load(open(f"{folder}/{name}.after.json"))
measured = max(device["time"]["span_ns"] for device in report["devices"])
after = change["after"]
off = 100 * (after["time_ns"] / measured - 1)
print(f"{name}: {after['time_ns'] / 1e6:.0f} ms ({after['time_low_ns'] / 1e6:.0f} to {after['time_high_ns'] / 1e6:.0f}), {change['bound']}, measured {measured / 1e6:.0f} ms, off by {off:+.1f} %")
assert abs(off) <= percent or (change["bound"] == "upper" and off < 0), off
assert percent < 100 or after["time_low_ns"] <= measured <= after["time_high_ns"], after
PY
}

profile=$1/profiles/nvidia-h200.json
check pinned --pinned 10 "$profile"
check overlap --overlap-copies=2 10 "$profile"
check cache --pool 30 "$profile"
check prefetch --prefetch 100 "$profile"
