#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""One of several programs that share a GPU: share.py KIND SECONDS START_FILE OUT. KIND is product, copy, idle or train. It prepares, waits until
START_FILE exists, works for SECONDS, and writes the number of its iterations."""
import os
import sys
import time

import torch

kind, seconds, start, out = sys.argv[1], float(sys.argv[2]), sys.argv[3], sys.argv[4]
half = torch.randn(4096, 4096, device="cuda", dtype=torch.float16)
pinned, there = torch.randn(1 << 24).pin_memory(), torch.empty(1 << 24, device="cuda")
model = torch.nn.Sequential(*[torch.nn.Linear(2048, 2048) for _ in range(6)]).cuda()
optimizer = torch.optim.AdamW(model.parameters(), fused=True)
batch = torch.randn(2048, 2048, device="cuda")


def train():
    model(batch).square().mean().backward()
    optimizer.step()
    optimizer.zero_grad()


WORK = {"product": lambda: torch.mm(half, half), "copy": lambda: there.copy_(pinned, non_blocking=True), "idle": lambda: time.sleep(0.01), "train": train}
for _ in range(5):
    WORK[kind]()
torch.cuda.synchronize()
while not os.path.exists(start):
    time.sleep(0.01)
count, end = 0, time.monotonic() + seconds
while time.monotonic() < end:
    for _ in range(10):
        WORK[kind]()
    torch.cuda.synchronize()
    count += 10
with open(out, "w") as file:
    file.write(f"{count}\n")
