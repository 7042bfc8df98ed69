#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Tests kwhy report over the digests of a job. Sums equal those of one process that reads all traces. Offset and drift
# of each rank's clock are found and corrected. Waiting is attributed to the rank that came late. Digests that are
# missing, cut, given twice or of another job, and files that are no digests, are named.
# Usage: job.sh KWHY
set -euo pipefail
kwhy=$1
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
fail() {
	echo "$*"
	exit 1
}

# Four ranks on a device each, with readings of an energy counter and of power. They start and end at different times.
for rank in 0 1 2 3; do
	awk -v rank=$rank 'BEGIN {
		srand(rank + 1)
		printf "# clock unix\n# device %d name=\"NVIDIA H200\" rank=%d\nkind,name,device,stream,start_ns,end_ns\n", rank, rank
		at = 1234567 * rank
		for (i = 0; i < 1000; i++) {
			end = at + 100000 + int(800000 * rand())
			printf "kernel,k%d,%d,7,17000%014d,17000%014d\n", i % 5, rank, at, end
			at = end + 1000 + int(50000 * rand())
			if (i % 10 == 9) {
				printf "collective,ncclDevKernel_AllReduce_Sum_f32_RING_LL,%d,7,17000%014d,17000%014d\n", rank, at, at + 200000
				at += 250000
			}
		}
	}' > metered$rank.csv
done
awk 'BEGIN {
	srand(5)
	print "time_ns,device,source,value"
	for (s = 0; s < 60; s++)
		for (device = 0; device < 4; device++) {
			printf "17000%014d,%d,nvml.energy_mj,%d\n", s * 20000000, device, 1000000 + s * 7000
			printf "17000%014d,%d,nvml.sample_mw,%d\n", s * 20000000, device, 341000 + int(18000 * rand())
		}
}' > power.csv
"$kwhy" report -q --json metered*.csv --power power.csv > joint.json
run=$(python3 -c 'import json; w = json.load(open("joint.json"))["window"]; o = int(w["origin_unix_ns"]); print(f"{o + w['"'start_ns'"']},{o + w['"'end_ns'"']}")')
"$kwhy" digest -q metered*.csv --power power.csv --run "$run" -o metered
"$kwhy" report --json metered > job.json
cat > equal.py <<'END'
import json

joint, job = (json.load(open(name)) for name in ("joint.json", "job.json"))
devices = joint["devices"]
wanted = {(c, k): sum(d["time"].get(c + "_ns") or 0 for d in devices) for c in [row["category"] for row in job["categories"]] for k in [0]}
for row in job["categories"]:
    name = row["category"]
    nj = sum(a["gross_nj"] or 0 for d in devices for a in d["accounts"] if a["category"] == name)
    assert (row["span_ns"] or 0) == wanted[name, 0], (row, wanted)
    assert (row["gross_nj"] or 0) == nj, (row, nj)
for key, group in (("span_ns", "time"), ("busy_ns", "time"), ("measured_nj", "energy")):
    assert job["sums"][key] == sum(d[group][key] for d in devices), key
accounts = {}
for device in devices:
    for a in device["accounts"]:
        sums = accounts.setdefault((a["category"], a["name"]), [0, 0, 0, 0])
        for place, key in enumerate(("count", "time_ns", "gross_nj", "net_nj")):
            sums[place] += a[key] or 0
assert len(accounts) == len(job["accounts"]) == job["account_count"]
for a in job["accounts"]:
    assert accounts[a["category"], a["name"]] == [a["count"], a["time_ns"], a["gross_nj"] or 0, a["net_nj"] or 0], a
assert job["sums"]["measured_nj"] > 0
END
python3 equal.py

# Two ranks share a device, as with MPS. Each digest contains the energy of the whole device, but the sum of the job
# counts it once. Kernels of rank 1 run half as long as those of rank 0, which therefore gets twice the energy.
for rank in 0 1; do
	{
		printf '# clock unix\n# device 0 name="NVIDIA H200" uuid=GPU-5 rank=%d\nkind,name,device,stream,start_ns,end_ns\n' $rank
		for i in 0 1 2 3; do
			printf 'kernel,k,0,7,17000%014d,17000%014d\n' $((i * 200000000)) $((i * 200000000 + 100000000 / (rank + 1)))
		done
	} > shared$rank.csv
done
grep -v ',[123],nvml' power.csv > one.csv
for rank in 0 1; do
	"$kwhy" digest -q shared$rank.csv --power one.csv --run 1700000000000000000,1700000000700000000 -o shared
done
"$kwhy" report shared > screen
grep -q '2 ranks share devices. The energy of each' screen || fail "$(cat screen)"
"$kwhy" report --csv ranks shared > divided.csv
"$kwhy" report --json shared > job.json
python3 - <<'END'
import csv
import json
import sqlite3

wholes = [sqlite3.connect(f"shared/rank-0000{rank}.sqlite").execute("SELECT measured_nj FROM device").fetchone()[0] for rank in (0, 1)]
rows, job = list(csv.DictReader(open("divided.csv"))), json.load(open("job.json"))
sums = job["sums"]
assert sums["ranks_with_shared_devices"] == 2, sums
assert abs(wholes[0] - wholes[1]) < 0.2 * wholes[0], wholes
assert min(wholes) - 2 <= sums["measured_nj"] <= max(wholes) + 2, (sums, wholes)
parts = [int(row["measured_nj"]) for row in rows]
assert sum(parts) == sums["measured_nj"], (parts, sums)
assert abs(parts[0] / parts[1] - 2) < 0.2, parts
END

# 64 ranks run 100 steps. Work takes 1 ms to 1.003 ms in each, and 100 us more on rank 17. The clock of rank 40 is 1 ms
# ahead and runs 50 ppm fast; that of rank 41 is 1 ms behind. Each step ends in a collective, which all ranks leave 100
# us after the last one entered.
write_rank() {
	awk -v rank="$1" -v offset="$2" -v ppm="$3" -v late=17 'function clock(time) { return int(time + offset + time * ppm / 1000000) }
	BEGIN {
		printf "# clock other hand-made\n# device %d rank=%d\nkind,name,device,stream,start_ns,end_ns\n", rank, rank
		for (step = 0; step < 100; step++) {
			at = 5000000 + step * 1300000
			end = at + 1000000 + 1000 * ((rank * 7 + step * 3) % 4) + (rank == late ? 100000 : 0)
			leave = at + 1000000 + 1000 * ((late * 7 + step * 3) % 4) + 100000 + 100000
			printf "kernel,compute,%d,7,%.0f,%.0f\n", rank, clock(at), clock(end)
			printf "collective,ncclDevKernel_AllReduce_Sum_f32_RING_LL,%d,7,%.0f,%.0f\n", rank, clock(end), clock(leave)
		}
	}'
}
for ((rank = 0; rank < 64; rank++)); do write_rank $rank 0 0 > rank$rank.csv; done
write_rank 40 1000000 50 > rank40.csv
write_rank 41 -1000000 0 > rank41.csv
"$kwhy" digest -q --assume-power compute=500,collective=200,idle=100 rank?.csv rank??.csv -o ranks
"$kwhy" report ranks > screen
[ "$(wc -l < screen)" -le 24 ] || fail "$(wc -l < screen) lines: $(cat screen)"
grep -q 'rank 17 (straggler) *100 of 100' screen || fail "$(cat screen)"
# The expected waiting: in each of 100 steps, 63 ranks wait 100 us for rank 17, give or take 3 us, at 200 W.
python3 - <<'END' <("$kwhy" report --json ranks) <("$kwhy" report --csv ranks ranks) <("$kwhy" report --csv collectives ranks)
import csv
import json
import sys

job = json.load(open(sys.argv[1]))
truth = sum(100_000 + 1000 * ((17 * 7 + step * 3) % 4 - (rank * 7 + step * 3) % 4)
            for rank in range(64) if rank != 17 for step in range(100))
sums = job["collective_sums"]
assert sums["compared"] == 100, sums
assert abs(sums["waiting_ns"] - truth) < 64 * 100 * 20, (sums, truth)
assert abs(sums["waiting_nj"] - 200 * sums["waiting_ns"]) < 64 * 100 * 200, sums
assert abs(sums["transfer_ns"] - 100 * 100_000) < 100 * 50, sums
assert [row["rank"] for row in job["late_ranks"]] == [17] and job["late_ranks"][0]["straggler"], job["late_ranks"]
assert job["late_ranks"][0]["caused_nj"] == sums["waiting_nj"]
rows = list(csv.DictReader(open(sys.argv[2])))
offset = {int(row["rank"]): (float(row["clock_offset_ns"]), float(row["clock_drift_ppm"])) for row in rows}
assert [row["rank"] for row in rows if row["straggler"] == "1"] == ["17"] and {row["straggler"] for row in rows} == {"0", "1"}
middle = 50 * 1_300_000 + 5_000_000
assert abs(offset[40][0] - offset[0][0] - 1_000_000 - middle * 50e-6) < 200, offset
assert abs(offset[41][0] - offset[0][0] + 1_000_000) < 100, offset
assert abs(offset[40][1] - offset[0][1] - 50) < 0.1, offset
collectives = list(csv.DictReader(open(sys.argv[3])))
assert len(collectives) == 100 and {row["late_rank"] for row in collectives} == {"17"}
assert sum(int(row["skew_ns"]) for row in collectives) == sums["skew_ns"]
END

# Digests that are given twice, cut off, empty or of another clock are named in the report with the reason, and the
# other ranks are reported, each once.
mkdir parts
cp ranks/rank-000[0-4]*.sqlite parts
cp ranks/rank-00011.sqlite parts/copy.sqlite
head -c 8000 ranks/rank-00050.sqlite > parts/rank-00050.sqlite
sed 's/rank=3/rank=51/' metered3.csv > foreign.csv
"$kwhy" digest -q foreign.csv -o foreign && cp foreign/*.sqlite parts
: > parts/rank-00060.sqlite
"$kwhy" report -v parts > screen
for words in '^ *twice: parts/\(copy\|rank-00011\)' 'unreadable: parts/rank-00050' 'unreadable: parts/rank-00060' 'foreign: parts/rank-00051.*Unix'; do
	grep -q "$words" screen || fail "no '$words': $(cat screen)"
done
grep -q '^50 ranks' screen || fail "$(cat screen)"
# Whether digests are given by lists or patterns, and in which order, makes no difference.
"$kwhy" report --json ranks > whole.json
ls -r ranks/*.sqlite | "$kwhy" report --json - > list.json
"$kwhy" report --json 'ranks/rank-*' > pattern.json
cmp whole.json list.json || fail "a list in another order gives another report"
cmp whole.json pattern.json || fail "a pattern gives another report"
# Commands that need traces refuse a digest, and a trace and a digest cannot be in one report. A damaged digest does not
# prevent the report on the others.
"$kwhy" export ranks/rank-00001.sqlite --to csv -o export.csv 2> message && fail "a digest is exported"
grep -q 'is a digest' message || fail "$(cat message)"
"$kwhy" report rank1.csv ranks/rank-00002.sqlite > screen 2> message && fail "a trace and a digest are one report"
mkdir damaged
python3 - ranks/rank-00005.sqlite damaged <<'END'
import pathlib
import random
import sys

whole, chance = pathlib.Path(sys.argv[1]).read_bytes(), random.Random(3)
for number in range(60):
    bytes_ = bytearray(whole)
    for _ in range(1 + number % 4):
        bytes_[chance.randrange(100, len(bytes_))] = chance.randrange(256)
    pathlib.Path(sys.argv[2], f"{number:02}.sqlite").write_bytes(bytes_)
END
"$kwhy" report -v damaged ranks > screen || fail "damaged digests end the report"
grep -q 'damaged/' screen || fail "no damage is named: $(cat screen)"
# The world sizes in the digests show which ranks are missing (2 and 3 of 4), and that a digest is of another job (it
# states 5 ranks).
for rank in 0 1 3; do
	printf '{"distributedInfo":{"rank":%d,"world_size":%d},"traceEvents":[{"ph":"X","cat":"kernel","name":"k","pid":0,"tid":7,"ts":%d,"dur":10,"args":{"device":0,"stream":7}}]}' \
		$rank $((rank == 3 ? 5 : 4)) 100 > world$rank.json
	"$kwhy" digest -q world$rank.json -o world
done
"$kwhy" report -v world > screen
grep -q 'missing: no digests of ranks 2 to 3 of 4' screen || fail "$(cat screen)"
grep -q 'foreign: world/rank-00003.sqlite: it states 5 ranks' screen || fail "$(cat screen)"
echo nothing > nothing.sqlite
"$kwhy" report ranks nothing.sqlite > screen || fail "one bad file ends the report"
grep -q 'unreadable: nothing.sqlite' screen || fail "$(cat screen)"

# A rank with fewer collectives than the others is reported as cut.
mkdir short
for rank in 0 1 2 3; do
	head -n $((rank == 2 ? 3 + 2 * 80 : 1000)) rank$rank.csv > short/rank$rank.csv
done
"$kwhy" digest -q short/*.csv -o cut
"$kwhy" report -v cut > screen
grep -q 'cut: cut/rank-00002.sqlite: it has 80 collectives, others have 100' screen || fail "$(cat screen)"
[ "$(grep -c 'cut: ' screen)" = 1 ] || fail "$(cat screen)"

# A host meter is identified by its host name and boot. Two ranks on node0 have the same RAPL meter, which counts once.
# Two digests without a host name count as two meters.
for rank in 0 1; do
	sqlite3 cut/rank-0000$rank.sqlite "INSERT INTO meter VALUES(NULL, 'rapl.package-0', NULL, NULL, 9, 0, 9, 1000)"
	sqlite3 cut/rank-0000$((rank + 2)).sqlite "INSERT INTO meter VALUES(NULL, 'rapl.package-0', 'node0', 'boot', 9, 0, 9, 500)"
done
"$kwhy" report --json cut | python3 -c '
import json, sys
sums = json.load(sys.stdin)["sums"]
assert (sums["hosts_nj"], sums["digests_with_hostless_meters"]) == (2500, 2), sums'
"$kwhy" report cut | grep -q '2 digests name no host' || fail "the meters of no host are not named"
