#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Compares the energy that `kwhy serve --accounts` gives to programs that share a GPU with the joules of their
# iterations when each runs alone. There are four kinds of programs (programs/share.py), each with a user of its own;
# they run alone first, then two, ten, four and three at once. Also tests whether reading GPM, or kwhy serve, raises the
# power of a GPU without a context, and whether the owners' joules add up to the counter. Results in OUT_FOLDER:
# owners.json, the accounts' file, the driver's samples of the processes (owners-samples.csv) and the server's log.
# Parts that do not fit into BUDGET_S (default 230 s) are left out and named. SHARE_S (default 8 s): how long a program
# works alone; TOGETHER_S: how long several work. Needs root, PyTorch and one GPU.
# usage: owners.sh KWHY_FOLDER OUT_FOLDER
set -euo pipefail
kwhy=$(realpath "$1")
[ ! -d "$kwhy" ] || kwhy=$kwhy/bin/kwhy
[ -x "$kwhy" ] || { echo "owners.sh: there is no program $kwhy" >&2; exit 2; }
[ "$(id -u)" -eq 0 ] || { echo "owners.sh: only root can start programs of several users" >&2; exit 2; }
here=$(dirname "$(realpath "$0")")
mkdir -p "$2"
python=${PYTHON:-python3}
[ -n "${PYTHON:-}" ] || [ ! -x /opt/torch/.venv/bin/python ] || python=/opt/torch/.venv/bin/python
exec timeout -k 10 "$((${BUDGET_S:-230} + 60))" "$python" "$here/programs/owners.py" "$kwhy" "$(realpath "$2")"
