# SPDX-License-Identifier: Apache-2.0
"""Warms a loop up, rests until this many seconds after the start of the process, and then runs the loop COUNT times, so
that the part that kwhy record --delay records begins warm.
usage: steady.py LOOP COUNT SECONDS
"""
import os
import sys
import time

import loops
import torch


def age():
    with open("/proc/self/stat") as file:
        begun = int(file.read().rsplit(")", 1)[1].split()[19]) / os.sysconf("SC_CLK_TCK")
    return time.clock_gettime(time.CLOCK_BOOTTIME) - begun


run = loops.LOOPS[sys.argv[1]]()
for _ in range(2):
    run()
torch.cuda.synchronize()
print(f"ready after {age():.1f} s", flush=True)
time.sleep(max(0, float(sys.argv[3]) - age()))
for _ in range(int(sys.argv[2])):
    run()
torch.cuda.synchronize()
time.sleep(1)  # so that the device is at its idle level
