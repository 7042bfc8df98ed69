# SPDX-License-Identifier: Apache-2.0
"""Measures what call stacks cost (bench/lines.c). Usage: python3 bench/lines.py build/release/bench/libbench_lines.so"""
import ctypes
import sys

bench = ctypes.CDLL(sys.argv[1])


def nest(depth):
    if depth:
        nest(depth - 1)
    else:
        bench.bench_lines()


for depth in (0, 8, 38):
    print(f"{depth + 2} frames deep, Python {sys.version.split()[0]}", flush=True)
    nest(depth)
