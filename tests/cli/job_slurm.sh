#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Runs kwhy digest as a Slurm job array, and kwhy report as a job that depends on the array (docs/scale.md), on a Slurm
# that the test starts on this machine. One task of the array is killed, and Slurm runs it again. Skipped (77) without
# Slurm, munge or root.
# Usage: job_slurm.sh KWHY
set -euo pipefail
kwhy=$1
for program in munged mungekey slurmctld slurmd sbatch sinfo; do
	command -v $program > /dev/null || { echo "skipped: $program is not here"; exit 77; }
done
[ "$(id -u)" = 0 ] || { echo "skipped: slurmd needs root"; exit 77; }
folder=$(mktemp -d)
started=()
end() {
	kill "${started[@]}" 2> /dev/null || true
	wait || true
	rm -rf "$folder"
}
trap end EXIT
cd "$folder"
chmod 755 .
fail() {
	echo "$*"
	cat slurmctld.log slurmd.log job-*.out 2> /dev/null | tail -40
	exit 1
}

mungekey --create --keyfile="$folder/munge.key"
munged --foreground --force --key-file="$folder/munge.key" --socket="$folder/munge.socket" --pid-file="$folder/munge.pid" \
	--seed-file="$folder/munge.seed" --log-file="$folder/munge.log" > /dev/null 2>&1 &
started+=($!)
mkdir state spool
read -r first second < <(python3 -c '
import socket
sockets = [socket.socket() for _ in range(2)]
for one in sockets: one.bind(("127.0.0.1", 0))
print(*(one.getsockname()[1] for one in sockets))')
host=$(hostname -s)
cat > slurm.conf << END
ClusterName=kwhy
SlurmctldHost=$host(127.0.0.1)
SlurmctldPort=$first
SlurmdPort=$second
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket=$folder/munge.socket,cred_expire=5
CredType=cred/munge
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
ReturnToService=2
MpiDefault=none
StateSaveLocation=$folder/state
SlurmdSpoolDir=$folder/spool
SlurmctldPidFile=$folder/slurmctld.pid
SlurmdPidFile=$folder/slurmd.pid
SlurmctldLogFile=$folder/slurmctld.log
SlurmdLogFile=$folder/slurmd.log
SchedulerParameters=sched_min_interval=0,sched_interval=1,bf_interval=1
SlurmdParameters=config_overrides
JobRequeue=1
NodeName=$host NodeAddr=127.0.0.1 CPUs=4 State=UNKNOWN
PartitionName=all Nodes=ALL Default=YES MaxTime=INFINITE State=UP OverSubscribe=FORCE:4
END
export SLURM_CONF=$folder/slurm.conf
until [ -S munge.socket ]; do kill -0 "${started[0]}" || fail "munged does not run"; done
slurmctld -D -i > /dev/null 2>&1 &
started+=($!)
slurmd -D > /dev/null 2>&1 &
started+=($!)
until sinfo -h -t idle -o %D 2> /dev/null | grep -q 1; do
	kill -0 "${started[1]}" 2> /dev/null || fail "slurmctld has ended"
	kill -0 "${started[2]}" 2> /dev/null || fail "slurmd has ended"
done

mkdir traces
for ((rank = 0; rank < 8; rank++)); do
	awk -v rank=$rank 'BEGIN {
		printf "# clock other hand-made\n# device 0 rank=%d\nkind,name,device,stream,start_ns,end_ns\n", rank
		for (i = 0; i < 100; i++) {
			printf "kernel,k,0,7,%d,%d\n", i * 2000, i * 2000 + 900 + rank
			printf "collective,ncclDevKernel_AllReduce_Sum_f32_RING_LL,0,7,%d,%d\n", i * 2000 + 900 + rank, i * 2000 + 1500
		}
	}' > traces/rank$rank.csv
done
printf '%s\n' traces/* > traces.txt
"$kwhy" digest -q -o one - < traces.txt
"$kwhy" report --json one > one.json

# In its first run task 2 digests one trace of its share, asks Slurm to queue it again, and kills itself.
cat > task.sh << END
#!/bin/bash
if [ "\$SLURM_ARRAY_TASK_ID" = 2 ] && [ ! -e killed ]; then
	touch killed
	"$kwhy" digest -q -o digests traces/rank2.csv
	scontrol requeue "\${SLURM_ARRAY_JOB_ID}_2"
	kill -9 \$\$
fi
exec "$kwhy" digest -q --task "\$SLURM_ARRAY_TASK_ID/4" -o digests - < traces.txt
END
chmod +x task.sh
array=$(sbatch --parsable --array=0-3 -o job-%A_%a.out task.sh)
sbatch --wait --dependency=afterok:"$array" -o job-report.out --wrap "'$kwhy' report --json -o job.json digests" > /dev/null ||
	fail "the report's job failed"
[ -e killed ] || fail "no task was killed"
diff -r one digests || fail "the array makes other digests"
cmp one.json job.json || fail "the array's report differs"
