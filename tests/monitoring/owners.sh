#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Tests the energy per owner that kwhy serve keeps in a file (--accounts), on fake GPUs with jobs that share GPUs and
# follow one another. kwhy serve is killed and started again. For each meter the energies of all owners must add up to
# the metered energy, to the nanojoule.
# Usage: owners.sh KWHY FAKE_NVML_DIR
set -euo pipefail
kwhy=$1
command -v sqlite3 >/dev/null && command -v curl >/dev/null || { echo "skipped: sqlite3 or curl is not installed"; exit 77; }
place=$(mktemp -d)
server=
finish() {
	[ -z "$server" ] || kill "$server" 2>/dev/null || true
	wait
	rm -rf "$place"
}
trap finish EXIT
. "$(dirname "$0")/serving.sh"
fail() {
	echo "$*"
	cat "$place/serve.log"
	query "SELECT kind, owner.name, part, meter, energy_nj FROM account JOIN owner ON owner.id = owner"
	exit 1
}
query() {
	sqlite3 -cmd '.timeout 5000' "$place/accounts" "$1"
}

# process PID CGROUP: makes a process of user 1000 in a cgroup
process() {
	mkdir -p "$place/root/proc/$1"
	echo "0::$2" >"$place/root/proc/$1/cgroup"
	printf 'Name:\tpython\nUid:\t1000\t1000\t1000\t1000\n' >"$place/root/proc/$1/status"
	echo "$1 (python) S 1 1 1 0 -1 0 1 2 3 4 100 50 100 50 20 0 1 0 777 1 1" >"$place/root/proc/$1/stat"
}
# runs LINES...: sets the processes that the fake NVML lists from now on, as lines "GPU PID MIB SM_PERCENT"
runs() {
	printf '%s\n' "$@" >"$place/processes.new"
	mv "$place/processes.new" "$place/processes"
}
mkdir -p "$place/root/etc" "$place/jobs"
echo 'alice:x:1000:1000::/:/bin/sh' >"$place/root/etc/passwd"
process 10 /system.slice/slurmstepd.scope/job_5/step_0/user/task_0
process 20 /kubepods/pod6c7f0a2e-1b7d-4a4e-9a51-0d4b3c2a1f00/0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef
process 30 '/system.slice/in"ference.service'
mkdir -p "$place/root/var/log/pods/research_llama-0_6c7f0a2e-1b7d-4a4e-9a51-0d4b3c2a1f00"
printf 'gpu "NVIDIA H200"\npower constant 300\ngpu "NVIDIA H200"\npower constant 100\n' >"$place/gpus"
KWHY_FAKE_NVML_SINCE_NS=$(awk '{ printf "%.0f", $1 * 1e9 }' /proc/uptime)
export KWHY_FAKE_NVML_SINCE_NS KWHY_FAKE_NVML=$place/gpus KWHY_FAKE_NVML_PROCESSES=$place/processes LD_LIBRARY_PATH=$2
start() {
	serve --accounts "$place/accounts" --root "$place/root" --job-mapping "$place/jobs" --interval 200
}
# until_energy KIND NAME: waits until the file has energy of this owner
until_energy() {
	until [ "$(query "SELECT sum(energy_nj) > 0 FROM account JOIN owner ON owner.id = owner WHERE kind = '$1' AND owner.name = '$2'" 2>/dev/null)" = 1 ]; do
		kill -0 "$server" || fail "kwhy serve has ended"
		sleep 0.1
	done
}
balance() {
	local sums
	sums=$(query "SELECT count(*) FROM meter m WHERE booked_nj IS NOT coalesce((SELECT sum(energy_nj) FROM account WHERE meter = m.id), 0)")
	[ "$sums" = 0 ] || fail "the accounts do not add up to the meters $1"
	[ "$(query 'SELECT count(*) FROM meter')" = 2 ] || fail "not both meters are in the file $1"
	# counter_nj, the last reading of the counter, is a whole number of millijoules. The owners'
 # energies may come to more: the part beyond counter_nj is estimated for the time since that
 # reading.
	[ "$(query 'SELECT count(*) FROM meter WHERE counter_nj % 1000000 != 0 OR NOT has_counter')" = 0 ] ||
		fail "the energy is not the counter's $1"
}

runs '0 10 100 60' '0 30 50 20'
echo 99 >"$place/jobs/1" # holds the second GPU and does nothing there
start
until_energy slurm 5
until_energy slurm 99
curl -s "http://$address/metrics" >"$place/metrics"
grep -qF 'kwhy_owner_energy_joules_total{kind="unit",name="in\"ference.service",user="alice",device="0",uuid="GPU-' "$place/metrics" ||
	fail "the unit has no metric: $(grep owner "$place/metrics")"
! command -v promtool >/dev/null || promtool check metrics <"$place/metrics" || fail "promtool finds fault with the metrics"
runs '0 20 100 100'
kill -9 "$server"
wait "$server" 2>/dev/null || true
balance "after kill -9"
before=$(query 'SELECT sum(booked_nj) FROM meter')
begin=$(query 'SELECT counted * 1000000 - counter_nj FROM meter ORDER BY id')

start
until_energy kubernetes llama-0
! "$kwhy" serve --listen 127.0.0.1:0 --accounts "$place/accounts" 2>"$place/second" || fail "two servers write one file"
grep -q 'another kwhy serve' "$place/second" || fail "the second server says: $(cat "$place/second")"
"$kwhy" job --accounts "$place/accounts" --wait --json llama-0 >"$place/job.json" || fail "kwhy job ended with $?"
grep -q '"namespace": "research"' "$place/job.json" || fail "the pod: $(cat "$place/job.json")"
stop_serving TERM || fail "kwhy serve ended with $?"
server=
balance "after the end"
[ "$(query 'SELECT sum(booked_nj) FROM meter')" -gt "$before" ] || fail "nothing was added after the restart"
# The accounts must have as much energy as each counter has risen since its first reading, also for
# the time in which no kwhy serve ran.
[ "$(query 'SELECT counted * 1000000 - counter_nj FROM meter ORDER BY id')" = "$begin" ] ||
	fail "the rise of the counters is not that of the accounts"

"$kwhy" job --accounts "$place/accounts" >"$place/jobs.txt" || fail "kwhy job ended with $?"
grep -qE '^ +slurm 5 +alice ' "$place/jobs.txt" && grep -qE '^ +kubernetes research/llama-0 ' "$place/jobs.txt" ||
	fail "$(cat "$place/jobs.txt")"
grep -qE ' [0-9.]+( m| k)?( J)? to [0-9.]+ [mk]?J ' "$place/jobs.txt" || fail "no interval: $(cat "$place/jobs.txt")"
# On a terminal no line is wider than 80 columns: if prices are shown, amounts have a second table below, with the
# owners' names in full.
if command -v python3 >/dev/null; then
	PAGER=cat python3 -c 'import pty, sys; pty.spawn(sys.argv[1:])' "$kwhy" job --accounts "$place/accounts" --price 0.30EUR --place DEU </dev/null |
		tr -d '\r' >"$place/screen"
	python3 - "$place/screen" <<'END' || fail "$(cat "$place/screen")"
import sys

text = open(sys.argv[1], encoding="utf-8").read()
assert max(map(len, text.split("\n"))) <= 80
use, amounts = text.split("\n\n")
assert "GPU time" in use and "EUR" not in use
assert "kubernetes research/llama-0 " in amounts and amounts.count(" EUR") == len(use.splitlines()) - 1
END
fi
# The energies that kwhy job shows must add up to those in the file, to the nanojoule.
"$kwhy" job --accounts "$place/accounts" --csv >"$place/jobs.csv"
sum=$(awk -F, 'NR > 1 { printf "%s+", $7 } END { print 0 }' "$place/jobs.csv")
[ "$((sum))" = "$(query 'SELECT sum(booked_nj) FROM meter')" ] || fail "kwhy job: $(cat "$place/jobs.csv")"
status=0
"$kwhy" job --accounts "$place/accounts" 4711 2>"$place/err" || status=$?
[ "$status" -eq 1 ] && grep -q "no account of '4711'" "$place/err" || fail "a job that is not there: $status"
# refused STATUS WORDS ARGUMENTS...: checks that kwhy job ends with this status and a message with these words
refused() {
	local status=0
	"$kwhy" job --accounts "$place/accounts" "${@:3}" >"$place/out" 2>"$place/err" || status=$?
	[ "$status" -eq "$1" ] && [ ! -s "$place/out" ] && grep -qF -- "$2" "$place/err" || fail "${*:3}: status $status, '$(cat "$place/err")'"
}
refused 2 '--since takes' --since yesterday
refused 2 '--by takes' --by gpu
refused 2 'not both' --place DEU --intensity 3
refused 2 'PUE' --pue 0.5
refused 2 'one job' 5 6
refused 2 '.txt, .json or .csv' -o "$place/jobs.html"
"$kwhy" job --accounts "$place/accounts" --since 2h --by kind --place DEU --price 0.30EUR --pue 1.2 >"$place/out" || fail "kwhy job by kind"
grep -q 'EUR' "$place/out" && grep -q 'Germany' "$place/out" || fail "$(cat "$place/out")"
[ "$("$kwhy" job --accounts "$place/accounts" --since 2126-01-01 --csv | wc -l)" = 1 ] || fail "accounts of the future"
query 'DELETE FROM account WHERE energy_nj = (SELECT max(energy_nj) FROM account)'
! "$kwhy" job --accounts "$place/accounts" 2>"$place/err" || fail "missing rows are not noticed"
grep -q 'add up to' "$place/err" || fail "missing rows: $(cat "$place/err")"
