#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# What is the energy of programs that share a GPU, by `kwhy serve --accounts`, against the joules of an iteration of each one alone? Four programs
# (programs/share.py), each kind with a user of its own: each alone, then two, ten, four and three at once. Also: does reading GPM, or kwhy serve, raise the
# power of a GPU without a context, and do the owners' joules add up to the counter? Results: owners.json in OUT_FOLDER, with the accounts' file, the
# driver's samples of the processes (owners-samples.csv) and the server's log. Parts that do not fit into BUDGET_S (230 s) are left out and named;
# SHARE_S (8 s) is how long a program works alone, TOGETHER_S how long several do. Needs root, PyTorch and one GPU.
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
