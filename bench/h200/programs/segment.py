# SPDX-License-Identifier: Apache-2.0
"""A child of pairs.py. For each number on standard input, it runs the loop that many times, times this itself, and prints
a line of JSON.

usage: segment.py LOOP [profiler]
"""
import json
import os
import sys
import time

import torch

import loops


def main():
    loop = loops.LOOPS[sys.argv[1]]()
    profiled = len(sys.argv) > 2 and sys.argv[2] == "profiler"
    allowed = sorted(os.sched_getaffinity(0))
    os.sched_setaffinity(0, {allowed[min(5, len(allowed) - 1)]})
    loop()
    loop()
    print(json.dumps({"ready": torch.cuda.get_device_name(0)}), flush=True)

    def seconds_of(runs):
        start = time.perf_counter()
        for _ in range(runs):
            loop()
        return time.perf_counter() - start

    for line in sys.stdin:
        if profiled:
            with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CUDA]):
                seconds = seconds_of(int(line))
        else:
            seconds = seconds_of(int(line))
        print(json.dumps({"seconds": seconds}), flush=True)


main()
