#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Compares the numbers of kernels, copies and memsets in recordings with those that torch.profiler counts, on
# four deterministic loops (programs/count.py). Each loop runs once under kwhy and once under torch.profiler.
# Needs PyTorch, c++filt and one GPU; 3 minutes.
# usage: counts.sh KWHY_FOLDER OUT_FOLDER
set -euo pipefail
here=$(dirname "$(realpath "$0")")
mkdir -p "$2"
python3 "$here/programs/count.py" compare "$1" "$2/counts.json" decode products train graph | tee "$2/counts.txt"
