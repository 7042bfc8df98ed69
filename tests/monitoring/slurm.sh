#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Tests kwhy serve with a real Slurm (slurmctld, slurmd, slurmdbd, MariaDB, munge) of one node with two fake GPUs. Two
# jobs follow one another; three more have parts of GPUs (gres/shard). kwhy serve is killed once and started again. For
# each meter, the energies of all owners must add up to its counter to the nanojoule, and kwhy job and sacct must show
# the same energy.
# Usage: slurm.sh KWHY FAKE_NVML_DIR SOURCE_DIR
set -euo pipefail
kwhy=$(realpath "$1")
scripts=$3/monitoring/slurm
for program in slurmctld slurmd slurmdbd munged mariadbd mariadb-install-db sacctmgr sqlite3; do
	PATH=$PATH:/usr/sbin command -v "$program" >/dev/null || { echo "skipped: $program is not installed; run scripts/setup slurm"; exit 77; }
done
[ "$(id -u)" -eq 0 ] || { echo "skipped: slurmd runs jobs as root only"; exit 77; }
export PATH=$PATH:/usr/sbin
place=$(mktemp -d)
chmod 755 "$place"
server=
daemons=()
finish() {
	[ -z "$server" ] || kill "$server" 2>/dev/null || true
	# Ends jobs first, because they outlive slurmd.
	scancel -s KILL --me 2>/dev/null || true
	for _ in $(seq 50); do
		[ -n "$(squeue -h 2>/dev/null)" ] || break
		sleep 0.1
	done
	for file in "$place"/running/*; do
		[ ! -e "$file" ] || kill -9 "${file##*/}" 2>/dev/null || true
	done
	[ "${#daemons[@]}" -eq 0 ] || kill "${daemons[@]}" 2>/dev/null || true
	wait
	rm -rf "$place"
}
trap finish EXIT
. "$(dirname "$0")/serving.sh"
query() {
	sqlite3 -cmd '.timeout 5000' "$place/accounts" "$1"
}
fail() {
	echo "$*"
	tail -n 15 "$place"/*.log
	[ ! -e "$place/accounts" ] || query "SELECT kind, owner.name, part, user, meter, energy_nj, held_ns FROM account JOIN owner ON owner.id = owner"
	exit 1
}
# begin NAME COMMAND...: starts a daemon in the background, with its output in a log
begin() {
	"${@:2}" >"$place/$1.log" 2>&1 &
	daemons+=($!)
}
# until_true COMMAND...: waits until it succeeds, as long as all daemons run
until_true() {
	until "$@" >/dev/null 2>&1; do
		for daemon in "${daemons[@]}"; do
			kill -0 "$daemon" 2>/dev/null || fail "a daemon has ended while waiting for: $*"
		done
		sleep 0.1
	done
}

# Munge and the database, with files of their own. The database need not survive a crash.
dd if=/dev/urandom of="$place/munge.key" bs=128 count=1 2>/dev/null
chmod 600 "$place/munge.key"
begin munged munged --foreground --force --key-file="$place/munge.key" --socket="$place/munge.socket" --pid-file="$place/munge.pid" \
	--seed-file="$place/munge.seed" --log-file="$place/munge-own.log"
mariadb-install-db --user=root --datadir="$place/data" --auth-root-authentication-method=normal --skip-test-db >"$place/install.log" 2>&1
begin mariadbd mariadbd --no-defaults --user=root --datadir="$place/data" --socket="$place/db.socket" --skip-networking \
	--innodb-flush-log-at-trx-commit=0 --innodb-buffer-pool-size=32M --pid-file="$place/db.pid"
port=$((20000 + RANDOM % 10000))
node=kwhy$$ # cgroups of jobs have this name in their path
cat >"$place/slurmdbd.conf" <<END
AuthType=auth/munge
AuthInfo=socket=$place/munge.socket
DbdHost=localhost
DbdPort=$((port + 2))
SlurmUser=root
StorageType=accounting_storage/mysql
StorageHost=localhost
StorageUser=root
StorageLoc=slurm
PidFile=$place/slurmdbd.pid
END
chmod 600 "$place/slurmdbd.conf"
cat >"$place/slurm.conf" <<END
ClusterName=kwhy
SlurmctldHost=$(hostname -s)(127.0.0.1)
SlurmUser=root
SlurmctldPort=$port
SlurmdPort=$((port + 1))
AuthType=auth/munge
AuthInfo=socket=$place/munge.socket
CredType=cred/munge
MpiDefault=none
ProctrackType=proctrack/cgroup
TaskPlugin=task/none
ReturnToService=2
SlurmdParameters=config_overrides
SwitchType=switch/none
StateSaveLocation=$place/state
SlurmdSpoolDir=$place/spool
SlurmctldPidFile=$place/slurmctld.pid
SlurmdPidFile=$place/slurmd.pid
SchedulerType=sched/backfill
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
AccountingStorageType=accounting_storage/slurmdbd
AccountingStorageHost=localhost
AccountingStoragePass=$place/munge.socket
AccountingStoragePort=$((port + 2))
AccountingStoreFlags=job_comment
JobAcctGatherType=jobacct_gather/linux
Prolog=$place/prolog
Epilog=$place/epilog
PrologFlags=Alloc
GresTypes=gpu,shard
KillWait=1
MinJobAge=300
NodeName=$node NodeHostname=$(hostname -s) NodeAddr=127.0.0.1 CPUs=8 RealMemory=500 Gres=gpu:2,shard:4 State=UNKNOWN
PartitionName=all Nodes=ALL Default=YES MaxTime=INFINITE OverSubscribe=FORCE:4 State=UP
END
for gpu in 0 1; do # devices of their own, with the numbers of /dev/null
	mknod "$place/gpu$gpu" c 1 3 || { echo "skipped: no device files can be made here"; exit 77; }
done
printf 'NodeName=%s Name=%s\n' "$node" "gpu File=$place/gpu[0-1]" "$node" "shard Count=4 File=$place/gpu[0-1]" >"$place/gres.conf"
printf 'CgroupPlugin=cgroup/v1\nCgroupMountpoint=/sys/fs/cgroup\nCgroupAutomount=no\n' >"$place/cgroup.conf"
[ ! -e /sys/fs/cgroup/cgroup.controllers ] || echo 'CgroupPlugin=cgroup/v2' >"$place/cgroup.conf"
mkdir "$place/state" "$place/spool" "$place/jobs" "$place/running"
for script in prolog epilog; do
	printf '#!/bin/sh\nexport KWHY_JOB_MAPPING=%s KWHY_ACCOUNTS=%s KWHY=%s SLURM_CONF=%s PATH=%s\nexec %s\n' "$place/jobs" "$place/accounts" \
		"$place/kwhy" "$place/slurm.conf" "$PATH" "$scripts/$script.sh" >"$place/$script"
	chmod 755 "$place/$script"
done
printf '#!/bin/sh\nexec %s "$@"\n' "$kwhy" >"$place/kwhy"
chmod 755 "$place/kwhy"
export SLURM_CONF=$place/slurm.conf
until_true mariadb --no-defaults --socket="$place/db.socket" -u root -e 'SELECT 1'
MYSQL_UNIX_PORT=$place/db.socket begin slurmdbd slurmdbd -D -s
until_true sacctmgr -n show cluster
begin slurmctld slurmctld -D -i
begin slurmd slurmd -D -N "$node"
until_true sh -c "sinfo -h -o %t | grep -qE '^(idle|mix)'"

# gpu-work PERCENT: a program that uses its GPUs. The fake driver lists its processes until they end.
cat >"$place/gpu-work" <<END
#!/bin/sh
for gpu in \$(echo \$GPUS | tr ',' ' '); do echo "\$gpu \$\$ 100 \$1"; done >$place/running/\$\$
exec sleep 1000
END
chmod 755 "$place/gpu-work"
list_running() {
	while :; do
		for file in "$place"/running/*; do
			[ -e "$file" ] || continue
			if [ -d "/proc/${file##*/}" ]; then cat "$file"; else rm -f "$file"; fi
		done >"$place/processes.new" 2>/dev/null
		mv "$place/processes.new" "$place/processes"
		sleep 0.1
	done
}
list_running &
daemons+=($!)
printf 'gpu "NVIDIA H200"\npower constant 300\ngpu "NVIDIA H200"\npower constant 100\n' >"$place/gpus"
KWHY_FAKE_NVML_SINCE_NS=$(awk '{ printf "%.0f", $1 * 1e9 }' /proc/uptime)
export KWHY_FAKE_NVML_SINCE_NS KWHY_FAKE_NVML=$place/gpus KWHY_FAKE_NVML_PROCESSES=$place/processes
start() {
	LD_LIBRARY_PATH=$2 serve --accounts "$place/accounts" --job-mapping "$place/jobs" --interval 200
}
start "$@"
# has_joules JOB NANOJOULES: whether the accounts of the job's steps have more energy than this in
# all
has_joules() {
	[ "$(query "SELECT sum(energy_nj) > $2 FROM account JOIN owner ON owner.id = owner WHERE kind = 'slurm' AND owner.name = '$1' AND part <> ''")" = 1 ]
}
# submit GRES COMMAND: prints the number of the job.
submit() {
	sbatch --parsable -N 1 -n 1 --gres="$1" --chdir="$place" -o /dev/null --wrap "GPUS=\${SLURM_JOB_GPUS:-\$CUDA_VISIBLE_DEVICES} srun --overlap $2"
}

# The first job holds and uses both GPUs. The second waits for its end and then holds and uses one.
first=$(submit gpu:2 "$place/gpu-work 60")
until_true has_joules "$first" 50000000000
second=$(submit gpu:1 "$place/gpu-work 100")
grep -q "^$first " "$place/jobs/0" && grep -q "^$first " "$place/jobs/1" || fail "the prolog did not write the first job"
# One more program of the first job runs on GPU 0, next to the program that runs on both.
GPUS=0 srun --jobid="$first" --overlap -n 1 "$place/gpu-work" 20 >"$place/srun.log" 2>&1 &
until_true sh -c "[ \$(ls $place/running | wc -l) -ge 2 ]"
until_true has_joules "$first" 150000000000
first_count=$(query 'SELECT counted * 1000000 - counter_nj FROM meter ORDER BY id')
kill -9 "$server"
wait "$server" 2>/dev/null || true
start "$@"
scancel -s KILL "$first"
until_true has_joules "$second" 50000000000
! grep -qs "^$first " "$place"/jobs/* || fail "the epilog left the first job"
scancel "$second"
until_true sh -c "[ -z \"\$(squeue -h)\" ]"

# Three jobs with a part of a GPU (shard) run on two GPUs, so two of them share one. Its energy is divided by the
# utilisation of their processes.
sharing=()
for percent in 60 40 20; do sharing+=("$(submit shard:1 "$place/gpu-work $percent")"); done
for job in "${sharing[@]}"; do until_true has_joules "$job" 20000000000; done
[ "$(cat "$place"/jobs/[01] | wc -l)" = 3 ] || fail "the prolog did not write the jobs that share"
[ "$(query "SELECT count(DISTINCT owner.name) FROM account JOIN owner ON owner.id = owner WHERE owner.name IN ($(IFS=, && echo "${sharing[*]}")) AND low_nj < high_nj AND energy_nj BETWEEN low_nj AND high_nj")" = 2 ] ||
	fail "the GPU of two jobs is not divided"
scancel "${sharing[@]}"
until_true sh -c "[ -z \"\$(squeue -h)\" ]"

# Slurm's job comment, which sacct shows, must state the energy that kwhy job shows.
for job in "$first" "$second" "${sharing[@]}"; do
	until_true sh -c "sacct -n -X -j $job -o comment%120 | grep -q 'kwhy: .* joules of gpus'"
	comment=$(sacct -n -X -j "$job" -o comment%120 | sed -nE 's/.*kwhy: ([0-9.]+) joules.*/\1/p')
	joules=$("$kwhy" job --accounts "$place/accounts" --csv "$job" | awk -F, 'NR == 2 { printf "%.1f", $7 / 1e9 }')
	[ "$comment" = "$joules" ] || fail "sacct says $comment J of job $job, kwhy job $joules J"
	[ "$(query "SELECT count(DISTINCT user) FROM owner WHERE kind = 'slurm' AND name = '$job'")" = 1 ] || fail "job $job has not one user"
done
stop_serving TERM || fail "kwhy serve ended with $?"
server=
[ "$(query "SELECT count(*) FROM meter m WHERE booked_nj IS NOT coalesce((SELECT sum(energy_nj) FROM account WHERE meter = m.id), 0)")" = 0 ] ||
	fail "the owners' energies do not add up to the meters'"
# The accounts must have as much energy as each counter has risen since its first reading, also for
# the time in which no kwhy serve ran.
[ "$(query 'SELECT counted * 1000000 - counter_nj FROM meter ORDER BY id')" = "$first_count" ] || fail "the energy is not the counters'"
[ "$(query "SELECT count(*) FROM account JOIN owner ON owner.id = owner WHERE kind IN ('user', 'unit', 'unknown')")" = 0 ] ||
	fail "a process of a job was not recognised"
"$kwhy" job --accounts "$place/accounts"
