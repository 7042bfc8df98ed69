#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# How far projections are off on an H200: variants of twin and flow are recorded in turns, the next one is projected from the recording
# of the one before alone, and compared with its own recording; median errors of the turns. Costs are those that the recording shows,
# else of a profile that is measured first: curves of copies, graphs and queues. Then plans as text.
# Usage: projections.sh KWHY_FOLDER OUT_FOLDER [record|collectives|project]   (the folder of the portable build; about 2 minutes.
# record: the recordings alone; collectives: of twin over two GPUs, with NCCL; project: of what lies in OUT_FOLDER, without a GPU)
set -u
kwhy=$(cd "$1" && pwd)
mkdir -p "$2"
out=$(cd "$2" && pwd)
part=${3:-all}
program=$kwhy/bin/kwhy
bundled=$(find "$kwhy" -name 'nvidia-h200.json' | head -1)
profile=$out/profile.json
rounds=${ROUNDS:-3}
# shellcheck source=programs/libraries.sh
. "$(dirname "$(realpath "$0")")/programs/libraries.sh"

say() {
	echo "$*" | tee -a "$out/log.txt"
}

step() {
	local name=$1 start=$SECONDS
	shift
	timeout 60 "$@" > "$out/$name.out" 2> "$out/$name.err"
	say "$name: exit $?, $((SECONDS - start)) s"
}

# WORKLOAD VARIANT STEPS REPEAT [OPTIONS]: into VARIANT-STEPS-REPEAT.ROUND.kwhy
record() {
	local name=$2-$3-$4.$round
	step "$name" "$program" record -q --one-file -o "$out/$name.kwhy" -- \
		"$program" bench "$1" --runs-only --variant "$2" --steps "$3" --repeat "$4" --seconds 0 --json "${@:5}"
}

# One run in few steps, where the slow variants take seconds; more runs of the fast ones. What is compared is recorded in turns, since
# the host of one minute is not that of the next.
record_all() {
	local round variant
	# Costs of this card. Where one cannot be measured, the bundled profile stands in.
	step calibrate "$program" calibrate -q --quick ${CUDA_VISIBLE_DEVICES:+--device "${CUDA_VISIBLE_DEVICES%%,*}"} --json -o "$profile"
	[ -s "$profile" ] || cp "$bundled" "$profile"
	step curves "$program" bench transfer -q --quick --strategy pinned,pageable --direction h2d,d2h --max-size 64MiB --time 8 --profile "$profile"
	for ((round = 1; round <= rounds; round++)); do
		for variant in v0 v1 v2 v3 v6; do record twin "$variant" 48 1; done
		for variant in v2 v3 v5 v6; do record twin "$variant" 288 10; done
		for variant in n0 n2; do record flow "$variant" 6 1; done
		for variant in n2 n3 n5; do record flow "$variant" 60 200; done
	done
	round=1
	for variant in n0c n0p n0; do record flow "$variant" 40 1 --flows 100; done
	say "recorded after $SECONDS s"
}

record_collectives() {
	local round variant
	for ((round = 1; round <= rounds; round++)); do
		for variant in v9 v9b; do record twin "$variant" 288 5 --ranks 2 --device 0,1 --collectives nccl; done
	done
	say "recorded after $SECONDS s"
}

# NAME: into NAME.pauses, nanoseconds in which the device idled for 1.5 ms and more at a time, as it does while libraries are loaded and
# memory is taken. They are in no time that is compared.
pauses() {
	[ ! -e "$out/$1.pauses" ] || return 0
	"$program" export -q --to sqlite -o "$out/$1.sqlite" "$out/$1.kwhy"
	python3 - "$out/$1.sqlite" > "$out/$1.pauses" << 'PAUSES'
import sqlite3, sys

last, sum_ns = None, 0
for start_ns, end_ns in sqlite3.connect(sys.argv[1]).execute("SELECT start_ns, end_ns FROM activity ORDER BY start_ns"):
    if last is not None and start_ns - last > 1500000:
        sum_ns += start_ns - last
    last = end_ns if last is None else max(last, end_ns)
print(sum_ns)
PAUSES
	rm -f "$out/$1.sqlite"
}

# BEFORE AFTER SHAPE CHANGES...
pair() {
	local before=$1 after=$2 shape=$3 round name
	shift 3
	for ((round = 1; round <= rounds; round++)); do
		name=$before-$after-$shape.$round
		[ -e "$out/$before-$shape.$round.kwhy" ] || continue
		[ -e "$out/$after-$shape.$round.kwhy" ] || continue
		"$program" whatif -q --profile "$profile" "$@" "$out/$before-$shape.$round.kwhy" -o "$out/$name.json" 2>> "$out/$name.err" || continue
		"$program" compare -q --profile "$profile" --projected "$out/$name.json" "$out/$before-$shape.$round.kwhy" \
			"$out/$after-$shape.$round.kwhy" --json > "$out/$name.compare.json" 2>> "$out/$name.err"
		pauses "$before-$shape.$round"
		pauses "$after-$shape.$round"
	done
}

project() {
	[ -s "$profile" ] || cp "$bundled" "$profile"
	pair v0 v1 48-1 --event-waits --join-waits --pinned
	pair v1 v2 48-1 --pack-d2h
	pair v0 v3 48-1 --pack-h2d --pack-d2h --pinned --event-waits
	pair v0 v6 48-1 --pack-h2d --pack-d2h --fuse --pinned --event-waits --graph
	pair v2 v3 288-10 --pack-h2d
	pair v3 v5 288-10 --fuse
	pair v5 v6 288-10 --graph
	pair v3 v6 288-10 --fuse --graph
	# what comes in every fourth step of v9b are sums and peak, which NCCL gathers
	printf '!*\n*AllGather*\n' > "$out/thinned.txt"
	pair v9 v9b 288-5 --collectives "$out/thinned.txt" --thin-collectives 4
	pair n0 n2 6-1 --batch 1000
	pair n2 n3 60-200 --keep-on-device 0 --fuse --event-waits
	pair n3 n5 60-200 --graph
	pair n0c n0p 40-1 --pool
	pair n0c n0 40-1 --pool
	for recording in v0-48-1.1 v1-48-1.1 v3-288-10.1 n0-6-1.1 n2-60-200.1 n3-60-200.1 n0c-40-1.1; do
		[ ! -e "$out/$recording.kwhy" ] || "$program" whatif -q --profile "$profile" --plan --numerics "$out/$recording.kwhy" \
			-o "$out/plan-$recording.txt" 2>> "$out/plan.err"
	done
}

# Median errors of the turns, and of all pairs.
table() {
	python3 - "$out" << 'TABLE' | tee -a "$out/log.txt"
import glob, json, os, statistics, sys

def percent(values):
    values = [v for v in values if v is not None]
    return f"{100 * statistics.median(values):+.1f} %" if values else "n/a"

KEYS = ("time", "energy", "above idle")
pairs = {}


def pauses_of(name):
    return int(open(os.path.join(sys.argv[1], name + ".pauses")).read())


for path in sorted(glob.glob(os.path.join(sys.argv[1], "*.compare.json"))):
    turn = os.path.basename(path)[: -len(".compare.json")]
    before, after, *shape = turn.split("-")
    try:
        made = json.load(open(path))["projection"]
        was = json.load(open(path.replace(".compare", "")))["before"]
        if made["changes"] == "no changes":
            print(turn, "has nothing that could be changed so")
            continue
        row = {"was": was["time_ns"] - pauses_of("-".join([before, *shape])), "changes": made["changes"]}
        less = was["time_ns"] - row["was"]
        row.update({key: made[key + "_ns"] - less for key in ("time", "time_low", "time_high")})
        whole_ns = made["time_ns"] / (1 + made["time_error_ratio"])
        row["is"] = whole_ns - pauses_of("-".join([after, *shape]))
        row["errors"] = [row["time"] / row["is"] - 1, None, None]
        row["launches"] = made["launch_ratio"]
        if row["is"] >= 1e8 and made["energy_error_ratio"] is not None:  # the meter ticks every 0.1 s
            # pauses go at the idle level of their run
            idle_w = (was["energy_nj"] - was["net_nj"]) / was["time_ns"]
            whole_nj = made["energy_nj"] / (1 + made["energy_error_ratio"])
            idle_after_w = (whole_nj - made["measured_net_nj"]) / whole_ns
            row["errors"][1] = (made["energy_nj"] - idle_w * less) / (whole_nj - idle_after_w * (whole_ns - row["is"])) - 1
            is_j = [made["measured_net" + key + "_nj"] for key in ("", "_low", "_high")]
            if None not in is_j and is_j[2] - is_j[0] <= 0.15 * is_j[0]:  # known well enough to say something
                row["errors"][2] = made["net_error_ratio"]
        pairs.setdefault(turn.rsplit(".", 1)[0], []).append(row)
    except (KeyError, OSError, TypeError, ValueError, ZeroDivisionError) as error:
        print(turn, "no comparison:", error)
medians = {key: [] for key in KEYS}
for name, rows in pairs.items():
    middle = lambda key: statistics.median(row[key] for row in rows) / 1e6
    errors = [percent([row["errors"][i] for row in rows]) for i in range(3)]
    print(f"{name:12} {rows[0]['changes']:50} {middle('was'):9.2f} ms becomes {middle('is'):9.2f}, projected {middle('time'):9.2f} "
          f"({middle('time_low'):.2f} to {middle('time_high'):.2f}): time {errors[0]}, energy {errors[1]}, above idle {errors[2]}; turns (and a launch's time, after to before): "
          + ", ".join(f"{percent([row['errors'][0]])} ({row['launches'] or float('nan'):.2f})" for row in rows))
    for i, key in enumerate(KEYS):
        values = [row["errors"][i] for row in rows if row["errors"][i] is not None]
        if values:
            medians[key].append(abs(statistics.median(values)))
for key, values in medians.items():
    if values:
        print(f"{key}: median {100 * statistics.median(values):.1f} %, worst {100 * max(values):.1f} % of {len(values)}")
TABLE
}

case $part in
all | record | collectives)
	use_libraries 'libnvrtc.so.1*' 'libcublas.so.1*' 'libnccl.so.2'
	nvidia-smi --query-gpu=name,driver_version,temperature.gpu,clocks.sm,power.draw --format=csv > "$out/gpu.csv" 2>&1
	;;
esac
case $part in all | record) record_all ;; esac
[ "$part" != collectives ] || record_collectives
case $part in
all | project)
	project
	table
	;;
esac
say "all: $SECONDS s"
