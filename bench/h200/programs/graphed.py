#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A training step as a CUDA graph, which is launched STEPS times (default 400). Prints a hash of the parameters, which is
the same in every run."""
import hashlib
import os
import sys

os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")
import torch  # noqa: E402


def step(model, optimizer, batch, target):
    optimizer.zero_grad(set_to_none=False)
    loss = torch.nn.functional.mse_loss(model(batch), target)
    loss.backward()
    optimizer.step()
    return loss


def main():
    steps = int(sys.argv[1]) if len(sys.argv) > 1 else 400
    torch.manual_seed(0)
    torch.use_deterministic_algorithms(True)
    layers = [torch.nn.Sequential(torch.nn.Linear(2048, 2048), torch.nn.GELU(), torch.nn.LayerNorm(2048)) for _ in range(6)]
    model = torch.nn.Sequential(*layers).cuda()
    optimizer = torch.optim.AdamW(model.parameters(), 1e-4, capturable=True)
    batch, target = torch.randn(2, 4096, 2048, device="cuda")
    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        for _ in range(3):
            step(model, optimizer, batch, target)
    torch.cuda.current_stream().wait_stream(side)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        loss = step(model, optimizer, batch, target)
    for _ in range(steps):
        graph.replay()
    torch.cuda.synchronize()
    digest = hashlib.sha256(b"".join(p.detach().cpu().numpy().tobytes() for p in model.parameters())).hexdigest()[:16]
    print(f"loss {loss.item():.9f} parameters {digest}")


if __name__ == "__main__":
    main()
