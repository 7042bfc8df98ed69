# SPDX-License-Identifier: Apache-2.0
"""Measures by how much the calls of the meters alone slow a launch-bound loop down.

A reader (`kwhy stat -- sleep`) runs on another core; the loop begins when the reader has settled. The times of all NVML
calls of the reader are recorded (nvml_times.c). Iterations of the loop that begin during a call, or right before one,
are compared with the other iterations of the same quarter second. The slowdown is the sum of their excess times,
divided by the time of the run. Changes of the processor's speed by ten percent within seconds therefore do not matter.
Shows the runs and an upper 95 % bound by a bootstrap over them. As a check, the calls' times are also shifted to times
without calls, for which the slowdown must be zero.

usage: sampler_calls.py KWHY NVML_TIMES_LIBRARY REAL_NVML OUT.json RUNS
"""
import gc
import json
import os
import random
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

import numpy
import torch

RUN_S, SETTLE_S, BIN_NS = 3.0, 4.0, 250_000_000


def calls_of(path):
    pairs = numpy.fromfile(path, dtype=numpy.int64).reshape(-1, 2)
    pairs = pairs[pairs[:, 0] > 0]
    return pairs[numpy.argsort(pairs[:, 0])]


def inside(begins, ends, times):
    """Returns which times lie in one of the intervals; intervals may overlap."""
    ends = numpy.maximum.accumulate(ends)
    at = numpy.searchsorted(begins, times, side="right") - 1
    return (at >= 0) & (times <= ends[numpy.maximum(at, 0)])


def excess(stamps, begins, ends):
    """Returns the time lost to calls, divided by the time without that loss, and the share of iterations that began in a
    call."""
    starts, lengths = stamps[:-1], numpy.diff(stamps)
    typical = numpy.median(lengths)
    during = inside(begins - typical, ends, starts)
    lost, plain = 0.0, 0.0
    bins = (starts - starts[0]) // BIN_NS
    for bin in numpy.unique(bins):
        here = bins == bin
        others = lengths[here & ~during]
        if len(others) < 20:
            continue
        lost += (lengths[here & during] - others.mean()).sum()
        plain += here.sum() * others.mean()
    return lost / plain, during.mean()


def bound(ratios):
    draws = random.Random(1)
    return sorted(statistics.fmean(draws.choices(ratios, k=len(ratios))) for _ in range(20000))[19000]


def main():
    kwhy, shim, real, out, runs = sys.argv[1:5] + [int(sys.argv[5])]
    folder = tempfile.mkdtemp()
    shutil.copy(shim, f"{folder}/libnvidia-ml.so.1")
    core = min(5, os.cpu_count() - 1)
    torch.manual_seed(1)
    x = torch.randn(64, 64, device="cuda")
    weights = [torch.randn(64, 64, device="cuda") for _ in range(12)]

    def loop(seconds):
        stamps, end = [], time.monotonic_ns() + int(seconds * 1e9)
        y = x
        while not stamps or stamps[-1] < end:
            stamps.append(time.monotonic_ns())
            for weight in weights:
                y = torch.relu(y @ weight) * 0.05
        torch.cuda.synchronize()
        return numpy.array(stamps)

    loop(2)
    os.sched_setaffinity(0, {core})
    environment = {**os.environ, "NVML_REAL": real, "NVML_TIMES": f"{folder}/times",
                   "LD_LIBRARY_PATH": folder + ":" + os.environ.get("LD_LIBRARY_PATH", "")}
    reader = subprocess.Popen([kwhy, "stat", "--", "sleep", "600"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=environment,
                              preexec_fn=lambda: os.sched_setaffinity(0, set(range(os.cpu_count())) - {core} or {0}))
    loop(SETTLE_S)
    gc.disable()
    stamps = [loop(RUN_S) for _ in range(runs)]
    gc.enable()
    reader.terminate()
    reader.wait()
    calls = calls_of(f"{folder}/times")
    begins, ends = calls[:, 0], calls[:, 1]
    rows, placebo = [], []
    for run in stamps:
        mine = (ends > run[0]) & (begins < run[-1])
        ratio, share = excess(run, begins[mine], ends[mine])
        rows.append({"slowdown": ratio, "share_in_calls": share, "calls": int(mine.sum()), "seconds_in_calls": float((ends - begins)[mine].sum() / 1e9),
                     "seconds": float((run[-1] - run[0]) / 1e9), "iterations": len(run) - 1})
        moved = begins[mine] + 37_000_000
        placebo.append(excess(run, moved, moved + (ends - begins)[mine])[0])
    ratios = [row["slowdown"] for row in rows]
    result = {"device": torch.cuda.get_device_name(0), "runs": rows, "launches_per_s": 36 * sum(r["iterations"] for r in rows) / sum(r["seconds"] for r in rows),
              "calls_per_s": sum(r["calls"] for r in rows) / sum(r["seconds"] for r in rows),
              "share_of_time_in_calls": sum(r["seconds_in_calls"] for r in rows) / sum(r["seconds"] for r in rows),
              "mean_slowdown": statistics.fmean(ratios), "upper_95": bound(ratios),
              "moved_mean": statistics.fmean(placebo), "moved_upper_95": bound(placebo)}
    with open(out, "w") as file:
        json.dump(result, file, indent=1)
    print({k: v for k, v in result.items() if k != "runs"}, len(rows), "runs")


main()
