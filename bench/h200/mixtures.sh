#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Records two mixtures of FP64, tensor and gather kernels up to the power limit, one in bursts and one launch by launch.
# Shows whether the intervals of a plain recording contain what the energy counter measures of each kernel in place, and
# how wide they are. Needs PyTorch with Triton and one GPU; 100 seconds. PYTHON names another interpreter, LOOP_S the
# seconds of each recording (default 10).
# usage: mixtures.sh KWHY_FOLDER OUT_FOLDER
set -euo pipefail
kwhy=$(realpath "$1")/bin/kwhy
mkdir -p "$2"
out=$(realpath "$2")
program=$(dirname "$(realpath "$0")")/programs/mixtures.py
python=${PYTHON:-python3}
[ -n "${PYTHON:-}" ] || [ ! -x /opt/torch/.venv/bin/python ] || python=/opt/torch/.venv/bin/python
"$python" "$program" truth "$out/mixtures-truth.json" | tee "$out/mixtures-truth.txt"
for name in burst fine; do
	"$kwhy" record -q --one-file -o "$out/mixture-$name.kwhy" -- "$python" "$program" loop "$name" "${LOOP_S:-10}" "$out/mixtures-truth.json"
	"$kwhy" report --json -o "$out/mixture-$name.json" "$out/mixture-$name.kwhy"
done
"$python" "$program" judge "$out/mixtures-judged.json" "$out/mixtures-truth.json" burst="$out/mixture-burst.json" fine="$out/mixture-fine.json" |
	tee "$out/mixtures.txt"
