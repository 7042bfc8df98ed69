#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The workload flow (lab/README.md) as PyTorch programs, on the fixed path, for comparison with kwhy-lab's variants.

naive    as found in practice: a loop over flows, each of which passes through the network by itself; merges in a dictionary
graph    optimised: all flows in one kernel launch, nn.GRUCell and F.linear in TF32, index operations, many steps in one CUDA graph
compile  as graph, with a step's arithmetic compiled by torch.compile
bf16     as compile, with weights and state in bfloat16

Places of flows are exact. After 60 steps of 1,000 flows, the counts of merged and departed flows and P are compared
with the golden values; for other runs only the conservation of flows is checked. Rows of flows are reused in place, so
that shapes never change.

    flow_torch.py [--peers naive,graph,compile,bf16] [--flows 1000] [--seconds 5] [--repeat 5] [-o FILE]

Prints one line of JSON for each peer and number of flows. Energy comes from kwhy's Python package if it is found
(PYTHONPATH, KWHY_LIBRARY).
"""

import argparse
import json
import statistics
import sys
import time

GOLDEN = {"active": 975, "spawned": 2341, "merged": 728, "left": 638, "places": 0xCCC0FB3A0EAC12FF}
X, Y, Z, E, PLACE, IN, H = 100, 100, 50, 32, 16, 64, 256
CELLS, STEPS, GRAPH_STEPS = X * Y * Z, 60, 20
GOLD = 0x9E3779B97F4A7C15
FAR = 1 << 62


def signed(x):
    """Converts an unsigned 64-bit constant to the int64 with the same bits."""
    x &= (1 << 64) - 1
    return x - (1 << 64) if x >> 63 else x


def shifted(x, count):
    """Logical shift to the right of an int64."""
    return (x >> count) & ((1 << (64 - count)) - 1)


def mix(x):
    """Finaliser of splitmix64 on int64, which wraps."""
    x = x + signed(GOLD)
    x = (x ^ shifted(x, 30)) * signed(0xBF58476D1CE4E5B9)
    x = (x ^ shifted(x, 27)) * signed(0x94D049BB133111EB)
    return x ^ shifted(x, 31)


def modulo(x, divisor):
    """Remainder of an int64 taken as an unsigned number."""
    return (shifted(x, 32) * ((1 << 32) % divisor) + (x & 0xFFFFFFFF)) % divisor


def unit(h):
    return (shifted(h, 53) - 1024).float() * 2.0**-10


class World:
    """State of a run and one step of it, on the GPU, with shapes that never change."""

    def __init__(self, torch, flows, dtype, compiled):
        self.torch, self.flows, self.dtype = torch, flows, dtype
        self.dev = dict(device="cuda")
        self.row = torch.arange(flows, **self.dev)
        self.lanes = torch.arange(E, **self.dev)
        cells = torch.arange(CELLS * PLACE, **self.dev)
        self.cells = unit(mix(cells + signed(0x2E4B * GOLD))).view(CELLS, PLACE).to(dtype)
        self.w1, self.b1 = self.weights(1, 64, IN, 8), self.weights(2, 1, 64, 8)[0]
        self.w2, self.b2 = self.weights(3, E, 64, 8), self.weights(4, 1, E, 8)[0]
        self.we = self.weights(9, E, H, 16)
        self.gru = torch.nn.GRUCell(IN, H, **self.dev, dtype=dtype)
        with torch.no_grad():
            self.gru.weight_ih.copy_(self.weights(5, 3 * H, IN, 16))
            self.gru.weight_hh.copy_(self.weights(6, 3 * H, H, 16))
            self.gru.bias_ih.copy_(self.weights(7, 1, 3 * H, 16)[0])
            self.gru.bias_hh.copy_(self.weights(8, 1, 3 * H, 16)[0])
        frequencies = (2.0 ** torch.arange(4, **self.dev, dtype=torch.float64)) / 16
        angles = frequencies.view(1, 4) * torch.arange(X, **self.dev, dtype=torch.float64).view(X, 1)
        self.sines, self.cosines = angles.sin().to(dtype), angles.cos().to(dtype)
        self.owner = torch.empty(CELLS + flows, dtype=torch.int64, **self.dev)
        self.id, self.x, self.y, self.z = (torch.zeros(flows, dtype=torch.int64, **self.dev) for _ in range(4))
        self.e = torch.zeros(flows, E, **self.dev, dtype=dtype)
        self.h = torch.zeros(flows, H, **self.dev, dtype=dtype)
        self.t, self.next = (torch.zeros((), dtype=torch.int64, **self.dev) for _ in range(2))
        self.merged, self.left, self.places, self.dead = (torch.zeros((), dtype=torch.int64, **self.dev) for _ in range(4))
        self.network = torch.compile(self.layers, mode="max-autotune-no-cudagraphs") if compiled else self.layers
        self.books = torch.compile(self.keep) if compiled else self.keep

    def weights(self, table, outputs, inputs, divisor):
        i = self.torch.arange(outputs * inputs, **self.dev)
        return (unit(mix(i + signed(table * GOLD))) / divisor).view(outputs, inputs).to(self.dtype)

    def start(self, number):
        hash_ = mix(signed(0xF10A) ^ (number << 8))
        e = unit(mix(signed(0xE4E2) ^ (number << 8).view(-1, 1) ^ self.lanes.view(1, -1))).to(self.dtype)
        return modulo(hash_, 100), shifted(hash_, 20) % 100, e

    def reset(self):
        self.id.copy_(self.row)
        x, y, e = self.start(self.id)
        self.x.copy_(x)
        self.y.copy_(y)
        self.e.copy_(e)
        for tensor in (self.z, self.h, self.t, self.merged, self.left, self.places, self.dead):
            tensor.zero_()
        self.next.fill_(self.flows)

    def layers(self, e, h, x, y, z):
        torch, F = self.torch, self.torch.nn.functional
        place = torch.stack([self.sines[x], self.cosines[x], self.sines[y], self.sines[z]], 2).reshape(-1, PLACE)
        inputs = torch.cat([e, self.cells[(z * Y + y) * X + x], place], 1)
        o = F.linear(torch.relu(F.linear(inputs, self.w1, self.b1)), self.w2, self.b2)
        h = self.gru(torch.cat([o, e], 1), h)
        return torch.tanh(F.linear(h, self.we)), h

    def keep(self, e, h, number, x, y, z, t, next_, owner):
        """Moves the flows, finds those that leave or merge, starts new ones in their rows, and updates the check value."""
        torch = self.torch
        hash_ = mix(signed(0xD1C) ^ (number << 16) ^ t)
        x, y, z = (x + modulo(hash_, 3) + 99) % 100, (y + shifted(hash_, 20) % 3 + 99) % 100, z + 1
        leaves = z >= Z
        cell = torch.where(leaves, CELLS + self.row, (z * Y + y) * X + x)
        owner = owner.fill_(FAR).scatter_reduce_(0, cell, (number << 20) | self.row, "amin")
        winner = owner[cell] & 0xFFFFF
        stays = (winner == self.row) & ~leaves
        sums = torch.zeros_like(e).index_add_(0, winner, e)
        count = torch.zeros_like(e[:, 0]).index_add_(0, winner, torch.ones_like(e[:, 0]))
        places = torch.where(stays, mix((number << 32) ^ (z << 20) ^ (y << 10) ^ x) * (2 * t + 1), 0).sum()
        gone = ~stays
        number = torch.where(gone, next_ + torch.cumsum(gone, 0) - 1, number)
        new_x, new_y, new_e = self.start(number)
        x, y, z = torch.where(gone, new_x, x), torch.where(gone, new_y, y), torch.where(gone, 0, z)
        e = torch.where(gone.view(-1, 1), new_e, sums / count.view(-1, 1))
        h = torch.where(gone.view(-1, 1), torch.zeros_like(h), h)
        return e, h, number, x, y, z, places, gone.sum(), leaves.sum()

    def step(self):
        e, h = self.network(self.e, self.h, self.x, self.y, self.z)
        e, h, number, x, y, z, places, gone, left = self.books(
            e, h, self.id, self.x, self.y, self.z, self.t, self.next, self.owner)
        for to, from_ in ((self.e, e), (self.h, h), (self.id, number), (self.x, x), (self.y, y), (self.z, z), (self.dead, gone)):
            to.copy_(from_)
        self.places.add_(places)
        self.left.add_(left)
        self.merged.add_(gone - left)
        self.next.add_(gone)
        self.t.add_(1)

    def found(self):
        gone = int(self.dead)
        return {"active": self.flows - gone, "spawned": int(self.next) - gone, "merged": int(self.merged), "left": int(self.left),
                "places": int(self.places) & ((1 << 64) - 1)}


class Graph:
    """Runs many steps in one CUDA graph."""

    def __init__(self, torch, flows, dtype=None, compiled=False):
        self.torch = torch
        self.world = World(torch, flows, dtype or torch.float32, compiled)
        self.world.reset()
        side = torch.cuda.Stream()
        side.wait_stream(torch.cuda.current_stream())
        with torch.no_grad(), torch.cuda.stream(side):
            for _ in range(3):
                self.world.step()
        torch.cuda.current_stream().wait_stream(side)
        torch.cuda.synchronize()
        self.world.reset()
        self.graph = torch.cuda.CUDAGraph()
        with torch.no_grad(), torch.cuda.graph(self.graph):
            for _ in range(GRAPH_STEPS):
                self.world.step()

    def run(self, steps):
        self.world.reset()
        self.torch.cuda.synchronize()
        start = time.perf_counter()
        for _ in range(steps // GRAPH_STEPS):
            self.graph.replay()
        self.torch.cuda.synchronize()
        return (time.perf_counter() - start) / (steps // GRAPH_STEPS * GRAPH_STEPS)

    def check(self):
        self.run(STEPS)
        return self.world.found()


class Naive:
    """Processes one flow after the other, each with its own tensors; the host computes places and merges."""

    def __init__(self, torch, flows):
        self.torch, self.flows = torch, flows
        self.world = World(torch, 1, torch.float32, False)

    def start(self, number):
        torch, mask = self.torch, (1 << 64) - 1
        x, y, e = self.world.start(torch.tensor([number], device="cuda"))
        return [number, x.item(), y.item(), 0, e, torch.zeros(1, H, device="cuda")]

    def advance(self, flow, t):
        torch, world = self.torch, self.world
        number, x, y, z, e, h = flow
        place = [torch.tensor([v], device="cuda") for v in (x, y, z)]
        e, h = world.layers(e, h, *place)
        hash_ = mix(torch.tensor([signed(0xD1C) ^ (number << 16) ^ t], device="cuda"))
        dx, dy = modulo(hash_, 3).item(), (shifted(hash_, 20) % 3).item()
        return [number, (x + dx + 99) % 100, (y + dy + 99) % 100, z + 1, e, h]

    def run(self, steps):
        torch = self.torch
        with torch.no_grad():
            flows, number, result = [self.start(i) for i in range(self.flows)], self.flows, {"merged": 0, "left": 0}
            torch.cuda.synchronize()
            start = time.perf_counter()
            for t in range(steps):
                while len(flows) < self.flows:
                    flows.append(self.start(number))
                    number += 1
                cells = {}
                for flow in [self.advance(flow, t) for flow in flows]:
                    if flow[3] >= Z:
                        result["left"] += 1
                    else:
                        cells.setdefault(tuple(flow[1:4]), []).append(flow)
                flows = []
                for group in cells.values():
                    group[0][4] = sum(flow[4] for flow in group) / len(group)
                    flows.append(group[0])
                    result["merged"] += len(group) - 1
                flows.sort(key=lambda flow: flow[0])
            torch.cuda.synchronize()
        result.update(active=len(flows), spawned=number)
        self.result = result
        return (time.perf_counter() - start) / steps

    def check(self):
        return self.result


PEERS = {
    "naive": Naive,
    "graph": Graph,
    "compile": lambda torch, flows: Graph(torch, flows, compiled=True),
    "bf16": lambda torch, flows: Graph(torch, flows, torch.bfloat16, True),
}


def session():
    try:
        import kwhy

        return kwhy.Session(counter_period_s=0.1, host=False)
    except Exception as problem:  # the package or its library cannot be loaded, for any reason
        print("energy is not available: %s" % problem, file=sys.stderr)
        return None


def measure(torch, name, flows, meters, options):
    row = {"peer": name, "flows": flows}
    peer = PEERS[name](torch, flows)
    if name == "naive":
        times = [peer.run(options.naive_steps)]
        found = peer.check()
    else:
        found = peer.check()
        times = [peer.run(options.steps) for _ in range(options.repeat)]
    row["conserved"] = found["spawned"] - found["merged"] - found["left"] - found["active"] == 0
    row["found"] = {key: "%016x" % value if key == "places" else value for key, value in found.items()}
    row["golden"] = found == GOLDEN if flows == 1000 and name != "naive" else None
    row["step_s"] = statistics.median(times)
    row["flow_steps_per_s"] = flows / row["step_s"]
    if not meters or options.seconds <= 0 or name == "naive":
        return row
    runs, end = 0, time.monotonic() + options.seconds
    with meters.measure("%s %d" % (name, flows)):
        while time.monotonic() < end:
            peer.run(options.steps)
            runs += 1
    row["energy_runs"] = runs
    row["energy_flow_steps"] = runs * (options.steps // GRAPH_STEPS * GRAPH_STEPS) * flows
    return row


def add_energy(rows, meters):
    if not meters:
        return
    results = meters.results().as_dict()
    for row in rows:
        for region in results.get("regions", []):
            if region.get("name") == "%s %d" % (row["peer"], row["flows"]):
                row["energy"] = region


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--peers", default="naive,graph,compile,bf16")
    parser.add_argument("--flows", default="1000")
    parser.add_argument("--steps", type=int, default=200)
    parser.add_argument("--naive-steps", type=int, default=2)
    parser.add_argument("--seconds", type=float, default=5)
    parser.add_argument("--repeat", type=int, default=5)
    parser.add_argument("-o", "--output")
    options = parser.parse_args()
    import torch

    torch.zeros(1, device="cuda")
    torch.backends.cuda.matmul.allow_tf32 = True
    meters = session()
    if meters and options.seconds > 0:
        meters.measure_idle(2)
    rows = []
    for flows in (int(word) for word in options.flows.split(",")):
        for name in options.peers.split(","):
            try:
                rows.append(measure(torch, name, flows, meters, options))
            except Exception as problem:  # other peers must run even if this one fails
                rows.append({"peer": name, "flows": flows, "missing": repr(problem)[:400]})
            print(json.dumps(rows[-1]), flush=True)
    add_energy(rows, meters)
    report = {"torch": torch.__version__, "device": torch.cuda.get_device_name(0), "tf32": True, "rows": rows}
    if options.output:
        with open(options.output, "w") as file:
            json.dump(report, file, indent=1)
    return 0


if __name__ == "__main__":
    sys.exit(main())
