# SPDX-License-Identifier: Apache-2.0
"""Describes the windows of recordings: their number, share and lengths, the time that switching took, and the first and
last kernel of each.

usage: windows.py OUT.json RECORDING...
"""
import bisect
import json
import os
import statistics
import sys

import blocks

COSTS = ["thread", "buffers", "start", "switch", "finish", "launcher", "sampler"]


def middle(values):
    return statistics.median(values) if values else None


def describe(folder):
    out = {"costs_ns": {}, "cost_counts": {}}
    for _, rows, _ in blocks.read(folder):
        for cost in rows["cost"]:
            out["costs_ns"][COSTS[cost["kind"]]] = cost["spent"]
            out["cost_counts"][COSTS[cost["kind"]]] = cost["count"]
        if not rows["coverage"]:
            continue
        windows = [(w["start"], w["end"], w["since"]) for w in rows["coverage"]]
        kernels = sorted((k["start"], k["end"]) for k in rows["kernel"])
        starts = [k[0] for k in kernels]
        span = [(s["start"], s["end"]) for s in rows["selection"]][-1:] or [(windows[0][0], windows[-1][1])]
        covered = sum(end - start for start, end, _ in windows)
        firsts, across, gaps = [], 0, []
        for start, end, _ in windows:
            first, last = bisect.bisect(starts, start), bisect.bisect(starts, end)
            if first < last:
                firsts.append(kernels[first][0] - start)
                across += kernels[last - 1][1] > end
                gaps.append(end - kernels[last - 1][1])
        out.update(
            windows=len(windows),
            share=covered / (span[0][1] - span[0][0]),
            window_ms=middle([(e - s) / 1e6 for s, e, _ in windows]),
            lead_ms=middle([(s - since) / 1e6 for s, _, since in windows if since]),
            kernels=len(kernels),
            kernels_across_an_end=across,
            first_kernel_after_start_us=middle([f / 1e3 for f in firsts]),
            last_kernel_before_end_us=middle([g / 1e3 for g in gaps]),
            lost=sum(r["records"] for r in rows["lost"]),
        )
    return out


def main():
    result = {os.path.basename(folder): describe(folder) for folder in sys.argv[2:]}
    with open(sys.argv[1], "w") as file:
        json.dump(result, file, indent=1)
    print(json.dumps(result, indent=1))


main()
