# SPDX-License-Identifier: Apache-2.0
"""What pairs.sh left in a folder, held against the targets of the benchmark of pairs and against other tools.

usage: pairs_summary.py FOLDER
"""

import csv
import glob
import json
import os
import re
import statistics
import sys

COLLECTIVES = {"all_reduce": "all-reduce", "all_gather": "all-gather", "reduce_scatter": "reduce-scatter", "broadcast": "broadcast", "alltoall": "all-to-all"}
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
    """Of pairs ((engine, clock, src, dst, size), value): one line an engine and class of sizes."""
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


def peer_times(folder, name):
    """{size: [seconds of each run, out of place]} of a peer of nccl-tests."""
    times = {}
    for path in sorted(glob.glob(f"{folder}/peer_{name}_?.out")):
        with open(path) as file:
            for line in file:
                cells = line.split()
                if len(cells) >= 9 and cells[0].isdigit() and cells[1].isdigit():
                    times.setdefault(int(cells[0]), []).append(float(cells[5]) * 1e-6)
    return times


def show_peer(folder, name, engine, runs):
    theirs = peer_times(folder, name)
    ours = [{c["size"]: c["mean_s"] for c in run["configs"] if c["engine"] == engine and c["src"] == 0 and c["load"] == "alone"} for run in runs]
    if not theirs or not ours:
        print(f"{name}_perf beside {engine}: not available")
        return
    print(f"{name}_perf beside {engine}: us of each turn, theirs and ours; ours over theirs (means of turns); GB/s of theirs, ours")
    ratios = {}
    for size in sorted(theirs):
        own = [run[size] for run in ours if size in run]
        if not own:
            continue
        a, b = statistics.mean(theirs[size]), statistics.mean(own)
        ratios[size] = b / a
        print("  %10d  %-26s  %-18s  %.3f  %6.1f %6.1f" % (
            size, " ".join("%.2f" % (t * 1e6) for t in theirs[size]), " ".join("%.2f" % (t * 1e6) for t in own), b / a, size / a * 1e-9, size / b * 1e-9))
    for low, high, text in ((0, 64 << 10, "up to 64 KiB"), (1 << 20, 1 << 40, "from 1 MiB up")):
        some = sorted(r for s, r in ratios.items() if low <= s <= high)
        if some:
            print("  %s: median %.3f, %.3f to %.3f; %d of %d within 2 %%, %d at or below" % (
                text, statistics.median(some), some[0], some[-1], sum(abs(r - 1) <= 0.02 for r in some), len(some), sum(r <= 1 for r in some)))


def show_nvbandwidth(folder):
    run = load(f"{folder}/copies.json")
    try:
        with open(f"{folder}/nvbandwidth.out") as file:
            sums = re.findall(r"SUM (\S+) ([\d.]+)", file.read())
    except OSError:
        sums = []
    print("nvbandwidth, sums of both: %s" % (", ".join("%s %s" % s for s in sums) or "not available"))
    for c in (run or {"configs": []})["configs"]:
        if c["load"] == "alone" and c["size"] in (512 << 20, 1 << 30):
            print("  %s %d > %d, %d MiB: %.1f GB/s" % (c["engine"], c["src"], c["dst"], c["size"] >> 20, c["bytes_per_s"] * 1e-9))


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
    if os.path.exists(f"{folder}/queued_1.json"):
        runs = [run for run in (load(f"{folder}/queued_{i}.json") for i in (1, 2)) if run]
        show_peer(folder, "sendrecv", "nccl-exchange", runs)
        for name, engine in COLLECTIVES.items():
            show_peer(folder, name, engine, runs)
        show_nvbandwidth(folder)
    if os.path.exists(f"{folder}/all.txt"):
        show_simulators(folder)


main()
