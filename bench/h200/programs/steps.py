# SPDX-License-Identifier: Apache-2.0
"""Steps of load for the clock relation: idle and products of about 0.2 s in turn, at lengths that beat with no meter.

usage: steps.py COUNT
"""
import random
import sys
import time

import torch

a = torch.randn(8192, 8192, device="cuda", dtype=torch.bfloat16)
b = torch.randn_like(a)
c = torch.empty_like(a)
lengths = random.Random(5)
torch.mm(a, b, out=c)
torch.cuda.synchronize()
for _ in range(int(sys.argv[1])):
    time.sleep(0.15 + 0.1 * lengths.random())
    for _ in range(int(100 + 50 * lengths.random())):
        torch.mm(a, b, out=c)
    torch.cuda.synchronize()
