#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Tests two things. Ten recordings, five at a time, are ended by SIGKILL after 5 to 14 s, of the recorder and of the
# program in turn: what do kwhy verify and kwhy report make of what is left? And is a program of a hundred threads,
# each with a stream of its own, recorded completely? Needs PyTorch and one GPU; 90 s.
# usage: killed.sh KWHY_FOLDER OUT_FOLDER
set -uo pipefail
kwhy=$(realpath "$1")/bin/kwhy
here=$(dirname "$(realpath "$0")")
mkdir -p "$2"
out=$(realpath "$2")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python=${PYTHON:-python3}
cat > "$work/threads.py" <<'P'
import threading
import torch
results = [0.0] * 100
def work(number):
    with torch.cuda.stream(torch.cuda.Stream()):
        torch.manual_seed(number)
        a = torch.full((256, 256), number * 1e-3, device="cuda")
        for _ in range(200):
            a = torch.tanh(a @ a * 1e-3 + 0.5)
        results[number] = a.sum().item()
threads = [threading.Thread(target=work, args=(number,)) for number in range(100)]
for thread in threads: thread.start()
for thread in threads: thread.join()
print(f"{sum(results):.3f}")
P

# killed NAME SECONDS recorder|program: records a program, kills it or its recorder after SECONDS,
# and writes what kwhy verify and kwhy report say to NAME.txt
killed() {
	local recorder target
	setsid "$kwhy" record -q -o "$work/$1.kwhy" -- "$python" "$here/programs/repeat.py" decode 60s > /dev/null 2>&1 &
	recorder=$!
	sleep "$2"
	target=$recorder
	[ "$3" = recorder ] || target=$(pgrep -P "$recorder" | head -n 1)
	kill -KILL "$target"
	sleep 2
	kill -KILL -- "-$recorder" 2> /dev/null
	wait "$recorder" 2> /dev/null
	{
		echo "== $1: $3 killed after $2 s"
		"$kwhy" verify "$work/$1.kwhy"
		echo "verify: exit $?"
		"$kwhy" report "$work/$1.kwhy" 2>&1 | head -n 4
		echo "report: exit ${PIPESTATUS[0]}"
	} > "$out/$1.txt" 2>&1
}

for moment in 1 2 3 4 5 6 7 8 9 10; do
	kind=$([ $((moment % 2)) -eq 0 ] && echo recorder || echo program)
	killed "killed-$moment" "$((moment + 4)).$((moment * 37 % 10))" "$kind" &
	[ $((moment % 5)) -ne 0 ] || wait
done
"$python" "$work/threads.py" > "$out/threads-plain.out"
"$kwhy" record -q --one-file -o "$work/threads.kwhy" -- "$python" "$work/threads.py" > "$out/threads-recorded.out" 2> "$out/threads.err"
{
	echo "== a hundred threads: exit $?, plain $(cat "$out/threads-plain.out"), recorded $(cat "$out/threads-recorded.out")"
	"$kwhy" verify "$work/threads.kwhy"
	"$kwhy" report "$work/threads.kwhy" | head -n 4
} > "$out/threads.txt" 2>&1
cat "$out"/killed-?.txt "$out/killed-10.txt" "$out/threads.txt" | tee "$out/all.txt"
