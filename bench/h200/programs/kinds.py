#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Loops of library operations of one group and size, to be probed; they show what kernels of a kind draw.

kinds.py GROUP SIZE SECONDS

Groups are below. SIZE 0 has operations of some 10 us on an H200, 1 of some 80 us, 2 of some 600 us.
"""
import sys
import time

import torch
from torch.nn import functional

ROUNDS = 4  # rounds of the loop between two waits for the device


def random(*shape, dtype=torch.float32):
    return torch.randn(*shape, device="cuda", dtype=dtype)


def pick(size, *choices):
    return choices[size]


def products(size):
    operations = {}
    for name, dtype, n in (
        ("fp64", torch.float64, pick(size, 512, 1280, 2560)),
        ("fp32", torch.float32, pick(size, 512, 1280, 2560)),
        ("bf16", torch.bfloat16, pick(size, 1024, 2560, 6144)),
        ("fp16", torch.float16, pick(size, 768, 2304, 5120)),
    ):
        left, right, bias = random(n, n, dtype=dtype), random(n, n, dtype=dtype), random(n, dtype=dtype)
        operations[name + "_nn"] = lambda a=left, b=right: torch.mm(a, b)
        operations[name + "_tn"] = lambda a=left, b=right: torch.mm(a.t(), b)
        if name != "fp64":
            operations[name + "_linear"] = lambda a=left, b=right, c=bias: functional.linear(a, b, c)
    batch = random(pick(size, 16, 96, 512), 256, 256, dtype=torch.float16)
    operations["bmm_fp16"] = lambda: torch.bmm(batch, batch)
    thin, weight = random(8, 4096, dtype=torch.bfloat16), random(pick(size, 4096, 32768, 262144), 4096, dtype=torch.bfloat16)
    operations["thin_bf16"] = lambda: functional.linear(thin, weight)
    return operations


def tf32(size):
    torch.backends.cuda.matmul.allow_tf32 = True
    n = pick(size, 768, 2048, 4096)
    left, right, bias = random(n, n), random(n, n), random(n)
    eighths = [random(2 * n, 2 * n).to(torch.float8_e4m3fn) for _ in range(2)]
    one = torch.ones((), device="cuda")
    return {
        "nn": lambda: torch.mm(left, right),
        "tn": lambda: torch.mm(left.t(), right),
        "linear": lambda: functional.linear(left, right, bias),
        "fp8": lambda: torch._scaled_mm(eighths[0], eighths[1].t(), scale_a=one, scale_b=one, out_dtype=torch.bfloat16),
    }


def attention(size):
    from torch.nn.attention import SDPBackend, sdpa_kernel

    operations = {}
    for dtype in (torch.bfloat16, torch.float16):
        for backend in (SDPBackend.FLASH_ATTENTION, SDPBackend.EFFICIENT_ATTENTION, SDPBackend.CUDNN_ATTENTION):
            shape = (pick(size, 1, 4, 8), pick(size, 8, 16, 32), pick(size, 512, 1024, 2048), 64 if dtype == torch.float16 else 128)
            heads = random(*shape, dtype=dtype).requires_grad_()

            def step(heads=heads, backend=backend):
                with sdpa_kernel([backend]):
                    out = functional.scaled_dot_product_attention(heads, heads, heads, is_causal=True)
                torch.autograd.grad(out, heads, out)

            operations[f"{dtype}_{backend}"] = step
    return operations


def convolution(size):
    operations = {}
    count = pick(size, 2, 16, 64)
    for name, dtype, layout in (
        ("fp32", torch.float32, torch.contiguous_format),
        ("fp16", torch.float16, torch.channels_last),
        ("bf16", torch.bfloat16, torch.channels_last),
    ):
        for kernel, channels, side in ((3, 128, 28), (1, 256, 28), (7, 32, 56)):
            image = random(count, channels, side, side, dtype=dtype).to(memory_format=layout).requires_grad_()
            weight = random(channels, channels, kernel, kernel, dtype=dtype).to(memory_format=layout).requires_grad_()

            def step(image=image, weight=weight, kernel=kernel):
                out = functional.conv2d(image, weight, padding=kernel // 2)
                torch.autograd.grad(out, (image, weight), out)

            operations[f"{name}_{kernel}"] = step
    return operations


def norms(size):
    rows = pick(size, 512, 8192, 65536)
    operations = {}
    for dtype in (torch.float32, torch.bfloat16):
        values, gain = random(rows, 2048, dtype=dtype).requires_grad_(), random(2048, dtype=dtype).requires_grad_()
        planes = random(pick(size, 4, 32, 128), 64, 56, 56, dtype=dtype).requires_grad_()
        plane_gain, group = random(64, dtype=dtype).requires_grad_(), torch.nn.GroupNorm(16, 64).to("cuda", dtype)

        def layer(values=values, gain=gain):
            out = functional.layer_norm(values, (2048,), gain)
            torch.autograd.grad(out, (values, gain), out)

        def batch(planes=planes, gain=plane_gain):
            out = functional.batch_norm(planes, None, None, gain, gain, training=True)
            torch.autograd.grad(out, (planes, gain), out)

        def soft(values=values):
            out = torch.softmax(values, -1)
            torch.autograd.grad(out, values, out)

        def loss(values=values):
            out = functional.cross_entropy(values.float(), values[:, 0].long() % 2048 * 0)
            torch.autograd.grad(out, values)

        operations |= {f"layer_{dtype}": layer, f"batch_{dtype}": batch, f"soft_{dtype}": soft, f"loss_{dtype}": loss,
                       f"group_{dtype}": lambda g=group, p=planes: g(p.detach())}
    return operations


def elementwise(size):
    count = pick(size, 1 << 21, 1 << 24, 1 << 27)
    operations = {}
    for dtype in (torch.float32, torch.bfloat16):
        left, right = random(count, dtype=dtype), random(count, dtype=dtype)
        operations |= {
            f"add_{dtype}": lambda a=left, b=right: a + b,
            f"mul_{dtype}": lambda a=left: a * 1.5,
            f"gelu_{dtype}": lambda a=left: functional.gelu(a),
            f"exp_{dtype}": lambda a=left: torch.exp(a),
            f"tanh_{dtype}": lambda a=left: torch.tanh(a),
            f"where_{dtype}": lambda a=left, b=right: torch.where(a > 0, a, b),
            f"addcmul_{dtype}": lambda a=left, b=right: torch.addcmul(a, a, b),
            f"copy_{dtype}": lambda a=left, b=right: a.copy_(b),
            f"cast_{dtype}": lambda a=left: a.to(torch.float16),
            f"fill_{dtype}": lambda a=right: a.fill_(1.5),
        }
    wide = random(count // 4096, 4096)
    operations["transpose"] = lambda: wide.t().contiguous()
    operations["cat"] = lambda: torch.cat((wide, wide))
    operations["dropout"] = lambda: functional.dropout(wide, 0.1)
    operations["rand"] = lambda: torch.rand_like(wide)
    return operations


def reductions(size):
    count = pick(size, 1 << 20, 1 << 23, 1 << 26)
    values, wide = random(count), random(count // 2048, 2048)
    half = wide.to(torch.bfloat16)
    return {
        "sum": lambda: values.sum(),
        "sum_rows": lambda: wide.sum(1),
        "sum_columns": lambda: wide.sum(0),
        "mean_half": lambda: half.mean(1),
        "amax": lambda: wide.amax(1),
        "argmax": lambda: wide.argmax(1),
        "norm": lambda: values.norm(),
        "cumsum": lambda: torch.cumsum(wide, 1),
        "scan": lambda: torch.cumsum(values, 0),
        "sort": lambda: torch.sort(values),
        "sort_rows": lambda: torch.sort(wide, 1),
        "topk": lambda: torch.topk(wide, 16),
    }


def indexing(size):
    rows = pick(size, 1 << 13, 1 << 16, 1 << 19)
    table, wide = random(rows, 256), random(rows, 256)
    half = table.to(torch.float16)
    index = torch.randint(0, rows, (rows,), device="cuda")
    spread = index[:, None].expand(-1, 256).contiguous()
    target = torch.zeros(rows, 256, device="cuda")
    weight = random(rows, 256).requires_grad_()
    signal = torch.complex(random(rows // 64, 4096), random(rows // 64, 4096))

    def embedding():
        out = functional.embedding(index, weight)
        torch.autograd.grad(out, weight, wide)

    return {
        "index": lambda: table[index],
        "select": lambda: torch.index_select(half, 0, index),
        "gather": lambda: torch.gather(table, 0, spread),
        "scatter": lambda: target.scatter_add_(0, spread, wide),
        "index_add": lambda: target.index_add_(0, index, wide),
        "embedding": embedding,
        "fft": lambda: torch.fft.fft(signal),
        "fft_columns": lambda: torch.fft.fft(signal, dim=0),
        "masked": lambda: wide.masked_fill(wide > 0, 0.0),
    }


def optimizers(size):
    shapes = pick(size, [(512, 512)] * 8, [(1024, 1024)] * 16, [(4096, 4096)] * 8)
    operations = {}
    for name, make in (
        ("adamw_foreach", lambda p: torch.optim.AdamW(p, foreach=True)),
        ("adamw_fused", lambda p: torch.optim.AdamW(p, fused=True)),
        ("sgd", lambda p: torch.optim.SGD(p, lr=1e-3, momentum=0.9)),
    ):
        parameters = [torch.nn.Parameter(random(*shape)) for shape in shapes]
        for parameter in parameters:
            parameter.grad = torch.randn_like(parameter)
        operations[name] = make(parameters).step
        operations[name + "_clip"] = lambda p=parameters: torch.nn.utils.clip_grad_norm_(p, 1.0)
    return operations


def serving(size):
    operations = {}
    batch, past = pick(size, 8, 32, 64), pick(size, 256, 1024, 4096)
    for dtype in (torch.bfloat16, torch.float16):
        query, cached = random(batch, 32, 1, 128, dtype=dtype), random(batch, 32, past, 128, dtype=dtype)
        few = random(batch, 8, past, 128, dtype=dtype)
        rows, gain = random(batch * 256, 4096, dtype=dtype), random(4096, dtype=dtype)
        operations |= {
            f"decode_{dtype}": lambda q=query, c=cached: functional.scaled_dot_product_attention(q, c, c),
            f"grouped_{dtype}": lambda q=query, c=few: functional.scaled_dot_product_attention(q, c, c, enable_gqa=True),
            f"rms_{dtype}": lambda r=rows, g=gain: functional.rms_norm(r, (4096,), g),
            f"silu_{dtype}": lambda r=rows: functional.silu(r) * r,
        }
    n = pick(size, 1024, 2560, 5120)
    whole = torch.randint(-128, 128, (n, n), device="cuda", dtype=torch.int8)
    operations["int8_nn"] = lambda: torch._int_mm(whole, whole)
    operations["int8_nt"] = lambda: torch._int_mm(whole, whole.t())
    return operations


def images(size):
    operations = {}
    for dtype, layout in ((torch.float32, torch.contiguous_format), (torch.float16, torch.channels_last)):
        planes = random(pick(size, 4, 16, 64), 64, 112, 112, dtype=dtype).to(memory_format=layout)
        gain, mean, variance = random(64, dtype=dtype), torch.zeros(64, device="cuda"), torch.ones(64, device="cuda")
        mean, variance = mean.to(dtype), variance.to(dtype)
        operations |= {
            f"max_pool_{dtype}": lambda p=planes: functional.max_pool2d(p, 3, 2, 1),
            f"mean_pool_{dtype}": lambda p=planes: functional.avg_pool2d(p, 2),
            f"larger_{dtype}": lambda p=planes: functional.interpolate(p, scale_factor=2, mode="bilinear"),
            f"smaller_{dtype}": lambda p=planes: functional.interpolate(p, scale_factor=0.5, mode="nearest"),
            f"padded_{dtype}": lambda p=planes: functional.pad(p, (1, 1, 1, 1), mode="reflect"),
            f"trained_norm_{dtype}": lambda p=planes, g=gain, m=mean, v=variance: functional.batch_norm(p, m, v, g, training=True),
            f"norm_{dtype}": lambda p=planes, g=gain, m=mean, v=variance: functional.batch_norm(p, m, v, g),
        }
    return operations


def functions(size):
    values, double = random(pick(size, 1 << 20, 1 << 23, 1 << 26)), random(pick(size, 1 << 18, 1 << 21, 1 << 24), dtype=torch.float64)
    rows = pick(size, 1 << 12, 1 << 14, 1 << 17)
    sparse = torch.sparse_csr_tensor(
        torch.arange(0, rows * 16 + 1, 16, device="cuda"),
        torch.randint(0, rows, (rows, 16), device="cuda").sort(1).values.reshape(-1),
        random(rows * 16),
        (rows, rows),
    )
    dense, vector = random(rows, 256), random(rows, 1)
    counted = torch.randint(0, 1024, (values.numel(),), device="cuda")
    return {
        "lgamma": lambda: torch.lgamma(values),
        "digamma": lambda: torch.digamma(values),
        "erfinv": lambda: torch.erfinv(values),
        "power": lambda: torch.pow(values, 1.5),
        "exp_fp64": lambda: torch.exp(double),
        "sin_fp64": lambda: torch.sin(double),
        "spmm": lambda: torch.sparse.mm(sparse, dense),
        "spmv": lambda: torch.sparse.mm(sparse, vector),
        "histogram": lambda: torch.histc(values, 256),
        "bincount": lambda: torch.bincount(counted, minlength=1024),
        "distances": lambda: torch.cdist(dense[:2048], dense[:2048], p=1),
    }


GROUPS = {
    function.__name__: function
    for function in (
        products, tf32, attention, convolution, norms, elementwise, reductions, indexing, optimizers, serving, images, functions
    )
}


def usable(operations):
    kept = {}
    for name, operation in operations.items():
        try:
            operation()
            torch.cuda.synchronize()
            kept[name] = operation
        except RuntimeError as error:
            print("left out", name, str(error).splitlines()[0][:80])
    return kept


def main():
    if len(sys.argv) != 4 or sys.argv[1] not in GROUPS or sys.argv[2] not in "012":
        sys.exit(__doc__ + " ".join(GROUPS))
    torch.manual_seed(0)
    operations = usable(GROUPS[sys.argv[1]](int(sys.argv[2])))
    until = time.perf_counter() + float(sys.argv[3])
    while time.perf_counter() < until:
        for _ in range(ROUNDS):
            for operation in operations.values():
                operation()
        torch.cuda.synchronize()
    print("ended well", len(operations))


if __name__ == "__main__":
    main()
