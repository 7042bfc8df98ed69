#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Records programs that end abnormally (killed, terminated, by _exit(), by an exception, after a fork) and a program
# that uses torch.profiler itself. Shows exit statuses and what kwhy reports of each recording. Needs PyTorch and one
# GPU; 2 minutes.
# usage: ends.sh KWHY_FOLDER OUT_FOLDER
set -uo pipefail
kwhy=$(realpath "$1")/bin/kwhy
here=$(dirname "$(realpath "$0")")
mkdir -p "$2"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cat > "$work/profiled.py" <<'P'
import torch
from torch.profiler import profile, ProfilerActivity
a = torch.randn(2048, 2048, device="cuda")
for _ in range(50): a = torch.tanh(a @ a * 1e-3)
torch.cuda.synchronize()
with profile(activities=[ProfilerActivity.CUDA]) as p:
    for _ in range(50): a = torch.tanh(a @ a * 1e-3)
    torch.cuda.synchronize()
print(sum(e.count for e in p.key_averages() if "tanh" in e.key), "tanh of 50")
P
ended() { # ended NAME COMMAND...: how it ended under kwhy, and what is left
	"$kwhy" record -q -o "$work/$1.kwhy" -- "${@:2}"
	echo "== $1: status $?"
	"$kwhy" verify "$work/$1.kwhy"
	"$kwhy" report "$work/$1.kwhy" | grep -iE 'did not end|profiler|J in|busy'
}
{
	ended plain python3 "$here/programs/repeat.py" decode 3
	ended killed timeout -s KILL 9 python3 "$here/programs/repeat.py" decode 60s
	ended terminated timeout -s TERM 9 python3 "$here/programs/repeat.py" decode 60s
	ended exited python3 -c 'import os, torch; x = torch.ones(9, device="cuda") * 2; torch.cuda.synchronize(); import time; time.sleep(1); os._exit(7)'
	ended raised python3 -c 'import torch; x = torch.ones(9, device="cuda") * 2; raise SystemError("as the program wants")'
	ended forked python3 -c 'import os, torch; x = torch.ones(9, device="cuda"); print(x.sum().item()); os.waitpid(os.fork() or os._exit(3), 0)'
	echo "== torch.profiler alone"; python3 "$work/profiled.py"
	ended taken-over python3 "$work/profiled.py"
	"$kwhy" record -q --duty 30% --window 0.05 -o "$work/duty-taken.kwhy" -- python3 "$work/profiled.py"; echo "== torch.profiler inside --duty: status $?"
} > "$2/ends.txt" 2>&1
cat "$2/ends.txt"
