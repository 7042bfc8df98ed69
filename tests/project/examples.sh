#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Tests that each bundled recording is complete and smaller than 3 MB, that the ledger of its report balances, and that
# the interval of a finding's saving does not exceed the cost that the finding states.
# Usage: examples.sh SOURCE_DIR BUILD_DIR
set -euo pipefail
kwhy=$2/src/cli/kwhy
page=$(mktemp)
folder=$(mktemp -d)
trap 'rm -rf "$page" "$folder"' EXIT
for file in "$1"/examples/recordings/*.kwhy; do
	"$kwhy" verify "$file" | tail -1 | grep -qx whole
	[ "$(stat -c %s "$file")" -lt 3000000 ]
	"$kwhy" report --json "$file" | python3 -c '
import json, sys
report = json.load(sys.stdin)
for finding in report["findings"]:
    saving = finding["projection"]
    if saving is None or None in (saving["high_nj"], finding["high_nj"]):
        continue
    assert saving["low_nj"] <= saving["energy_nj"] <= saving["high_nj"], finding
    assert saving["high_nj"] <= max(finding["high_nj"], saving["energy_nj"]), finding
for device in report["devices"]:
    energy = device["energy"]
    assert energy["measured_nj"] == energy["attributed_nj"] == sum(a["gross_nj"] or 0 for a in device["accounts"]) > 10**11, energy
    assert device["kernels"]["count"] > 90'
	echo "$(basename "$file") is whole"
done
# Runs the examples in the man pages of kwhy model that read bundled files or files made by an earlier example.
ln -s "$1/examples" "$folder/examples"
ln -s "$(realpath "$kwhy")" "$folder/kwhy"
cd "$folder"
shown=0
while read -r line; do
	PATH=$folder:$PATH bash -c "$line" >"$page" || { echo "fails: $line"; exit 1; }
	shown=$((shown + 1))
done < <(sed -nE 's/\\\\/\\/g; s/^\t((printf .*>|kwhy model (scale --at|power .*examples\/|audit .*examples\/)).*)$/\1/p' "$1"/docs/man/kwhy-model-*.1.scd)
[ "$shown" -ge 5 ]
echo "$shown examples of man pages run"
