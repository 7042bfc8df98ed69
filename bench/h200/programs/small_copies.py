# SPDX-License-Identifier: Apache-2.0
"""Compares medians of small copies by kwhy bench transfer and by the CUDA program small_copies, paired by rounds. usage:
small_copies.py FOLDER"""
import csv
import glob
import json
import re
import statistics
import sys

CLOCKS = ("back-to-back", "isolated", "host")


def rounds_of(folder):
    for path in sorted(glob.glob(f"{folder}/kwhy-*.json")):
        number = re.search(r"kwhy-(\d+)", path).group(1)
        ours = {
            (p["clock"], p["strategy"], p["direction"], p["bytes"]): 1e6 * p["median_s"]
            for p in json.load(open(path))["points"]
            if p["median_s"] and p["pieces"] == 1
        }
        with open(f"{folder}/peer-{number}.csv") as file:
            theirs = {(c, w, d, int(b)): float(us) for c, w, d, b, us in csv.reader(file)}
        yield ours, theirs


def main():
    pairs = {}
    for ours, theirs in rounds_of(sys.argv[1]):
        for (clock, way, direction, size), us in theirs.items():
            mine = ours.get((clock, way.replace("-waiting", ""), direction, size))
            if mine:
                pairs.setdefault((CLOCKS.index(clock), clock, way, direction, size), []).append((mine, us))
    print("clock         way             dir   bytes  kwhy us  peer us  ratio (least to most of the rounds)")
    for (_, clock, way, direction, size), rows in sorted(pairs.items()):
        ratios = [a / b for a, b in rows]
        mine, peer = (statistics.median(x[i] for x in rows) for i in (0, 1))
        print(f"{clock:13} {way:15} {direction} {size:7} {mine:8.3f} {peer:8.3f}  {statistics.median(ratios):.3f} ({min(ratios):.3f} to {max(ratios):.3f})")


main()
