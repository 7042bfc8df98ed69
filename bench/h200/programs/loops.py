# SPDX-License-Identifier: Apache-2.0
"""Loops to measure. Each call makes a fixed amount of work and ends with a synchronisation.

decode    a decoder of OPT-125m's shape with random weights, batch 32, 64 tokens, one at a time: launch-bound
generate  the same shape from PyTorch's modules, with biases and scaled_dot_product_attention: fewer kernels, more host time for each
graph     one token of `generate` as a CUDA graph, 256 times
products  100 products of 8192^3 in bf16: compute-bound
train     five steps of an MLP of width 4096 with AdamW in mixed precision
mlp       20 steps like those of examples/h200-train: batches of 64 from pageable memory, the loss read back, two waits per step
transfer  a pinned batch of 256 MiB to the device, one kernel, and the result back, eight times: bound by copies
"""
import torch


def decoder():
    torch.manual_seed(1)
    width, heads, layers, batch, tokens = 768, 12, 12, 32, 64
    half = torch.float16

    def weight(rows, columns):
        return torch.randn(rows, columns, device="cuda", dtype=half) * 0.02

    blocks = [
        [weight(width, 3 * width), weight(width, width), weight(width, 4 * width), weight(4 * width, width)]
        for _ in range(layers)
    ]
    embedding = weight(50272, width)
    norm = torch.nn.LayerNorm(width, device="cuda", dtype=half)

    def step(token, cache):
        x = embedding[token]
        for i, block in enumerate(blocks):
            y = norm(x)
            q, k, v = (y @ block[0]).view(batch, 3, heads, 1, width // heads).unbind(1)
            if cache is not None:
                if cache[i] is not None:
                    k, v = torch.cat((cache[i][0], k), 2), torch.cat((cache[i][1], v), 2)
                cache[i] = (k, v)
            a = torch.softmax(q @ k.transpose(-1, -2) / 8, -1) @ v
            x = x + a.reshape(batch, width) @ block[1]
            x = x + torch.relu(norm(x) @ block[2]) @ block[3]
        return (x @ embedding.t()).argmax(-1)

    @torch.no_grad()
    def decode():
        cache = [None] * layers
        token = torch.zeros(batch, dtype=torch.long, device="cuda")
        for _ in range(tokens):
            token = step(token, cache)
            token.sum().item()
        torch.cuda.synchronize()

    return decode, torch.no_grad()(lambda token: step(token, None)), batch


def decode():
    return decoder()[0]


def generate():
    torch.manual_seed(1)
    nn = torch.nn
    width, heads, layers, batch, tokens, words = 768, 12, 12, 32, 64, 50272

    class Block(nn.Module):
        def __init__(self):
            super().__init__()
            self.before, self.between = nn.LayerNorm(width), nn.LayerNorm(width)
            self.query, self.key, self.value, self.out = (nn.Linear(width, width) for _ in range(4))
            self.up, self.down = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

        def forward(self, x, past):
            y = self.before(x)
            q, k, v = (part(y).view(batch, 1, heads, -1).transpose(1, 2) for part in (self.query, self.key, self.value))
            if past is not None:
                k, v = torch.cat((past[0], k), 2), torch.cat((past[1], v), 2)
            a = nn.functional.scaled_dot_product_attention(q, k, v)
            x = x + self.out(a.transpose(1, 2).reshape(batch, 1, width))
            return x + self.down(torch.relu(self.up(self.between(x)))), (k, v)

    class Decoder(nn.Module):
        def __init__(self):
            super().__init__()
            self.word, self.place = nn.Embedding(words, width), nn.Embedding(2048, width)
            self.blocks = nn.ModuleList(Block() for _ in range(layers))
            self.norm = nn.LayerNorm(width)

        def forward(self, token, place, cache):
            x = self.word(token) + self.place(place)
            for i, block in enumerate(self.blocks):
                x, cache[i] = block(x, cache[i])
            return (self.norm(x) @ self.word.weight.t()).argmax(-1)

    model = Decoder().cuda().half().eval()
    places = torch.arange(tokens, device="cuda").view(tokens, 1)

    @torch.no_grad()
    def run():
        cache, token = [None] * layers, torch.zeros(batch, 1, dtype=torch.long, device="cuda")
        for i in range(tokens):
            token = model(token, places[i], cache)
            (token == 2).all().item()
        torch.cuda.synchronize()

    return run


def graph():
    _, step, batch = decoder()
    token = torch.zeros(batch, dtype=torch.long, device="cuda")
    stream = torch.cuda.Stream()
    with torch.cuda.stream(stream):
        for _ in range(3):
            step(token)
    torch.cuda.synchronize()
    captured = torch.cuda.CUDAGraph()
    with torch.cuda.graph(captured):
        step(token)

    def replay():
        for _ in range(256):
            captured.replay()
        torch.cuda.synchronize()

    return replay


def products():
    torch.manual_seed(1)
    a = torch.randn(8192, 8192, device="cuda", dtype=torch.bfloat16)
    b = torch.randn(8192, 8192, device="cuda", dtype=torch.bfloat16)
    c = torch.empty_like(a)

    def run():
        for _ in range(100):
            torch.mm(a, b, out=c)
        torch.cuda.synchronize()

    return run


def train():
    torch.manual_seed(3)
    layers = [torch.nn.Linear(4096, 4096), torch.nn.GELU(), torch.nn.Linear(4096, 4096), torch.nn.GELU()]
    model = torch.nn.Sequential(*layers, torch.nn.Linear(4096, 4096)).cuda()
    optimiser = torch.optim.AdamW(model.parameters(), 1e-3)
    host = torch.randn(2048, 4096).pin_memory()

    def run():
        for _ in range(5):
            torch.cuda.nvtx.range_push("step")
            x = host.cuda(non_blocking=True)
            with torch.autocast("cuda", dtype=torch.bfloat16):
                loss = (model(x) - x).square().mean()
            optimiser.zero_grad(set_to_none=True)
            loss.backward()
            optimiser.step()
            torch.cuda.nvtx.range_pop()
        loss.item()

    return run


def mlp():
    torch.manual_seed(3)
    nn = torch.nn
    model = nn.Sequential(nn.Linear(4096, 4096), nn.ReLU(), nn.Linear(4096, 4096), nn.ReLU(), nn.Linear(4096, 1000)).cuda()
    optimiser = torch.optim.AdamW(model.parameters(), 1e-3)
    scaler = torch.amp.GradScaler()
    batches = [(torch.randn(64, 4096), torch.randint(0, 1000, (64,))) for _ in range(8)]

    def run():
        for i in range(20):
            x, y = (part.cuda() for part in batches[i % 8])
            optimiser.zero_grad(set_to_none=True)
            with torch.autocast("cuda", dtype=torch.float16):
                loss = nn.functional.cross_entropy(model(x), y)
            scaler.scale(loss).backward()
            scaler.step(optimiser)
            scaler.update()
            loss.item()
        torch.cuda.synchronize()

    return run


def transfer():
    torch.manual_seed(4)
    host = torch.randn(64 << 20).pin_memory()
    back = torch.empty_like(host).pin_memory()
    device = torch.empty_like(host, device="cuda")

    def run():
        for _ in range(8):
            torch.cuda.nvtx.range_push("step")
            device.copy_(host, non_blocking=True)
            device.mul_(1.5)
            back.copy_(device, non_blocking=True)
            torch.cuda.synchronize()
            torch.cuda.nvtx.range_pop()

    return run


LOOPS = {"decode": decode, "generate": generate, "graph": graph, "products": products, "train": train, "mlp": mlp, "transfer": transfer}
