#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Measures what operations draw in place, in a loop of several operations, and runs the same loops to be recorded or
probed.

truth SET OUT.json: reads the energy counter over the plain loop, and over the loop with one operation repeated in
place. The operation's power in place is the difference of the energies divided by the difference of the times.
loop SET SECONDS: runs the plain loop for that time.
Sets C to G have ten operations or more each. An operation whose clock falls while it is repeated has no truth; its
`mhz` shows that.
"""
import ctypes
import json
import sys
import time

import torch
from torch.nn import functional

WINDOW_S = 3.0
WARM_S = 0.5
IDLE_W = 120.0  # power between the work of a window and the counter's next update
ROUNDS = 6  # rounds of the loop between two waits for the device


def random(*shape, dtype=torch.float32):
    return torch.randn(*shape, device="cuda", dtype=dtype)


def set_c():
    half = random(3072, 3072, dtype=torch.bfloat16)
    single = random(2048, 2048)
    heads = random(4, 32, 2048, 128, dtype=torch.bfloat16)
    image = random(16, 256, 56, 56, dtype=torch.float16).to(memory_format=torch.channels_last)
    weight = random(256, 256, 1, 1, dtype=torch.float16).to(memory_format=torch.channels_last)
    rows, gain = random(16384, 4096, dtype=torch.bfloat16), random(4096, dtype=torch.bfloat16)
    target, values = torch.zeros(65536, 128, device="cuda"), random(262144, 128)
    index = torch.randint(0, 65536, (262144, 1), device="cuda").expand(-1, 128)
    signal = torch.complex(random(256, 65536), random(256, 65536))
    keys, large, other = random(1 << 22), random(1 << 26), random(1 << 26)
    return {
        "gemm_bf16": lambda: torch.mm(half, half),
        "gemm_fp32": lambda: torch.mm(single, single),
        "attention": lambda: functional.scaled_dot_product_attention(heads, heads, heads, is_causal=True),
        "conv_1x1": lambda: functional.conv2d(image, weight),
        "layernorm": lambda: functional.layer_norm(rows, (4096,), gain),
        "scatter": lambda: target.scatter_add_(0, index, values),
        "fft": lambda: torch.fft.fft(signal),
        "sort": lambda: torch.sort(keys),
        "copy": lambda: other.copy_(large),
        "addcmul": lambda: torch.addcmul(large, large, other, value=0.5),
    }


def set_d():
    double = random(1536, 1536, dtype=torch.float64)
    batch = random(256, 384, 384, dtype=torch.float16)
    logits = random(8192, 16384, dtype=torch.float16)
    planes = random(32, 128, 64, 64)
    norm = torch.nn.GroupNorm(32, 128).cuda()
    table, tokens = random(100000, 512, dtype=torch.float16), torch.randint(0, 100000, (65536,), device="cuda")
    series, wide = random(1 << 25), random(1024, 65536)
    square = random(8192, 8192)
    pinned = torch.randn(1 << 23).pin_memory()
    there = torch.empty(1 << 23, device="cuda")
    return {
        "gemm_fp64": lambda: torch.mm(double, double),
        "bmm_fp16": lambda: torch.bmm(batch, batch),
        "softmax": lambda: torch.softmax(logits, -1),
        "groupnorm": lambda: norm(planes),
        "gather": lambda: functional.embedding(tokens, table),
        "cumsum": lambda: torch.cumsum(series, 0),
        "topk": lambda: torch.topk(wide, 32),
        "transpose": lambda: square.t().contiguous(),
        "amax": lambda: series.amax(),
        "h2d": lambda: there.copy_(pinned, non_blocking=True),
    }


def set_e():
    torch.backends.cuda.matmul.allow_tf32 = True
    bytes_ = torch.randint(-128, 128, (4096, 4096), device="cuda", dtype=torch.int8)
    single = random(3072, 3072)
    image = random(16, 128, 56, 56, dtype=torch.bfloat16).to(memory_format=torch.channels_last)
    weight = random(256, 128, 3, 3, dtype=torch.bfloat16).to(memory_format=torch.channels_last)
    query, cached = random(64, 32, 1, 128, dtype=torch.float16), random(64, 32, 2048, 128, dtype=torch.float16)
    planes = random(64, 64, 112, 112)
    gain, mean, variance = random(64), torch.zeros(64, device="cuda"), torch.ones(64, device="cuda")
    dense = random(65536, 512)
    sparse = torch.sparse_csr_tensor(
        torch.arange(0, 65537 * 16, 16, device="cuda"),
        torch.randint(0, 65536, (65536, 16), device="cuda").sort(1).values.reshape(-1),
        random(65536 * 16),
        (65536, 65536),
    )
    series, table = random(1 << 25), random(16384, 8192, dtype=torch.bfloat16)
    cleared = random(1 << 26)
    return {
        "gemm_int8": lambda: torch._int_mm(bytes_, bytes_),
        "gemm_tf32": lambda: torch.mm(single, single),
        "conv_3x3": lambda: functional.conv2d(image, weight, padding=1),
        "decode": lambda: functional.scaled_dot_product_attention(query, cached, cached),
        "batchnorm": lambda: functional.batch_norm(planes, mean, variance, gain, training=True),
        "spmm": lambda: torch.sparse.mm(sparse, dense),
        "lgamma": lambda: torch.lgamma(series),
        "rowsum": lambda: table.sum(-1),
        "maxpool": lambda: functional.max_pool2d(planes, 3, 2, 1),
        "memset": lambda: cleared.zero_(),
    }


def set_f():
    image = random(32, 256, 56, 56, dtype=torch.float16).to(memory_format=torch.channels_last)
    each = random(256, 1, 3, 3, dtype=torch.float16).to(memory_format=torch.channels_last)
    small = random(32, 128, 28, 28, dtype=torch.bfloat16).to(memory_format=torch.channels_last)
    upward = random(128, 128, 4, 4, dtype=torch.bfloat16).to(memory_format=torch.channels_last)
    eighth, one = random(4096, 4096).to(torch.float8_e4m3fn), torch.ones((), device="cuda")
    rows, gain = random(32768, 4096, dtype=torch.bfloat16), random(4096, dtype=torch.bfloat16)
    planes = random(8, 64, 112, 112)
    table, bags = random(200000, 256), torch.randint(0, 200000, (16384, 32), device="cuda")
    field, points = random(256, 512, 512), random(4096, 64)
    logits, labels = random(8192, 32000, dtype=torch.bfloat16), torch.randint(0, 32000, (8192,), device="cuda")
    wide, weights, chosen = random(4096, 8192), torch.rand(8192, device="cuda"), random(64, 1024, 1024)
    return {
        "conv_each": lambda: functional.conv2d(image, each, padding=1, groups=256),
        "conv_up": lambda: functional.conv_transpose2d(small, upward, stride=2, padding=1),
        "gemm_fp8": lambda: torch._scaled_mm(eighth, eighth.t(), scale_a=one, scale_b=one, out_dtype=torch.bfloat16),
        "rmsnorm": lambda: functional.rms_norm(rows, (4096,), gain),
        "im2col": lambda: functional.unfold(planes, 3, padding=1),
        "bag": lambda: functional.embedding_bag(bags, table, mode="sum"),
        "rfft": lambda: torch.fft.rfft2(field),
        "distance": lambda: torch.cdist(points, points, p=1),
        "loss": lambda: functional.cross_entropy(logits, labels),
        "cummax": lambda: torch.cummax(wide, 1),
        "lower": lambda: torch.tril(chosen),
        "lerp": lambda: torch.lerp(wide, weights.expand_as(wide), 0.25),
    }


def set_g():
    tall, square = random(16384, 1024, dtype=torch.bfloat16), random(1024, 1024, dtype=torch.bfloat16)
    heads = random(2, 16, 4096, 64, dtype=torch.bfloat16)
    rows, other = random(16384, 4096, dtype=torch.bfloat16), random(16384, 4096, dtype=torch.bfloat16)
    logits = random(4096, 16384)
    target, values, index = torch.zeros(40000, 128, device="cuda"), random(200000, 128), torch.randint(0, 40000, (200000,), device="cuda")
    planes = random(64, 64, 112, 112)
    mask, first, second = random(1 << 25) > 0, random(1 << 25), random(1 << 25)
    spectrum = torch.complex(random(512, 32769), random(512, 32769))
    return {
        "gemm_tall": lambda: torch.mm(tall, square),
        "attention": lambda: functional.scaled_dot_product_attention(heads, heads, heads),
        "silu": lambda: functional.silu(rows),
        "log_softmax": lambda: torch.log_softmax(logits, -1),
        "index_add": lambda: target.index_add_(0, index, values),
        "avgpool": lambda: functional.avg_pool2d(planes, 3, 2, 1),
        "where": lambda: torch.where(mask, first, second),
        "cat": lambda: torch.cat([rows, other], 1),
        "irfft": lambda: torch.fft.irfft(spectrum),
        "erfinv": lambda: torch.erfinv(first),
    }


SETS = {"C": set_c, "D": set_d, "E": set_e, "F": set_f, "G": set_g}


def seconds_of(operation, count=40):
    first, last = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
    first.record()
    for _ in range(count):
        operation()
    last.record()
    torch.cuda.synchronize()
    return first.elapsed_time(last) / count / 1e3


class Meter:
    def __init__(self):
        self.nvml = ctypes.CDLL("libnvidia-ml.so.1")
        self.nvml.nvmlInit_v2()
        self.device = ctypes.c_void_p()
        uuid = str(torch.cuda.get_device_properties(0).uuid)
        uuid = uuid if uuid.startswith("GPU-") else "GPU-" + uuid
        if self.nvml.nvmlDeviceGetHandleByUUID(uuid.encode(), ctypes.byref(self.device)):
            sys.exit("NVML does not know the GPU " + uuid)

    def joules(self):
        value = ctypes.c_ulonglong()
        if self.nvml.nvmlDeviceGetTotalEnergyConsumption(self.device, ctypes.byref(value)):
            sys.exit("this GPU has no counter of energy")
        return value.value / 1e3

    def clock_mhz(self):
        value = ctypes.c_uint()
        self.nvml.nvmlDeviceGetClockInfo(self.device, 1, ctypes.byref(value))
        return value.value

    def at_update(self):
        before = self.joules()
        while (now := self.joules()) == before:
            pass
        return now, time.perf_counter()


def run_loop(operations, repeated=None, times=0):
    for _ in range(ROUNDS):
        for name, operation in operations.items():
            for _ in range(1 + (times if name == repeated else 0)):
                operation()
    torch.cuda.synchronize()


def window(meter, work):
    """Returns joules and seconds of one call of `work`, and the mean clock."""
    warm_until = time.perf_counter() + WARM_S
    while time.perf_counter() < warm_until:
        work()
    first_j, first_s = meter.at_update()
    begin_s, calls, clocks = time.perf_counter(), 0, []
    while time.perf_counter() - begin_s < WINDOW_S:
        work()
        calls += 1
        clocks.append(meter.clock_mhz())
    busy_s = time.perf_counter() - begin_s
    last_j, last_s = meter.at_update()
    joules = last_j - first_j - IDLE_W * (last_s - first_s - busy_s)
    return joules / calls / ROUNDS, busy_s / calls / ROUNDS, sum(clocks) / len(clocks)


def truth(operations, path):
    meter = Meter()
    alone_s = {name: seconds_of(operation) for name, operation in operations.items()}
    loop_j, loop_s, loop_mhz = window(meter, lambda: run_loop(operations))
    out = {"loop": {"J": loop_j, "s": loop_s, "mhz": loop_mhz}, "ops": {}, "sum": 0.0}
    print(f"loop {1e3 * loop_s:.3f} ms {loop_j:.4f} J {loop_j / loop_s:.0f} W {loop_mhz:.0f} MHz", flush=True)
    for name in operations:
        times = min(60, max(1, round(0.5 * loop_s / alone_s[name])))
        joules, seconds, mhz = window(meter, lambda n=name, m=times: run_loop(operations, n, m))
        watts = (joules - loop_j) / (seconds - loop_s)
        out["ops"][name] = {"count": 1, "watts": watts, "ms": 1e3 * (seconds - loop_s) / times, "mhz": mhz, "m": times}
        out["sum"] += (joules - loop_j) / times
        print(f"{name:10} x{times:3} {watts:6.1f} W {1e3 * (seconds - loop_s) / times:.4f} ms {mhz:.0f} MHz", flush=True)
    with open(path, "w", encoding="utf-8") as file:
        json.dump(out, file, indent=1)


def loop(operations, seconds):
    until, iterations = time.perf_counter() + seconds, 0
    while time.perf_counter() < until:
        run_loop(operations)
        iterations += ROUNDS
    print("ended well", iterations > 0)


def main():
    if len(sys.argv) != 4 or sys.argv[1] not in ("truth", "loop") or sys.argv[2] not in SETS:
        sys.exit(__doc__)
    torch.manual_seed(0)
    operations = SETS[sys.argv[2]]()
    for operation in operations.values():
        operation()
        operation()
    torch.cuda.synchronize()
    if sys.argv[1] == "truth":
        truth(operations, sys.argv[3])
    else:
        loop(operations, float(sys.argv[3]))


if __name__ == "__main__":
    main()
