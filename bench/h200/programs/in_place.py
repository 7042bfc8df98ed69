#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Measures what operations draw back to back, as in a burst of kwhy probe, and what they draw in place, between other work
that leaves other data in the caches.

For each operation, the energy counter is read over a loop of the operation alone, and over a loop that alternates the
operation with other work. The power of the other work is known from a loop of its own. The power in place is the
difference of the energies divided by the difference of the durations. All loops are CUDA graphs, so the device never
waits for the host.
usage: in_place.py OUT.csv [SECONDS [NAME...]]     (SECONDS of each loop)
"""
import ctypes
import math
import os
import sys
import time

import torch
from torch.nn import functional

HALF, BRAIN = torch.float16, torch.bfloat16
GRAPH_S, AHEAD_S = 0.008, 0.1  # seconds of a graph, and of the graphs that are queued
WARM_S, READ_S = 0.3, 0.001  # seconds before the first reading, and between readings
torch.manual_seed(1)
STREAM = torch.cuda.Stream()
KEPT = []  # the first graph, whose memory pool all graphs share


def rand(*shape, dtype=torch.float32):
    return torch.randn(*shape, device="cuda", dtype=dtype)


def operations():
    x8, y8, o8 = rand(4096, 1024, dtype=BRAIN), rand(4096, 1024, dtype=BRAIN), rand(4096, 1024, dtype=BRAIN)
    f4, g4, h4 = rand(1 << 20), rand(1 << 20), rand(1 << 20)
    f32, g32, h32 = rand(1 << 23), rand(1 << 23), rand(1 << 23)
    gain, bias = rand(1024, dtype=BRAIN), rand(1024, dtype=BRAIN)
    a1, b1 = rand(1024, 1024, dtype=BRAIN), rand(1024, 4096, dtype=BRAIN)
    a2, b2 = rand(2048, 1024, dtype=BRAIN), rand(1024, 1024, dtype=BRAIN)
    s1, s2 = rand(1024, 1024), rand(1024, 1024)
    v1 = rand(1, 4096, dtype=BRAIN)
    w1 = rand(4096, 4096, dtype=BRAIN)
    batch = rand(64, 256, 256, dtype=HALF)
    q = rand(4, 16, 512, 64, dtype=BRAIN)
    rows, other_rows, gain32, square = rand(4096, 1024), rand(4096, 1024), rand(1024), rand(2048, 2048)
    table, index = rand(50000, 512, dtype=HALF), torch.randint(0, 50000, (8192,), device="cuda")
    target, source, where = torch.zeros(20000, 64, device="cuda"), rand(40000, 64), torch.randint(0, 20000, (40000,), device="cuda")
    image = rand(32, 64, 28, 28, dtype=HALF).to(memory_format=torch.channels_last)
    kernel = rand(64, 64, 3, 3, dtype=HALF).to(memory_format=torch.channels_last)
    norm = torch.nn.BatchNorm2d(64).cuda().half()
    many, more = [rand(1 << 17) for _ in range(24)], [rand(1 << 17) for _ in range(24)]
    mean, scale = rand(4096, 1), rand(4096, 1).abs() + 0.5
    wide = rand(256, 16384)
    int8 = torch.randint(-100, 100, (1024, 1024), device="cuda", dtype=torch.int8)
    double = rand(768, 768, dtype=torch.float64)
    return {
        "gelu": lambda: torch._C._nn.gelu(x8, out=o8),
        "add_bf16": lambda: torch.add(x8, y8, out=o8),
        "add_4mb": lambda: torch.add(f4, g4, out=h4),
        "add_32mb": lambda: torch.add(f32, g32, out=h32),
        "exp_4mb": lambda: torch.exp(f4, out=h4),
        "layer_norm": lambda: functional.layer_norm(x8, (1024,), gain, bias),
        "layer_norm_backward": lambda: torch.ops.aten.native_layer_norm_backward(rows, other_rows, [1024], mean, scale, gain32, gain32, [True, True, True]),
        "softmax": lambda: torch.softmax(x8, -1),
        "log_softmax_wide": lambda: torch.log_softmax(wide, -1),
        "mm_1024x4096": lambda: torch.mm(a1, b1),
        "mm_2048x1024": lambda: torch.mm(a2, b2),
        "mm_fp32": lambda: torch.mm(s1, s2),
        "mm_fp64": lambda: torch.mm(double, double),
        "vector_matrix": lambda: torch.mm(v1, w1),
        "mm_int8": lambda: torch._int_mm(int8, int8),
        "bmm": lambda: torch.bmm(batch, batch),
        "attention": lambda: functional.scaled_dot_product_attention(q, q, q),
        "dropout": lambda: torch.native_dropout(x8, 0.1, True),
        "sum_columns": lambda: torch.sum(rows, 0),
        "sum_rows": lambda: torch.sum(rows, 1),
        "cat": lambda: torch.cat([x8, y8], 1),
        "transpose": lambda: square.t().contiguous(),
        "embedding": lambda: functional.embedding(index, table),
        "index_add": lambda: target.index_add_(0, where, source),
        "cumsum": lambda: torch.cumsum(rows, 1),
        "topk": lambda: torch.topk(wide, 16),
        "conv": lambda: functional.conv2d(image, kernel, padding=1),
        "batch_norm": lambda: functional.batch_norm(image, None, None, norm.weight, norm.bias, True),
        "foreach_add": lambda: torch._foreach_add_(many, more, alpha=1e-3),
        "cast": lambda: f32.to(BRAIN),
        "fill": lambda: h32.zero_(),
        "copy_8mb": lambda: o8.copy_(x8),
    }


def others():
    big, there = rand(1 << 24), rand(1 << 24)
    small, result = rand(1 << 19), rand(1 << 19)

    def compute():  # reads 4 MB in some 30 us, so that the caches keep the data of the operation
        torch.lgamma(small, out=result)
        torch.lgamma(result, out=result)

    return {"stream": lambda: there.copy_(big), "compute": compute}


class Meter:
    def __init__(self):
        self.nvml = ctypes.CDLL("libnvidia-ml.so.1")
        self.nvml.nvmlInit_v2()
        self.device = ctypes.c_void_p()
        if self.nvml.nvmlDeviceGetHandleByIndex_v2(int(os.environ.get("CUDA_VISIBLE_DEVICES", "0")), ctypes.byref(self.device)):
            sys.exit("in_place.py: CUDA_VISIBLE_DEVICES has to be the number of a GPU")

    def joules(self):
        value = ctypes.c_ulonglong()
        self.nvml.nvmlDeviceGetTotalEnergyConsumption(self.device, ctypes.byref(value))
        return value.value / 1e3

    def state(self):
        clock, heat = ctypes.c_uint(), ctypes.c_uint()
        self.nvml.nvmlDeviceGetClockInfo(self.device, 1, ctypes.byref(clock))
        self.nvml.nvmlDeviceGetTemperature(self.device, 0, ctypes.byref(heat))
        return clock.value, heat.value


def captured(function, count):
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.stream(STREAM):
        function()
        function()
        STREAM.synchronize()
        graph.capture_begin(*(first.pool() for first in KEPT))
        for _ in range(count):
            function()
        graph.capture_end()
    torch.cuda.synchronize()
    KEPT[:] = KEPT or [graph]
    return graph


def duration(graph, count):
    begin, end = torch.cuda.Event(True), torch.cuda.Event(True)
    graph.replay()
    begin.record()
    for _ in range(4):
        graph.replay()
    end.record()
    torch.cuda.synchronize()
    return begin.elapsed_time(end) / 4 / count / 1e3


def measure(meter, function, seconds):
    """Runs the function in a loop. Returns the seconds of a call, and the mean power, clock and temperature, between two
    updates of the counter during the loop."""
    rough = duration(captured(function, 100), 100)
    count = max(4, min(6000, int(GRAPH_S / rough)))
    graph = captured(function, count)
    each = duration(graph, count)
    ahead = max(4, math.ceil(AHEAD_S / (each * count)))
    events, edges, states = [], [], []
    begin, last = time.perf_counter(), meter.joules()
    while len(edges) < 3 or edges[-1][0] - edges[0][0] < seconds:
        graph.replay()
        event = torch.cuda.Event(True)
        event.record()
        events.append(event)
        while len(events) > ahead and not events[-ahead].query():
            time.sleep(READ_S)
            joules = meter.joules()
            if joules != last and time.perf_counter() > begin + WARM_S:
                edges.append((time.perf_counter(), joules))
                states.append(meter.state())
            last = joules
    torch.cuda.synchronize()
    middle = len(events) // 4
    call_s = events[middle].elapsed_time(events[-1]) / 1e3 / count / (len(events) - 1 - middle)
    if call_s > 1.2 * each:
        raise RuntimeError(f"the device waited for the host: {1e6 * each:.2f} us became {1e6 * call_s:.2f} us")
    return (call_s, (edges[-1][1] - edges[0][1]) / (edges[-1][0] - edges[0][0]), sum(clock for clock, _ in states) / len(states), states[-1][1])


def main():
    out, seconds = sys.argv[1], float(sys.argv[2]) if len(sys.argv) > 2 else 1.0
    meter, ops, other = Meter(), operations(), others()
    names = sys.argv[3:] or list(ops)
    alone = {}
    with open(out, "w", encoding="utf-8") as file:
        print("operation,between,us_burst,w_burst,mhz_burst,us_place,w_place,mhz_place,celsius,log_duration,log_power", file=file)
        for name in names:
            try:
                run = ops[name]
                t_burst, w_burst, mhz_burst, _ = measure(meter, run, seconds)
                for label, beside in other.items():
                    t_other, w_other, _, _ = alone[label] = alone.get(label) or measure(meter, beside, 2 * seconds)

                    def pair():
                        beside()
                        run()

                    t_pair, w_pair, mhz, heat = measure(meter, pair, seconds)
                    t_place = t_pair - t_other
                    w_place = (t_pair * w_pair - t_other * w_other) / t_place
                    if t_place < 0.2 * t_burst or w_place < 130 or w_burst < 130:
                        print(f"# {name} {label}: too small to be told: {t_place} s, {w_place} W", file=file, flush=True)
                        continue
                    print(f"{name},{label},{1e6 * t_burst:.2f},{w_burst:.1f},{mhz_burst:.0f},{1e6 * t_place:.2f},{w_place:.1f},{mhz:.0f},{heat},"
                          f"{math.log(t_place / t_burst):.4f},{math.log((w_place - 120) / (w_burst - 120)):.4f}", file=file, flush=True)
            except Exception as error:  # pylint: disable=broad-except
                print(f"# {name}: {error}", file=file, flush=True)
        for label, beside in other.items():
            again = measure(meter, beside, seconds)
            print(f"# {label} alone: {1e6 * alone[label][0]:.2f} us {alone[label][1]:.1f} W {alone[label][2]:.0f} MHz; "
                  f"at the end {1e6 * again[0]:.2f} us {again[1]:.1f} W {again[2]:.0f} MHz", file=file)


if __name__ == "__main__":
    main()
