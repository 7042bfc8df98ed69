#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Measures what recording costs a loop: without a recorder, under kwhy record with and without recording of calls,
# under torch.profiler, and under nsys if it is installed. A set has one fresh process for each of these, which take
# turns; a turn is one run of the loop (programs/pairs.py). With record --duty 10% a turn has 18 runs, 3 seconds, so
# that windows begin and end during a turn. Needs PyTorch and one GPU; each mode takes at most 200 seconds.
# usage: overhead.sh KWHY_FOLDER OUT_FOLDER launch|generate|profilers|duty|compute|graphs [SECONDS]
# Targets (issue 5) for the time with recording over the time without, as the upper end of the 95 % interval over the
# sets: at most 1.15 (launch), 1.01 (compute) and 1.04 (--duty); and at most 0.9 of the extra time of nsys and of
# torch.profiler.
set -euo pipefail
kwhy=$(realpath "$1")/bin/kwhy
here=$(dirname "$(realpath "$0")")
mkdir -p "$2"
out=$(realpath "$2")/overhead-$3.json
for nsys in /opt/nvidia/nsight-*/*/host/target-linux-x64/nsys; do PATH=$PATH:$(dirname "$nsys"); done # one that comes with Nsight Compute does, too
case $3 in
launch) python3 "$here/programs/pairs.py" "$kwhy" "$out" decode plain,record,no-calls,profiler 20 5 "${4:-190}" ;;
generate)
	python3 "$here/programs/pairs.py" "$kwhy" "$out" generate plain,record 20 5 "${4:-100}"
	python3 "$here/programs/count.py" kernels "$kwhy" generate
	;;
profilers) python3 "$here/programs/pairs.py" "$kwhy" "$out" decode plain,record,profiler,nsys 10 6 "${4:-200}" ;;
duty) python3 "$here/programs/pairs.py" "$kwhy" "$out" decode plain,duty10,duty10-no-calls 10 2 "${4:-200}" 18 ;;
compute) python3 "$here/programs/pairs.py" "$kwhy" "$out" products plain,record 10 10 "${4:-120}" ;;
graphs) python3 "$here/programs/pairs.py" "$kwhy" "$out" graph plain,graphs-node,graphs-graph 4 6 "${4:-100}" ;;
*) echo "usage: overhead.sh KWHY_FOLDER OUT_FOLDER launch|generate|profilers|duty|compute|graphs [SECONDS]" >&2; exit 2 ;;
esac
