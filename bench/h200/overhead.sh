#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# What recording costs: the same loop plain, under kwhy record, record --duty 10%, the injected library alone, torch.profiler, and nsys where
# it is installed, as 20 paired sets (programs/pairs.py says how). Needs PyTorch and one GPU; under 8 minutes each:
# usage: overhead.sh KWHY_FOLDER OUT_FOLDER launch|compute|graphs
# Targets (issue 5): upper 95 % bound at most 1.15 (launch), 1.01 (compute), 1.04 with --duty; 0.9 of nsys and of torch.profiler.
set -euo pipefail
kwhy=$(realpath "$1")/bin/kwhy
out=$2/overhead-$3.json
here=$(dirname "$(realpath "$0")")
mkdir -p "$2"
case $3 in
launch) python3 "$here/programs/pairs.py" "$kwhy" "$out" decode plain,record,duty10,inject,profiler,nsys 20 12 450 ;;
compute) python3 "$here/programs/pairs.py" "$kwhy" "$out" products plain,record 20 10 450 ;;
graphs) python3 "$here/programs/pairs.py" "$kwhy" "$out" graph plain,graphs-node,graphs-graph 10 12 300 ;;
*) echo "usage: overhead.sh KWHY_FOLDER OUT_FOLDER launch|compute|graphs" >&2; exit 2 ;;
esac
