#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# What do performance counters tell about the power of kernels? Parts:
#   fit      library operations, each alone (programs/alone.py), and the power model that is fitted to them; counters
#            are sampled all the time
#   PROGRAM  each of PROGRAMS, recorded with --counters, and reported with and without the counters
#   D to G   sets of operations in a loop, recorded and reported in the same ways, and the true powers of the
#            operations in the loop (programs/inplace_sets.py)
#   cost     a loop of small kernels without recording, recorded, and recorded with --counters, three times in turns
# Needs root, or a driver that lets users read performance counters. PYTHON names another interpreter, ALONE_S the
# seconds of each operation.
# usage: counters.sh KWHY_FOLDER OUT_FOLDER PROGRAM_FOLDER [PART...]
set -uo pipefail
kwhy=$(realpath "$1")/bin/kwhy
mkdir -p "$2"
out=$(realpath "$2")
programs=$(realpath "$3")
shift 3
parts=${*:-fit hf_train resnet gcn hf_generate jax_mlp triton_mm cupy_mix D E F G cost}
own=$(dirname "$(realpath "$0")")/programs
python=${PYTHON:-python3}
[ -n "${PYTHON:-}" ] || [ ! -x /opt/torch/.venv/bin/python ] || python=/opt/torch/.venv/bin/python
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
nvidia-smi --query-gpu=name,driver_version,temperature.gpu,clocks.sm --format=csv > "$out/gpu.csv"

# record NAME CMD...: records the command with --counters and prints how it ended and what is known
# of the powers
record() {
	local name=$1
	shift
	timeout -k 5 90 "$kwhy" record -q --counters --one-file -o "$out/$name.kwhy" -- "$@" > "$work/$name.out" 2> "$work/$name.err"
	echo "$name: exit $?; $(tail -n 1 "$work/$name.out" | cut -c 1-60); $(tail -n 1 "$work/$name.err" | cut -c 1-160)"
	"$kwhy" verify "$out/$name.kwhy" | grep -E "counters|whole|damage" | tr '\n' ' '
	"$kwhy" report --section unknown "$out/$name.kwhy" | grep -i "known within" | cut -c 1-100
}

seconds_of() {
	local start
	start=$(date +%s.%N)
	"$@" > "$work/loop.out" 2>&1
	echo "$(date +%s.%N) $start" | awk '{ printf "%.2f s ", $1 - $2 }'
}

for part in $parts; do
	case $part in
	fit)
		timeout -k 5 400 "$kwhy" record -q --counters --counter-share 100% -o "$work/alone.kwhy" -- \
			"$python" "$own/alone.py" "${ALONE_S:-0.9}" "$out/alone.csv" > "$work/alone.out" 2> "$work/alone.err"
		echo "fit: exit $?; $(tail -n 1 "$work/alone.out") $(tail -n 1 "$work/alone.err" | cut -c 1-200)"
		"$python" "$own/counter_model.py" "$work/alone.kwhy" "$out/alone.csv" "$(tail -n 1 "$out/gpu.csv"), $(date -u)" > "$out/counter_model.json"
		cat "$out/counter_model.json"
		;;
	D | E | F | G)
		record "$part" "$python" "$own/inplace_sets.py" loop "$part" 6
		timeout -k 5 90 "$python" "$own/inplace_sets.py" truth "$part" "$out/truth_$part.json" > "$work/$part.out" 2>&1
		;;
	cost)
		for turn in 1 2 3; do
			echo "cost, turn $turn: plain, recorded, with counters:" "$(seconds_of "$python" "$programs/hf_generate.py")" \
				"$(seconds_of "$kwhy" record -q -o "$work/plain.kwhy" -- "$python" "$programs/hf_generate.py")" \
				"$(seconds_of "$kwhy" record -q --counters -o "$work/counted.kwhy" -- "$python" "$programs/hf_generate.py")"
		done
		;;
	*) record "$part" "$python" "$programs/$part.py" ;;
	esac
done
