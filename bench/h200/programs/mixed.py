# SPDX-License-Identifier: Apache-2.0
"""Work of many kinds in random order, 2 to 4 s each or about PIECE: products in bf16, fp32 and both sparse in time, copies on the device and
from the host, elementwise passes, and pauses. usage: mixed.py SECONDS SEED [PIECE]"""
import random
import sys
import time

import torch

seconds, seed = float(sys.argv[1]), int(sys.argv[2])
piece = float(sys.argv[3]) if len(sys.argv) > 3 else 3
random.seed(seed)
torch.manual_seed(seed)
a = torch.randn(8192, 8192, device="cuda", dtype=torch.bfloat16)
b = torch.randn(4096, 4096, device="cuda")
c = torch.randn(1 << 28, device="cuda")
d = torch.empty_like(c)
host = torch.randn(1 << 26, pin_memory=True)


def spin(work, share):
    """That share of the time at work, in pieces of about 10 ms."""
    until = time.perf_counter() + piece * random.uniform(2 / 3, 4 / 3)
    while time.perf_counter() < until:
        start = time.perf_counter()
        while time.perf_counter() - start < 0.01:
            work()
            torch.cuda.synchronize()
        if share < 1:
            time.sleep((time.perf_counter() - start) * (1 / share - 1))


kinds = [
    lambda: torch.matmul(a, a),
    lambda: torch.matmul(b, b),
    lambda: d.copy_(c),
    lambda: c.mul_(1.0000001),
    lambda: d[: 1 << 26].copy_(host, non_blocking=True),
    lambda: torch.sin(b),
    lambda: time.sleep(0.01),
]
end = time.monotonic() + seconds
while time.monotonic() < end:
    spin(random.choice(kinds), random.choice([1, 1, 0.5, 0.25]))
