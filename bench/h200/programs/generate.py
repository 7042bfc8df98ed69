# SPDX-License-Identifier: Apache-2.0
"""Greedy generation by transformers as many programs do it: OPT-125m's shape, random weights in 16 bits, 32 prompts of 32
tokens, 64 new tokens each. It prints how many tokens it generated and does not use kwhy.
usage: generate.py SECONDS [TIMES]     (2,048 tokens at a time, at most TIMES times)
"""
import sys
import time

import torch
from transformers import OPTConfig, OPTForCausalLM

torch.manual_seed(1)
config = OPTConfig()
net = OPTForCausalLM(config).to("cuda", torch.float16).eval()
prompts = torch.randint(4, config.vocab_size, (32, 32), device="cuda")
until = time.perf_counter() + float(sys.argv[1])
left = int(sys.argv[2]) if len(sys.argv) > 2 else sys.maxsize
while time.perf_counter() < until and left > 0:
    left -= 1
    answers = net.generate(prompts, attention_mask=torch.ones_like(prompts), min_new_tokens=64, max_new_tokens=64, do_sample=False)
    print(f"made {answers.numel() - prompts.numel()} tokens", flush=True)
