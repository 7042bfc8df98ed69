# SPDX-License-Identifier: Apache-2.0
"""Measures what pieces of common advice save on one GPU: seconds and joules per round of pairs of ways to do the same
work.

The ways of a pair run in turns, WINDOW seconds at a time, TURNS times each. Joules come from kwhy's Python package,
over all turns.
usage: advice.py OUT.json [WINDOW] [TURNS]    (it starts itself again to measure the effect of an environment variable)
"""
import json
import os
import subprocess
import sys
import time

import torch
import torch.nn.functional as F
from torch.nn.attention import SDPBackend, sdpa_kernel

DEVICE = "cuda"


def attention(kind):
    q, k, v = (torch.randn(8, 16, 2048, 64, device=DEVICE, dtype=torch.bfloat16) for _ in range(3))

    def run():
        with sdpa_kernel(kind):
            F.scaled_dot_product_attention(q, k, v, is_causal=True)

    return run


def layouts(contiguous):
    a, b = (torch.randn(8192, 8192, device=DEVICE, dtype=torch.bfloat16) for _ in range(2))
    other = b if contiguous else b.t()
    return lambda: torch.add(a, other)


def transposed_product(contiguous):
    a, b = (torch.randn(4096, 4096, device=DEVICE, dtype=torch.bfloat16) for _ in range(2))
    other = b if contiguous else b.t()
    return lambda: a @ other


def products(streams, graph=True):
    """64 products of 512^3 in fp32, each too small to fill the GPU, on a number of streams. They are launched as a graph,
    so that the host is not measured."""
    pairs = [[torch.randn(512, 512, device=DEVICE) for _ in range(3)] for _ in range(64)]
    side = [torch.cuda.Stream() for _ in range(streams)]

    def all_of_them():
        here = torch.cuda.current_stream()
        for stream in side:
            stream.wait_stream(here)
        for i, (a, b, out) in enumerate(pairs):
            with torch.cuda.stream(side[i % streams]):
                torch.mm(a, b, out=out)
        for stream in side:
            here.wait_stream(stream)

    all_of_them()
    torch.cuda.synchronize()
    if not graph:
        return all_of_them
    captured = torch.cuda.CUDAGraph()
    with torch.cuda.graph(captured):
        all_of_them()
    return captured.replay


def perceptron(fused):
    """The two layers of a perceptron for 8192 rows: each operation is a kernel, or bias and GELU are part of the products
    (epilogues of cuBLASLt)."""
    x = torch.randn(8192, 2048, device=DEVICE, dtype=torch.bfloat16)
    up, down = torch.randn(2048, 8192, device=DEVICE, dtype=torch.bfloat16) * 0.02, torch.randn(8192, 2048, device=DEVICE, dtype=torch.bfloat16) * 0.02
    bias_up, bias_down = (torch.randn(n, device=DEVICE, dtype=torch.bfloat16) for n in (8192, 2048))
    if fused:
        return lambda: torch.addmm(bias_down, torch._addmm_activation(bias_up, x, up, use_gelu=True), down)
    return lambda: torch.matmul(F.gelu(torch.matmul(x, up) + bias_up, approximate="tanh"), down) + bias_down


def token(keys):
    """Attention of a layer for one more token of 16 sequences of 2048 tokens. Keys and values are kept on the GPU, kept in
    the host's memory, or computed again."""
    x = torch.randn(16, 2048, 1024, device=DEVICE, dtype=torch.bfloat16)
    weights = torch.randn(1024, 3072, device=DEVICE, dtype=torch.bfloat16) * 0.03
    here = torch.randn(2, 16, 2048, 1024, device=DEVICE, dtype=torch.bfloat16)
    there = here.cpu().pin_memory()

    def run():
        new = (x[:, -1:] @ weights).chunk(3, dim=-1)
        if keys == "estimated":
            k, v = (x @ weights[:, 1024:]).chunk(2, dim=-1)
        else:
            if keys == "host":
                here.copy_(there, non_blocking=True)
            here[0, :, -1:], here[1, :, -1:] = new[1], new[2]
            k, v = here
        F.scaled_dot_product_attention(*(t.unflatten(-1, (16, 64)).transpose(1, 2) for t in (new[0], k, v)))

    return run


def layer_step(length):
    """Forward and backward pass of a decoder's layer for 32,768 tokens in sequences of the given length."""
    x = torch.randn(32768 // length, length, 1024, device=DEVICE, dtype=torch.bfloat16, requires_grad=True)
    shapes = (1024, 3072), (1024, 1024), (1024, 4096), (4096, 1024)
    inwards, out, up, down = ((torch.randn(shape, device=DEVICE, dtype=torch.bfloat16) * 0.03).requires_grad_() for shape in shapes)

    def run():
        q, k, v = ((F.layer_norm(x, (1024,)) @ inwards).unflatten(-1, (3, 16, 64)).permute(2, 0, 3, 1, 4))
        y = x + F.scaled_dot_product_attention(q, k, v, is_causal=True).transpose(1, 2).flatten(2) @ out
        y = y + F.gelu(F.layer_norm(y, (1024,)) @ up) @ down
        torch.autograd.grad(y.float().square().mean(), (x, inwards, out, up, down))

    return run


PAIRS = {
    "attention": {"math": lambda: attention(SDPBackend.MATH), "flash": lambda: attention(SDPBackend.FLASH_ATTENTION)},
    "perceptron": {"apart": lambda: perceptron(False), "fused": lambda: perceptron(True)},
    "sum": {"strided": lambda: layouts(False), "contiguous": lambda: layouts(True)},
    "product": {"strided": lambda: transposed_product(False), "contiguous": lambda: transposed_product(True)},
    "streams": {"1": lambda: products(1), "2": lambda: products(2), "8": lambda: products(8)},
    "token": {keys: lambda keys=keys: token(keys) for keys in ("kept", "host", "estimated")},
    "lengths": {str(length): lambda length=length: layer_step(length) for length in (512, 2048, 8192)},
    "connections": {"8 streams": lambda: products(8, graph=False)},
}


def rounds_in(run, seconds):
    count, end = 0, time.monotonic() + seconds
    while time.monotonic() < end:
        for _ in range(4):
            run()
        torch.cuda.synchronize()
        count += 4
    return count


def measure(names, window, turns):
    import kwhy

    meters, rows = kwhy.Session(counter_period_s=0.1, host=False), []
    meters.measure_idle(2)
    for pair in names:
        runs = {way: make() for way, make in PAIRS[pair].items()}
        for run in runs.values():
            rounds_in(run, 0.3)
        for turn in range(turns):
            for way, run in runs.items():
                with meters.measure(f"{pair} {way} {turn}"):
                    start = time.monotonic()
                    count = rounds_in(run, window)
                    rows.append({"pair": pair, "way": way, "turn": turn, "rounds": count, "seconds": time.monotonic() - start})
        del runs
        torch.cuda.empty_cache()
    regions = {region.get("name"): region for region in meters.results().as_dict().get("regions", [])}
    for row in rows:
        row["energy"] = regions.get("{pair} {way} {turn}".format(**row))
    return rows


def main():
    out, window, turns = sys.argv[1], float(sys.argv[2]) if len(sys.argv) > 2 else 0.8, int(sys.argv[3]) if len(sys.argv) > 3 else 3
    names = sys.argv[4].split(",") if len(sys.argv) > 4 else [name for name in PAIRS if name != "connections"]
    result = {"device": torch.cuda.get_device_name(), "torch": torch.__version__, "rows": measure(names, window, turns)}
    if len(sys.argv) <= 4:
        for connections in "1", "32":
            environment = dict(os.environ, CUDA_DEVICE_MAX_CONNECTIONS=connections)
            subprocess.run([sys.executable, __file__, out + ".part", str(window), str(turns), "connections"], env=environment, check=True)
            with open(out + ".part") as file:
                result["rows"] += [dict(row, way=f"{row['way']}, {connections}") for row in json.load(file)["rows"]]
            os.remove(out + ".part")
    with open(out, "w") as file:
        json.dump(result, file, indent=1)


main()
