#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Tests kwhy digest. The sums in a digest equal those of the report to the nanosecond and nanojoule. A digest has at
# most 100 kB. A new digest of a trace replaces its old one. Several tasks can divide one list of traces. A trace that
# cannot be read does not prevent the digests of other traces.
# Usage: digest.sh KWHY SOURCE_DIR
set -euo pipefail
kwhy=$1
examples=$2/examples/recordings
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
fail() {
	echo "$*"
	exit 1
}
same() { # WHAT GOT WANTED
	[ "$2" = "$3" ] || fail "$1: got $2, wanted $3"
}
sql() { sqlite3 -separator ' ' "$@"; }

# The digest of a recording with meter readings has the sums that `kwhy report` shows.
"$kwhy" digest -q "$examples/train.kwhy" -o one
digest=$(echo one/*.sqlite)
"$kwhy" report -q --json "$examples/train.kwhy" > report.json
json() { python3 -c 'import json, sys; device = json.load(open("report.json"))["devices"][0]; print(eval(sys.argv[1], {"device": device}))' "$1"; }
same schema "$(sql "$digest" 'SELECT schema FROM digest')" kwhy.digest/1
same span "$(sql "$digest" 'SELECT span_ns, busy_ns FROM device')" "$(json 'str(device["time"]["span_ns"]) + " " + str(device["time"]["busy_ns"])')"
same energy "$(sql "$digest" 'SELECT measured_nj FROM device')" "$(json 'device["energy"]["measured_nj"]')"
for table in account category; do
	same "$table" "$(sql "$digest" "SELECT sum(gross_nj), sum(time_ns), sum(count), sum(accounts) FROM $table")" \
		"$(json '" ".join(str(sum(a[k] for a in device["accounts"])) for k in ("gross_nj", "time_ns", "count")) + " " + str(len(device["accounts"]))')"
done
same "findings" "$(sql "$digest" 'SELECT count(*) FROM finding')" \
	"$(python3 -c 'import json; print(len(json.load(open("report.json"))["findings"]))')"

# The job's energy must leave out the energy of unmetered time, and the report on digests must say
# how much that is (here 300 J are entered into the digest). It must also say how many digests were
# written while their rank still ran.
unmetered="The energy lacks about .* of time that no reading covers"
"$kwhy" report one | grep -q "$unmetered" && fail "all is metered, but the report says otherwise"
sql "$digest" 'UPDATE device SET run_unmetered_nj = 300e9' 'INSERT INTO lost VALUES ("running", 1)'
"$kwhy" report one > screen
grep -q "^  ${unmetered/.\*/300 J}\.$" screen || fail "$(cat screen)"
grep -q '^  1 of 1 digests were written while the ranks ran, and cover the time until' screen || fail "$(cat screen)"

# In a job of two ranks, the rank for which the other waits is the only one that may be called a
# straggler.
"$kwhy" report "$2/examples/h200-ddp" > screen
same stragglers "$(grep -o 'rank . on vm (straggler)' screen)" "rank 1 on vm (straggler)"

# Each trace of a rank has a digest file of its own. A digest made again replaces its file; a digest
# of another trace of the same rank gets a further file.
rank() { # RANK LENGTH
	printf '# clock other hand-made\n# device 0 name="NVIDIA H100" rank=%d\nkind,name,device,stream,start_ns,end_ns\n' "$1"
	printf 'kernel,work,0,7,0,%d\ncollective,ncclDevKernel_AllReduce_Sum_f32_RING_LL,0,7,%d,9000\n' "$2" "$2"
}
for r in 0 1 2 3 4; do rank $r $((1000 + r)) > "trace$r.csv"; done
"$kwhy" digest -q trace*.csv -o ranks
same files "$(ls ranks | tr '\n' ' ')" "rank-00000.sqlite rank-00001.sqlite rank-00002.sqlite rank-00003.sqlite rank-00004.sqlite "
cp ranks/rank-00003.sqlite before
"$kwhy" digest -q trace3.csv -o ranks
cmp before ranks/rank-00003.sqlite || fail "the same trace has another digest"
rank 3 2000 > trace3.csv
"$kwhy" digest -q trace3.csv -o ranks
same replaced "$(sql ranks/rank-00003.sqlite 'SELECT enter_ns, exit_ns, sequence FROM collective')" "2000 9000 0"
same count "$(ls ranks | wc -l)" 5
rank 3 3000 > other.csv
"$kwhy" digest -q other.csv -o ranks
same count "$(ls ranks | wc -l)" 6

# `--task K/N`: N processes get the same list of traces on standard input, and each takes its share. Together they must
# write the same digests as one process that gets the whole list.
for task in 0 1 2; do
	printf '%s\n' trace*.csv | "$kwhy" digest -q --task $task/3 -o tasks -
done
"$kwhy" digest -q trace*.csv -o whole
diff -r tasks whole || fail "three tasks make other digests than one"
"$kwhy" digest -q --task 3/3 trace0.csv -o tasks 2> message && fail "task 3 of 3 is accepted"
grep -q 'from 0' message || fail "$(cat message)"

# A trace is read several times, which a pipe does not allow. Therefore kwhy saves what it reads from /dev/stdin or a
# shell's <(...), and refuses a named pipe.
gzip -c trace0.csv | "$kwhy" digest -q -o pipes /dev/stdin
"$kwhy" digest -q -o pipes <(cat trace1.csv) <(cat trace2.csv)
for rank in 0 1 2; do
	same "pipe $rank" "$(sql pipes/rank-0000$rank.sqlite 'SELECT identity FROM digest')" "$(sql whole/rank-0000$rank.sqlite 'SELECT identity FROM digest')"
done
mkfifo named
"$kwhy" digest -q -o pipes named 2> message && fail "a pipe with a name is accepted"
grep -q '/dev/stdin' message || fail "$(cat message)"

# A bad trace is named; the others have their digests.
echo nothing > bad.csv
"$kwhy" digest -q trace0.csv bad.csv trace1.csv -o some 2> message && fail "a bad trace is accepted"
grep -q bad.csv message || fail "$(cat message)"
same some "$(ls some | wc -l)" 2

# No output folder is left if no trace gave a digest. An output folder that cannot be created is an error before any
# trace is read.
"$kwhy" digest -q bad.csv nosuch -o none 2> message && fail "bad traces are accepted"
grep -q nosuch message || fail "$(cat message)"
[ ! -e none ] || fail "a folder without digests is left"
"$kwhy" digest -q trace0.csv -o slash/
same "a folder with a slash" "$(ls slash)" rank-00000.sqlite
for place in there/is/none bad.csv; do
	"$kwhy" digest -q bad.csv -o $place 2> message && fail "a folder $place is accepted"
	grep -q "$place" message && same "messages about $place" "$(wc -l < message)" 1
done

# A digest of 20,000 collectives and 700 kernel names has at most 100 kB. Of the collectives it
# lists only a sample (kept_ratio: its share of all), but its sums count all of them, and all
# kernels.
awk 'BEGIN {
	print "# clock other hand-made\n# device 0 rank=7\nkind,name,device,stream,start_ns,end_ns"
	for (i = 0; i < 20000; i++) {
		printf "kernel,\"void a_kernel_with_a_long_name_%d<float, float, 128>(float const*, float*, int)%0150d\",0,7,%d,%d\n", i % 700, 0, i * 1000, i * 1000 + 500 + i % 700
		printf "collective,ncclDevKernel_AllReduce_Sum_f32_RING_LL,0,8,%d,%d\n", i * 1000, i * 1000 + 900
	}
}' > large.csv
"$kwhy" digest -q large.csv -o large
digest=large/rank-00007.sqlite
[ "$(stat -c %s $digest)" -le 100000 ] || fail "a digest of $(stat -c %s $digest) bytes"
same "all collectives" "$(sql $digest 'SELECT collectives, (SELECT sum(collectives) FROM communicator) FROM digest')" "20000 20000"
same "kept collectives" "$(sql $digest 'SELECT abs(count(*) - kept_ratio * collectives) < 200, count(*) > 1000, kept_ratio < 0.2 FROM collective, digest')" "1 1 1"
same "all kernels" "$(sql $digest 'SELECT sum(count), sum(accounts) FROM account WHERE category = "compute"')" "20000 700"
same "all time" "$(sql $digest 'SELECT sum(time_ns) FROM account')" "$(sql $digest 'SELECT sum(time_ns) FROM category')"

# A digest of 6,000 collectives of 3,000 names and 900 communicators with long names also has at
# most 100 kB. It may leave out operations, but its sums over communicators and accounts must count
# all collectives.
python3 - <<'END'
import json

events = []
for i in range(6000):
    events.append({"ph": "X", "cat": "kernel", "name": f"ncclDevKernel_AllReduce_{i}_" + "x" * 180, "pid": 0, "tid": 7, "ts": i * 20, "dur": 10,
                   "args": {"device": 0, "stream": 7, "Collective name": f"allreduce{i % 3000}", "dtype": "Float", "In msg nelems": i, "Out msg nelems": i,
                            "Group size": 8, "Process Group Name": f"group {i % 900} of a name that is as long as such names are " + "y" * 120,
                            "Process Group Ranks": str(list(range(i % 900, i % 900 + 30)))}})
json.dump({"distributedInfo": {"rank": 4, "world_size": 1000}, "traceEvents": events}, open("many.json", "w"))
END
"$kwhy" digest -q many.json -o many
digest=many/rank-00004.sqlite
[ "$(stat -c %s $digest)" -le 100000 ] || fail "a digest of $(stat -c %s $digest) bytes"
same "collectives by communicator" "$(sql $digest 'SELECT sum(collectives), sum(total_ns) FROM communicator')" "6000 60000000"
same "collectives of accounts" "$(sql $digest 'SELECT sum(count), sum(time_ns), sum(accounts) FROM account WHERE category = "collective"')" "6000 60000000 6000"
[ "$(sql $digest 'SELECT count(*) FROM operation')" -ge 8 ] || fail "no operations are left"
"$kwhy" report many > screen || fail "it cannot be read"

# Recordings of one machine with the same file name in different folders have a digest each. A recording that is
# replaced has one.
for name in mix mix-probed; do
	mkdir "$name"
	cp "$examples/$name.kwhy" "$name/run.kwhy"
	for how in '' --replace; do (cd "$name" && "$kwhy" digest -q $how -o "../places$how" run.kwhy); done
done
same "digests of recordings of one name" "$(find places -name 'trace-*' | wc -l)" 2
same "replacing digests of recordings of one name" "$(find places--replace -name 'trace-*' | wc -l)" 2
cp mix/run.kwhy mix-probed/run.kwhy
"$kwhy" digest -q --replace -o places--replace mix-probed/run.kwhy
same "digests of a recording that grew" "$(find places--replace -name 'trace-*' | wc -l)" 2
