#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A small server of the OpenAI API with random weights of OPT-125m's shape and greedy decoding. One thread uses the GPU.
The usage that it reports is counted.

By default it uses transformers without batches: each request gets a token in turn. With --slots it uses plain PyTorch:
a step generates a token for every occupied slot. Free slots take requests at once, or only when all slots are free
(--take); a step is launched by single calls or as one CUDA graph (--launch). With --slots the length of an answer
follows from its prompt: from a quarter of max_tokens to all of it.

Usage: llm_server.py PORT_FILE [--slots N [--take free|together] [--launch calls|graph]]; writes the port once the model is on the GPU.
"""
import argparse
import collections
import json
import os
import queue
import sys
import threading
import zlib
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import torch
import torch.nn.functional as F

NAME = "opt-125m-shape-random"


class Model:
    def __init__(self):
        from transformers import OPTConfig, OPTForCausalLM

        torch.manual_seed(1)
        self.net = OPTForCausalLM(OPTConfig()).to("cuda", torch.float16).eval()
        self.asked = queue.SimpleQueue()
        threading.Thread(target=self.serve, daemon=True).start()

    @torch.inference_mode()
    def tokens(self, prompt, count):
        """Yields the ids of the answer's tokens, one at a time. Each word of the prompt is a token."""
        ids = [4 + hash(word) % 50000 for word in prompt.split()][-1024:]
        given, past = torch.tensor([ids], device="cuda"), None
        for _ in range(min(count, 2048 - len(ids))):
            out = self.net(given, past_key_values=past, use_cache=True)
            given, past = out.logits[:, -1:].argmax(-1), out.past_key_values
            yield int(given)

    def serve(self):
        """Generates tokens for all requests in turn. If each request had its own thread, the threads would wait for
        Python's lock at each of the hundreds of launches of a token."""
        running = collections.deque()
        while True:
            while not running or not self.asked.empty():
                prompt, count, answer = self.asked.get()
                running.append((self.tokens(prompt, count), answer))
            tokens, answer = running.popleft()
            token = next(tokens, None)
            answer.put(token)
            if token is not None:
                running.append((tokens, answer))

    def answer(self, prompt, count):
        answer = queue.SimpleQueue()
        self.asked.put((prompt, count, answer))
        return iter(answer.get, None)


class Batched:
    """Generates tokens for a fixed number of slots, whose keys and values have fixed addresses, so that the graph of a
    step can be launched repeatedly."""

    LAYERS, WIDTH, HEADS, INNER, WORDS, ROOM = 12, 768, 12, 3072, 50272, 512

    def __init__(self, slots, take, launch):
        torch.manual_seed(1)
        width, inner = self.WIDTH, self.INNER

        def made(*sizes):
            return torch.randn(*sizes, device="cuda", dtype=torch.float16) * 0.02

        self.words, self.places = made(self.WORDS, width), made(self.ROOM, width)
        self.layers = [(made(width, 3 * width), made(width, width), made(width, inner), made(inner, width)) for _ in range(self.LAYERS)]
        self.keys, self.values = (made(self.LAYERS, slots, self.HEADS, self.ROOM, width // self.HEADS) for _ in range(2))
        self.given, self.at = (torch.zeros(slots, device="cuda", dtype=torch.long) for _ in range(2))
        self.rows, self.room = torch.arange(slots, device="cuda"), torch.arange(self.ROOM, device="cuda")
        self.slots, self.take, self.run = [None] * slots, take, self.step
        if launch == "graph":
            self.run = self.captured()
        self.asked = queue.SimpleQueue()
        threading.Thread(target=self.serve, daemon=True).start()

    @torch.inference_mode()
    def captured(self):
        side = torch.cuda.Stream()
        with torch.cuda.stream(side):
            for _ in range(3):
                self.step()
        torch.cuda.synchronize()
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            self.step()
        self.at.zero_()
        return graph.replay

    def norm(self, x):
        return F.layer_norm(x, (self.WIDTH,))

    def heads(self, rows):
        return rows.view(rows.shape[0], 3, self.HEADS, -1).unbind(1)

    def step(self):
        """Generates a token for every slot. Tokens of free slots are not used."""
        x = self.words[self.given] + self.places[self.at]
        seen = (self.room[None, :] <= self.at[:, None])[:, None, None, :]
        for (qkv, project, up, down), keys, values in zip(self.layers, self.keys, self.values):
            q, k, v = self.heads(self.norm(x) @ qkv)
            keys[self.rows, :, self.at], values[self.rows, :, self.at] = k, v
            seen_values = F.scaled_dot_product_attention(q[:, :, None], keys, values, attn_mask=seen)
            x = x + seen_values.reshape(x.shape) @ project
            x = x + F.relu(self.norm(x) @ up) @ down
        self.given.copy_((self.norm(x) @ self.words.T).argmax(-1))
        self.at.copy_((self.at + 1).clamp(max=self.ROOM - 1))

    def read(self, slot, ids):
        """Processes a prompt and returns the first token after it."""
        count = len(ids)
        x = self.words[torch.tensor(ids, device="cuda")] + self.places[:count]
        for (qkv, project, up, down), keys, values in zip(self.layers, self.keys, self.values):
            q, k, v = (part.transpose(0, 1) for part in self.heads(self.norm(x) @ qkv))
            keys[slot, :, :count], values[slot, :, :count] = k, v
            seen_values = F.scaled_dot_product_attention(q[None], k[None], v[None], is_causal=True)[0]
            x = x + seen_values.transpose(0, 1).reshape(x.shape) @ project
            x = x + F.relu(self.norm(x) @ up) @ down
        self.given[slot], self.at[slot] = (self.norm(x[-1:]) @ self.words.T).argmax(), count
        return int(self.given[slot])

    def begin(self, slot):
        prompt, count, answer = self.asked.get()
        ids = [4 + zlib.crc32(word.encode()) % 50000 for word in prompt.split()][-256:]
        most = min(count, self.ROOM - len(ids) - 1)
        length = most // 4 + zlib.crc32(prompt.encode()) % (most - most // 4 + 1)
        answer.put(self.read(slot, ids))
        self.slots[slot] = [answer, max(length, 1) - 1]

    @torch.inference_mode()
    def serve(self):
        while True:
            free = [i for i, taken in enumerate(self.slots) if taken is None]
            if len(free) == len(self.slots):
                self.begin(free.pop(0))  # waits for one
            elif self.take == "together":
                free = []
            while free and not self.asked.empty():
                self.begin(free.pop(0))
            for i, taken in enumerate(self.slots):
                if taken and taken[1] == 0:
                    taken[0].put(None)
                    self.slots[i] = None
            if any(self.slots):
                self.run()
                for taken, token in zip(self.slots, self.given.tolist()):
                    if taken:
                        taken[0].put(token)
                        taken[1] -= 1

    def answer(self, prompt, count):
        answer = queue.SimpleQueue()
        self.asked.put((prompt, count, answer))
        return iter(answer.get, None)


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def log_message(self, *arguments):
        pass

    def do_GET(self):
        body = json.dumps({"object": "list", "data": [{"id": NAME}]}).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def send(self, data):
        text = data if isinstance(data, str) else json.dumps(data)
        part = f"data: {text}\n\n".encode()
        self.wfile.write(b"%x\r\n" % len(part) + part + b"\r\n")

    def do_POST(self):
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        prompt = asked.get("prompt") or asked["messages"][0]["content"]
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        count = 0
        for token in self.server.model.answer(prompt, asked["max_tokens"]):
            self.send({"choices": [{"index": 0, "delta": {"content": f"{token} "}, "finish_reason": None}]})
            count += 1
        self.send({"choices": [], "usage": {"prompt_tokens": len(prompt.split()), "completion_tokens": count}})
        self.send("[DONE]")
        self.wfile.write(b"0\r\n\r\n")


class Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 256


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("port_file")
    parser.add_argument("--slots", type=int)
    parser.add_argument("--take", choices=("free", "together"), default="free")
    parser.add_argument("--launch", choices=("calls", "graph"), default="graph")
    options = parser.parse_args()
    sys.setswitchinterval(0.0005)  # so that a thread with a token to send soon gets Python's lock
    server = Server(("127.0.0.1", 0), Handler)
    server.model = Batched(options.slots, options.take, options.launch) if options.slots else Model()
    for _ in server.model.answer("warm up " * 8, 16):
        pass
    with open(options.port_file + ".new", "w") as file:
        file.write(str(server.server_address[1]))
    os.rename(options.port_file + ".new", options.port_file)
    server.serve_forever()


main()
