#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Digests made by the engines that people have: xargs, GNU parallel and mpirun, as docs/scale.md says. A worker that is
# killed while it works is run again; nothing is half-written and nothing counts twice.
# Usage: job_engines.sh KWHY
set -euo pipefail
kwhy=$1
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
fail() {
	echo "$*"
	exit 1
}
mkdir traces
for ((rank = 0; rank < 12; rank++)); do
	awk -v rank=$rank 'BEGIN {
		printf "# clock other hand-made\n# device 0 rank=%d\nkind,name,device,stream,start_ns,end_ns\n", rank
		for (i = 0; i < 300; i++) {
			printf "kernel,k%d,0,7,%d,%d\n", i % 9, i * 2000, i * 2000 + 900 + rank
			printf "collective,ncclDevKernel_AllReduce_Sum_f32_RING_LL,0,7,%d,%d\n", i * 2000 + 900 + rank, i * 2000 + 1500
		}
	}' > traces/rank$rank.csv
done
printf '%s\n' traces/* > traces.txt
"$kwhy" digest -q -o one - < traces.txt
"$kwhy" report --json one > one.json
same() { # ENGINE: its folder has the same digests, and nothing else
	diff -r one "$1" || fail "$1 makes other digests"
	"$kwhy" report --json "$1" | cmp - one.json || fail "$1: another report"
}
xargs -P 4 -n 2 "$kwhy" digest -q -o xargs < traces.txt
same xargs

# A worker cannot write a whole digest, because the system limits the bytes of a file: then there is none.
for blocks in 1 8 16; do
	(ulimit -f $blocks && exec "$kwhy" digest -q -o killed - < traces.txt) > /dev/null 2>&1 && fail "a limit of $blocks blocks stops nothing"
	[ -z "$(find killed -name 'rank-*.sqlite' 2> /dev/null)" ] || fail "half a digest: $(ls -la killed)"
done
# Another is killed at any time, after it has written at least one more digest than in the round before.
for ((i = 0; i < 5; i++)); do
	rm -rf killed
	"$kwhy" digest -q -o killed - < traces.txt &
	worker=$!
	until [ "$(find killed -name 'rank-*.sqlite' 2> /dev/null | wc -l)" -gt $i ]; do :; done
	kill -9 $worker 2> /dev/null || true # it may have ended
	wait $worker || true
	for digest in killed/rank-*.sqlite; do
		cmp "$digest" "one/${digest##*/}" || fail "$digest is half-written"
	done
done
xargs -P 2 -n 3 "$kwhy" digest -q -o killed < traces.txt
find killed ! -name 'rank-*.sqlite' -type f -delete # what a worker left that could not tidy up
same killed

ran="xargs"
if command -v parallel > /dev/null; then
	parallel --will-cite --jobs 4 --retries 3 "$kwhy" digest -q -o parallel :::: traces.txt
	same parallel
	ran="$ran, parallel"
else
	echo "skipped: GNU parallel is not installed"
fi
if command -v mpirun > /dev/null; then
	export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
	# shellcheck disable=SC2016
	mpirun --oversubscribe -n 4 bash -c '"$0" digest -q --task $OMPI_COMM_WORLD_RANK/$OMPI_COMM_WORLD_SIZE -o mpirun - < traces.txt' "$kwhy"
	same mpirun
	ran="$ran, mpirun"
else
	echo "skipped: mpirun is not installed"
fi
echo "ran: $ran"
