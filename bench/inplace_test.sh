#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Tests that powers of two recordings of a loop agree with the powers measured in place on the same loop
# (bench/inplace.c).
# Usage: inplace_test.sh INPLACE SOURCE_DIR
# Exit status 77: the recordings, which are not part of this tree, are missing.
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
# The recording without probing, with powers learnt from the probed one: here the ledger's powers with gaps are
# compared.
judge --gaps --held 9 --error 5 --half 6 --powers "$folder/probe.kwhy" \
	"$source/bench/inplace_names.csv" "$data/truth_A.json" "$folder/loop.kwhy"
