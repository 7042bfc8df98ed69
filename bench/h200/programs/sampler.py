# SPDX-License-Identifier: Apache-2.0
"""Measures by how much the meters alone slow a launch-bound loop down: 20 pairs of periods of 4 s or more, in random
order, one with a `kwhy stat -- sleep` that was started at least 3 s before, one without. The launching thread stays on
one core. Shows an upper 95 % bound by a bootstrap over the pairs.

usage: sampler.py KWHY OUT.json PAIRS LATEST_SECONDS
"""
import json
import os
import random
import statistics
import subprocess
import sys
import time

import torch

STRETCH_S = 4.0


def main():
    kwhy, out, pairs, latest = sys.argv[1], sys.argv[2], int(sys.argv[3]), time.monotonic() + float(sys.argv[4])
    torch.manual_seed(1)
    x = torch.randn(64, 64, device="cuda")
    weights = [torch.randn(64, 64, device="cuda") for _ in range(12)]

    def loop(count):
        y = x
        for i in range(count):
            for weight in weights:
                y = torch.relu(y @ weight) * 0.05
            if i % 64 == 63:
                torch.cuda.synchronize()
        torch.cuda.synchronize()

    loop(2000)
    os.sched_setaffinity(0, {min(5, os.cpu_count() - 1)})
    start = time.perf_counter()
    loop(4000)
    count = int(STRETCH_S / ((time.perf_counter() - start) / 4000))

    def stretch(is_metered):
        child = None
        others = set(range(os.cpu_count())) - {min(5, os.cpu_count() - 1)} or {0}
        if is_metered:
            child = subprocess.Popen([kwhy, "stat", "--", "sleep", "600"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                                     preexec_fn=lambda: os.sched_setaffinity(0, others))
        time.sleep(3.2)
        start = time.perf_counter()
        loop(count)
        seconds = time.perf_counter() - start
        if child:
            child.terminate()
            child.wait()
        return seconds

    order, ratios, rows = random.Random(2), [], []
    while len(ratios) < pairs and time.monotonic() + 2.2 * (STRETCH_S + 3.5) < latest:
        seconds = {}
        for is_metered in order.sample([False, True], 2):
            seconds[is_metered] = stretch(is_metered)
        rows.append([seconds[False], seconds[True]])
        ratios.append(seconds[True] / seconds[False])
    draws = random.Random(1)
    means = sorted(statistics.fmean(draws.choices(ratios, k=len(ratios))) for _ in range(20000))
    result = {"device": torch.cuda.get_device_name(0), "stretch_s": STRETCH_S, "launches_per_s": 36 * count / statistics.fmean(r[0] for r in rows),
              "seconds_without_and_with": rows, "mean_ratio": statistics.fmean(ratios), "median_ratio": statistics.median(ratios), "upper_95": means[19000]}
    with open(out, "w") as file:
        json.dump(result, file, indent=1)
    print({k: v for k, v in result.items() if k != "seconds_without_and_with"}, len(ratios), "pairs")


main()
