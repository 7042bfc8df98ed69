#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Tests bench/h200/batch.sh, which runs the steps of a plan. Lanes 0 and 1 run at the same time, each with one GPU and
# half of the CPUs; steps of lane 01 get both GPUs and run alone. A step that takes too long is ended with all processes
# that it started. Results are packed, also when the time for the whole plan is over. Tests also that the plans in
# bench/h200/plans name existing scripts.
# Usage: batch.sh SOURCE_DIR
set -euo pipefail
batch=$1/bench/h200/batch.sh
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
plan=$work/plan
out=$work/out

fail() {
	echo "$1:"
	cat "$work/said"
	exit 1
}
# run EXIT_STATUS OPTIONS...: runs batch.sh on the plan on standard input; it must end with that status
run() {
	local expected=$1 status=0
	shift
	cat > "$plan"
	rm -rf "$out"
	bash "$batch" "$work" "$out" "$plan" "$@" > "$work/said" 2>&1 || status=$?
	[ "$status" = "$expected" ] || fail "exit $status instead of $expected"
}
# ended NAME HOW: checks how, by summary.txt, the step NAME ended
ended() {
	grep -qE "^$1 +[01]+ +$2( |\$)" "$out/summary.txt" || fail "$1 did not end so: $2"
}
# printed NAME TEXT: checks the output of the step
printed() {
	[ "$(cat "$out/$1.log")" = "$2" ] || fail "$1 printed $(cat "$out/$1.log") instead of $2"
}
is_gone() {
	[ ! -e "/proc/$1" ] || grep -q '^State:.Z' "/proc/$1/status"
}

# Step `takes` of lane 1 reads what step `gives` of lane 0 writes to a pipe, so they end only if both lanes run at the
# same time. Both must have ended before step `both` begins.
mkfifo "$work/pipe"
export pipe=$work/pipe
run 0 --gpus 2 <<'P'
# lane | seconds | name | command
0  | 600 | gives   | echo word > "$pipe"; touch done; echo "$CUDA_VISIBLE_DEVICES"
0  | 600 | again   | nproc
1  | 600 | takes   | cat "$pipe" | tr a-z A-Z; touch done; echo "$CUDA_VISIBLE_DEVICES"
1  | 600 | beside  | nproc

01 | 600 | both    | ls ../gives/done ../takes/done; echo "$CUDA_VISIBLE_DEVICES $(basename "$OUT")"; nproc
1  | 600 | after   | ls ../both.log; command -v batch.sh > /dev/null && [ -d "$KWHY" ] && echo set up
P
printed gives 0
printed takes $'WORD\n1'
printed after $'../both.log\nset up'
all=$(nproc)
printed both $'../gives/done\n../takes/done\n0,1 both\n'"$all"
[ "$all" = 1 ] || [ $(($(cat "$out/again.log") + $(cat "$out/beside.log"))) = "$all" ] || fail "lanes share CPUs"
tar -tzf "$out/results.tar.gz" > "$work/packed"
for name in summary.txt both.log gives.log gives/done; do
	grep -qx "$name" "$work/packed" || fail "$name is not packed"
done

# A step that takes too long, one that fails, and one that leaves a process running, which must be ended. A process that
# the step has put into a session of its own is not ended.
run 1 --gpus 2 --pack "$work/elsewhere.tar.gz" <<'P'
0 | 1   | long   | timeout 1000 sleep 1000 & echo $!; trap "" TERM; wait; sleep 1000
1 | 600 | fails  | exit 3
1 | 600 | leaves | sleep 1000 & echo $!
1 | 600 | keeps  | setsid sleep 1000 & until [ "$(cut -d" " -f6 /proc/$!/stat)" = $! ]; do :; done; echo $!
P
ended long "ended after 1 s"
ended fails "exit 3"
ended leaves "exit 0"
while read -r pid; do # no process, if the machine was too busy to start it
	is_gone "$pid" || fail "what a step started outlives its time"
done < "$out/long.log"
is_gone "$(cat "$out/leaves.log")" || fail "what a step left running goes on"
! is_gone "$(cat "$out/keeps.log")" || fail "what has a session of its own was ended"
kill "$(cat "$out/keeps.log")"
tar -tzf "$work/elsewhere.tar.gz" | grep -x leaves.log > /dev/null || fail "not packed elsewhere"

# Two plans: in the first, the time for the whole plan (--seconds 1) runs out; in the second, batch.sh receives SIGTERM.
run 1 --gpus 2 --seconds 1 <<'P'
0  | 600 | sleeps | sleep 1000
01 | 600 | late   | true
P
ended sleeps "(ended with all|did not run)"
ended late "did not run"
[ -s "$out/results.tar.gz" ] || fail "nothing is packed when the time is over"
run 1 --gpus 2 <<'P'
0 | 600 | ends | echo so far; kill -TERM "$PPID"; sleep 1000
0 | 600 | late | true
P
ended ends "ended with all"
ended late "did not run"
tar -xzOf "$out/results.tar.gz" ends.log | grep -x "so far" > /dev/null || fail "what there was is not packed"

# One GPU, and a file that is too large to be packed.
run 1 --gpus 1 --pack-mib 1 <<'P'
0  | 600 | first  | echo "$CUDA_VISIBLE_DEVICES"
1  | 600 | second | echo "$CUDA_VISIBLE_DEVICES"; head -c 2000000 /dev/urandom > large; head -c 2000000 /dev/zero > zeros
01 | 600 | both   | true
P
printed first 0
printed second 0
ended both "needs two GPUs"
grep -qx "not packed: second/large" "$work/said" || fail "the large file is not named"
tar -tzf "$out/results.tar.gz" | grep -x second/zeros > /dev/null || fail "what compresses well is left out"

run 1 <<< "2 | 5 | name | true"
grep -q "line 1 of .* has lane 2" "$work/said" || fail "a wrong lane passes"
run 1 <<< "0 | 5 | name"
run 1 <<< "0 | soon | name | true"
run 1 <<< $'0 | 5 | name | true\n1 | 5 | name | true'

# Plans: every script in them exists, every line is valid, and no two steps of a plan have the same
# name, as that is the name of their folder.
for plan in "$1"/bench/h200/plans/*.plan; do
	grep -oE '[a-z_0-9]+\.sh' "$plan" | sort -u | while read -r script; do
		[ -x "$1/bench/h200/$script" ] || { echo "$plan: no $script"; exit 1; }
	done
	grep -v '^#' "$plan" | grep . | awk -F' *[|] *' '$1 !~ /^(0|1|01)$/ || $2 !~ /^[0-9]+$/ || $3 == "" || $4 == "" || seen[$3]++ {print FILENAME ": " $0; bad = 1} END {exit bad}'
done
