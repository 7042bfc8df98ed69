#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A server of the OpenAI API with random weights of a Llama's shape, in bf16, with continuous batching.

The engine is plain PyTorch, or that of transformers (--engine). In plain PyTorch a step generates one token for each request under way, by a CUDA
graph of the smallest of several batches and contexts that hold them; a prompt is processed alone, before the next step. HTTP is another process, so
that it does not hold up the engine. A word of a prompt is a token. An answer has a length from a quarter of max_tokens to all of it; all of it with
ignore_eos.

Usage: llm_llama.py PORT_FILE [--shape 1b|8b|tiny] [--engine torch|transformers]; writes the port once the model is on the GPU.
"""
import argparse
import asyncio
import json
import multiprocessing
import os
import sys
import threading
import time
import zlib

SHAPES = {  # layers, width, heads, heads of keys, inner width, words
    "1b": (16, 2048, 32, 8, 8192, 128256),  # as Llama-3.2-1B
    "8b": (32, 4096, 32, 8, 14336, 128256),  # as Llama-3.1-8B
    "tiny": (2, 64, 4, 2, 128, 1000),  # to try the script out, without a GPU
}
ROOM, SLOTS = 2048, 32


# --- The HTTP server, in a process of its own ---


class Front:
    def __init__(self, engine, name):
        self.engine, self.name = engine, name
        self.asked = {}  # request id: (its writer, number of words of its prompt, number of its tokens so far)
        self.next = 0

    @staticmethod
    def piece(text):
        data = b"data: " + text + b"\n\n"
        return b"%x\r\n" % len(data) + data + b"\r\n"

    def tokens_came(self):
        while self.engine.poll():
            try:
                came = self.engine.recv()
            except EOFError:  # the engine has ended
                os._exit(1)
            for number, token in came:
                asked = self.asked.get(number)
                if not asked:
                    continue
                if token is not None:
                    asked[2] += 1
                    asked[0].write(self.piece(b'{"choices":[{"index":0,"delta":{"content":"%d "},"finish_reason":null}]}' % token))
                    continue
                usage = b'{"choices":[],"usage":{"prompt_tokens":%d,"completion_tokens":%d}}' % (asked[1], asked[2])
                asked[0].write(self.piece(usage) + self.piece(b"[DONE]") + b"0\r\n\r\n")
                del self.asked[number]

    async def client(self, reader, writer):
        try:
            while True:
                head = (await reader.readuntil(b"\r\n\r\n")).decode().split("\r\n")
                fields = {key.lower(): value for key, _, value in (line.partition(": ") for line in head[1:])}
                body = await reader.readexactly(int(fields.get("content-length", 0)))
                if head[0].startswith("GET"):
                    answer = json.dumps({"object": "list", "data": [{"id": self.name}]}).encode()
                    writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n" % len(answer) + answer)
                    continue
                asked = json.loads(body)
                prompt = asked.get("prompt") or asked["messages"][0]["content"]
                ids = [4 + zlib.crc32(word.encode()) % 900 for word in prompt.split()]
                most = min(asked["max_tokens"], ROOM - 1 - len(ids))
                if most < 1:
                    writer.write(b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n")
                    continue
                writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n")
                length = most if asked.get("ignore_eos") else max(most // 4 + zlib.crc32(prompt.encode()) % (most - most // 4 + 1), 1)
                self.asked[self.next] = [writer, len(ids), 0]
                self.engine.send((self.next, ids, length))
                self.next += 1
        except (asyncio.IncompleteReadError, ConnectionError):
            writer.close()

    async def serve(self, port_file):
        server = await asyncio.start_server(self.client, "127.0.0.1", 0, limit=1 << 24, backlog=256)
        asyncio.get_running_loop().add_reader(self.engine.fileno(), self.tokens_came)
        with open(port_file + ".new", "w") as file:
            file.write(str(server.sockets[0].getsockname()[1]))
        os.rename(port_file + ".new", port_file)
        await server.serve_forever()


# --- Engines, which generate tokens. `asked`: the connection to the HTTP server. An engine receives (request id,
# prompt's token ids, number of tokens to write) from it and sends lists of (request id, token) back; the token None
# ends an answer ---


class Plain:
    BATCHES, ROOMS = (1, 2, 4, 8, 16, 32), (512, 1024, ROOM)

    def __init__(self, shape):
        global torch, F
        import torch
        import torch.nn.functional as F

        self.cuda = torch.cuda.is_available()
        self.device = "cuda" if self.cuda else "cpu"
        torch.manual_seed(1)
        layers, width, self.heads, self.kept, self.inner, words = SHAPES[shape]
        self.size = width // self.heads

        def made(*sizes):
            return torch.randn(*sizes, device=self.device, dtype=torch.bfloat16) * 0.02

        self.words, self.head = made(words, width), made(width, words)
        self.layers = [
            (made(width, (self.heads + 2 * self.kept) * self.size), made(width, width), made(width, 2 * self.inner), made(self.inner, width))
            for _ in range(layers)
        ]
        self.keys, self.values = (made(layers, SLOTS, self.kept, ROOM, self.size) for _ in range(2))
        angles = torch.arange(ROOM)[:, None] * 500000.0 ** -(torch.arange(self.size // 2)[None, :] / (self.size // 2))
        self.cos, self.sin = (table.to(self.device, torch.bfloat16)[:, None, :] for table in (angles.cos(), angles.sin()))
        self.given, self.at = (torch.zeros(SLOTS, device=self.device, dtype=torch.long) for _ in range(2))
        self.rows, self.places = torch.arange(SLOTS, device=self.device), torch.arange(ROOM, device=self.device)
        self.slots = [None] * SLOTS  # each: request id, number of tokens to come, position of the next token; None: the slot is free
        self.graphs = {}
        if self.cuda:
            self.capture()

    def capture(self):
        pool = None
        for batch in reversed(self.BATCHES):
            for room in reversed(self.ROOMS):
                self.step(batch, room)
                torch.cuda.synchronize()
                graph = torch.cuda.CUDAGraph()
                with torch.cuda.graph(graph, pool=pool):
                    self.step(batch, room)
                pool = graph.pool()
                self.graphs[batch, room] = graph
        self.at.zero_()

    def norm(self, x):
        return F.rms_norm(x, x.shape[-1:])

    def heads_of(self, x, qkv, at):
        """Returns queries, keys and values, the first two rotated by their positions (RoPE)."""
        all_heads = (self.norm(x) @ qkv).view(x.shape[0], -1, self.size)
        turned, values = all_heads[:, : self.heads + self.kept], all_heads[:, self.heads + self.kept :]
        cos, sin = self.cos[at], self.sin[at]
        a, b = turned.chunk(2, -1)
        turned = torch.cat((a * cos - b * sin, a * sin + b * cos), -1)
        return turned[:, : self.heads], turned[:, self.heads :], values

    def perceptron(self, x, up, down):
        gate, inner = (self.norm(x) @ up).chunk(2, -1)
        return x + (F.silu(gate) * inner) @ down

    def step(self, batch, room):
        """Generates a token for each of the first `batch` slots. Tokens of free slots are not used."""
        given, at, rows = self.given[:batch], self.at[:batch], self.rows[:batch]
        x = self.words[given]
        hidden = (self.places[:room] > at[:, None])[:, None, None, :]
        for (qkv, project, up, down), keys, values in zip(self.layers, self.keys, self.values):
            q, k, v = self.heads_of(x, qkv, at)
            keys[rows, :, at], values[rows, :, at] = k, v
            near = q.reshape(batch, self.kept, -1, self.size) @ keys[:batch, :, :room].transpose(-1, -2)
            weights = (near * self.size**-0.5).masked_fill(hidden, float("-inf")).softmax(-1)
            x = x + (weights @ values[:batch, :, :room]).reshape(x.shape) @ project
            x = self.perceptron(x, up, down)
        given.copy_((self.norm(x) @ self.head).argmax(-1))
        at.copy_((at + 1).clamp(max=ROOM - 1))

    def read(self, slot, ids):
        """Processes a prompt and returns the first token after it."""
        count = len(ids)
        x = self.words[torch.tensor(ids, device=self.device)]
        for (qkv, project, up, down), keys, values in zip(self.layers, self.keys, self.values):
            q, k, v = (part.transpose(0, 1) for part in self.heads_of(x, qkv, self.places[:count]))
            keys[slot, :, :count], values[slot, :, :count] = k, v
            k, v = (part.repeat_interleave(self.heads // self.kept, 0)[None] for part in (k, v))
            seen = F.scaled_dot_product_attention(q[None], k, v, is_causal=True)[0]
            x = x + seen.transpose(0, 1).reshape(x.shape) @ project
            x = self.perceptron(x, up, down)
        self.given[slot], self.at[slot] = (self.norm(x[-1:]) @ self.head).argmax(), count
        return int(self.given[slot])

    def begin(self, asked):
        number, ids, length = asked
        slot = self.slots.index(None)
        self.pipe.send([(number, self.read(slot, ids))] + ([(number, None)] if length == 1 else []))
        if length > 1:
            self.slots[slot] = [number, length - 1, len(ids)]

    def launch(self):
        """Launches a step. Returns which requests its tokens belong to, the buffer of the tokens, and the event to wait
        for."""
        taken = [i for i, slot in enumerate(self.slots) if slot]
        batch = next(batch for batch in self.BATCHES if batch > taken[-1])
        most = 1 + max(self.slots[i][2] for i in taken)
        room = next(room for room in self.ROOMS if room >= most)
        if self.graphs:
            self.graphs[batch, room].replay()
        else:
            self.step(batch, room)
        tokens, event = self.hosts[self.turn], self.events[self.turn]
        self.turn = 1 - self.turn
        tokens.copy_(self.given, non_blocking=True)
        if event:
            event.record()
        whose = []
        for i in taken:
            number, left, place = self.slots[i]
            whose.append((i, number, left == 1))
            self.slots[i] = [number, left - 1, place + 1] if left > 1 else None
        return whose, tokens, event

    def deliver(self, whose, tokens, event):
        if event:
            event.synchronize()
        tokens = tokens.tolist()
        self.pipe.send([(number, tokens[i]) for i, number, _ in whose] + [(number, None) for _, number, is_last in whose if is_last])

    def serve(self, pipe):
        """Answers requests. Steps are launched ahead: while one runs, the tokens of the previous one are delivered. This
        works because the length of an answer does not depend on its tokens."""
        self.pipe, self.turn, waiting, ahead = pipe, 0, [], None
        self.hosts = [torch.zeros(SLOTS, dtype=torch.long, pin_memory=self.cuda) for _ in range(2)]
        self.events = [torch.cuda.Event() if self.cuda else None for _ in range(2)]
        with torch.inference_mode():
            while True:
                while pipe.poll() or not (waiting or ahead or any(self.slots)):
                    waiting.append(pipe.recv())
                if ahead and waiting and None in self.slots:
                    self.deliver(*ahead)
                    ahead = None
                while waiting and None in self.slots:
                    self.begin(waiting.pop(0))
                before, ahead = ahead, self.launch() if any(self.slots) else None
                if before:
                    self.deliver(*before)


class Transformers:
    def __init__(self, shape):
        import torch
        from transformers import GenerationConfig, LlamaConfig, LlamaForCausalLM

        layers, width, heads, kept, inner, words = SHAPES[shape]
        config = LlamaConfig(
            num_hidden_layers=layers, hidden_size=width, num_attention_heads=heads, num_key_value_heads=kept, intermediate_size=inner,
            vocab_size=words, max_position_embeddings=ROOM, tie_word_embeddings=False)
        torch.manual_seed(1)
        torch.set_default_dtype(torch.bfloat16)
        with torch.device("cuda"):
            net = LlamaForCausalLM(config).eval()
        self.manager = net.init_continuous_batching(
            generation_config=GenerationConfig(do_sample=False, eos_token_id=-1, pad_token_id=0, max_new_tokens=ROOM))

    def pass_on(self):
        sent = {}
        while True:
            result = self.manager.get_result(timeout=1)
            if result is None:
                continue
            number, before = int(result.request_id), sent.get(result.request_id, 0)
            tokens = [(number, token) for token in result.generated_tokens[before:]]
            sent[result.request_id] = len(result.generated_tokens)
            if result.is_finished():
                tokens.append((number, None))
                del sent[result.request_id]
            self.pipe.send(tokens)

    def serve(self, pipe):
        self.pipe, is_started = pipe, False
        while True:
            number, ids, length = pipe.recv()
            self.manager.add_request(ids, request_id=str(number), max_new_tokens=length, streaming=True, eos_token_id=-1)
            if not is_started:  # its loop must find a request when it starts
                self.manager.start()
                threading.Thread(target=self.pass_on, daemon=True).start()
                is_started = True


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("port_file")
    parser.add_argument("--shape", choices=SHAPES, default="1b")
    parser.add_argument("--engine", choices=("torch", "transformers"), default="torch")
    options = parser.parse_args()
    engine_end, front_end = multiprocessing.Pipe()
    ready_in, ready_out = os.pipe()
    front = os.fork()  # before torch is imported
    if front == 0:
        os.close(ready_out)
        if not os.read(ready_in, 1):
            os._exit(1)
        engine_end.close()
        name = f"llama-{options.shape}-shape-random"
        asyncio.run(Front(front_end, name).serve(options.port_file))
    os.close(ready_in)
    front_end.close()
    start = time.monotonic()
    try:
        engine = (Plain if options.engine == "torch" else Transformers)(options.shape)
        print(f"the model is there after {time.monotonic() - start:.1f} s", flush=True)
        os.write(ready_out, b"1")
        engine.serve(engine_end)
    except EOFError:  # the process of the front has ended
        sys.exit()


main()
