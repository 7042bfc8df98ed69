#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Powers of recordings in place against the truth of the same loop. Usage: inplace_test.sh INPLACE SOURCE_DIR
# 77: the recordings, which are not part of this tree, are not there.
set -euo pipefail
inplace=$1
source=$2
data=$source/../shared/data/inplace
if [ ! -r "$data/probe_A.kwhy.xz" ] || [ ! -r "$data/loop_A.kwhy.xz" ] || ! command -v xz >/dev/null; then
	exit 77
fi
folder=$(mktemp -d)
trap 'rm -r "$folder"' EXIT
for name in probe loop; do
	xz -dc "$data/${name}_A.kwhy.xz" >"$folder/$name.kwhy"
done
judge() {
	"$inplace" --profile "$source/profiles/nvidia-h200.json" "$@"
}
judge --held 9 --error 4 --half 6 "$source/bench/inplace_names.csv" "$data/truth_A.json" "$folder/probe.kwhy"
# In the loop the whole has to come out, gaps and all: held against the truth with its gaps.
judge --gaps --held 9 --error 5 --half 6 --powers "$folder/probe.kwhy" \
	"$source/bench/inplace_names.csv" "$data/truth_A.json" "$folder/loop.kwhy"
