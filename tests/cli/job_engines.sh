#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Tests digests written by several processes of kwhy digest at once, started by xargs, GNU parallel
# and mpirun, as docs/scale.md describes. A process that was killed is run again; afterwards no
# digest is incomplete, and no trace has more than one digest.
set -euo pipefail
kwhy=$1
source_dir=$2
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
same() { # ENGINE: checks that its folder has the same digests and nothing else
	diff -r one "$1" || fail "$1 makes other digests"
	"$kwhy" report --json "$1" | cmp - one.json || fail "$1: another report"
}
xargs -P 4 -n 2 "$kwhy" digest -q -o xargs < traces.txt
same xargs

# A limit on the size of files (in blocks of 1 KiB) lets no digest be completed: none may remain.
for blocks in 1 8 16; do
	(ulimit -f $blocks && exec "$kwhy" digest -q -o killed - < traces.txt) > /dev/null 2>&1 && fail "a limit of $blocks blocks stops nothing"
	[ -z "$(find killed -name 'rank-*.sqlite' 2> /dev/null)" ] || fail "half a digest: $(ls -la killed)"
done
# Starts a process and kills it (kill -9) five times: the first time as soon as it has written one
# digest, the second time as soon as it has written two, and so on.
for ((i = 0; i < 5; i++)); do
	rm -rf killed
	"$kwhy" digest -q -o killed - < traces.txt &
	worker=$!
	until [ "$(find killed -name 'rank-*.sqlite' 2> /dev/null | wc -l)" -gt $i ]; do :; done
	kill -9 $worker 2> /dev/null || true # the worker may have ended
	wait $worker || true
	for digest in killed/rank-*.sqlite; do
		cmp "$digest" "one/${digest##*/}" || fail "$digest is half-written"
	done
done
xargs -P 2 -n 3 "$kwhy" digest -q -o killed < traces.txt
find killed ! -name 'rank-*.sqlite' -type f -delete # what a worker left that could not tidy up
same killed

# Runs kwhy with the arguments of the Kubernetes manifest of an indexed Job, with each pod's variables put in. Four pods
# run, and pod 2 a second time.
words=$(sed -n 's/^ *args: \[\(.*\)\]$/\1/p' "$source_dir/monitoring/kubernetes/digest-job.yaml" | tr -d ',')
[ -n "$words" ] || fail "no arguments in the manifest"
mkdir bin volume
ln -s "$kwhy" bin/kwhy
cp -r traces volume/traces
for index in 0 1 2 3 2; do
	pod=${words//'$(INDEX)'/$index}
	pod=${pod//'$(TASKS)'/4}
	# shellcheck disable=SC2086
	"$kwhy" ${pod//'$(FOLDER)'/volume}
done
for digest in volume/digests/*.sqlite; do # only the paths of the traces differ
	[ "$(sqlite3 "$digest" 'SELECT identity FROM digest')" = "$(sqlite3 "one/${digest##*/}" 'SELECT identity FROM digest')" ] || fail "$digest is another digest"
done
[ "$(ls volume/digests)" = "$(ls one)" ] || fail "the Job makes other digests: $(ls volume/digests)"

# Runs the Python example for Dask in docs/scale.md. A Client of the test's own takes the place of Dask's, and runs the
# tasks in processes.
sed -n '/^```python$/,/^```$/p' "$source_dir/docs/scale.md" | sed '1d;$d' | sed 's/"digests"/"dask"/' > example.py
cat > client.py << 'END'
import concurrent.futures
import multiprocessing
import sys
import types


class Client:
    def __init__(self, address):
        assert address == "scheduler:8786"
        self.pool = concurrent.futures.ProcessPoolExecutor(2, multiprocessing.get_context("fork"))

    def map(self, function, items):
        return [self.pool.submit(function, item) for item in items]

    def gather(self, futures):
        return [future.result() for future in futures]


sys.modules["dask"], sys.modules["dask.distributed"] = types.ModuleType("dask"), types.ModuleType("dask.distributed")
sys.modules["dask.distributed"].Client = Client
exec(compile(open("example.py").read(), "example.py", "exec"))
END
PATH=$folder/bin:$PATH python3 client.py
same dask

ran="xargs, the Job's command, Dask's lines without Dask"
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
