#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The prolog and epilog of Slurm without a Slurm: what they write for each GPU, also of jobs that share one, and that nothing makes
# them fail a job. The comment's script with a kwhy and a sacctmgr of its own. Usage: slurm_scripts.sh SOURCE_DIR
set -euo pipefail
scripts=$1/monitoring/slurm
place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT
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
# Many jobs at once lose no line.
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

cat >"$place/kwhy" <<'END'
#!/bin/sh
echo "kind,name"
echo "slurm,$5,,alice,1,2,1234500000000,0,0,200000000000,0,100,0.5,0.5,0.1,2,1,,,\"held 2 GPUs, 1 idle\"" | tr -d '\\'
END
sed -i 's/\$5/4711/' "$place/kwhy"
printf '#!/bin/sh\nprintf "%%s\\n" "$@" >%s/told\n' "$place" >"$place/sacctmgr"
chmod +x "$place/kwhy" "$place/sacctmgr"
PATH=$place:$PATH KWHY=$place/kwhy "$scripts/comment.sh" 4711 || fail "the comment is not written"
grep -q '^jobid=4711$' "$place/told" || fail "which job: $(cat "$place/told")"
grep -q '^comment=kwhy: 1234.5 joules of gpus, 200.0 of them idle, 0.5000 gpu hours; held 2 GPUs, 1 idle$' "$place/told" || fail "the comment: $(cat "$place/told")"
! PATH=$place:$PATH "$scripts/comment.sh" '1; reboot' || fail "a job id that is no number is taken"
