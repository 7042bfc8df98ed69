#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Measures all reference workloads of kwhy-lab on a GPU, in about four minutes on an H200: every variant is checked
# against the reference, then timed, and its energy is measured. If one command fails, the others are still run. Each
# writes its JSON.
# Usage: measure.sh KWHY_FOLDER OUT_FOLDER [PART...] (KWHY_FOLDER: a build or a package that has kwhy-lab)
# PART: twin, flow, train or decode, all four by default; or torch, the PyTorch programs of twin and flow, which take
# two minutes more.
set -u
here=$(cd "$(dirname "$0")" && pwd)
kwhy=$(cd "$1" && pwd)
mkdir -p "$2"
out=$(cd "$2" && pwd)
program=$(find "$kwhy" -name kwhy-lab -type f -perm -u+x | head -1)
[ -n "$program" ] || { echo "measure.sh: no kwhy-lab in $kwhy; build with -DKWHY_LAB=ON" >&2; exit 2; }
# shellcheck source=../../bench/h200/programs/libraries.sh
. "$here/../../bench/h200/programs/libraries.sh"
use_libraries 'libnvrtc.so.1*' 'libcublasLt.so.1*'

# step NAME SECONDS COMMAND...: runs the command for at most SECONDS
step() {
	local name=$1 limit=$2 start=$SECONDS
	shift 2
	timeout "$limit" "$@" > "$out/$name.out" 2> "$out/$name.err"
	echo "$name: exit $?, $((SECONDS - start)) s" | tee -a "$out/log.txt"
}

# lab NAME SECONDS WORKLOAD OPTIONS...: runs a workload and writes NAME.json
lab() {
	step "$1" "$2" "$program" "${@:3}" -q -o "$out/$1.json"
}

nvidia-smi --query-gpu=name,driver_version,temperature.gpu,clocks.sm,power.draw,power.limit --format=csv > "$out/gpu.csv" 2>&1
parts=("${@:3}")
[ ${#parts[@]} -gt 0 ] || parts=(twin flow train decode)
for part in "${parts[@]}"; do
	case $part in
	twin) lab twin 100 twin --repeat 2 --seconds 2 ;;
	flow)
		lab flow 80 flow --variant n0,n1,n2,n3,n4,n5 --repeat 2 --seconds 2
		lab flow-allocations 30 flow --variant n0,n0c,n0p --flows 100 --repeat 3 --seconds 1
		lab flow-many 40 flow --variant n2,n4,n5 --flows 100000 --steps 100 --repeat 3 --seconds 1
		;;
	train) lab train 60 train --repeat 2 --seconds 1 ;;
	decode) lab decode 60 decode --repeat 2 --seconds 1 ;;
	torch)
		step twin-torch 80 python3 "$here/twin_torch.py" --seconds 2 --repeat 2 -o "$out/twin-torch.json"
		step flow-torch 80 python3 "$here/flow_torch.py" --seconds 2 --repeat 2 -o "$out/flow-torch.json"
		;;
	*) echo "measure.sh: no part '$part'" >&2 ;;
	esac
done
nvidia-smi --query-gpu=temperature.gpu,clocks.sm,power.draw --format=csv >> "$out/gpu.csv" 2>&1
