#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Prolog of slurmd: writes for each GPU which job has it, for kwhy serve --job-mapping. DCGM's exporter can read the
# files, too, but takes a whole line for the job's id, so set KWHY_MAPPING_USER=no for it, which leaves out the user. In
# slurm.conf: Prolog=/usr/share/kwhy/monitoring/slurm/prolog.sh
# Its status is always 0, so that no job fails by it.
folder=${KWHY_JOB_MAPPING:-/run/kwhy-jobs}
gpus=${SLURM_JOB_GPUS:-${CUDA_VISIBLE_DEVICES:-}}
[ -n "$gpus" ] && [ -n "${SLURM_JOB_ID:-}" ] || exit 0
line=$SLURM_JOB_ID
[ "${KWHY_MAPPING_USER:-yes}" = no ] || line="$line ${SLURM_JOB_USER:-${SLURM_JOB_UID:-}}"
mkdir -p "$folder" 2>/dev/null && chmod 755 "$folder" 2>/dev/null || exit 0
(
	flock 9
	for gpu in $(echo "$gpus" | tr ',' ' '); do
		case $gpu in *[!0-9.]*) continue ;; esac
		{ cat "$folder/$gpu" 2>/dev/null; echo "$line"; } >"$folder/.new.$gpu" && mv "$folder/.new.$gpu" "$folder/$gpu"
	done
) 9>"$folder/.lock" 2>/dev/null
exit 0
