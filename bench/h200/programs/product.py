# SPDX-License-Identifier: Apache-2.0
"""Makes a fixed number of products in bf16, which take about this many seconds at the full clock. usage: product.py
SECONDS"""
import sys

import torch

a = torch.randn(8192, 8192, device="cuda", dtype=torch.bfloat16)
for _ in range(int(float(sys.argv[1]) * 600)):
    torch.matmul(a, a)
torch.cuda.synchronize()
