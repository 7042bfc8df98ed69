# SPDX-License-Identifier: Apache-2.0
"""Steps of load for comparing clocks: idle time and small products, each of about 0.2 s, in turn. Their lengths are no
multiples of any meter's period. The products are in fp32 and fill about half of the device. They draw far less than the
power limit, so that the power is the same at the start and at the end of a step.

usage: steps.py COUNT
"""
import random
import sys
import time

import torch

a = torch.randn(1024, 1024, device="cuda")
b = torch.randn_like(a)
c = torch.empty_like(a)
lengths = random.Random(5)


def run(seconds_each, seconds):
    for _ in range(max(1, int(seconds / seconds_each))):
        torch.mm(a, b, out=c)
    torch.cuda.synchronize()


run(1, 1)
start = time.perf_counter()
run(1, 1000)
each = (time.perf_counter() - start) / 1000
for _ in range(int(sys.argv[1])):
    time.sleep(0.15 + 0.1 * lengths.random())
    run(each, 0.17 + 0.08 * lengths.random())
