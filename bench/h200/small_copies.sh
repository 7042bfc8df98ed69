#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Compares the times of copies of 1 B to 4 KiB, which are smaller than nvbandwidth's, by kwhy bench transfer with those
# by a CUDA program that makes the same copies. Both measure in three ways (back-to-back, isolated, host: see
# programs/small_copies.cu), and run in turns. Needs nvcc and one GPU; 1 minute. Target (issue 6): at most the time of
# the CUDA program.
# usage: small_copies.sh KWHY_FOLDER OUT_FOLDER [ROUNDS]
set -u
kwhy=$(realpath "$1")/bin/kwhy
here=$(dirname "$(realpath "$0")")
mkdir -p "$2"
out=$(realpath "$2")
made=$(mktemp -d)
trap 'rm -rf "$made"' EXIT
nvcc -O3 -arch=native -o "$made/peer" "$here/programs/small_copies.cu" || exit 1
rounds=${3:-6}
mapfile -t cpus < <(python3 -c 'import os; print(*sorted(os.sched_getaffinity(0)), sep="\n")') # both of a round run on one
for ((round = 0; round < rounds; round++)); do
	cpu=${cpus[round * 5 % ${#cpus[@]}]}
	for turn in 0 1; do
		start=$SECONDS
		if (((round + turn) % 2)); then
			timeout 60 taskset -c "$cpu" "$made/peer" 1000 > "$out/peer-$round.csv" 2> "$out/peer-$round.err"
			echo "peer $round: exit $?, $((SECONDS - start)) s" | tee -a "$out/log.txt"
		else
			timeout 60 taskset -c "$cpu" "$kwhy" bench transfer -q --strategy pinned,pageable,mapped,copy-kernel --direction h2d,d2h --quick --max-size 4KiB --time 4 --seed "$round" \
				--json -o "$out/kwhy-$round.json" 2> "$out/kwhy-$round.err"
			echo "kwhy $round: exit $?, $((SECONDS - start)) s" | tee -a "$out/log.txt"
		fi
	done
done
python3 "$here/programs/small_copies.py" "$out" | tee "$out/small_copies.txt"
