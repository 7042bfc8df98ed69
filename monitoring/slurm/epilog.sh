#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Epilog of slurmd: removes the job from the files that prolog.sh wrote, and starts comment.sh, which writes the job's
# energy into its comment. In slurm.conf: Epilog=/usr/share/kwhy/monitoring/slurm/epilog.sh
# Its status is always 0, so that no job fails by it. It does not wait for comment.sh, which waits some seconds until
# the job's last energy is known.
folder=${KWHY_JOB_MAPPING:-/run/kwhy-jobs}
here=$(dirname "$0")
[ -n "${SLURM_JOB_ID:-}" ] || exit 0
if [ -d "$folder" ]; then
	(
		flock 9
		for file in "$folder"/*; do
			[ -f "$file" ] || continue
			grep -vE "^$SLURM_JOB_ID( |\$)" "$file" >"$folder/.new"
			if [ -s "$folder/.new" ]; then mv "$folder/.new" "$file"; else rm -f "$file" "$folder/.new"; fi
		done
	) 9>"$folder/.lock" 2>/dev/null
fi
# slurmd kills the epilog's process group when the epilog ends. Therefore `cat` waits until the pipe
# is closed, which happens when comment.sh starts in a session of its own.
[ "${KWHY_JOB_COMMENT:-yes}" = no ] || (
	setsid sh -c 'exec "$0" "$1" >/dev/null 2>&1' "$here/comment.sh" "$SLURM_JOB_ID" </dev/null 2>/dev/null &
) | cat
exit 0
