# SPDX-License-Identifier: Apache-2.0
"""Runs a program and writes how many seconds it took, without the time to import what such programs import.
Usage: timed.py SECONDS_FILE PROGRAM [ARGS]
"""
import importlib
import runpy
import sys
import time

for module in ("torch", "transformers", "accelerate", "torchvision"):
    try:
        importlib.import_module(module)
    except ImportError:
        pass
seconds_file = sys.argv[1]
sys.argv = sys.argv[2:]
start = time.perf_counter()
try:
    runpy.run_path(sys.argv[0], run_name="__main__")
finally:
    with open(seconds_file, "w") as out:
        print(time.perf_counter() - start, file=out)
