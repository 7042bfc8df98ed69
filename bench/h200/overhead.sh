#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# What recording costs: the same loop plain, under kwhy record, record --duty 10%, the injected library alone, torch.profiler, and nsys where
# it is installed, in 10 sets of fresh processes with 6 paired runs each
# (programs/pairs.py says how). Needs PyTorch and one GPU; under 5 minutes each:
# usage: overhead.sh KWHY_FOLDER OUT_FOLDER launch|compute|graphs
# Targets (issue 5): upper 95 % bound of the sets at most 1.15 (launch), 1.01 (compute), 1.04 with --duty; 0.9 of nsys and of torch.profiler.
set -euo pipefail
kwhy=$(realpath "$1")/bin/kwhy
out=$2/overhead-$3.json
here=$(dirname "$(realpath "$0")")
mkdir -p "$2"
for nsys in /opt/nvidia/nsight-*/*/host/target-linux-x64/nsys; do PATH=$PATH:$(dirname "$nsys"); done # one that comes with Nsight Compute does, too
case $3 in
launch) python3 "$here/programs/pairs.py" "$kwhy" "$out" decode plain,record,duty10,profiler,nsys 10 6 220 ;;
compute) python3 "$here/programs/pairs.py" "$kwhy" "$out" products plain,record 10 10 120 ;;
graphs) python3 "$here/programs/pairs.py" "$kwhy" "$out" graph plain,graphs-node,graphs-graph 4 6 100 ;;
*) echo "usage: overhead.sh KWHY_FOLDER OUT_FOLDER launch|compute|graphs" >&2; exit 2 ;;
esac
