# SPDX-License-Identifier: Apache-2.0
"""Makes sends between two processes with a GPU each under torch.profiler, in ranges with the names that kwhy report knows:
p2p_cfg%04d_s%dd%d_sz%d_r%d.

usage: profiled_pairs.py FOLDER
"""

import os
import sys

import torch
import torch.distributed as dist
import torch.multiprocessing as mp

SIZES = [1, 1024, 65536, 1 << 20, 16 << 20, 256 << 20]
WARM, REPEATS = 3, 8


def transfer(rank, source, target, buffer):
    if rank == source:
        dist.send(buffer, target)
    elif rank == target:
        dist.recv(buffer, source)


def work(rank, folder):
    os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT="29517", NCCL_NVLS_ENABLE="0")
    torch.cuda.set_device(rank)
    dist.init_process_group("nccl", rank=rank, world_size=2)
    buffers = {size: torch.randint(1, 255, (size,), dtype=torch.uint8, device="cuda") for size in SIZES}
    configs = [(s, 1 - s, size) for s in (0, 1) for size in SIZES]
    for _ in range(WARM):
        for source, target, size in configs:
            transfer(rank, source, target, buffers[size])
    torch.cuda.synchronize()
    activities = [torch.profiler.ProfilerActivity.CPU, torch.profiler.ProfilerActivity.CUDA]
    with torch.profiler.profile(activities=activities) as profile:
        for repeat in range(REPEATS):
            for number, (source, target, size) in enumerate(configs):
                dist.barrier()
                torch.cuda.synchronize()
                with torch.profiler.record_function(f"p2p_cfg{number:04d}_s{source}d{target}_sz{size}_r{repeat}"):
                    transfer(rank, source, target, buffers[size])
                    torch.cuda.synchronize()
    profile.export_chrome_trace(f"{folder}/rank_{rank}.pt.trace.json")
    dist.destroy_process_group()


if __name__ == "__main__":
    os.makedirs(sys.argv[1], exist_ok=True)
    mp.spawn(work, args=(sys.argv[1],), nprocs=2)
