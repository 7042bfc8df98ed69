#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The workload twin (lab/README.md) as PyTorch programs, for comparison with kwhy-lab's variants.

naive    as found in practice: torch.tensor(list).cuda() for each payload, .item() for each value
graph    optimised: pinned staging, one packed read, a step's kernels and copies in one CUDA graph
compile  as graph, with the step compiled by torch.compile

Compiled code may fuse multiplications and additions, so bits differ. Numbers are therefore compared in an open loop
with a relative error of 1e-5; times are those of the closed loop. In all programs, numpy computes what the agents
decide.

    twin_torch.py [--peers naive,graph,compile] [--seconds 10] [--repeat 5] [-o FILE]
    twin_torch.py --check        numpy alone, on the host: checks the golden bits of the specification

Energy comes from kwhy's Python package if it is found (PYTHONPATH, KWHY_LIBRARY).
"""

import argparse
import json
import statistics
import sys
import time

import numpy as np

STEPS, AGENTS, WIDTH, CELLS, KEPT, WIDE, MOST = 288, 22, 256, 65536, 70, 235, 1878
U64 = np.uint64


def mix(x):
    x = x + U64(0x9E3779B97F4A7C15)
    x = (x ^ (x >> U64(30))) * U64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> U64(27))) * U64(0x94D049BB133111EB)
    return x ^ (x >> U64(31))


def unit(h):
    return ((h >> U64(53)).astype(np.int64) - 1024).astype(np.float32) * np.float32(2.0**-10)


QS = np.arange(MOST)
WIDE_Q, NARROW_Q = QS[QS % 8 == 0], QS[QS % 8 != 0]
ORDER = np.argsort(np.concatenate([WIDE_Q, NARROW_Q]), kind="stable")
DISTRICT = (np.arange(CELLS) * 22) >> 16
START = unit(mix(U64(42) ^ np.arange(CELLS, dtype=U64))) * np.float32(16)
PLACES = [(a, k) for a in range(AGENTS) for k in range(10 if a < 15 else 8)]
SLOT = np.array([a * 10 + k for a, k in PLACES])
OWNER = np.array([a for a, _ in PLACES])
SALT = np.array([(a << 8) ^ k for a, k in PLACES], dtype=U64)


class Agents:
    """What agents send and see. It writes to `controls`, which belongs to the caller."""

    def __init__(self, controls, closed):
        self.controls, self.closed = controls, closed
        self.seen, self.y = np.zeros(AGENTS, dtype=np.int64), 0

    def send(self, t):
        seen = self.seen.astype(U64) if self.closed else np.zeros(AGENTS, dtype=U64)
        values = unit(mix(U64(0x5EED) ^ U64(t << 32) ^ SALT ^ (seen * U64(0x2545F4914F6CDD1D))[OWNER]))
        count = len(PLACES) - (8 if 47 * t % STEPS < 47 else 0)
        self.controls[SLOT[:count]] = values[:count]

    def look(self, t, wide, narrow):
        count = 1877 + (t % 16 == 0)
        narrow_count = count - WIDE
        fixed = np.rint(narrow[:narrow_count] * np.float32(65536)).astype(np.int64)
        self.seen = np.zeros(AGENTS, dtype=np.int64)
        np.add.at(self.seen, WIDE_Q % AGENTS, wide)
        np.add.at(self.seen, NARROW_Q[:narrow_count] % AGENTS, fixed)

    def fold(self):
        mask = (1 << 64) - 1
        for value in self.seen.tolist():
            x = ((self.y ^ (value & mask)) + 0x9E3779B97F4A7C15) & mask
            x = ((x ^ (x >> 30)) * 0xBF58476D1CE4E5B9) & mask
            x = ((x ^ (x >> 27)) * 0x94D049BB133111EB) & mask
            self.y = x ^ (x >> 31)


def simulate(steps, closed):
    """One field on the host, in doubles that are rounded to floats: the reference for the peers' numbers."""
    t_, u = START.copy(), np.zeros(CELLS, dtype=np.float32)
    controls = np.zeros(220, dtype=np.float32)
    agents = Agents(controls, closed)
    scales = (np.float32(0.25), np.float32(1), np.float32(0.125))
    f64, f32 = np.float64, np.float32
    for t in range(steps):
        agents.send(t)
        c = controls.reshape(AGENTS, 10)
        g = np.empty((AGENTS, 3), dtype=f32)
        for j in range(3):
            total = c[:, j].copy()
            for k in range(j + 3, 10, 3):
                total = total + c[:, k]
            g[:, j] = total * scales[j]
        g = g[DISTRICT].astype(f64)
        grid = t_.reshape(256, 256)
        around = (np.roll(grid, 1, 0) + np.roll(grid, -1, 0)) + (np.roll(grid, 1, 1) + np.roll(grid, -1, 1))
        here = t_.astype(f64)
        f = (g[:, 0] * here + g[:, 1]).astype(f32)
        l = (-4.0 * here + around.reshape(-1)).astype(f32)
        v = (0.125 * l.astype(f64) + here).astype(f32)
        w = (2.0**-8 * f.astype(f64) + v).astype(f32)
        u = (g[:, 2] * w + (f32(0.9375) * u).astype(f64)).astype(f32)
        t_ = np.clip(w, f32(-64), f32(64))
        fixed = np.rint(t_ * f32(65536)).astype(np.int64)
        sums = np.zeros(AGENTS, dtype=np.int64)
        np.add.at(sums, DISTRICT, fixed)
        wide = sums[(WIDE_Q // 8) % AGENTS] + WIDE_Q
        agents.look(t, wide, t_[(7919 * NARROW_Q + 104729 * t) % CELLS])
        agents.fold()
    j = np.arange(CELLS, dtype=U64)
    x = (t_.view(np.uint32).astype(U64) * (2 * j + U64(1)) + u.view(np.uint32).astype(U64) * (2 * j + U64(0x10001))).sum()
    return t_, u, int(x), agents.y


def check():
    _, _, x, y = simulate(STEPS, True)
    good = (x, y) == (0x92D1687E1C80143D, 0x04E282170E35932C)
    print("closed loop: X %016x, Y %016x: %s" % (x, y, "golden" if good else "not the golden bits"))
    return 0 if good else 1


class Field:
    """The state on the GPU and one step of it, in PyTorch's own operations."""

    def __init__(self, torch, compiled):
        self.torch = torch
        dev = dict(device="cuda")
        self.t = torch.tensor(START, **dev)
        self.u = torch.zeros(CELLS, **dev)
        self.c = torch.zeros(AGENTS, 10, **dev)
        self.step_number = torch.zeros((), dtype=torch.int64, **dev)
        self.history = torch.zeros(STEPS + 1, 5, KEPT, **dev)
        self.checks = torch.zeros(STEPS + 1, dtype=torch.int64, **dev)
        self.out = torch.zeros(2 * WIDE + len(NARROW_Q), dtype=torch.int32, **dev)
        self.district = torch.tensor(DISTRICT, **dev)
        self.wide_of = torch.tensor((WIDE_Q // 8) % AGENTS, **dev)
        self.wide_q = torch.tensor(WIDE_Q, **dev)
        self.narrow_at = torch.tensor(7919 * NARROW_Q, **dev)
        j = torch.arange(CELLS, dtype=torch.int64, **dev)
        self.t_weight, self.u_weight = 2 * j + 1, 2 * j + 0x10001
        self.scales = torch.tensor([0.25, 1.0, 0.125], **dev)
        self.math = torch.compile(self.formulas, mode="max-autotune-no-cudagraphs") if compiled else self.formulas

    def reset(self):
        self.t.copy_(self.torch.tensor(START, device="cuda"))
        for tensor in (self.u, self.c, self.step_number, self.history, self.checks):
            tensor.zero_()

    def formulas(self, t, u, c, step):
        torch = self.torch
        g = torch.stack([c[:, 0] + c[:, 3] + c[:, 6] + c[:, 9], c[:, 1] + c[:, 4] + c[:, 7], c[:, 2] + c[:, 5] + c[:, 8]], 1)
        g = (g * self.scales)[self.district]
        grid = t.view(256, 256)
        around = (grid.roll(1, 0) + grid.roll(-1, 0)) + (grid.roll(1, 1) + grid.roll(-1, 1))
        f = torch.addcmul(g[:, 1], g[:, 0], t)
        v = t + 0.125 * (around.reshape(-1) - 4.0 * t)
        w = v + 0.00390625 * f
        u = torch.addcmul(0.9375 * u, g[:, 2], w)
        t = w.clamp(-64.0, 64.0)
        sums = torch.zeros(AGENTS, dtype=torch.int64, device=t.device).index_add_(
            0, self.district, (t * 65536.0).round().to(torch.int64))
        peak = t.abs().max()
        low = 0xFFFFFFFF
        x = ((t.view(torch.int32).to(torch.int64) & low) * self.t_weight
             + (u.view(torch.int32).to(torch.int64) & low) * self.u_weight).sum()
        wide = sums[self.wide_of] + self.wide_q
        narrow = t[(self.narrow_at + 104729 * step) % CELLS]
        kept = torch.stack([t[:KEPT], u[:KEPT], w[:KEPT], f[:KEPT], v[:KEPT]])
        return t, u, wide, narrow, kept, x, peak

    def step(self):
        torch = self.torch
        t, u, wide, narrow, kept, x, self.peak = self.math(self.t, self.u, self.c, self.step_number)
        self.t.copy_(t)
        self.u.copy_(u)
        self.out[: 2 * WIDE].copy_(wide.view(torch.int32))
        self.out[2 * WIDE :].copy_(narrow.view(torch.int32))
        self.history.index_copy_(0, self.step_number.view(1), kept.unsqueeze(0))
        self.checks.index_copy_(0, self.step_number.view(1), x.view(1))
        self.step_number.add_(1)


class Naive:
    """A copy and a wait for each value, as in programs whose transfers nobody has measured."""

    def __init__(self, torch):
        self.torch, self.field = torch, Field(torch, False)

    def run(self, closed, steps=STEPS):
        torch, field = self.torch, self.field
        field.reset()
        controls = np.zeros(220, dtype=np.float32)
        agents = Agents(controls, closed)
        policy, times = 0.0, []
        for t in range(steps):
            start = time.perf_counter()
            agents.send(t)
            policy += time.perf_counter() - start
            for a in range(AGENTS):
                if a == 21 and 47 * t % STEPS < 47:
                    continue
                length = 10 if a < 15 else 8
                field.c[a, :length] = torch.tensor(controls[10 * a : 10 * a + length].tolist()).cuda()
            field.step()
            wide = field.out[: 2 * WIDE].view(torch.int64)
            narrow = field.out[2 * WIDE :].view(torch.float32)
            wides = [wide[i].item() for i in range(WIDE)]
            narrows = [narrow[i].item() for i in range(1877 + (t % 16 == 0) - WIDE)]
            look = time.perf_counter()
            agents.look(t, np.array(wides), np.array(narrows, dtype=np.float32))
            agents.fold()
            end = time.perf_counter()
            policy += end - look
            times.append(end - start)
        return times, policy


class Graph:
    """Pinned staging, one packed read and one CUDA graph per step."""

    def __init__(self, torch, compiled=False):
        self.torch, self.field = torch, Field(torch, compiled)
        field = self.field
        self.inbox = torch.zeros(AGENTS, 10).pin_memory()
        self.outbox = torch.zeros(2 * WIDE + len(NARROW_Q), dtype=torch.int32).pin_memory()
        self.controls = self.inbox.numpy().reshape(-1)
        raw = self.outbox.numpy()
        self.wide, self.narrow = raw[: 2 * WIDE].view(np.int64), raw[2 * WIDE :].view(np.float32)
        side = torch.cuda.Stream()
        side.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(side):
            for _ in range(3):
                self.whole_step()
        torch.cuda.current_stream().wait_stream(side)
        torch.cuda.synchronize()
        field.reset()
        self.graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(self.graph):
            self.whole_step()
        self.stream = torch.cuda.current_stream()

    def whole_step(self):
        self.field.c.copy_(self.inbox, non_blocking=True)
        self.field.step()
        self.outbox.copy_(self.field.out, non_blocking=True)

    def run(self, closed, steps=STEPS):
        self.field.reset()
        self.inbox.zero_()
        self.torch.cuda.synchronize()
        agents = Agents(self.controls, closed)
        policy, times = 0.0, []
        for t in range(steps):
            start = time.perf_counter()
            agents.send(t)
            sent = time.perf_counter()
            self.graph.replay()
            self.stream.synchronize()
            look = time.perf_counter()
            agents.look(t, self.wide, self.narrow)
            agents.fold()
            end = time.perf_counter()
            policy += (sent - start) + (end - look)
            times.append(end - start)
        return times, policy


PEERS = {"naive": Naive, "graph": Graph, "compile": lambda torch: Graph(torch, True)}


def error_of(peer, steps=STEPS):
    """Returns the largest difference to the host's numbers in an open loop, divided by the field's largest value."""
    peer.run(False, steps)
    expected, _, _, _ = simulate(steps, False)
    found = peer.field.t.cpu().numpy()
    return float(np.abs(found - expected).max() / np.abs(expected).max())


def session():
    try:
        import kwhy

        return kwhy.Session(counter_period_s=0.1, host=False)
    except Exception as problem:  # the package or its library cannot be loaded, for any reason
        print("energy is not available: %s" % problem, file=sys.stderr)
        return None


def measure(name, peer, meters, repeat, seconds):
    row = {"peer": name, "open_loop_error": error_of(peer, 16 if name == "naive" else STEPS)}
    runs = [peer.run(True) for _ in range(repeat)]
    steps = sorted(s for times, _ in runs for s in times)
    row["run_s"] = statistics.median(sum(times) for times, _ in runs)
    row["policy_s"] = statistics.median(policy for _, policy in runs)
    row["run_without_policy_s"] = statistics.median(sum(times) - policy for times, policy in runs)
    row["step_s"], row["step_p99_s"] = statistics.median(steps), steps[len(steps) * 99 // 100]
    if not meters or seconds <= 0:
        return row
    count, end = 0, time.monotonic() + seconds
    with meters.measure(name):
        while time.monotonic() < end:
            peer.run(True)
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


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--peers", default="naive,graph,compile")
    parser.add_argument("--seconds", type=float, default=10)
    parser.add_argument("--repeat", type=int, default=5)
    parser.add_argument("--check", action="store_true")
    parser.add_argument("-o", "--output")
    options = parser.parse_args()
    if options.check:
        return check()
    import torch

    torch.zeros(1, device="cuda")
    meters = session()
    if meters and options.seconds > 0:
        meters.measure_idle(2)
    rows = []
    for name in options.peers.split(","):
        try:
            peer = PEERS[name](torch)
            rows.append(measure(name, peer, meters, 1 if name == "naive" else options.repeat, options.seconds))
        except Exception as problem:  # other peers must run even if this one fails
            rows.append({"peer": name, "missing": repr(problem)[:400]})
        print(json.dumps(rows[-1]), flush=True)
    add_energy(rows, meters)
    report = {"torch": torch.__version__, "device": torch.cuda.get_device_name(0), "steps": STEPS, "peers": rows}
    if options.output:
        with open(options.output, "w") as file:
            json.dump(report, file, indent=1)
    return 0


if __name__ == "__main__":
    sys.exit(main())
