#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Exports a recorded run in each form, and reads the exports with other programs: protoc (Perfetto) and sqlite3
# (SQLite), and with kwhy (Chrome, CSV and the others).
# Usage: export_test.sh KWHY SOURCE_DIR
set -euo pipefail
kwhy=$1 source=$2
trace=$source/examples/h200-train/trace.json.zst
power=$source/examples/h200-train/power.csv
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
export KWHY_PROFILES=$source/profiles

for tool in protoc sqlite3; do
	command -v "$tool" >/dev/null || { echo "skipped: no $tool (run scripts/setup)"; exit 77; }
done

fail() {
	echo "FAILED: $*" >&2
	exit 1
}

same() { # WHAT A B
	[ "$2" = "$3" ] || fail "$1: $2 is not $3"
}

for form in perfetto chrome sqlite csv; do
	"$kwhy" export "$trace" --power "$power" --to "$form" -o "$folder/run.$form" 2>"$folder/said.$form"
done
"$kwhy" export "$trace" --power "$power" --to chrome -o "$folder/run.json.gz"

# A limit on file sizes makes writing fail: one sentence says so, and no file remains.
for form in perfetto sqlite; do
	if (ulimit -f 8; "$kwhy" export "$trace" --power "$power" --to "$form" -o "$folder/long.$form") 2>"$folder/said"; then
		fail "$form wrote more than it may"
	fi
	same "messages of $form" "$(wc -l <"$folder/said")" 1
	grep -q "^kwhy: .*long.$form" "$folder/said" || fail "$form: $(cat "$folder/said")"
done
[ -z "$(ls "$folder" | grep long)" ] || fail "left behind: $(ls "$folder")"

# SQLite: energies of the accounts add up to the metered energy, and kernel_energy counts every activity except copies
# and memsets.
activities=$(sqlite3 "$folder/run.sqlite" 'SELECT count(*) FROM activity')
calls=$(sqlite3 "$folder/run.sqlite" 'SELECT count(*) FROM call')
ranges=$(sqlite3 "$folder/run.sqlite" 'SELECT count(*) FROM range')
[ "$activities" -gt 1000 ] || fail "only $activities activities in the database"
measured=$("$kwhy" report "$trace" --power "$power" --json | sed -n 's/.*"measured_nj": *\([0-9]*\).*/\1/p' | head -1)
same "sum of accounts" "$(sqlite3 "$folder/run.sqlite" 'SELECT sum(gross_nj) FROM account')" "$measured"
same "rows of kernel_energy" "$(sqlite3 "$folder/run.sqlite" 'SELECT sum(count) FROM kernel_energy')" \
	"$(sqlite3 "$folder/run.sqlite" "SELECT count(*) FROM activity WHERE kind NOT IN ('copy', 'memset')")"

# Perfetto: protoc decodes the trace by the field numbers in perfetto_subset.proto, which are not kwhy's own. Each slice
# begins and ends, and each activity on a device has an energy.
protoc --proto_path="$source/tests/export" --decode=subset.Trace perfetto_subset.proto \
	<"$folder/run.perfetto" >"$folder/decoded.txt"
begins=$(grep -c 'type: TYPE_SLICE_BEGIN' "$folder/decoded.txt")
same "slices that end" "$(grep -c 'type: TYPE_SLICE_END' "$folder/decoded.txt")" "$begins"
same "slices" "$begins" "$((calls + ranges))"
same "stages" "$(grep -c '^  gpu_render_stage_event {' "$folder/decoded.txt")" "$activities"
same "energies" "$(grep -A1 'name: "energy_j"' "$folder/decoded.txt" | grep -c 'value: ')" "$activities"
for number in hw_queue_iid stage_iid context; do # each id that a stage refers to is described
	sed -n "s/^    $number: //p" "$folder/decoded.txt" | sort -u >"$folder/used.txt"
	sed -n '/^    g[a-z_]*s {/,/^    }/s/^      iid: //p' "$folder/decoded.txt" | sort -u >"$folder/described.txt"
	[ -s "$folder/used.txt" ] || fail "no stage has a $number"
	[ -z "$(comm -23 "$folder/used.txt" "$folder/described.txt")" ] || fail "$number without a description"
done
grep -q 'numerator_units: WATT' "$folder/decoded.txt" || fail "no power counter of a GPU"
joules=$(sed -n '/name: "energy_j"/{n;s/.*value: "\(.*\)"/\1/p}' "$folder/decoded.txt" | awk '{sum += $1} END {printf "%.3f", sum}')
same "joules of the stages" "$joules" \
	"$(sqlite3 "$folder/run.sqlite" 'SELECT printf("%.3f", sum(energy_nj) * 1e-9) FROM activity')"

# Power tracks from an energy counter of 32 bits that draws 9 W: it wraps between 100 and 200 ms, which must still give
# 9 W. It is reset at 210 ms, so its rise until then is unknown and that interval has no value.
start=1795245124000000000
printf 'kind,name,device,stream,start_ns,end_ns\nkernel,k,0,7,%s,%s\n' $start $((start + 400000000)) >"$folder/short.csv"
{
	echo 'time_ns,device,source,value'
	for reading in 0,4294000000 100,4294900000 200,832704 210,5 310,900005; do
		echo "$((start + ${reading%,*} * 1000000)),,rapl.package-0_uj,${reading#*,}"
	done
	for reading in 0,1500 100,2500; do
		echo "$((start + ${reading%,*} * 1000000)),,hwmon.power-1_mw,${reading#*,}"
	done
} >"$folder/short-power.csv"
for form in perfetto chrome sqlite; do
	"$kwhy" export "$folder/short.csv" --power "$folder/short-power.csv" --to "$form" -o "$folder/short.$form" 2>/dev/null
done
protoc --proto_path="$source/tests/export" --decode=subset.Trace perfetto_subset.proto \
	<"$folder/short.perfetto" >"$folder/short.txt"
same "powers of a counter" "$(sed -n 's/.*double_counter_value: //p' "$folder/short.txt" | tr '\n' ' ')" "9 9 9 1.5 2.5 "

# Power tracks of several meters of one kind have the meter's number in their names, as in power CSV.
for name in hwmon.power-1_mw rapl.package-0_uj; do
	grep -q "name: \"$name\"" "$folder/short.txt" || fail "no track $name in perfetto"
	[ "$(sqlite3 "$folder/short.sqlite" "SELECT count(*) FROM power WHERE source = '$name'")" -gt 1 ] ||
		fail "no readings of $name in the database"
done
grep -q '"name":"hwmon.power-1_mw"' "$folder/short.chrome" || fail "no counter hwmon.power-1_mw in chrome"

# An SQLite export keeps the stated work and the meter readings, and gives the same report. For the other forms kwhy
# says in one sentence that it will not read meter readings back from them.
"$kwhy" export "$trace" --power "$power" --work tokens=4096.5 --to sqlite -o "$folder/work.sqlite" 2>"$folder/said"
[ ! -s "$folder/said" ] || fail "sqlite keeps readings, and yet: $(cat "$folder/said")"
energy_of() { # of a report: prints its work and the energies of each account
	grep -oE '"(unit|work)": "tokens".*|"(measured|gross|net)_nj": [-0-9]+' "$1"
}
"$kwhy" report "$trace" --power "$power" --work tokens=4096.5 --json -o "$folder/first.json"
"$kwhy" report "$folder/work.sqlite" --json -o "$folder/back.json"
same "work and energy of sqlite" "$(energy_of "$folder/back.json")" "$(energy_of "$folder/first.json")"
grep -q '"tokens"' "$folder/back.json" || fail "the work is lost"
for form in csv chrome perfetto; do
	same "sentences about readings of $form" "$(grep -c 'meter readings are not read back' "$folder/said.$form")" 1
	"$kwhy" export "$trace" --to "$form" -o "$folder/told.$form" 2>"$folder/said"
	[ ! -s "$folder/said" ] || fail "$form says without readings: $(cat "$folder/said")"
done

# A recording of kwhy probe has repeats of kernels. An export does not mark them, so a reader would count their time as
# the program's; kwhy must say so.
"$kwhy" export "$source/examples/recordings/mix-probed.kwhy" -o "$folder/probed.sqlite" 2>"$folder/said"
same "sentences about repeats" "$(grep -c 'does not mark the repeats of kwhy probe' "$folder/said")" 1

# Chrome and CSV are read back as the same activities, with equal counts and times of every account.
"$kwhy" report "$trace" --json -o "$folder/first.json"
for back in run.chrome run.json.gz run.csv run.perfetto; do
	"$kwhy" report "$folder/$back" --json -o "$folder/back.json"
	same "kernels of $back" \
		"$(sed -n '/"kernels"/,/}/p' "$folder/back.json" | tr -d ' \n')" \
		"$(sed -n '/"kernels"/,/}/p' "$folder/first.json" | tr -d ' \n')"
done

# A report on the Perfetto export also has the same idle time by category (sync, launch, alloc, host).
times() { # of a report: prints the time in each category
	grep -oE '"(span|busy|idle|compute|collective|copy|memset|sync|launch|alloc|host)_ns": [0-9]+' "$1"
}
"$kwhy" report "$folder/run.perfetto" --json -o "$folder/back.json"
same "times of perfetto" "$(times "$folder/back.json")" "$(times "$folder/first.json")"

# Two ranks use a device with the number 0 each. The Perfetto export must keep them as two devices.
event() { # RANK CATEGORY NAME PROCESS MORE
	printf '{"ph":"X","cat":"%s","name":"%s","pid":"[TP0%s] %s","tid":7,"ts":%s,"dur":%s,"args":{"correlation":1%s}}' \
		"$2" "$3" "$1" "$4" $((10 + 20 * $1)) $((5 + $1)) "$5"
}
printf '{"baseTimeNanoseconds":1795245124000000000,"traceEvents":[%s,%s,%s,%s]}' \
	"$(event 0 kernel k 0 ',"device":0,"stream":7')" "$(event 1 kernel k 0 ',"device":0,"stream":7')" \
	"$(event 0 cuda_runtime cudaLaunchKernel 42 '')" "$(event 1 cuda_runtime cudaLaunchKernel 43 '')" >"$folder/ranks.json"
"$kwhy" export "$folder/ranks.json" --to perfetto -o "$folder/ranks.perfetto"
"$kwhy" report "$folder/ranks.json" --json -o "$folder/first.json"
"$kwhy" report "$folder/ranks.perfetto" --json -o "$folder/back.json"
ranks() { # of a report: prints rank and busy time of each device
	grep -oE '"(rank|index|busy_ns)": [0-9]+' "$1"
}
same "ranks of perfetto" "$(ranks "$folder/back.json")" "$(ranks "$folder/first.json")"
[ "$(grep -c '"rank": 1' "$folder/back.json")" -gt 0 ] || fail "no rank 1 in perfetto"

# Spaces at the ends of a name are kept.
printf 'kind,name,device,stream,start_ns,end_ns\nkernel," k ",0,7,%s,%s\n' $start $((start + 1000)) >"$folder/blanks.csv"
"$kwhy" export "$folder/blanks.csv" -o "$folder/again.csv"
grep -q '^kernel," k ",' "$folder/again.csv" || fail "a name lost its blanks: $(cat "$folder/again.csv")"

# In a recording of kwhy copies have no names. They must keep their direction and memory.
recording=$source/examples/recordings/transfer.kwhy
"$kwhy" export "$recording" --to chrome -o "$folder/copies.json"
"$kwhy" report "$folder/copies.json" --json -o "$folder/back.json"
"$kwhy" report "$recording" --json -o "$folder/first.json"
# A device keeps its name, including spaces, in CSV.
"$kwhy" export -q "$recording" -o "$folder/named.csv"
"$kwhy" report "$folder/named.csv" --json -o "$folder/named.json"
same name "$(grep -o '"name": "NVIDIA H[^"]*"' "$folder/named.json" | head -n 1)" \
	"$(grep -o '"name": "NVIDIA H[^"]*"' "$folder/first.json" | head -n 1)"
copies() { # of a report: prints direction, memory, count, bytes and time of each kind of copy
	grep -o '"category": "copy", "name": .*"time_ns": [0-9]*' "$1"
}
same copies "$(copies "$folder/back.json")" "$(copies "$folder/first.json")"

# Parquet: written and read back if DuckDB's library is installed; otherwise one sentence says that it is missing.
if "$kwhy" export "$trace" --power "$power" --work tokens=4096.5 --to parquet -o "$folder/run.parquet" 2>"$folder/message"; then
	[ ! -s "$folder/message" ] || fail "parquet keeps readings, and yet: $(cat "$folder/message")"
	"$kwhy" report "$trace" --power "$power" --work tokens=4096.5 --json -o "$folder/first.json"
	"$kwhy" report "$folder/run.parquet" --json -o "$folder/back.json"
	same "work and energy of parquet" "$(energy_of "$folder/back.json")" "$(energy_of "$folder/first.json")"
	same "times of parquet" "$(times "$folder/back.json")" "$(times "$folder/first.json")"
else
	grep -q 'libduckdb.so' "$folder/message" || fail "parquet: $(cat "$folder/message")"
	[ ! -e "$folder/run.parquet" ] || fail "a Parquet file was left behind"
fi

# A compressed database is refused, and no file remains.
if "$kwhy" export "$trace" --to sqlite -o "$folder/x.sqlite.gz" 2>"$folder/message"; then
	fail "a compressed database was written"
fi
[ ! -e "$folder/x.sqlite.gz" ] || fail "a file was left behind"
grep -q 'gz' "$folder/message" || fail "the message does not name the cure"
echo "exports of $activities activities, $calls calls and $ranges ranges read back"
