#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""One of several programs that share a GPU.

usage: share.py KIND SECONDS FOLDER NAME ROUND [UID]

KIND is product, copy, idle or train. The program waits for the file NAME.prepare in FOLDER before it uses the GPU,
writes NAME.ready, waits for ROUND.start, works for SECONDS, writes its number of iterations and its seconds to
NAME.done, and ends when NAME.leave exists. With UID it becomes this user after its imports, because the user may not be
able to read PyTorch's files.
"""
import os
import sys
import time

import torch

kind, seconds, folder, name, turn = sys.argv[1], float(sys.argv[2]), sys.argv[3], sys.argv[4], sys.argv[5]
if len(sys.argv) > 6:
    import torch.optim  # noqa: F401  (imported now, because the user may not be able to read it later)
    os.setgroups([])
    os.setgid(int(sys.argv[6]))
    os.setuid(int(sys.argv[6]))


def write(suffix, text=""):
    path = os.path.join(folder, f"{name}.{suffix}")
    with open(path + ".new", "w") as file:
        file.write(text)
    os.rename(path + ".new", path)


def wait(path):
    while not os.path.exists(os.path.join(folder, path)):
        time.sleep(0.02)
        if os.getppid() == 1:
            sys.exit("the parent has ended")


write("imported")
wait(f"{name}.prepare")
half = torch.randn(4096, 4096, device="cuda", dtype=torch.float16)
pinned, there = torch.randn(1 << 24).pin_memory(), torch.empty(1 << 24, device="cuda")
few = half[:64]  # uses few multiprocessors: at the power limit, the clock of an iteration alone would differ from that of an iteration together with others
model = torch.nn.Sequential(*[torch.nn.Linear(2048, 2048) for _ in range(6)]).cuda()
optimizer = torch.optim.AdamW(model.parameters(), fused=True)
batch = torch.randn(2048, 2048, device="cuda")


def train():
    model(batch).square().mean().backward()
    optimizer.step()
    optimizer.zero_grad()


def products():
    """The launches of a graph: alone, a host that launches too slowly would leave gaps, whose energy an iteration does not have next to others."""
    torch.mm(few, half)
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        for _ in range(PRODUCTS):
            torch.mm(few, half)
    return graph.replay


PRODUCTS = 100  # of a graph
WORK = {"product": products() if kind == "product" else None, "copy": lambda: there.copy_(pinned, non_blocking=True), "idle": lambda: time.sleep(0.01), "train": train}
AT_ONCE = {"product": 4}
for _ in range(5):
    WORK[kind]()
torch.cuda.synchronize()
write("ready")
wait(f"{turn}.start")
count, begin = 0, time.monotonic()
while time.monotonic() < begin + seconds:
    for _ in range(AT_ONCE.get(kind, 10)):  # a few milliseconds, longer than a time slice
        WORK[kind]()
    torch.cuda.synchronize()
    count += AT_ONCE.get(kind, 10)
write("done", f"{count} {time.monotonic() - begin}\n")
wait(f"{name}.leave")
