# SPDX-License-Identifier: Apache-2.0
"""Work of many kinds in rounds. Each round has a piece of every kind, in random order. Over four rounds, a kind is busy
for all of its time twice, for half of it once, and for a quarter of it once. Therefore every eighth of the run has
every kind, and a fit can be tested by leaving an eighth out.

The kinds are products in bf16 and fp32, copies on the device and from the host, elementwise passes, and pauses. With
`other` the kinds are attention, convolutions, sorting and a training step.
usage: mixed.py SECONDS SEED [other]
"""
import random
import sys
import time

import torch
import torch.nn.functional as F


def graphed(work):
    """Returns a function that launches the work 64 times as one graph. Single launches would leave the device idle, as the
    work is short."""
    work()
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        for _ in range(64):
            work()
    return graph.replay


def kinds_of_fit():
    a = torch.randn(8192, 8192, device="cuda", dtype=torch.bfloat16)
    b = torch.randn(4096, 4096, device="cuda")
    c = torch.randn(1 << 28, device="cuda")
    d = torch.empty_like(c)
    host = torch.randn(1 << 26, pin_memory=True)
    small = torch.randn(2048, 2048, device="cuda", dtype=torch.bfloat16)
    few = torch.randint(-(1 << 31), 1 << 31, (1 << 21,), device="cuda", dtype=torch.int32)
    many = torch.randint(0, 1 << 31, (1 << 23,), device="cuda", dtype=torch.int32)
    places = torch.randint(0, b.numel(), (1 << 24,), device="cuda")
    flat = b.view(-1)
    return [
        lambda: torch.matmul(a, a),
        lambda: torch.matmul(b, b),
        lambda: d.copy_(c),
        lambda: c.mul_(1.0000001),
        lambda: d[: 1 << 26].copy_(host, non_blocking=True),
        lambda: torch.sin(b),
        graphed(lambda: torch.matmul(small, small)),
        graphed(lambda: few.bitwise_xor_(0x5DEECE66)),
        graphed(lambda: torch.mv(a, a[0])),
        graphed(lambda: torch.matmul(a[:16], a)),
        lambda: [many.random_() for _ in range(16)],
        lambda: torch.index_select(flat, 0, places),
        lambda: time.sleep(0.01),
    ]


def kinds_of_others():
    q, k, v = (torch.randn(8, 16, 2048, 64, device="cuda", dtype=torch.bfloat16) for _ in range(3))
    images = torch.randn(64, 128, 56, 56, device="cuda", dtype=torch.float16)
    filters = torch.randn(128, 128, 3, 3, device="cuda", dtype=torch.float16)
    keys = torch.rand(1 << 24, device="cuda")
    model = torch.nn.Sequential(torch.nn.Linear(4096, 4096), torch.nn.GELU(), torch.nn.Linear(4096, 4096)).cuda()
    optimiser = torch.optim.AdamW(model.parameters(), fused=True)
    samples = torch.randn(1024, 4096, device="cuda")

    def step():
        optimiser.zero_grad(set_to_none=True)
        with torch.autocast("cuda", torch.bfloat16):
            loss = F.mse_loss(model(samples).float(), samples)
        loss.backward()
        optimiser.step()

    return [
        lambda: F.scaled_dot_product_attention(q, k, v, is_causal=True),
        lambda: F.conv2d(images, filters, padding=1),
        lambda: torch.sort(keys),
        step,
    ]


def spin(work, share, seconds):
    """Works for the given share of the time, in pieces of about 10 ms."""
    until = time.perf_counter() + seconds
    while time.perf_counter() < until:
        start = time.perf_counter()
        while time.perf_counter() - start < 0.01:
            work()
            torch.cuda.synchronize()
        if share < 1:
            time.sleep((time.perf_counter() - start) * (1 / share - 1))


def shares_of(rounds):
    """Returns the busy share of a kind in each round: every four rounds have 1, 1, 1/2 and 1/4 in random order."""
    shares = []
    while len(shares) < rounds:
        shares += random.sample([1, 1, 0.5, 0.25], 4)
    return shares


def main():
    seconds, seed = float(sys.argv[1]), int(sys.argv[2])
    random.seed(seed)
    torch.manual_seed(seed)
    kinds, rounds = (kinds_of_others(), 4) if "other" in sys.argv[3:] else (kinds_of_fit(), 8)
    shares = [shares_of(rounds) for _ in kinds]
    piece, end = seconds / rounds / len(kinds), time.perf_counter()
    for turn in range(rounds):
        for kind in random.sample(range(len(kinds)), len(kinds)):
            end += piece * random.uniform(2 / 3, 4 / 3)
            spin(kinds[kind], shares[kind][turn], end - time.perf_counter())


main()
