# SPDX-License-Identifier: Apache-2.0
"""A rank of torchrun: data-parallel training with NCCL, STEPS steps (60) of an MLP of width WIDTH (4096). The rank SLOW_RANK has a quarter more rows.

More ranks than GPUs share them: for NCCL, each group of as many ranks as there are GPUs is then a host of its own, and the groups are connected by sockets.
"""
import os

import torch
import torch.distributed as distributed

local, gpus = int(os.environ["LOCAL_RANK"]), torch.cuda.device_count()
if int(os.environ["WORLD_SIZE"]) > gpus:
    os.environ |= {"NCCL_HOSTID": f"group{local // gpus}", "NCCL_SOCKET_IFNAME": "lo", "NCCL_IB_DISABLE": "1"}
torch.cuda.set_device(local % gpus)
distributed.init_process_group("nccl")
torch.manual_seed(3)
width = int(os.environ.get("WIDTH", "4096"))
model = torch.nn.Sequential(*[layer for _ in range(4) for layer in (torch.nn.Linear(width, width), torch.nn.GELU())]).cuda()
model = torch.nn.parallel.DistributedDataParallel(model, device_ids=[local % gpus])
optimiser = torch.optim.AdamW(model.parameters(), 1e-3)
steps = int(os.environ.get("STEPS", "60"))
x = torch.randn(2560 if os.environ.get("SLOW_RANK") == str(local) else 2048, width, device="cuda")
for _ in range(steps):
    torch.cuda.nvtx.range_push("step")
    with torch.autocast("cuda", dtype=torch.bfloat16):
        loss = (model(x) - x).square().mean()
    optimiser.zero_grad(set_to_none=True)
    loss.backward()
    optimiser.step()
    torch.cuda.nvtx.range_pop()
torch.cuda.synchronize()
if local == 0:
    print(f"made {steps} steps, loss {loss.item():.4f}", flush=True)
distributed.destroy_process_group()
