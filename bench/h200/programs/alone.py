#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs library operations one after the other, each alone for some time, to be recorded with performance counters.

alone.py SECONDS OUT.csv [GROUP...]

The operations are those of kinds.py in the sizes 1 and 2, those of size 1 in CUDA graphs where they can be captured.
OUT.csv has a line of each operation: its group, name and size, and the times in ns of CLOCK_MONOTONIC at which it began
and ended. Before and after each operation the device waits for 60 ms.
"""
import csv
import sys
import time

import torch

import kinds

GAP_S = 0.06
BATCH_S = 0.02  # time between two looks at the clock
GRAPH_S = 0.004  # time of the launches in a graph


def duration(operation, count):
    start, end = torch.cuda.Event(True), torch.cuda.Event(True)
    torch.cuda.synchronize()
    start.record()
    for _ in range(count):
        operation()
    end.record()
    torch.cuda.synchronize()
    return start.elapsed_time(end) / count / 1e3


def captured(operation, each_s):
    graph = torch.cuda.CUDAGraph()
    try:
        with torch.cuda.graph(graph):
            for _ in range(max(4, min(400, int(GRAPH_S / each_s)))):
                operation()
        return graph.replay
    except RuntimeError:
        torch.cuda.synchronize()
        return operation


def run(operation, seconds, in_graph):
    each_s = duration(operation, 5)
    if in_graph:
        operation = captured(operation, each_s)
    batch = max(1, int(BATCH_S / duration(operation, 3)))
    time.sleep(GAP_S)
    start_ns = end_ns = time.monotonic_ns()
    event = torch.cuda.Event()
    while end_ns - start_ns < 1e9 * seconds:
        for _ in range(batch):
            operation()
        event.synchronize()  # of the batch before, so that the device does not wait for the host
        event = torch.cuda.Event()
        event.record()
        end_ns = time.monotonic_ns()
    torch.cuda.synchronize()
    end_ns = time.monotonic_ns()
    time.sleep(GAP_S)
    return start_ns, end_ns


def main():
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    torch.manual_seed(0)
    with open(sys.argv[2], "w", encoding="utf-8", newline="") as file:
        out = csv.writer(file)
        for size in (1, 2):
            for group in sys.argv[3:] or kinds.GROUPS:
                for name, operation in kinds.usable(kinds.GROUPS[group](size)).items():
                    in_graph = size == 1 and group != "optimizers"
                    try:
                        out.writerow([group, name, size, *run(operation, float(sys.argv[1]), in_graph)])
                    except RuntimeError as error:
                        print("left out", group, name, str(error).splitlines()[0][:80])
                        torch.cuda.synchronize()
                operation = None
                torch.backends.cuda.matmul.allow_tf32 = False
                torch.cuda.empty_cache()
    print("ended well")


if __name__ == "__main__":
    main()
