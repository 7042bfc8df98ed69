#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The workload train (lab/README.md) as PyTorch programs with the same shape, batches, steps and optimiser, for comparison
with kwhy-lab's variants.

guide    as printed in the guide to energy models: a DataLoader, autocast in fp16 with a scaler, the loss read in every step
fp32     a plain loop in fp32 without TF32, the loss read in every step
eager    autocast in bf16, PyTorch's fused AdamW, losses stay on the GPU
compile  as eager, compiled with max-autotune
graph    as compile, with the whole step and its optimiser in one CUDA graph

Initial weights are PyTorch's from a seed, inputs are normally distributed, labels are random. Every run starts anew:
weights are copied back and moments are cleared.

    train_torch.py [--peers ...] [--width 4096] [--layers 2] [--batch 64] [--steps 96] [--seconds 10] [--repeat 5] [-o FILE]

Energy comes from kwhy's Python package if it is found (PYTHONPATH, KWHY_LIBRARY).
"""

import argparse
import json
import statistics
import sys
import time


class Training:
    """Model, data and optimiser of a peer; peers differ only in the arguments."""

    def __init__(self, torch, shape, half=None, compiled=False, fused=True, graph=False, waits=False, loader=False):
        self.torch, self.shape, self.half, self.waits, self.loader = torch, shape, half, waits, loader
        torch.manual_seed(42)
        layers = []
        for i in range(shape.layers):
            layers += [torch.nn.ReLU()] if i else []
            layers += [torch.nn.Linear(shape.width, shape.width)]
        self.model = torch.nn.Sequential(*layers).cuda()
        self.first = [p.detach().clone() for p in self.model.parameters()]
        settings = dict(fused=True, capturable=graph) if fused else {}
        self.optimizer = torch.optim.AdamW(self.model.parameters(), lr=1e-3, **settings)
        self.scaler = torch.amp.GradScaler("cuda") if half is torch.float16 else None
        samples = (2048 + shape.batch - 1) // shape.batch * shape.batch
        self.x = torch.randn(samples, shape.width, device="cuda")
        self.y = torch.randint(0, shape.width, (samples,), device="cuda")
        self.batch_x, self.batch_y = self.x[: shape.batch].clone(), self.y[: shape.batch].clone()
        self.call = torch.compile(self.loss_of, mode="max-autotune-no-cudagraphs") if compiled else self.loss_of
        self.losses = torch.zeros(shape.steps, device="cuda")
        self.loss = torch.zeros((), device="cuda")
        self.graph = self.capture() if graph else None

    def loss_of(self, x, y):
        torch = self.torch
        with torch.autocast("cuda", dtype=self.half or torch.bfloat16, enabled=self.half is not None):
            return torch.nn.functional.cross_entropy(self.model(x), y)

    def train(self, x, y):
        self.optimizer.zero_grad(set_to_none=True)
        loss = self.call(x, y)
        if self.scaler:
            self.scaler.scale(loss).backward()
            self.scaler.step(self.optimizer)
            self.scaler.update()
        else:
            loss.backward()
            self.optimizer.step()
        return loss

    def capture(self):
        torch = self.torch
        side = torch.cuda.Stream()
        side.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(side):
            for _ in range(3):
                self.train(self.batch_x, self.batch_y)
        torch.cuda.current_stream().wait_stream(side)
        graph = torch.cuda.CUDAGraph()
        self.optimizer.zero_grad(set_to_none=True)
        with torch.cuda.graph(graph):
            self.loss.copy_(self.train(self.batch_x, self.batch_y).detach())
        return graph

    def reset(self):
        with self.torch.no_grad():
            for p, first in zip(self.model.parameters(), self.first):
                p.copy_(first)
            for state in self.optimizer.state.values():
                for value in state.values():
                    if self.torch.is_tensor(value):
                        value.zero_()

    def batches(self):
        torch, shape = self.torch, self.shape
        if self.loader:
            data = torch.utils.data.TensorDataset(self.x, self.y)
            while True:
                yield from torch.utils.data.DataLoader(data, batch_size=shape.batch)
        step = 0
        while True:
            at = step % (len(self.x) // shape.batch) * shape.batch
            yield self.x[at : at + shape.batch], self.y[at : at + shape.batch]
            step += 1

    def run(self):
        torch = self.torch
        torch.cuda.synchronize()
        start = time.perf_counter()
        self.reset()
        for step, (x, y) in zip(range(self.shape.steps), self.batches()):
            if self.graph:
                self.batch_x.copy_(x)
                self.batch_y.copy_(y)
                self.graph.replay()
                self.losses[step] = self.loss
                continue
            loss = self.train(x, y).detach()
            self.losses[step] = loss
            if self.waits:
                loss.item()
                torch.cuda.synchronize()
        torch.cuda.synchronize()
        return time.perf_counter() - start


def peers(torch):
    return {
        "guide": dict(half=torch.float16, fused=False, waits=True, loader=True),
        "fp32": dict(fused=False, waits=True),
        "eager": dict(half=torch.bfloat16),
        "compile": dict(half=torch.bfloat16, compiled=True),
        "graph": dict(half=torch.bfloat16, compiled=True, graph=True),
    }


def session():
    try:
        import kwhy

        return kwhy.Session(counter_period_s=0.1, host=False)
    except Exception as problem:  # the package or its library cannot be loaded, for any reason
        print("energy is not available: %s" % problem, file=sys.stderr)
        return None


def measure(name, peer, meters, options):
    peer.run()
    peer.run()
    times = [peer.run() for _ in range(options.repeat)]
    row = {"peer": name, "run_s": statistics.median(times), "step_s": statistics.median(times) / options.steps}
    row["samples_per_s"] = options.batch / row["step_s"]
    row["losses"] = [round(x, 5) for x in peer.losses.tolist()]
    if not meters or options.seconds <= 0:
        return row
    count, end = 0, time.monotonic() + options.seconds
    with meters.measure(name):
        while time.monotonic() < end:
            peer.run()
            count += 1
    row["energy_runs"] = count
    return row


def add_energy(rows, meters):
    if not meters:
        return
    results = meters.results().as_dict()
    for row in rows:
        for region in results.get("regions", []):
            if region.get("name") == row["peer"]:
                row["energy"] = region


def write(path, report):
    if path:
        with open(path, "w") as file:
            json.dump(report, file, indent=1)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--peers", default="guide,fp32,eager,compile,graph")
    parser.add_argument("--width", type=int, default=4096)
    parser.add_argument("--layers", type=int, default=2)
    parser.add_argument("--batch", type=int, default=64)
    parser.add_argument("--steps", type=int, default=96)
    parser.add_argument("--seconds", type=float, default=10)
    parser.add_argument("--repeat", type=int, default=5)
    parser.add_argument("-o", "--output")
    options = parser.parse_args()
    import torch

    torch.backends.cuda.matmul.allow_tf32 = False
    torch.zeros(1, device="cuda")
    meters = session()
    if meters and options.seconds > 0:
        meters.measure_idle(2)
    report = {"torch": torch.__version__, "device": torch.cuda.get_device_name(0), "peers": []}
    report.update((key, getattr(options, key)) for key in ("width", "layers", "batch", "steps"))
    for name in options.peers.split(","):
        try:
            peer = Training(torch, options, **peers(torch)[name])
            row = measure(name, peer, meters, options)
        except Exception as problem:  # other peers must run even if this one fails
            row = {"peer": name, "missing": repr(problem)[:400]}
        peer = None
        torch.cuda.empty_cache()
        report["peers"].append(row)
        print(json.dumps({key: value for key, value in row.items() if key != "losses"}), flush=True)
        write(options.output, report)  # keeps the results so far if the next peer takes too long
    add_energy(report["peers"], meters)
    write(options.output, report)
    return 0


if __name__ == "__main__":
    sys.exit(main())
