#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Typical programs, each before and after one change: changed.py NAME before|after, or changed.py --list.

A line of the list has a name and the options of `kwhy whatif` that project the change; a line without options has a
change that no option projects. Every program imports all that it needs before its first work on the device, prepares,
runs a few steps, and then runs the measured steps, each in an NVTX range "step". It prints the seconds of the measured
steps.
"""
import contextlib
import functools
import sys
import time

CHANGES = {
    "graph": "--graph",
    "foreach": "--fuse",
    "fused": "--fuse",
    "pinned": "--pinned",
    "pinned_blocking": "--pinned",
    "items": "--join-waits --event-waits",
    "cache": "--pool",
    "tf32": "--tensor-cores",
    "autocast": "--tensor-cores",
    "overlap": "--overlap-copies 2",
    "waits": "--event-waits --drop-waits",
    "workers": "--prefetch",
    "batch": "--bigger-batch 2",
    "compile": "",
    "compile_graphs": "",
    "jax_jit": "",
    "static_cache": "",
    "channels_last": "",
    "attention": "",
    "accumulate": "",
    "zero_grad": "",
}


def model_of(torch, width, layers, dtype=None):
    parts = []
    for _ in range(layers):
        parts += [torch.nn.Linear(width, width), torch.nn.GELU(), torch.nn.LayerNorm(width)]
    return torch.nn.Sequential(*parts).cuda().to(dtype or torch.float32)


def training(torch, after, name):
    """A perceptron with AdamW, whose data is on the device. `name` selects what the change is."""
    later = after and name
    width, layers, rows = {"batch": (2048, 8, 512), "tf32": (2048, 8, 2048), "autocast": (2048, 8, 2048)}.get(name, (512, 12, 256))
    if later == "tf32":
        torch.backends.cuda.matmul.allow_tf32 = True
    if later == "batch":
        rows *= 2
    model = model_of(torch, width, layers)
    forms = {"foreach": {"foreach": after}, "fused": {"fused": True} if after else {"foreach": True}, "zero_grad": {"fused": True}}
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4, capturable=name == "graph", **forms.get(name, {"fused": True}))
    data, target = torch.randn(rows, width, device="cuda"), torch.randn(rows, width, device="cuda")
    modes = {"compile": "default", "compile_graphs": "reduce-overhead"}
    call = torch.compile(model, mode=modes[later]) if later in modes else model
    every = 4 if later == "accumulate" else 1

    def step(number):
        with torch.autocast("cuda", torch.bfloat16, enabled=later == "autocast"):
            loss = torch.nn.functional.mse_loss(call(data), target)
        loss.backward()
        if number % every == every - 1:
            optimizer.step()
            optimizer.zero_grad(set_to_none=name != "zero_grad" or after)
        if name == "items" and (not after or number % 50 == 49):
            loss.item()
        if name == "cache" and not after:
            torch.cuda.empty_cache()
        if name == "waits" and not after:
            torch.cuda.synchronize()

    return step if later != "graph" else graph_of(torch, step)


def graph_of(torch, step):
    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        for number in range(3):
            step(number)
    torch.cuda.current_stream().wait_stream(side)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        step(0)
    return lambda number: graph.replay()


def loading(torch, after, name):
    """Batches come from the host: from a data set that prepares them, or from a list."""
    rows, width = 512, 4096
    model = model_of(torch, width, 4, torch.float16)
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-4)

    class Prepared(torch.utils.data.Dataset):
        def __len__(self):
            return 1 << 20

        def __getitem__(self, index):
            return torch.sin(torch.arange(rows * width // 8, dtype=torch.float32) + index).half().repeat(8).reshape(rows, width)

    if name == "workers":
        loader = iter(torch.utils.data.DataLoader(Prepared(), batch_size=None, num_workers=4 if after else 0, pin_memory=True))
    else:
        batches = [torch.randn(rows * 4, width, dtype=torch.float16) for _ in range(4)]
        if after or name == "overlap":
            batches = [batch.pin_memory() for batch in batches]
    side, ready = torch.cuda.Stream(), {}

    def fetch(number):
        if name == "workers":
            return next(loader).cuda(non_blocking=True)
        return batches[number % 4].to("cuda", non_blocking=name == "overlap" or (after and name == "pinned"))

    def fetch_ahead(number):
        with torch.cuda.stream(side):
            ready[number] = fetch(number)

    def step(number):
        if name == "overlap" and after:
            if number not in ready:
                fetch_ahead(number)
            torch.cuda.current_stream().wait_stream(side)
            data = ready.pop(number)
            data.record_stream(torch.cuda.current_stream())
            fetch_ahead(number + 1)
        else:
            data = fetch(number)
        loss = model(data).float().square().mean()
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()

    return step


def convolving(torch, after, name):
    layout = torch.channels_last if after else torch.contiguous_format
    parts = [torch.nn.Conv2d(3, 128, 3, padding=1)]
    for _ in range(8):
        parts += [torch.nn.BatchNorm2d(128), torch.nn.ReLU(), torch.nn.Conv2d(128, 128, 3, padding=1)]
    model = torch.nn.Sequential(*parts).cuda().half().to(memory_format=layout)
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-4)
    image = torch.randn(32, 3, 64, 64, device="cuda", dtype=torch.float16).to(memory_format=layout)

    def step(number):
        model(image).float().square().mean().backward()
        optimizer.step()
        optimizer.zero_grad()

    return step


def attending(torch, after, name):
    from torch.nn import functional
    heads = torch.randn(8, 16, 1024, 64, device="cuda", dtype=torch.float16)
    keys = torch.randn(8, 16, 0 if name == "static_cache" and not after else 1024, 64, device="cuda", dtype=torch.float16)
    state = {"keys": keys, "at": 0}

    def whole(number):
        if after:
            return functional.scaled_dot_product_attention(heads, heads, heads)
        weights = torch.softmax(heads @ heads.transpose(-1, -2) / 8, -1)
        return weights @ heads

    def token(number):
        one = heads[:, :, :1]
        if after:
            state["keys"][:, :, state["at"] % 1024] = one[:, :, 0]
            state["at"] += 1
            keys = state["keys"]
        else:
            keys = state["keys"] = torch.cat([state["keys"][:, :, -1023:], one], 2)
        return functional.scaled_dot_product_attention(one, keys, keys)

    return token if name == "static_cache" else whole


def jax_steps(after):
    import jax
    import jax.numpy as jnp
    weights = [jax.random.normal(jax.random.PRNGKey(i), (512, 512)) * 0.04 for i in range(6)]
    data = jax.random.normal(jax.random.PRNGKey(9), (256, 512))

    def loss(weights, data):
        for weight in weights:
            data = jnp.tanh(data @ weight) + 0.1 * data
        return (data**2).mean()

    def update(weights, data):
        return [weight - 1e-3 * slope for weight, slope in zip(weights, jax.grad(loss)(weights, data))]

    call, state = jax.jit(update) if after else update, [weights]

    def step(number):
        state[0] = call(state[0], data)

    return step, lambda: jax.block_until_ready(state[0])


STEPS = {"workers": 100, "attention": 400, "channels_last": 250, "static_cache": 300, "jax_jit": 60, "foreach": 250, "cache": 250, "tf32": 200, "autocast": 200}


def main():
    if sys.argv[1:] == ["--list"]:
        print("\n".join(f"{name} {options}".rstrip() for name, options in CHANGES.items()))
        return
    if len(sys.argv) != 3 or sys.argv[1] not in CHANGES or sys.argv[2] not in ("before", "after"):
        sys.exit(__doc__)
    name, after = sys.argv[1], sys.argv[2] == "after"
    if name == "jax_jit":
        step, wait = jax_steps(after)
        mark = contextlib.nullcontext
    else:
        import torch
        import torch._dynamo  # otherwise the first step of an optimiser imports it, which takes seconds in the middle of the run
        torch.manual_seed(0)
        makers = {"workers": loading, "pinned": loading, "pinned_blocking": loading, "overlap": loading, "channels_last": convolving}
        makers |= {"attention": attending, "static_cache": attending}
        step, wait = makers.get(name, training)(torch, after, name), torch.cuda.synchronize
        mark = functools.partial(torch.cuda.nvtx.range, "step")
    count = STEPS.get(name, 400) // (2 if name == "batch" and after else 1)
    for number in range(5):
        step(number)
    wait()
    start = time.perf_counter()
    for number in range(5, 5 + count):
        with mark():
            step(number)
    wait()
    print(f"{name} {sys.argv[2]} {count} steps {time.perf_counter() - start:.4f} s")


if __name__ == "__main__":
    main()
