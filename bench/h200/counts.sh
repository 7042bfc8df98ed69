#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Compares a recording's counts with those of torch.profiler on four deterministic loops, which run separately under
# each of the two. Needs PyTorch, c++filt and one GPU; 3 minutes.
# usage: counts.sh KWHY_FOLDER OUT_FOLDER
set -euo pipefail
here=$(dirname "$(realpath "$0")")
mkdir -p "$2"
python3 "$here/programs/count.py" compare "$1" "$2/counts.json" decode products train graph | tee "$2/counts.txt"
