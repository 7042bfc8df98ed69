# SPDX-License-Identifier: Apache-2.0
"""Compares the power of each of the five kernels in the ledger of a mixture with that of the kernel alone.

usage: five.py OUT.json ALONE.json(0..4)... MIX.json...
"""
import json
import re
import sys

KINDS = ["five_fp32", "five_tensor", "five_memory", "five_integer", "five_one_block"]


def accounts_of(path):
    with open(path) as file:
        report = json.load(file)
    out, busy, data = {}, 0, 0
    for account in report["devices"][0]["accounts"]:
        energy, time = account.get("gross_nj"), account.get("time_ns")
        name = account.get("name") or ""
        found = re.search(r"five_(fp32|tensor|memory|integer|one_block)", name)
        if not found or not energy or not time:
            continue
        busy += energy
        data += energy if account["basis"] == "data" else 0
        watts = 1e-3 * account["mean_power_mw"]  # while metered; energy may lack a tenth of a second at both ends
        out[found.group(0)] = {
            "watts": watts,
            "low_watts": watts * account["low_nj"] / energy if account.get("low_nj") is not None else None,
            "high_watts": watts * account["high_nj"] / energy if account.get("high_nj") is not None else None,
            "basis": account["basis"],
            "seconds": 1e-9 * time,
        }
    return out, data / busy if busy else None


def main():
    out, alone, mixes = sys.argv[1], sys.argv[2:7], sys.argv[7:]
    isolated = {kind: accounts_of(path)[0].get(kind) for kind, path in zip(KINDS, alone)}
    rows, shares = [], []
    for path in mixes:
        mixed, share = accounts_of(path)
        shares.append(share)
        for kind in KINDS:
            if not isolated[kind] or kind not in mixed:
                continue
            row = {"mix": path.split("/")[-1], "kernel": kind, "isolated_watts": isolated[kind]["watts"], **mixed[kind]}
            row["ratio"] = row["watts"] / row["isolated_watts"]
            row["within_5_percent"] = abs(row["ratio"] - 1) <= 0.05
            low, high = row["low_watts"], row["high_watts"]
            row["inside_interval"] = low is not None and low <= row["isolated_watts"] <= high
            row["holds"] = row["within_5_percent"] if row["basis"] == "data" else row["inside_interval"]
            rows.append(row)
    with open(out, "w") as file:
        json.dump({"isolated": isolated, "share_of_busy_energy_with_basis_data": shares, "rows": rows}, file, indent=1)
    for row in rows:
        print(f"{row['mix']:12} {row['kernel']:16} {row['isolated_watts']:7.1f} W alone {row['watts']:7.1f} W in the mixture "
              f"({row['basis']}, ratio {row['ratio']:.3f}) {'holds' if row['holds'] else 'FAILS'}")
    print("share of busy energy with basis data:", shares)


main()
