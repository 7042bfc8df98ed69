#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The workload decode (lab/README.md) as PyTorch programs, for comparison with kwhy-lab's decoder.

graph     a static cache; the step of a token in one CUDA graph and the prompts in another; PyTorch's own operations
compile   the same, compiled by torch.compile before the graphs are captured
autotune  the same with mode="max-autotune-no-cudagraphs", which takes minutes to compile

All compilation is done first, by one process for each batch size, all of them at the same time. The measured process
then finds the results in torch's cache.

The shape is that of kwhy-lab's decoder; weights are random with the same spread, in bf16. All programs read a prompt
and decode greedily, and no token is copied to the host. The logits of the first step are compared with the same model
in fp32.

    decode_torch.py [--peers graph,compile] [--batches 1,8,64,256] [--shape opt-125m] [--seconds 2] [--compiled] [-o FILE]

Energy comes from kwhy's Python package if it is found (PYTHONPATH, KWHY_LIBRARY).
"""

import argparse
import json
import statistics
import subprocess
import sys
import time

SHAPES = {"opt-125m": (12, 768, 12, 3072, 50272), "opt-1.3b": (24, 2048, 32, 8192, 50272)}


class Model:
    """Weights, caches of `batch` sequences, and one step in PyTorch's own operations."""

    def __init__(self, torch, shape, batch, room, dtype, seed=7):
        layers, width, heads, inner, vocabulary = shape
        self.torch, self.heads, self.batch, self.room, self.width = torch, heads, batch, room, width
        maker = torch.Generator(device="cuda").manual_seed(seed)

        def uniform(rows, columns, bound):
            numbers = torch.rand(rows, columns, generator=maker, device="cuda") * 2 - 1
            return (numbers * bound).to(dtype)

        def matrix(rows, columns):
            return uniform(rows, columns, (3 / columns) ** 0.5), uniform(1, rows, 0.1)[0]

        self.words = uniform(vocabulary, width, 2 * (3 / width) ** 0.5)
        self.places = uniform(room, width, 0.05)
        self.layers = [
            matrix(3 * width, width) + matrix(width, width) + matrix(inner, width) + matrix(width, inner)
            for _ in range(layers)
        ]
        # one tensor for each layer: if all layers were in one tensor, the code of torch.compile would copy
        # it whole whenever one layer's part changes
        cache = (batch, heads, room, 64)
        self.keys = [torch.zeros(cache, dtype=dtype, device="cuda") for _ in range(layers)]
        self.values = [torch.zeros(cache, dtype=dtype, device="cuda") for _ in range(layers)]
        self.at = torch.zeros(1, dtype=torch.int64, device="cuda")
        self.token = torch.zeros(batch, dtype=torch.int64, device="cuda")
        self.every = torch.arange(room, device="cuda")

    def layer(self, x, weights, attend):
        norm = self.torch.nn.functional.layer_norm
        linear = self.torch.nn.functional.linear
        w_state, b_state, w_out, b_out, w_wide, b_wide, w_narrow, b_narrow = weights
        state = linear(norm(x, (self.width,)), w_state, b_state)
        x = x + linear(attend(*state.chunk(3, -1)), w_out, b_out)
        inner = self.torch.relu(linear(norm(x, (self.width,)), w_wide, b_wide))
        return x + linear(inner, w_narrow, b_narrow)

    def last(self, x):
        return self.torch.nn.functional.linear(self.torch.nn.functional.layer_norm(x, (self.width,)), self.words)

    def formulas(self, token, at, keys, values):
        """Processes one token of every sequence, at position `at`. Returns the logits."""
        attention = self.torch.nn.functional.scaled_dot_product_attention
        x = self.words[token] + self.places[at]
        mask = (self.every <= at).view(1, 1, 1, self.room)
        for i, weights in enumerate(self.layers):

            def attend(query, key, value, i=i):
                shape = (self.batch, self.heads, 1, 64)
                keys[i].index_copy_(2, at, key.view(shape))
                values[i].index_copy_(2, at, value.view(shape))
                mixed = attention(query.view(shape), keys[i], values[i], attn_mask=mask)
                return mixed.reshape(self.batch, self.width)

            x = self.layer(x, weights, attend)
        return self.last(x)

    def read(self, prompt, keys, values):
        """Processes the prompts of all concurrent sequences. Returns the logits after them."""
        count = prompt.shape[1]
        x = self.words[prompt] + self.places[:count]
        for i, weights in enumerate(self.layers):

            def attend(query, key, value, i=i):
                shape = (self.batch, count, self.heads, 64)
                query, key, value = (part.reshape(shape).transpose(1, 2) for part in (query, key, value))
                keys[i][:, :, :count] = key
                values[i][:, :, :count] = value
                attention = self.torch.nn.functional.scaled_dot_product_attention
                mixed = attention(query, key, value, is_causal=True)
                return mixed.transpose(1, 2).reshape(self.batch, count, self.width)

            x = self.layer(x, weights, attend)
        return self.last(x[:, -1])


class Peer:
    """A model whose step is one CUDA graph, and whose reading of the prompts is another."""

    def __init__(self, torch, model, mode, prompt):
        self.torch, self.model, self.prompt = torch, model, prompt
        self.math, self.reading = model.formulas, model.read
        if mode:
            options = {"mode": None if mode == "default" else mode, "dynamic": False}
            self.math, self.reading = (torch.compile(f, **options) for f in (self.math, self.reading))
        self.prompt_graph = self.record(self.read_all)
        self.graph = self.record(self.step)

    def record(self, work):
        torch = self.torch
        side = torch.cuda.Stream()
        side.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(side):
            for _ in range(3):
                work()
        torch.cuda.current_stream().wait_stream(side)
        torch.cuda.synchronize()
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            work()
        return graph

    def read_all(self):
        self.first = self.reading(self.prompt, self.model.keys, self.model.values).argmax(-1)

    def read(self):
        self.prompt_graph.replay()
        self.torch.cuda.synchronize()

    def step(self):
        model = self.model
        self.logits = self.math(model.token, model.at, model.keys, model.values)
        model.token.copy_(self.logits.argmax(-1))
        model.at.add_(1)

    def write(self, first, start, count):
        self.model.token.copy_(first)
        self.model.at.fill_(start)
        for _ in range(count):
            self.graph.replay()
        self.torch.cuda.synchronize()

    def token_times(self, first, start, count):
        self.model.token.copy_(first)
        self.model.at.fill_(start)
        events = [self.torch.cuda.Event(enable_timing=True) for _ in range(count + 1)]
        events[0].record()
        for event in events[1:]:
            self.graph.replay()
            event.record()
        self.torch.cuda.synchronize()
        return sorted(a.elapsed_time(b) * 1e-3 for a, b in zip(events, events[1:]))


def session():
    try:
        import kwhy

        return kwhy.Session(counter_period_s=0.1, host=False)
    except Exception as problem:  # the package or its library cannot be loaded, for any reason
        print("energy is not available: %s" % problem, file=sys.stderr)
        return None


def error_of(torch, shape, batch, prompt, room, peer, first):
    """Returns the error of the first step's logits against fp32: root mean square of the differences, divided by that of
    the logits."""
    exact = Model(torch, shape, batch, room, torch.float32)
    exact.read(prompt, exact.keys, exact.values)
    start = prompt.shape[1]
    exact.at.fill_(start)
    expected = exact.formulas(first, exact.at, exact.keys, exact.values)
    peer.write(first, start, 1)
    found = peer.logits.float()
    return float(((found - expected).square().mean() / expected.square().mean()).sqrt())


def repeat_for(seconds, run):
    count, end = 0, time.monotonic() + seconds
    while time.monotonic() < end:
        run()
        count += 1
    return count


def make_peer(torch, name, batch, options):
    modes = {"graph": None, "compile": "default", "autotune": "max-autotune-no-cudagraphs"}
    shape = SHAPES[options.shape]
    model = Model(torch, shape, batch, options.prompt + options.tokens, torch.bfloat16)
    prompt = torch.randint(0, shape[4], (batch, options.prompt), device="cuda")
    return Peer(torch, model, modes[name], prompt)


def compile_all(options):
    """Compiles the kernels of all batch sizes into torch's cache, by one process for each batch size."""
    peers = ",".join(name for name in options.peers.split(",") if name != "graph")
    if not peers or options.compile_only or options.compiled:
        return
    command = [sys.executable, __file__, "--peers", peers, "--shape", options.shape, "--prompt", str(options.prompt)]
    command += ["--tokens", str(options.tokens), "--compile-only"]
    all_ = [subprocess.Popen(command + ["--batches", batch]) for batch in options.batches.split(",")]
    for one in all_:
        one.wait()


def measure(torch, name, shape, batch, options, meters):
    room = options.prompt + options.tokens
    started = time.monotonic()
    peer = make_peer(torch, name, batch, options)
    row = {"peer": name, "batch": batch, "prepare_s": time.monotonic() - started}
    read, prompt = peer.read, peer.prompt
    if options.compile_only:
        return row
    read()
    first = peer.first.clone()
    if batch <= 64:
        row["error"] = error_of(torch, shape, batch, prompt, room, peer, first)
    read()

    def write():
        peer.write(first, options.prompt, options.tokens)

    for phase, run, tokens in (("reading", read, options.prompt), ("writing", write, options.tokens)):
        times = []
        run()
        for _ in range(options.repeat):
            start = time.perf_counter()
            run()
            times.append(time.perf_counter() - start)
        row[phase] = {"tokens_a_run": tokens * batch, "run_s": statistics.median(times)}
        row[phase]["tokens_per_s"] = tokens * batch / row[phase]["run_s"]
        if meters and options.seconds > 0:
            with meters.measure("%s b%d %s" % (name, batch, phase)):
                row[phase]["energy_runs"] = repeat_for(options.seconds, run)
    times = peer.token_times(first, options.prompt, options.tokens)
    row["token_s"], row["token_p95_s"] = statistics.median(times), times[len(times) * 95 // 100]
    return row


def add_energy(rows, meters):
    regions = {region.get("name"): region for region in meters.results().as_dict().get("regions", [])}
    for row in rows:
        for phase in ("reading", "writing"):
            if phase in row:
                row[phase]["energy"] = regions.get("%s b%d %s" % (row["peer"], row["batch"], phase))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--peers", default="graph,compile")
    parser.add_argument("--batches", default="1,8,64,256")
    parser.add_argument("--shape", default="opt-125m", choices=SHAPES)
    parser.add_argument("--prompt", type=int, default=128)
    parser.add_argument("--tokens", type=int, default=128)
    parser.add_argument("--repeat", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=2)
    parser.add_argument("--compile-only", action="store_true")
    parser.add_argument("--compiled", action="store_true", help="they are in torch's cache: no processes that compile")
    parser.add_argument("-o", "--output")
    options = parser.parse_args()
    started = time.monotonic()
    compile_all(options)
    compiled_s = time.monotonic() - started
    import torch

    torch.zeros(1, device="cuda")
    torch.backends.cuda.matmul.allow_tf32 = False
    meters = None if options.compile_only else session()
    if meters and options.seconds > 0:
        meters.measure_idle(2)
    rows = []
    with torch.inference_mode():
        for batch in map(int, options.batches.split(",")):
            for name in options.peers.split(","):
                try:
                    rows.append(measure(torch, name, SHAPES[options.shape], batch, options, meters))
                except Exception as problem:  # other peers must run even if this one fails
                    rows.append({"peer": name, "batch": batch, "missing": repr(problem)[:400]})
                torch._dynamo.reset()
                torch.cuda.empty_cache()
                print(json.dumps(rows[-1]), flush=True)
                write_report(torch, options, rows, meters, compiled_s)
    return 0


def write_report(torch, options, rows, meters, compiled_s):
    """Writes the report after each row, so that earlier rows are kept if a later one is cut off."""
    if meters and options.seconds > 0:
        add_energy(rows, meters)
    report = {"torch": torch.__version__, "device": torch.cuda.get_device_name(0), "shape": options.shape,
              "prompt": options.prompt, "tokens": options.tokens, "compile_s": compiled_s, "peers": rows}
    if options.output:
        with open(options.output, "w") as file:
            json.dump(report, file, indent=1)


if __name__ == "__main__":
    sys.exit(main())
