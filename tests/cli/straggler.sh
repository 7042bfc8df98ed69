#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Tests a job of eight ranks in which rank 3 computes 5, 10 or 30 % longer than the others in each of 100 steps. The
# report's first finding must be that rank 3 is a straggler, with the time and the energy of the others' waiting. If no
# rank is slower, there must be no such finding.
# Usage: straggler.sh KWHY
set -euo pipefail
kwhy=$1
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

# write_rank RANK PERCENT. In each step a rank computes for 1 ms to 1.003 ms, rank 3 for PERCENT longer. All ranks wait
# in a collective until the last one has computed, and 100 us more for the transfer.
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

# Each case: PERCENT, waiting time of a device in ms, joules of the waiting. A device waits 100 times PERCENT x 10 us.
# Joules: 7 devices x waiting time x 100 W, the difference of 200 W (collective) and 100 W (idle).
for case in "5 5.00 3.5" "10 10.0 7.0" "30 30.0 21.0"; do
	read -r percent ms joules <<< "$case"
	out=$(screen "$percent")
	echo "$out" | grep -q "^  1\. Straggler: 7 devices wait $ms ms for .*rank 3" || { echo "$percent %: $out"; exit 1; }
	echo "$out" | grep -A2 "^  1\. Straggler" | grep -q "up to ${joules}[0-9]* J" || { echo "$percent %, joules: $out"; exit 1; }
done
out=$(screen 0)
echo "$out" | grep -q Straggler && { echo "equal ranks: $out"; exit 1; }
exit 0
