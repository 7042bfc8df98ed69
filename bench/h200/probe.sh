#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Tests whether `kwhy probe` leaves programs as they are, and how much it learns about their kernels. Each of these
# parts is run plain, recorded and probed, and the outputs are compared:
#   hash             a deterministic training loop whose parameters are hashed, with AdamW in its foreach and its fused form; probed
#                    with 1, 5 and 20 % of all launches repeated
#   PROGRAM          each of PROGRAMS
#   segments, pools  the loop of hash at 5 % alone, with PyTorch's expandable segments and with cudaMallocAsync
#   graphed          a step as a CUDA graph
#   spawned          two processes
#   jax_arena        jax_mlp, which takes three quarters of the memory at once
# Parts C to G are sets of ten and more operations: their powers in place by the energy counter, and the same loop
# recorded and probed.
# Each command is stopped after LIMIT_S seconds (default 90); there are some 45 of them. Needs one GPU and what the
# programs import. PYTHON names another interpreter, PROBE_ARGS further options (default --memory 8G), LOOP_S the
# seconds of the loops (default 5); RECORD=no leaves out the plain recordings.
# usage: probe.sh KWHY_FOLDER OUT_FOLDER PROGRAM_FOLDER [PART...]
set -uo pipefail
kwhy=$(realpath "$1")/bin/kwhy
mkdir -p "$2"
out=$(realpath "$2")
programs=$(realpath "$3")
shift 3
parts=${*:-hash segments pools hf_train cupy_mix triton_mm resnet gcn hf_generate jax_mlp jax_arena graphed spawned C D E F G}
own=$(dirname "$(realpath "$0")")/programs
python=${PYTHON:-python3}
[ -n "${PYTHON:-}" ] || [ ! -x /opt/torch/.venv/bin/python ] || python=/opt/torch/.venv/bin/python
read -ra arguments <<< "${PROBE_ARGS:---memory 8G}"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
nvidia-smi --query-gpu=name,driver_version,temperature.gpu,clocks.sm,memory.free --format=csv > "$out/gpu.csv"

# limited NAME COMMAND: runs the command for at most LIMIT_S; output and errors go to NAME.out and
# NAME.err, exit status and duration to summary.txt
limited() {
	local name=$1 start end status
	shift
	start=$(date +%s%N)
	timeout -k 5 "${LIMIT_S:-90}" "$@" > "$out/$name.out" 2> "$out/$name.err"
	status=$?
	end=$(date +%s%N)
	printf '%s: exit %d, %d ms\n' "$name" "$status" "$(((end - start) / 1000000))" | tee -a "$out/summary.txt"
	return "$status"
}

# probed NAME OPTIONS -- COMMAND: runs kwhy probe into NAME.kwhy; counts in summary.txt what its log
# says of bursts
probed() {
	local name=$1
	shift
	KWHY_PROBE_LOG=$out/$name.log limited "$name" "$kwhy" probe -q --one-file --seed 1 "${arguments[@]}" -o "$out/$name.kwhy" "$@"
	{
		printf '  bursts %s, refused %s' "$(grep -c '^burst' "$out/$name.log" 2> /dev/null)" "$(grep -c '^refused' "$out/$name.log" 2> /dev/null)"
		printf ', checked the same %s, different %s\n' "$(grep -c 'check 1' "$out/$name.log" 2> /dev/null)" "$(grep -c 'check 2' "$out/$name.log" 2> /dev/null)"
		grep '^gave up' "$out/$name.log" 2> /dev/null | cut -c 1-300
		sed -n 's/^refused .*\]: \([^;]*\);.*/  not probed: \1/p' "$out/$name.log" 2> /dev/null | sort | uniq -c
	} | tee -a "$out/summary.txt"
	gzip -f "$out/$name.log" 2> /dev/null
	return 0
}

# same PLAIN OTHER: notes in summary.txt whether PLAIN.out and OTHER.out are equal and, if not, the
# first differences
same() {
	if cmp -s "$out/$1.out" "$out/$2.out"; then
		echo "  $2: same output as $1: $(head -c 120 "$out/$2.out" | tr '\n' ' ')" | tee -a "$out/summary.txt"
	else
		{
			echo "  $2: OTHER output than $1:"
			diff "$out/$1.out" "$out/$2.out" | head -6
		} | tee -a "$out/summary.txt"
	fi
}

# The deterministic training loop in two files: with AdamW's foreach and with its fused
# implementation.
make_loops() {
	sed 's/foreach=os.environ.get([^)]*) == .1./fused=True/' "$programs/deterministic.py" > "$work/fused.py"
	cp "$programs/deterministic.py" "$work/foreach.py"
}

hash_part() {
	local form share
	make_loops
	for form in foreach fused; do
		limited "hash-$form-plain" "$python" "$work/$form.py"
		for share in 1 5 20; do
			probed "hash-$form-$share" --share "$share" --burst 3 -- "$python" "$work/$form.py"
			same "hash-$form-plain" "hash-$form-$share"
		done
	done
}

# allocator_part NAME SETTING: probes the loop with another setting of PyTorch's allocator; --verify all
# compares the device's memory before and after each burst
allocator_part() {
	local form
	make_loops
	export PYTORCH_CUDA_ALLOC_CONF=$2
	for form in foreach fused; do
		limited "$1-$form-plain" "$python" "$work/$form.py"
		probed "$1-$form" --share 5 --burst 3 --verify all -- "$python" "$work/$form.py"
		same "$1-$form-plain" "$1-$form"
	done
	unset PYTORCH_CUDA_ALLOC_CONF
}

# three_ways NAME COMMAND: runs the command alone, recorded and probed, and compares the outputs
three_ways() {
	local name=$1
	shift
	limited "$name-plain" "$@"
	if [ "${RECORD:-yes}" = yes ]; then
		limited "$name-record" "$kwhy" record -q --one-file -o "$out/$name-record.kwhy" -- "$@"
		same "$name-plain" "$name-record"
	fi
	probed "$name-probe" -- "$@"
	same "$name-plain" "$name-probe"
}

set_part() {
	limited "$1-truth" "$python" "$own/inplace_sets.py" truth "$1" "$out/truth_$1.json"
	three_ways "$1" "$python" "$own/inplace_sets.py" loop "$1" "${LOOP_S:-5}"
}

for part in $parts; do
	case $part in
	hash) hash_part ;;
	segments) allocator_part segments expandable_segments:True ;;
	pools) allocator_part pools backend:cudaMallocAsync ;;
	C | D | E | F | G) set_part "$part" ;;
	graphed | spawned) three_ways "$part" "$python" "$own/$part.py" ;;
	jax_arena) XLA_PYTHON_CLIENT_PREALLOCATE=true three_ways "$part" "$python" "$programs/jax_mlp.py" ;;
	*) three_ways "$part" "$python" "$programs/$part.py" ;;
	esac
done
