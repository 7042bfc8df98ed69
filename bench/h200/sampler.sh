#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# What the meters alone cost a launch-bound loop: at most 0.5 % (upper 95 % bound of 20 pairs, issue 4). Needs PyTorch and one GPU; 7 minutes.
# usage: sampler.sh KWHY_FOLDER OUT_FOLDER
set -euo pipefail
here=$(dirname "$(realpath "$0")")
mkdir -p "$2"
python3 "$here/programs/sampler.py" "$(realpath "$1")/bin/kwhy" "$2/sampler.json" 20 440 | tee "$2/sampler.txt"
