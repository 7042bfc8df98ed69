#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Tests 64 ranks that bench/job_ranks.py makes from a real trace: ranks 17 and 42 are slower, and clocks differ by up to
# 1 ms and 50 ppm. The report over their digests must find the waiting times, late ranks and clock errors that were put
# in.
# Usage: job_trace.sh KWHY SOURCE_DIR
set -euo pipefail
kwhy=$1
trace=$2/../shared/data/traces/kineto-a100-nccl.json.gz
[ -f "$trace" ] || { echo "skipped: the traces of others (../shared/data/traces) are not here"; exit 77; }
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 "$2/bench/job_ranks.py" "$trace" 64 "$folder/traces" --slow 17=10 --slow 42=4 --clocks --gpu
"$kwhy" digest -q "$folder"/traces/rank*.json -o "$folder/digests"
"$kwhy" report "$folder/digests" > "$folder/screen"
[ "$(wc -l < "$folder/screen")" -le 24 ] || { cat "$folder/screen"; exit 1; }
python3 - "$folder/traces/truth.json" <("$kwhy" report --csv ranks "$folder/digests") <("$kwhy" report --json "$folder/digests") <<'END'
import csv
import json
import sys

truth = json.load(open(sys.argv[1]))
rows = sorted(csv.DictReader(open(sys.argv[2])), key=lambda row: int(row["rank"]))
job = json.load(open(sys.argv[3]))
assert job["collective_sums"]["compared"] == truth["compared"] > 0
assert [int(row["late"]) for row in rows] == truth["late"]
for row, waiting in zip(rows, truth["waiting_ns"]):
    assert abs(int(row["waiting_ns"]) - waiting) <= 2000, (row, waiting)
assert {row["rank"] for row in job["late_ranks"] if row["straggler"]} == {17}
drifts = [float(row["clock_drift_ppm"]) - 1e6 * drift for row, (_, drift) in zip(rows, truth["clocks"])]
assert max(drifts) - min(drifts) < 0.1, drifts
END
