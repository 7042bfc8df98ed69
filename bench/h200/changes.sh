#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Measures how well kwhy whatif projects common changes of PyTorch and JAX programs. programs/changed.py has pairs: a
# program before and after one change. Each pair is recorded ROUNDS times (default 2) in turn before and after its
# change. kwhy whatif projects the change from every recording before it, and each projection is compared with every
# recording after it. GPUs work concurrently, each on its own pairs (GPUS="1": only on this GPU).
# After SECONDS_MAX (default 500) no further pair begins. Writes summary.txt, the output of kwhy (said.tar.xz) and the
# compressed recordings in archives of less than 16 MB (recordings-N.tar). Needs a GPU, PyTorch and JAX; PYTHON names
# another interpreter.
# usage: changes.sh KWHY_FOLDER OUT_FOLDER [NAME...]
set -uo pipefail
kwhy=$(realpath "$1")/bin/kwhy
mkdir -p "$2"
out=$(realpath "$2")
shift 2
program=$(dirname "$(realpath "$0")")/programs/changed.py
python=${PYTHON:-python3}
[ -n "${PYTHON:-}" ] || [ ! -x /opt/torch/.venv/bin/python ] || python=/opt/torch/.venv/bin/python
export XLA_PYTHON_CLIENT_PREALLOCATE=false
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
rounds=$(seq "${ROUNDS:-2}")
nvidia-smi --query-gpu=name,driver_version,temperature.gpu,clocks.sm --format=csv > "$out/gpu.csv"
read -ra gpus <<< "${GPUS:-$(seq -s ' ' 0 $(($(nvidia-smi --list-gpus | wc -l) - 1)))}"
[ $# -gt 0 ] || mapfile -t names < <("$python" "$program" --list | cut -d ' ' -f 1)
[ $# -eq 0 ] || names=("$@")

# recorded GPU NAME before|after ROUND: records the program NAME before or after its change
recorded() {
	local file=$work/$2-$3-$4
	CUDA_VISIBLE_DEVICES=$1 timeout -k 5 60 "$kwhy" record -q --one-file -o "$file.kwhy" -- "$python" "$program" "$2" "$3" > "$file.out" 2> "$file.err"
	echo "$2 $3 $4: exit $?: $(tail -n 1 "$file.out")"
}

# projected NAME OPTION...: projects the change from each recording before it with these options of
# kwhy whatif, and compares the projection with each recording after it
projected() {
	local name=$1 before after
	shift
	for before in $rounds; do
		"$kwhy" whatif "$@" --json -o "$work/$name-$before.json" "$work/$name-before-$before.kwhy" 2> "$work/$name-whatif.err" || return
		for after in $rounds; do
			"$kwhy" compare --json --projected "$work/$name-$before.json" -o "$work/$name-compare-$before-$after.json" \
				"$work/$name-before-$before.kwhy" "$work/$name-after-$after.kwhy" 2>> "$work/$name-whatif.err"
		done
	done
}

# lane GPU FIRST: runs every pair whose number, modulo the number of GPUs, is FIRST
lane() {
	local i name options round
	for ((i = $2; i < ${#names[@]}; i += ${#gpus[@]})); do
		[ "$SECONDS" -lt "${SECONDS_MAX:-500}" ] || break
		name=${names[$i]}
		options=$("$python" "$program" --list | sed -nE "s/^$name( |\$)//p")
		for round in $rounds; do
			recorded "$1" "$name" before "$round" < /dev/null
			recorded "$1" "$name" after "$round" < /dev/null
		done
		# shellcheck disable=SC2086
		[ -z "$options" ] || projected "$name" $options
	done
}

for ((first = 0; first < ${#gpus[@]}; first++)); do
	lane "${gpus[$first]}" "$first" &
done | tee -a "$out/summary.txt"
cd "$work" || exit 1
tar cJf "$out/said.tar.xz" ./*.json ./*.out ./*.err 2> /dev/null
xz -2 -T0 ./*.kwhy
part=0 size=0
for file in *-1.kwhy.xz *-2.kwhy.xz; do
	[ -f "$file" ] || continue
	size=$((size + $(stat -c %s "$file")))
	[ "$size" -lt 15000000 ] || { part=$((part + 1)) && size=$(stat -c %s "$file"); }
	echo "$file" >> "part-$part"
done
for file in part-[0-3]; do
	tar cf "$out/recordings-${file#part-}.tar" -T "$file"
done
