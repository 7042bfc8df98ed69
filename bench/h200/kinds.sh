#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Measures the powers of library kernels by kind, for the priors in a machine profile: probes loops of library
# operations (programs/kinds.py), each group in three sizes, and writes the kernels' powers to
# FOLDER/powers/GROUP-SIZE.json. There are 36 loops of some 12 s each. PYTHON names another interpreter.
# `programs/kind_powers.py` makes the profile's part kernel_kinds from these powers.
# usage: kinds.sh KWHY_FOLDER OUT_FOLDER [GROUP...]
set -uo pipefail
kwhy=$(realpath "$1")/bin/kwhy
mkdir -p "$2/powers"
out=$(realpath "$2")
shift 2
groups=${*:-products tf32 attention convolution norms elementwise reductions indexing optimizers serving images functions}
own=$(dirname "$(realpath "$0")")/programs
python=${PYTHON:-python3}
[ -n "${PYTHON:-}" ] || [ ! -x /opt/torch/.venv/bin/python ] || python=/opt/torch/.venv/bin/python
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
nvidia-smi --query-gpu=name,driver_version,temperature.gpu,clocks.sm --format=csv > "$out/gpu.csv"

for group in $groups; do
	for size in 0 1 2; do
		name=$group-$size
		start=$(date +%s)
		timeout -k 5 60 "$kwhy" probe -q --one-file --seed 1 --memory 8G --budget 10 -o "$work/$name.kwhy" \
			-- "$python" "$own/kinds.py" "$group" "$size" "${LOOP_S:-3}" > "$work/$name.out" 2> "$work/$name.err"
		status=$?
		"$kwhy" export --to powers "$work/$name.kwhy" -o "$out/powers/$name.json" 2>> "$work/$name.err"
		echo "$name: exit $status, $(($(date +%s) - start)) s; $(tail -n 2 "$work/$name.out" | tr '\n' ' ')" | tee -a "$out/summary.txt"
		tail -n 1 "$work/$name.err" | cut -c 1-200 | tee -a "$out/summary.txt"
	done
done
