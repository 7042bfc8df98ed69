#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Measures by how much reading the meters, without any other recording, slows down a launch-bound loop; target: at most
# 0.5 % (upper end of the 95 % interval of 20 runs, issue 4). Compares the loop's iterations during calls of NVML with
# those between calls (80 seconds). With a third argument, it also compares periods with and without a reader, in pairs
# (7 minutes): they show effects that last longer than a call, if the processor's speed is constant. Needs PyTorch, a C
# compiler and one GPU.
# usage: sampler.sh KWHY_FOLDER OUT_FOLDER [pairs]
set -euo pipefail
here=$(dirname "$(realpath "$0")")
# shellcheck source=programs/libraries.sh
. "$here/programs/libraries.sh"
kwhy=$(realpath "$1")/bin/kwhy
mkdir -p "$2"
made=$(mktemp -d)
trap 'rm -rf "$made"' EXIT
real=$(ldconfig -p | sed -n 's,.*libnvidia-ml\.so\.1 .*x86-64.* => ,,p' | head -1)
[ -n "$real" ] || real=$(library libnvidia-ml.so.1)
"${CC:-cc}" -shared -fPIC -O2 -I "$here/../../src" -o "$made/nvml_times.so" "$here/programs/nvml_times.c" -ldl
python3 "$here/programs/sampler_calls.py" "$kwhy" "$made/nvml_times.so" "$real" "$2/sampler_calls.json" 20 | tee "$2/sampler.txt"
[ -z "${3:-}" ] || python3 "$here/programs/sampler.py" "$kwhy" "$2/sampler.json" 20 440 | tee -a "$2/sampler.txt"
