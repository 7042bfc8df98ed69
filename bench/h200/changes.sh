#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# How far are projections of what people change in PyTorch and JAX programs? Each pair of programs/changed.py is recorded before and after its
# change, ROUNDS times (2) in turns; the first recording before is projected (kwhy whatif) and compared with each later one (kwhy compare
# --projected). Needs one GPU, PyTorch and JAX; PYTHON names another interpreter.
# usage: changes.sh KWHY_FOLDER OUT_FOLDER [NAME...]
set -uo pipefail
kwhy=$(realpath "$1")/bin/kwhy
mkdir -p "$2"
out=$(realpath "$2")
shift 2
program=$(dirname "$(realpath "$0")")/programs/changed.py
python=${PYTHON:-python3}
[ -n "${PYTHON:-}" ] || [ ! -x /opt/torch/.venv/bin/python ] || python=/opt/torch/.venv/bin/python
nvidia-smi --query-gpu=name,driver_version,temperature.gpu,clocks.sm --format=csv > "$out/gpu.csv"

recorded() {
	timeout -k 5 60 "$kwhy" record -q --one-file -o "$out/$1-$2-$3.kwhy" -- "$python" "$program" "$1" "$2" > "$out/$1-$2-$3.out" 2> "$out/$1-$2-$3.err"
	echo "$1 $2 $3: exit $?: $(tail -n 1 "$out/$1-$2-$3.out")"
}

# projected NAME OPTION...
projected() {
	local name=$1 round
	shift
	"$kwhy" whatif "$@" --json -o "$out/$name.json" "$out/$name-before-1.kwhy" 2> "$out/$name-whatif.err" || return
	for round in $(seq "${ROUNDS:-2}"); do
		"$kwhy" compare --json --projected "$out/$name.json" -o "$out/$name-compare-$round.json" "$out/$name-before-1.kwhy" "$out/$name-after-$round.kwhy" 2>> "$out/$name-whatif.err"
	done
}

"$python" "$program" --list | while read -r name options; do
	[ $# -eq 0 ] || [[ " $* " == *" $name "* ]] || continue
	for round in $(seq "${ROUNDS:-2}"); do
		recorded "$name" before "$round" < /dev/null
		recorded "$name" after "$round" < /dev/null
	done
	# shellcheck disable=SC2086
	[ -z "$options" ] || projected "$name" $options &
	wait
done | tee -a "$out/summary.txt"
