#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Tests 16 ranks in a grid: each is in the communicator of its row and in that of its column, as with tensor and data
# parallelism. Their clocks differ, and are corrected across the communicators. The report names the row with slow links
# and the host with low clocks.
# Usage: job_links.sh KWHY
set -euo pipefail
kwhy=$1
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
mkdir traces
python3 - <<'END'
import json
import random

chance = random.Random(1)
RANKS, SIDE, STEPS = 16, 4, 30
clocks = [(chance.uniform(-1e6, 1e6), chance.uniform(-50e-6, 50e-6)) for _ in range(RANKS)]
at, events = [10_000] * RANKS, [[] for _ in range(RANKS)]
waiting, late = [0] * RANKS, [0] * RANKS
groups = {"row": [[4 * i + j for j in range(SIDE)] for i in range(SIDE)], "column": [[4 * j + i for j in range(SIDE)] for i in range(SIDE)]}


def add(rank, name, start, end, args):
    offset, drift = clocks[rank]
    start, end = (round(t + offset + drift * t) + 5_000_000 for t in (start, end))
    events[rank].append({"ph": "X", "cat": "kernel", "name": name, "pid": 0, "tid": 7, "ts": start / 1000, "dur": (end - start) / 1000,
                         "args": {"device": 0, "stream": 7, **args}})


for step in range(STEPS):
    for kind in ("row", "column"):
        for number, group in enumerate(groups[kind]):
            enters = []
            for rank in group:
                work = 200_000 + chance.randrange(20_000) + (30_000 if rank == 6 else 0)
                add(rank, "work", at[rank], at[rank] + work, {})
                enters.append(at[rank] + work)
            last = max(enters)
            # links of row 2 are slow: its collectives take 100 us after the last rank entered, all others 50 us
            leave = last + 50_000 * (2 if kind == "row" and number == 2 else 1)
            for rank, enter in zip(group, enters):
                waiting[rank] += last - enter
                add(rank, "ncclDevKernel_AllGather_RING_LL", enter, leave,
                    {"Collective name": "_allgather_base", "In msg nelems": 1000, "Out msg nelems": 4000, "dtype": "Float", "Group size": SIDE,
                     "Process Group Name": f"{kind}{number}", "Process Group Ranks": str(group), "Seq": step})
                at[rank] = leave + 1000
            late[group[enters.index(last)]] += 1
for rank in range(RANKS):
    with open(f"traces/rank{rank:02}.json", "w", encoding="utf-8") as file:
        json.dump({"distributedInfo": {"rank": rank, "world_size": RANKS}, "traceEvents": events[rank]}, file)
json.dump({"waiting": waiting, "late": late}, open("truth.json", "w", encoding="utf-8"))
END
"$kwhy" digest -q traces -o digests
# Adds to the digests what a trace has not and kwhy record would record: host names (four ranks each), clocks, low on
# the second host, and reasons for throttling, thermal on rank 13.
for ((rank = 0; rank < 16; rank++)); do
	sqlite3 "$(printf 'digests/rank-%05d.sqlite' $rank)" "UPDATE digest SET host = 'node$((rank / 4))';
		INSERT INTO gauge VALUES(0, 'sm_clock_hz', 100, 1, $((rank / 4 == 1 ? 1500000000 : 1980000000)), 2);
		INSERT INTO throttle VALUES(0, 'idle', 0.5);"
done
sqlite3 digests/rank-00013.sqlite "INSERT INTO throttle VALUES(0, 'hardware_thermal', 0.25)"
"$kwhy" report --json digests > job.json
"$kwhy" report --csv ranks digests > ranks.csv
"$kwhy" report digests > screen
python3 - <<'END'
import csv
import json

job, truth = json.load(open("job.json")), json.load(open("truth.json"))
rows = sorted(csv.DictReader(open("ranks.csv")), key=lambda row: int(row["rank"]))
assert job["collective_sums"]["compared"] == 240, job["collective_sums"]
for row, waiting in zip(rows, truth["waiting"]):
    assert abs(int(row["waiting_ns"]) - waiting) < 6000, (row, waiting)
assert [int(row["late"]) for row in rows] == truth["late"], [row["late"] for row in rows]
links = job["slow_links"]
assert [(link["communicator"], link["ranks"], link["collectives"]) for link in links] == [("row2", "[8, 9, 10, 11]", 30)], links
assert abs(links[0]["median_ns"] - 100_000) < 500 and abs(links[0]["others_ns"] - 50_000) < 500, links
hosts = {host["host"]: host for host in job["throttled_hosts"]}
assert set(hosts) == {"node1", "node3"}, hosts
assert hosts["node1"]["sm_clock_hz"] == 1_500_000_000 and hosts["node1"]["reason"] is None, hosts
assert hosts["node3"]["reason"] == "hardware_thermal" and hosts["node3"]["ratio"] == 0.25, hosts
late = job["late_ranks"][0]
assert late["rank"] == 6 and late["straggler"] and late["host"] == "node1", late
END
grep -q 'row2.*8, 9, 10, 11' screen || { cat screen; exit 1; }
grep -q 'node1: median clock 1.50 GHz' screen || { cat screen; exit 1; }
[ "$(wc -l < screen)" -le 24 ] || { cat screen; exit 1; }
