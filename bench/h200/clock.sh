#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Tests how exactly kwhy relates three clocks: the host's, that of device activities, and that of the power
# samples in the driver's ring buffer. programs/steps.py alternates 60 times between load and idle.
# programs/clock.py compares the kernels with the calls that launch them and with the rise and fall of the power.
# Needs PyTorch and one GPU; 40 seconds.
# usage: clock.sh KWHY_FOLDER OUT_FOLDER
set -euo pipefail
kwhy=$(realpath "$1")/bin/kwhy
here=$(dirname "$(realpath "$0")")
mkdir -p "$2"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
"$kwhy" record -q -o "$work/steps.kwhy" -- python3 "$here/programs/steps.py" 60
"$kwhy" verify "$work/steps.kwhy"
python3 "$here/programs/clock.py" "$work/steps.kwhy" "$(realpath "$1")/share/kwhy/profiles/nvidia-h200.json" "$2/clock.json"
"$kwhy" report "$work/steps.kwhy" > "$2/clock-report.txt"
