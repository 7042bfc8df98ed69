#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Measures the errors of kwhy whatif on an H200. Variants of kwhy-lab's twin and flow are recorded in turns. Each pair
# of variants differs by known changes: the later variant is projected from the recording of the earlier one, and the
# projection is compared with the later variant's own recording. Shows the median errors over the turns. Costs of calls,
# copies, graphs and queues come from the recording or, if it has none, from a machine profile that is measured first,
# under kwhy record, since every call in a recording includes the recorder's time. The later variant's energy above idle
# is that of a window of repeated runs, if one is measured (window() below). Also writes kwhy whatif's plans as text.
# Usage: projections.sh KWHY_FOLDER OUT_FOLDER [record|turns|project|replay]     (about 2 minutes)
# KWHY_FOLDER is the folder of the portable build. record: only makes the recordings. turns: makes the recordings and,
# after each of the first REPLAYS turns, replays that turn's recordings without measuring energy. project: projects the
# recordings in OUT_FOLDER, without a GPU. replay: does as project, and replays the recordings of the first turn with
# the same changes on this GPU; with ROUNDS=1 STEPS=24 RUNS=30 FLOW_RUNS=100 it takes four minutes, and `record` before
# it a minute and a half.
# Variables (defaults): ROUNDS, number of turns (3); STEPS of the slow variants of twin (48); RUNS of the fast ones
# (10); FLOW_RUNS, runs of flow (200); REPLAYS, number of turns whose recordings are replayed; only in the first is
# energy measured (1); REPEAT, runs in a replay of a fast variant (5); LIMIT, seconds after which no further replay
# begins.
set -u
kwhy=$(cd "$1" && pwd)
mkdir -p "$2"
out=$(cd "$2" && pwd)
part=${3:-all}
program=$kwhy/bin/kwhy
bundled=$(find "$kwhy" -name 'nvidia-h200.json' | head -1)
profile=$out/profile.json
rounds=${ROUNDS:-3}
slow=${STEPS:-48}-1
fast=288-${RUNS:-10}
flow=60-${FLOW_RUNS:-200}
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

# record WORKLOAD VARIANT STEPS REPEAT [OPTIONS]: records into VARIANT-STEPS-REPEAT.ROUND.kwhy
record() {
	local name=$2-$3-$4.$round
	step "$name" "$program" record -q --one-file -o "$out/$name.kwhy" -- \
		"${program%/*}/kwhy-lab" "$1" --runs-only --variant "$2" --steps "$3" --repeat "$4" --seconds 0 --json "${@:5}"
}

# recorded NAME COMMAND...: runs the command under kwhy record, so that its calls take as long as in
# recordings, and deletes the recording
recorded() {
	step "$1" "$program" record -q --one-file -o "$out/costs" -- "${@:2}"
	rm -f "$out/costs"
}

# window WORKLOAD VARIANTS STEPS REPEAT [OPTIONS]: writes the energy of runs like the recorded ones to
# STEPS-REPEAT.window.json
window() {
	step "$3-$4.window" "${program%/*}/kwhy-lab" "$1" -q --runs-only --variant "$2" --steps "$3" --repeat 1 --seconds 2 --json \
		-o "$out/$3-$4.window.json" "${@:5}"
}

# Makes all recordings, in turns, since the speed of the host changes within minutes: a turn records every variant once.
# Slow variants, whose runs take seconds, have one run of few steps in a recording; fast ones have several runs.
record_all() {
	local round variant
	# The machine profile with the costs of this GPU. If they cannot be measured, the bundled
	# profile of an H200 is used.
	recorded calibrate "$program" calibrate -q --quick ${CUDA_VISIBLE_DEVICES:+--device "${CUDA_VISIBLE_DEVICES%%,*}"} --json -o "$profile"
	[ -s "$profile" ] || cp "$bundled" "$profile"
	recorded curves "$program" bench transfer -q --quick --strategy pinned,pageable --direction h2d,d2h --max-size 64MiB --time 8 --update-profile "$profile"
	for ((round = 1; round <= rounds; round++)); do
		for variant in v0 v1 v2 v3 v6; do record twin "$variant" "${slow%-*}" 1; done
		for variant in v2 v3 v5 v6; do record twin "$variant" 288 "${fast#*-}"; done
		for variant in n0 n2; do record flow "$variant" 6 1; done
		for variant in n2 n3 n5; do record flow "$variant" 60 "${flow#*-}"; done
		if [ "$part" = turns ] || [ "$round" -eq 1 ]; then
			for variant in n0c n0p n0; do record flow "$variant" 40 1 --flows 100; done
		fi
		turn=$round
		[ "$part" != turns ] || [ "$round" -gt "${REPLAYS:-1}" ] || each_pair replay_turn
	done
	window flow n3,n5 60 "${flow#*-}"
	window twin v3,v5,v6 288 "${fast#*-}"
	window flow n0p,n0 40 1 --flows 100
	say "recorded after $SECONDS s"
}

# pauses NAME: writes to NAME.pauses how long the device idled before the end of the first step of recording NAME, ns,
# counting only gaps above 0.3 ms, in which libraries were loaded and memory was allocated. These gaps are subtracted
# from the times that are compared.
pauses() {
	"$program" export -q --to sqlite -o "$out/$1.sqlite" "$out/$1.kwhy"
	python3 - "$out/$1.sqlite" "${1%%-*}" > "$out/$1.pauses" << 'PAUSES'
import sqlite3, sys

recording = sqlite3.connect(sys.argv[1])
end_of = "SELECT MIN(range.end_ns) FROM range JOIN name ON name.id = name_id WHERE text = ?"
set_up_ns = recording.execute(end_of, ("step",)).fetchone()[0] or recording.execute(end_of, (sys.argv[2],)).fetchone()[0]
last, sum_ns = None, 0
for start_ns, end_ns in recording.execute("SELECT start_ns, end_ns FROM activity ORDER BY start_ns"):
    if last is not None and start_ns - last > 300000 and last < set_up_ns:
        sum_ns += start_ns - last
    last = end_ns if last is None else max(last, end_ns)
print(sum_ns)
PAUSES
	rm -f "$out/$1.sqlite"
}

# each_pair WORDS: calls WORDS BEFORE AFTER SHAPE SECONDS CHANGES... for each pair of variants. SHAPE: steps and
# runs of both recordings. CHANGES: options of kwhy whatif for what AFTER changes. SECONDS: how long a replay of
# AFTER is repeated so that its energy can be measured; 0: its energy is not measured.
# shellcheck disable=SC2086 # words
each_pair() {
	$1 v0 v1 "$slow" 0 --event-waits --join-waits --pinned
	$1 n3 n5 "$flow" 1 --graph=60 # n5: a run is one graph
	$1 v0 v3 "$slow" 0 --pack-h2d --pack-d2h --pinned --event-waits
	$1 v1 v2 "$slow" 0 --pack-d2h
	$1 v5 v6 "$fast" 1 --graph
	$1 v3 v6 "$fast" 1 --fuse --graph
	$1 n0 n2 6-1 0 --batch 1000
	$1 v2 v3 "$fast" 1 --pack-h2d
	$1 v0 v6 "$slow" 0 --pack-h2d --pack-d2h --fuse --pinned --event-waits --graph
	$1 v3 v5 "$fast" 1 --fuse
	$1 n0c n0p 40-1 1 --pool
	$1 n2 n3 "$flow" 1 --keep-on-device 0 --fuse --event-waits
	$1 n0c n0 40-1 1 --pool
}

# host_percent COMPARISON: how long launches took in the earlier recording, in percent of their time
# in the later one, as the value of --host-speed of kwhy whatif; nothing if it is unknown
host_percent() {
	python3 -c 'import json, sys
ratio = json.load(open(sys.argv[1]))["projection"]["launch_ratio"]
print(round(100 / ratio) if ratio else "")' "$1" 2> /dev/null
}

project_pair() {
	local before=$1 after=$2 shape=$3 round name percent
	shift 4
	for ((round = 1; round <= rounds; round++)); do
		name=$before-$after-$shape.$round
		[ -e "$out/$before-$shape.$round.kwhy" ] || continue
		[ -e "$out/$after-$shape.$round.kwhy" ] || continue
		"$program" whatif -q --machine-profile "$profile" "$@" "$out/$before-$shape.$round.kwhy" -o "$out/$name.json" 2>> "$out/$name.err" || continue
		"$program" compare -q --machine-profile "$profile" --projected "$out/$name.json" "$out/$before-$shape.$round.kwhy" \
			"$out/$after-$shape.$round.kwhy" --json > "$out/$name.compare.json" 2>> "$out/$name.err"
		percent=$(host_percent "$out/$name.compare.json")
		[ -z "$percent" ] || "$program" whatif -q --machine-profile "$profile" "$@" --host-speed "$percent" \
			"$out/$before-$shape.$round.kwhy" -o "$out/$name.$percent.speed.json" 2>> "$out/$name.err"
	done
}

# replay_turn BEFORE AFTER SHAPE SECONDS CHANGES...: replays the recording of BEFORE with the changes. Pairs with the
# same recording and changes share one replay. kwhy replay runs without the recorder, and adds the recorder's time to
# each call itself.
replay_turn() {
	local before=$1 shape=$3 seconds=$4 name=$1-$2-$3.$turn key repeat=1
	shift 4
	case $before in v[2-9] | n[23]) repeat=${REPEAT:-5} ;; esac # the others take seconds
	[ -e "$out/$before-$shape.$turn.kwhy" ] && [ $SECONDS -lt "${LIMIT:-600}" ] || return 0
	key=$before-$shape-$turn-$*
	key=$out/replay${key//[^a-z0-9-]/}.json
	[ "$turn" -eq 1 ] && [ "$part" != turns ] || seconds=0
	[ -e "$key" ] || step "replay-$name" "$program" replay -q --machine-profile "$profile" --repeat "$repeat" --seconds "$seconds" --json -o "$key" \
		"$@" "$out/$before-$shape.$turn.kwhy"
	[ ! -e "$key" ] || cp "$key" "$out/$name.replay.json"
}

beside() {
	"$@" &
}

# All projections run concurrently, since none of them is timed.
project() {
	local recording name
	[ -s "$profile" ] || cp "$bundled" "$profile"
	for recording in "$out"/*.kwhy; do
		name=$(basename "$recording" .kwhy)
		[ -e "$out/$name.pauses" ] || pauses "$name" &
	done
	each_pair "beside project_pair"
	for recording in "v0-$slow.1" "v1-$slow.1" "v3-$fast.1" n0-6-1.1 "n2-$flow.1" "n3-$flow.1" n0c-40-1.1; do
		[ ! -e "$out/$recording.kwhy" ] || "$program" whatif -q --machine-profile "$profile" --plan --numerics "$out/$recording.kwhy" \
			-o "$out/plan-$recording.txt" 2>> "$out/plan.err" &
	done
	wait
}

# Shows for each pair the median error over the turns, and the median over all pairs; the errors of replays, if
# there are any, against the median of the later recordings; and last, how much the later recordings differ among
# themselves, which no prediction can beat.
table() {
	python3 - "$out" << 'TABLE' | tee -a "$out/log.txt"
import glob, json, os, statistics, sys

KEYS = ("time", "energy", "above idle")


def percent(values):
    values = [v for v in values if v is not None]
    return f"{100 * statistics.median(values):+.1f} %" if values else "n/a"


def load(name):
    return json.load(open(os.path.join(sys.argv[1], name)))


def pauses_of(name):
    return int(open(os.path.join(sys.argv[1], name + ".pauses")).read())


def window_of(after, shape):
    """nJ above idle of as many runs as were recorded: value, low, high."""
    steps, repeat = shape[0].split("-") if len(shape) == 1 else shape
    path = f"{steps}-{repeat}.window.json"
    if not os.path.exists(os.path.join(sys.argv[1], path)):
        return None
    for row in load(path)["rows"]:
        if row["id"] == after:
            phase = row["phases"][0]
            items = 1e9 * (int(repeat) + 1) * phase["items_a_run"]
            return [phase["net_j_per_item"][key] * items for key in ("value", "low", "high")]
    return None


def row_of(turn):
    """Figures before and after the changes, and the projected ones, in ns and nJ; without pauses and their idle energy."""
    before, after, *shape = turn.split("-")
    made, was = load(turn + ".compare.json")["projection"], load(turn + ".json")["before"]
    less = pauses_of("-".join([before, *shape]))
    whole = made["time_ns"] / (1 + made["time_error_ratio"])
    equal = glob.glob(os.path.join(sys.argv[1], turn + ".*.speed.json"))
    row = {"turn": turn, "changes": made["changes"], "was": was["time_ns"] - less, "less": less, "launches": made["launch_ratio"],
           "is": [whole - pauses_of("-".join([after, *shape])), None, None], "made": [made["time_ns"] - less, None, None],
           "between": [made[key] - less for key in ("time_low_ns", "time_high_ns")]}
    if equal:  # as if the first host had been as fast as the later one
        percent = int(equal[0].rsplit(".", 3)[1])
        row["equal"] = (load(equal[0])["after"]["time_ns"] - less * 100 / percent) / row["is"][0] - 1
    if row["is"][0] >= 1e8 and made["energy_error_ratio"] is not None:  # the meter ticks every 0.1 s
        row["idle_w"] = (was["energy_nj"] - was["net_nj"]) / was["time_ns"]
        whole_nj = made["energy_nj"] / (1 + made["energy_error_ratio"])
        idle_after_w = (whole_nj - made["measured_net_nj"]) / whole
        row["is"][1] = whole_nj - idle_after_w * (whole - row["is"][0])
        row["made"][1] = made["energy_nj"] - row["idle_w"] * less
    nj = window_of(after, [part.rsplit(".", 1)[0] for part in shape])
    if nj is None and row["is"][0] >= 1e8:
        nj = [made["measured_net" + key + "_nj"] for key in ("", "_low", "_high")]
    if nj and None not in nj and made["net_nj"] is not None:
        row["made"][2], row["is"][2] = made["net_nj"], nj[0]
        row["known"] = nj[2] - nj[0] <= 0.15 * nj[0]  # well enough to say something
    return row


def errors_of(made, row):
    known = [True, True, row.get("known", False)]
    return [m / i - 1 if m is not None and i and k else None for m, i, k in zip(made, row["is"], known)]


def replayed(turn, row):
    """The same of the changed replay, and how it was off as recorded."""
    replay = load(turn + ".replay.json")
    changed, off = replay["changed"], replay["as_recorded"]["off_ratio"]
    joules = [changed[key]["value"] for key in ("energy_j", "net_j")]
    made = [changed["span_s"]["median"] * 1e9 - row["less"], None, None]
    if joules[0] is not None:
        made[2] = joules[1] * 1e9
    if joules[0] is not None and row.get("idle_w"):
        made[1] = joules[0] * 1e9 - row["idle_w"] * row["less"]
    return made, [replay["first_off_ratio"], off["span"], replay["first_net_off_ratio"], off["net"]]


def line(name, rows):
    middle = lambda value: statistics.median(map(value, rows)) / 1e6
    errors = [errors_of(row["made"], row) for row in rows]
    print(f"{name:12} {rows[0]['changes']:50} {middle(lambda r: r['was']):9.2f} ms becomes {middle(lambda r: r['is'][0]):9.2f}, "
          f"projected {middle(lambda r: r['made'][0]):9.2f} ({middle(lambda r: r['between'][0]):.2f} to {middle(lambda r: r['between'][1]):.2f}): "
          + ", ".join(f"{key} {percent([e[i] for e in errors])}" for i, key in enumerate(KEYS))
          + "; turns (and a launch's time, after to before): "
          + ", ".join(f"{percent([e[0]])} ({row['launches'] or float('nan'):.2f})" for e, row in zip(errors, rows)))
    return medians(errors)


def replay_line(name, rows):
    """Of the turns that were replayed; joules of the first of them."""
    usual = {"is": medians([row["is"] for row in rows]), "known": rows[0].get("known", False)}
    turns = [(row, *replayed(row["turn"], row)) for row in rows if os.path.exists(os.path.join(sys.argv[1], row["turn"] + ".replay.json"))]
    errors = [errors_of(made, usual) for _, made, _ in turns]
    row, made, off = turns[0]
    joules = [f"{value[2] / 1e9:.2f}" if value[2] is not None else "n/a" for value in (usual["is"], row["made"], made)]
    print(f"{'':12} replayed {statistics.median(made[0] for _, made, _ in turns) / 1e6:.2f} ms: "
          + ", ".join(f"{key} {percent([e[i] for e in errors])}" for i, key in enumerate(KEYS))
          + "; turns " + ", ".join(percent([e[0]]) for e in errors)
          + f"; J above idle {joules[0]}, projected {joules[1]}, replayed {joules[2]}; as recorded first "
          + f"{percent([off[0]])}, then {percent([off[1]])}; above idle {percent([off[2]])}, then {percent([off[3]])}")
    return medians(errors)


def at_equal_speed(rows):
    """The error, had the host been as fast as the later one."""
    errors = [row["equal"] for row in rows]
    print(f"{'':12} for the later host's speed: {percent(errors)}; turns " + ", ".join(percent([e]) for e in errors))
    return [statistics.median(errors), None, None]


def repeats(rows):
    """How far off each later recording is from the median of the others."""
    times = [row["is"][0] for row in rows]
    errors = [time / statistics.median(times[:i] + times[i + 1 :]) - 1 for i, time in enumerate(times)]
    print(f"{'':12} the later in turns: " + ", ".join(percent([e]) for e in errors))
    return [statistics.median(abs(e) for e in errors), None, None]


def medians(errors):
    return [statistics.median(v) if (v := [e[i] for e in errors if e[i] is not None]) else None for i in range(3)]


pairs, results = {}, {"projected": [], "projected for the later host's speed": [], "replayed": [], "the later against its other turns": []}
for path in sorted(glob.glob(os.path.join(sys.argv[1], "*.compare.json"))):
    turn = os.path.basename(path)[: -len(".compare.json")]
    try:
        row = row_of(turn)
        if row["changes"] == "no changes":
            print(turn, "has nothing that could be changed so")
        else:
            pairs.setdefault(turn.rsplit(".", 1)[0], []).append(row)
    except (KeyError, OSError, TypeError, ValueError, ZeroDivisionError) as error:
        print(turn, "no comparison:", error)
for name, rows in pairs.items():
    results["projected"].append(line(name, rows))
    if all("equal" in row for row in rows):
        results["projected for the later host's speed"].append(at_equal_speed(rows))
    if len(rows) > 1:
        results["the later against its other turns"].append(repeats(rows))
    if any(os.path.exists(os.path.join(sys.argv[1], row["turn"] + ".replay.json")) for row in rows):
        try:
            results["replayed"].append(replay_line(name, rows))
        except (KeyError, TypeError, ValueError) as error:
            print(name, "no replay:", error)
for what, errors in results.items():
    for i, key in enumerate(KEYS):
        values = [abs(e[i]) for e in errors if e[i] is not None]
        if values:
            print(f"{what}: {key}: median {100 * statistics.median(values):.1f} %, worst {100 * max(values):.1f} % of {len(values)}")
TABLE
}

case $part in
all | record | turns | replay)
	use_libraries 'libnvrtc.so.1*' 'libcublasLt.so.1*' 'libnccl.so.2'
	nvidia-smi --query-gpu=name,driver_version,temperature.gpu,clocks.sm,power.draw --format=csv > "$out/gpu.csv" 2>&1
	;;
esac
case $part in all | record | turns) record_all ;; esac
case $part in
all | project | replay)
	project
	for ((turn = 1; turn <= ${REPLAYS:-1}; turn++)); do
		[ "$part" != replay ] || each_pair replay_turn
	done
	table
	;;
esac
say "all: $SECONDS s"
