#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Writes the energy of a job on this node into its comment, which sacct -o jobid,comment shows. Of a job on several nodes the
# comment is that of the node that wrote last; add up kwhy job of each. Needs slurmdbd, and a user who may modify jobs.
# sacctmgr makes all letters small. Usage: comment.sh JOB_ID
set -u
accounts=${KWHY_ACCOUNTS:-/var/lib/kwhy/accounts.sqlite}
job=$1
case $job in *[!0-9]* | '') exit 2 ;; esac
# Columns: kind,name,namespace,user,first,last,energy,low,high,idle,host,mean W,GPU hours,busy,...,finding. No field before the
# finding has commas but for the names, of which the job's and its user's have none.
row=$("${KWHY:-kwhy}" job --accounts "$accounts" --wait --csv "$job" | grep "^slurm,$job,") || exit 1
text=$(printf '%s\n' "$row" | awk -F, '{
	printf "kwhy: %.1f joules of gpus, %.1f of them idle, %.4f gpu hours", $7 / 1e9, $10 / 1e9, $13
	for (i = 20; i <= NF; i++) text = text (i > 20 ? "," : "") $i
	gsub(/"/, "", text)
	if (text != "") printf "; %s", text
	exit }')
exec sacctmgr -i modify job where "jobid=$job" set "comment=$text"
