#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Writes the energy that a job used on this node into the job's comment in Slurm's database, which `sacct -o
# jobid,comment` shows. Of a job on several nodes, the comment is that of the node that wrote last; for the whole job,
# add up the output of `kwhy job` of all nodes. Needs slurmdbd, and a user who may modify jobs. sacctmgr changes the
# comment to lower case. Usage: comment.sh JOB_ID
set -u
accounts=${KWHY_ACCOUNTS:-/var/lib/kwhy/accounts.sqlite}
job=$1
case $job in *[!0-9]* | '') exit 2 ;; esac
# Columns of the CSV: kind,name,namespace,user,first,last,energy,low,high,idle,host,mean W,GPU hours,busy,...,finding,
# with energies in nJ. Of the fields before the finding only names can have commas, and the names in a Slurm job's row
# have none.
row=$("${KWHY:-kwhy}" job --accounts "$accounts" --wait --csv "$job" | grep "^slurm,$job,") || exit 1
text=$(printf '%s\n' "$row" | awk -F, '{
	printf "kwhy: %.1f joules of gpus, %.1f of them idle, %.4f gpu hours", $7 / 1e9, $10 / 1e9, $13
	for (i = 20; i <= NF; i++) text = text (i > 20 ? "," : "") $i
	gsub(/"/, "", text)
	if (text != "") printf "; %s", text
	exit }')
exec sacctmgr -i modify job where "jobid=$job" set "comment=$text"
