#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A small server of the OpenAI API over transformers: random weights of OPT-125m's shape, greedy, no batching
between requests: one thread has the GPU and gives each request a token in turn. What it says of usage is counted.

Usage: llm_server.py PORT_FILE; writes the port once the model is on the GPU.
"""
import collections
import json
import os
import queue
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import torch
from transformers import OPTConfig, OPTForCausalLM

NAME = "opt-125m-shape-random"


class Model:
    def __init__(self):
        torch.manual_seed(1)
        self.net = OPTForCausalLM(OPTConfig()).to("cuda", torch.float16).eval()
        self.asked = queue.SimpleQueue()
        threading.Thread(target=self.serve, daemon=True).start()

    @torch.inference_mode()
    def tokens(self, prompt, count):
        """Token numbers, one after the other; a word of the prompt is a token."""
        ids = [4 + hash(word) % 50000 for word in prompt.split()][-1024:]
        given, past = torch.tensor([ids], device="cuda"), None
        for _ in range(min(count, 2048 - len(ids))):
            out = self.net(given, past_key_values=past, use_cache=True)
            given, past = out.logits[:, -1:].argmax(-1), out.past_key_values
            yield int(given)

    def serve(self):
        """Threads that take turns at the GPU wait for Python's lock at each of hundreds of launches a token; this one has no others beside it."""
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
    sys.setswitchinterval(0.0005)  # a thread that has a token to send gets Python's lock after that
    server = Server(("127.0.0.1", 0), Handler)
    server.model = Model()
    for _ in server.model.answer("warm up " * 8, 16):
        pass
    with open(sys.argv[1] + ".new", "w") as file:
        file.write(str(server.server_address[1]))
    os.rename(sys.argv[1] + ".new", sys.argv[1])
    server.serve_forever()


main()
