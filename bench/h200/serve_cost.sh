#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Measures what `kwhy serve --accounts` uses: processor time (in all, and of each NVML function), memory, wake-ups,
# bytes written, and seconds of a scrape. It is scraped every 15 s and then every second, for MEASURE_S (60 s) each
# after WARM_UP_S (60 s). With two folders of kwhy, both are measured in turns. With FAKE_NVML=BUILD/fakes/nvml it runs
# on eight simulated GPUs with PROCESSES (200) processes. On real GPUs, two programs share each GPU if PyTorch is there
# and LOAD=1. SYSCALLS=1 counts system calls as well (strace). Results: serve_cost.json in OUT_FOLDER. Needs a C
# compiler.
# usage: serve_cost.sh KWHY_FOLDER OUT_FOLDER [OTHER_KWHY_FOLDER]
set -euo pipefail
here=$(dirname "$(realpath "$0")")
# shellcheck source=programs/libraries.sh
. "$here/programs/libraries.sh"
mkdir -p "$2"
made=$(mktemp -d)
trap 'rm -rf "$made"' EXIT
if [ -n "${FAKE_NVML:-}" ]; then
	real=$(realpath "$FAKE_NVML/libnvidia-ml.so.1")
else
	real=$(ldconfig -p | sed -n 's,.*libnvidia-ml\.so\.1 .*x86-64.* => ,,p' | head -1)
	[ -n "$real" ] || real=$(library libnvidia-ml.so.1)
	[ -n "$real" ] || { echo "serve_cost.sh: there is no libnvidia-ml.so.1; name simulated GPUs by FAKE_NVML=BUILD/fakes/nvml" >&2; exit 2; }
fi
"${CC:-cc}" -shared -fPIC -O2 -I "$here/../../src" -o "$made/libnvidia-ml.so.1" "$here/programs/nvml_times.c" -ldl
programs=()
for folder in "$1" ${3:+"$3"}; do
	program=$(realpath "$folder")
	[ ! -d "$program" ] || program=$program/bin/kwhy
	[ -x "$program" ] || { echo "serve_cost.sh: there is no program $program" >&2; exit 2; }
	programs+=("$program")
done
python=${PYTHON:-python3}
[ -n "${PYTHON:-}" ] || [ ! -x /opt/torch/.venv/bin/python ] || python=/opt/torch/.venv/bin/python
"$python" "$here/programs/serve_cost.py" "$made" "$real" "$2" "${programs[@]}"
