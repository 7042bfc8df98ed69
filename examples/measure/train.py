# SPDX-License-Identifier: Apache-2.0
"""Energy of the parts of a training loop, and joules a sample. Needs PyTorch and a GPU."""

import torch

import kwhy

kwhy.session().measure_idle(2)
model = torch.nn.Sequential(torch.nn.Linear(4096, 4096), torch.nn.ReLU(), torch.nn.Linear(4096, 4096)).cuda()
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
torch.manual_seed(1)
data, target = torch.randn(64, 4096, device="cuda"), torch.randn(64, 4096, device="cuda")


@kwhy.measure("step")
def step() -> None:
    with kwhy.measure("forward"):
        loss = torch.nn.functional.mse_loss(model(data), target)
    with kwhy.measure("backward"):
        loss.backward()
    optimizer.step()
    optimizer.zero_grad(set_to_none=True)
    kwhy.work("samples", len(data))


for _ in range(500):
    step()
print(kwhy.results())
