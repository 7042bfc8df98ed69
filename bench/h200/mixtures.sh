#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Records two mixtures of three kernels (FP64 arithmetic, tensor cores, random reads) that reach the power limit: in
# one, launches of a kernel follow each other in bursts; in the other, kernels alternate with every launch. The energy
# counter, read over the mixture without a kernel and with twice as many of its launches, gives the kernel's true power
# in place. Shows whether the intervals of `kwhy record` without further options contain this power, and how wide they
# are. Needs PyTorch with Triton and one GPU; 100 seconds. PYTHON names another interpreter, LOOP_S the seconds of each
# recording (default 10).
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
