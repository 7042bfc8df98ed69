#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Two spawned processes that share a GPU, each with a training loop. Prints a hash of the parameters of each, which is the
same in every run."""
import hashlib
import os

os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")
import torch  # noqa: E402
from torch import multiprocessing  # noqa: E402


def train(rank, results):
    torch.manual_seed(rank)
    torch.use_deterministic_algorithms(True)
    model = torch.nn.Sequential(torch.nn.Linear(1024, 4096), torch.nn.ReLU(), torch.nn.Linear(4096, 1024)).cuda()
    optimizer = torch.optim.SGD(model.parameters(), 1e-2, momentum=0.9)
    batch = torch.randn(8192, 1024, device="cuda")
    for _ in range(300):
        optimizer.zero_grad()
        torch.nn.functional.mse_loss(model(batch), batch).backward()
        optimizer.step()
    digest = hashlib.sha256(b"".join(p.detach().cpu().numpy().tobytes() for p in model.parameters())).hexdigest()[:16]
    results[rank] = digest


def main():
    context = multiprocessing.get_context("spawn")
    with context.Manager() as manager:
        results = manager.dict()
        processes = [context.Process(target=train, args=(rank, results)) for rank in range(2)]
        for process in processes:
            process.start()
        for process in processes:
            process.join()
        print("exits", [process.exitcode for process in processes], "parameters", [results.get(rank) for rank in range(2)])


if __name__ == "__main__":
    main()
