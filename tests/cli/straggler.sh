#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Tests eight ranks, of which rank 3 computes 5, 10 or 30 % longer than the others in each of 100 steps. The first
# screen of the report must name it first, with the seconds and joules for which the others wait. If all ranks are
# equal, it must name none.
# Usage: straggler.sh KWHY
set -euo pipefail
kwhy=$1
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

# A step: a rank computes for 1 ms, or up to 3 us more, and the slow rank for `percent` longer. All ranks wait for the
# last one and then transfer for 100 us.
write_rank() {
	awk -v rank="$1" -v percent="$2" 'BEGIN {
		printf "# clock other hand-made\n# device %d name=\"NVIDIA H100 80GB HBM3\" sms=132 rank=%d\n", rank, rank
		print "kind,name,device,stream,start_ns,end_ns,bytes,blocks,threads_per_block"
		for (step = 0; step < 100; step++) {
			at = step * (1110000 + 10000 * percent)
			end = at + 1000000 + 1000 * ((rank * 7 + step * 3) % 4) + (rank == 3 ? 10000 * percent : 0)
			printf "kernel,compute,%d,7,%d,%d,,512,256\n", rank, at, end
			printf "collective,ncclDevKernel_AllReduce_Sum_f32_RING_LL,%d,7,%d,%d,,16,512\n", rank, end, at + 1110000 + 10000 * percent
		}
	}'
}

screen() {
	for rank in 0 1 2 3 4 5 6 7; do
		write_rank "$rank" "$1" > "$folder/rank$rank.csv"
	done
	"$kwhy" report -q --assume-power compute=500,collective=200,idle=100 "$folder"/rank*.csv | sed -n 1,24p
}

# In each of 100 steps the others wait for percent x 10 us, at 100 W (the idle power) or more.
for case in "5 5.00 3.5" "10 10.0 7.0" "30 30.0 21.0"; do
	read -r percent ms joules <<< "$case"
	out=$(screen "$percent")
	echo "$out" | grep -q "^  1\. Straggler: 7 devices wait $ms ms for .*rank 3" || { echo "$percent %: $out"; exit 1; }
	echo "$out" | grep -A2 "^  1\. Straggler" | grep -q "up to ${joules}[0-9]* J" || { echo "$percent %, joules: $out"; exit 1; }
done
out=$(screen 0)
echo "$out" | grep -q Straggler && { echo "equal ranks: $out"; exit 1; }
exit 0
