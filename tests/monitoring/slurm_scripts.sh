#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Tests the scripts prolog.sh and epilog.sh for Slurm, without Slurm: they write and remove the jobs of each GPU, also
# of jobs that share one, and never make a job fail. Tests also the script for job comments, with a file of accounts and
# a fake sacctmgr.
# Usage: slurm_scripts.sh KWHY FAKE_NVML_DIR SOURCE_DIR
set -euo pipefail
kwhy=$(realpath "$1")
scripts=$3/monitoring/slurm
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
	grep -r . "$place/jobs" || true
	exit 1
}
export KWHY_JOB_MAPPING=$place/jobs KWHY_JOB_COMMENT=no
prolog() {
	SLURM_JOB_ID=$1 SLURM_JOB_USER=$2 SLURM_JOB_GPUS=$3 "$scripts/prolog.sh" || fail "the prolog fails the job $1"
}
epilog() {
	SLURM_JOB_ID=$1 "$scripts/epilog.sh" || fail "the epilog fails the job $1"
}
holds() {
	[ "$(cat "$place/jobs/$1" 2>/dev/null)" = "$2" ] || fail "GPU $1 is not held by '$2'"
}
prolog 17 alice 0,1
holds 0 '17 alice'
holds 1 '17 alice'
prolog 7 bob 1
holds 1 $'17 alice\n7 bob'
epilog 7
holds 1 '17 alice'
prolog 170 bob 2
epilog 17
[ ! -e "$place/jobs/0" ] && [ ! -e "$place/jobs/1" ] || fail "the job 17 still holds GPUs"
holds 2 '170 bob'
KWHY_MAPPING_USER=no prolog 5 alice 3
holds 3 5
prolog 6 alice '../../escaped,0'
[ ! -e "$place/escaped" ] || fail "a GPU that is no number is written elsewhere"
holds 0 '6 alice'
SLURM_JOB_ID=8 "$scripts/prolog.sh" || fail "a job without GPUs fails"
# Eight prologs that run at once must each add their line to the file of GPU 4; eight epilogs must remove them.
for job in $(seq 100 107); do prolog "$job" carol 4 & done
wait
[ "$(wc -l <"$place/jobs/4")" = 8 ] || fail "lines are lost"
for job in $(seq 100 107); do epilog "$job" & done
wait
[ ! -e "$place/jobs/4" ] || fail "lines are left"
if [ "$(id -u)" -ne 0 ]; then
	chmod 555 "$place/jobs"
	prolog 9 alice 0
	epilog 6
	chmod 755 "$place/jobs"
fi
KWHY_JOB_MAPPING=/proc/nowhere prolog 9 alice 0

command -v sqlite3 >/dev/null || { echo "skipped: the comment, since sqlite3 is not installed"; exit 77; }
printf 'gpu "NVIDIA H200"\npower constant 300\n%.0s' 1 2 >"$place/gpus"
KWHY_FAKE_NVML=$place/gpus LD_LIBRARY_PATH=$2 serve --accounts "$place/accounts" --interval 200
stop_serving TERM || fail "kwhy serve ended with $?"
server=
# Adds a job 4711 to the file: it held both GPUs and ran processes on GPU 1 only. Its energy is
# 1034.5 J on GPU 1, and 200 J, all of it idle energy, on the other GPU.
sqlite3 "$place/accounts" "INSERT INTO owner(id, kind, name, part, namespace, user) VALUES (4711, 'slurm', '4711', '0', '', 'alice');
	INSERT INTO account SELECT 4711, id, 1, CASE id WHEN 1 THEN 1034500000000 ELSE 200000000000 END, 0, 0, CASE id WHEN 1 THEN 0 ELSE 200000000000 END,
		900000000000, CASE id WHEN 1 THEN 900000000000 ELSE 0 END, 0, 1, 2 FROM meter;
	UPDATE meter SET booked_nj = booked_nj + CASE id WHEN 1 THEN 1034500000000 ELSE 200000000000 END, until_unix_ns = 9000000000000000000"
[ "$(sqlite3 "$place/accounts" 'SELECT count(*) FROM account WHERE owner = 4711')" = 2 ] || fail "the file of accounts has not two GPUs"
printf '#!/bin/sh\nprintf "%%s\\n" "$@" >%s/told\n' "$place" >"$place/sacctmgr"
chmod +x "$place/sacctmgr"
export KWHY=$kwhy KWHY_ACCOUNTS=$place/accounts
PATH=$place:$PATH "$scripts/comment.sh" 4711 || fail "the comment is not written"
grep -q '^jobid=4711$' "$place/told" || fail "which job: $(cat "$place/told")"
grep -q '^comment=kwhy: 1234.5 joules of gpus, 200.0 of them idle, 0.5000 gpu hours; held 2 GPUs, 1 idle$' "$place/told" || fail "the comment: $(cat "$place/told")"
rm "$place/told"
! PATH=$place:$PATH "$scripts/comment.sh" 4712 2>/dev/null || fail "a job without an account has a comment"
[ ! -e "$place/told" ] || fail "a job without an account: $(cat "$place/told")"
! PATH=$place:$PATH "$scripts/comment.sh" '1; reboot' || fail "a job id that is no number is taken"
