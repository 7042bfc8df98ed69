# SPDX-License-Identifier: Apache-2.0
"""Runs a loop a number of times, or for the given seconds. Prints how often it ran, and what it computed. usage: repeat.py
LOOP COUNT|SECONDSs"""
import sys
import time

import loops

run = loops.LOOPS[sys.argv[1]]()
amount = sys.argv[2]
until = time.perf_counter() + float(amount[:-1]) if amount.endswith("s") else None
done = 0
while time.perf_counter() < until if until else done < int(amount):
    run()
    done += 1
    unit = {"decode": 32 * 64, "generate": 32 * 64, "graph": 32 * 256, "products": 100, "train": 5, "mlp": 20, "transfer": 8}[sys.argv[1]]
    print(f"made {unit} pieces", flush=True)
