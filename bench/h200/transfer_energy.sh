#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Measures joules per byte of each transfer strategy and size on an H200, in bursts of 4 s.
# Usage: transfer_energy.sh KWHY_FOLDER OUT_FOLDER     (about 4 minutes; DEVICE=N: that GPU)
set -u
kwhy=$(cd "$1" && pwd)/bin/kwhy || exit 2
mkdir -p "$2"
out=$(cd "$2" && pwd)
timeout 280 "$kwhy" bench transfer --quiet ${DEVICE:+--device "$DEVICE"} --strategy pinned,pageable,copy-kernel,mapped,copies,batch,packed --quick --time 4 \
	--max-size 256MiB --energy --burst 4 --save "$out/energy" -o "$out/energy.json"
echo "energy: exit $?"
"$kwhy" bench transfer --from "$out/energy" --verbose -o "$out/energy.txt"
cat "$out/energy.txt"
