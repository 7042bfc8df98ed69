# SPDX-License-Identifier: Apache-2.0
"""Compares the results of pairs.sh in a folder with the targets of the benchmark of pairs.

usage: pairs_summary.py FOLDER
"""

import csv
import json
import os
import statistics
import sys

CLASSES = ((4096, "up to 4 KiB"), (1 << 20, "8 KiB to 1 MiB"), (1 << 24, "2 to 16 MiB"), (1 << 62, "above"))


def load(path):
    try:
        with open(path) as file:
            return json.load(file)
    except (OSError, ValueError):
        return None


def size_class(size):
    return next(name for most, name in CLASSES if size <= most)


def alone(run):
    return {(c["engine"], c["clock"], c["src"], c["dst"], c["size"]): c for c in run["configs"] if c["load"] == "alone" and c["median_s"] is not None}


def by_class(values, show):
    """Summarises ((engine, clock, src, dst, size), value) pairs in one line per engine and class of sizes."""
    groups = {}
    for (engine, clock, _, _, size), value in values:
        groups.setdefault((engine, clock, size_class(size)), []).append(value)
        groups.setdefault((engine, clock, "all sizes"), []).append(value)
    order = [name for _, name in CLASSES] + ["all sizes"]
    for engine, clock, name in sorted(groups, key=lambda k: (k[0], k[1], order.index(k[2]))):
        print("  %-14s %-12s %-16s %s" % (engine, clock, name, show(sorted(groups[engine, clock, name]))))


def show_ways(folder):
    run = load(f"{folder}/ways.json")
    if not run:
        return
    print("all ways: %.1f s, %d configurations, %d not verified; variation of repetitions:" % (
        run["conditions"]["time_pass_s"], len(run["configs"]), sum(not c["verified"] for c in run["configs"])))
    by_class([(k, c["deviation_s"] / c["mean_s"]) for k, c in alone(run).items() if c["deviation_s"] is not None],
             lambda v: "median %.2f %%, worst %.1f %%, %d of %d above 5 %%" % (100 * statistics.median(v), 100 * v[-1], sum(x > 0.05 for x in v), len(v)))
    for row in run["held_out"]:
        print("held out, %s (%s), %d: median %s, worst %s" % (row["what"], row["model"], row["count"], row["median_ratio"], row["worst_ratio"]))
    for c in run["configs"]:
        if c["load"] == "alone" and c["size"] in (1, 1 << 30, 256 << 10):
            print("  %-14s %d > %d %11d B: %10.3f us, %.1f GB/s" % (c["engine"], c["src"], c["dst"], c["size"], c["median_s"] * 1e6, c["bytes_per_s"] * 1e-9))


def show_times(folder):
    runs = [load(f"{folder}/times_{i}.json") for i in (1, 2)]
    if not all(runs):
        print("the time pass: not available")
        return
    for run in runs:
        print("time pass: %.2f s, %d configurations, %d samples, %d capped, %d not verified; %s" % (
            run["conditions"]["time_pass_s"], len(run["configs"]), sum(c["samples"] for c in run["configs"]), sum(c["capped"] for c in run["configs"]),
            sum(not c["verified"] for c in run["configs"]), run["conditions"]["ended_early"] or "ended by itself"))
    first, second = (alone(run) for run in runs)
    print("variation of repetitions (first run):")
    by_class([(k, c["deviation_s"] / c["mean_s"]) for k, c in first.items() if c["deviation_s"] is not None],
             lambda v: "median %.2f %%, worst %.1f %%, %d of %d above 5 %%" % (100 * statistics.median(v), 100 * v[-1], sum(x > 0.05 for x in v), len(v)))
    print("second run against the first, medians:")
    by_class([(k, abs(second[k]["median_s"] / c["median_s"] - 1)) for k, c in first.items() if k in second],
             lambda v: "%.1f %% of %d within 2 %%, median %.2f %%, worst %.1f %%" % (100 * sum(x <= 0.02 for x in v) / len(v), len(v), 100 * statistics.median(v), 100 * v[-1]))
    for curve in runs[0]["curves"]:
        if curve["held_out_median_ratio"] is not None:
            print("held out, %s %d > %d: median %.2f %%, worst %.1f %%" % (
                curve["engine"], curve["src"], curve["dst"], 100 * curve["held_out_median_ratio"], 100 * curve["held_out_worst_ratio"]))
    for route in runs[0]["routes"]:
        print("%d > %d: %s, limit %s, reached %s" % (route["src"], route["dst"], route["text"], route["limit_bytes_per_s"], route["one_way"]["of_limit"]))


def show_simulators(folder):
    try:
        with open(f"{folder}/simulators/errors.csv") as file:
            rows = list(csv.DictReader(file))
    except OSError:
        print("simulators: not available")
        return
    for name in sorted({r["simulator"] for r in rows}):
        large = [(abs(float(r["error_ratio"])), r) for r in rows if r["simulator"] == name and int(r["size"]) >= 65536]
        worst, row = max(large, key=lambda x: x[0])
        print("%s from 64 KiB up: %d times, worst %.2f %% (%s B, %s > %s): %s" % (
            name, len(large), 100 * worst, row["size"], row["src"], row["dst"], "within 5 %" if worst <= 0.05 else "NOT within 5 %"))


def main():
    folder = sys.argv[1]
    show_times(folder)
    show_ways(folder)
    if os.path.exists(f"{folder}/all.txt"):
        show_simulators(folder)


main()
