#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The bundled recordings are whole, small, and reported with balanced books. Usage: examples.sh SOURCE_DIR BUILD_DIR
set -euo pipefail
kwhy=$2/src/cli/kwhy
for file in "$1"/examples/recordings/*.kwhy; do
	"$kwhy" verify "$file" | tail -1 | grep -qx whole
	[ "$(stat -c %s "$file")" -lt 3000000 ]
	"$kwhy" report --json "$file" | python3 -c '
import json, sys
for device in json.load(sys.stdin)["devices"]:
    energy = device["energy"]
    assert energy["measured_nj"] == energy["attributed_nj"] == sum(a["gross_nj"] for a in device["accounts"]) > 10**11, energy
    assert device["kernels"]["count"] > 90'
	echo "$(basename "$file") is whole"
done
