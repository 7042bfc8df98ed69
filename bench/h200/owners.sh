#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Tests the energy that `kwhy serve --accounts` gives to the programs of several users on one GPU. The expected energy
# of a program is its number of iterations times the joules of an iteration when the program runs alone. There are four
# programs (programs/share.py), each with a user of its own; each runs alone, then two, ten, four and three run at the
# same time. Also tests whether reading GPM counters, or kwhy serve, raises the power of a GPU without a context, and
# whether the users' joules add up to the energy counter. Results in OUT_FOLDER: owners.json, the accounts' file, the
# driver's samples of processes (owners-samples.csv) and the server's log. Parts that do not fit into BUDGET_S (default
# 230 s) are left out and named. SHARE_S (default 8): seconds that a program runs alone; TOGETHER_S: seconds that
# several run. Needs root, PyTorch and one GPU.
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
