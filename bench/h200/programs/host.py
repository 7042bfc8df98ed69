# SPDX-License-Identifier: Apache-2.0
"""Measures what the host and other processes cost: seconds and joules per round of the same work in two ways, which run in
turns.

busy: small products, each launched by itself, while no other process uses the processors, and while one process spins
on each of them.
shared: large products while nobody else uses the GPU, and while another process makes large products, too.
place: copies from pinned memory by a thread on the processors near the GPU, and on other processors; not measured if
all of them are near.
prepare: a convolution of images that the host prepares in the loop, and in four other threads.
limit: large products one after the other, and with pauses that keep the power below the power limit.
usage: host.py OUT.json [WINDOW] [TURNS]    (as `neighbour`: the other process of `shared`)
"""
import contextlib
import glob
import json
import os
import queue
import subprocess
import sys
import threading
import time

import torch
import torch.nn.functional as F

SPIN = "while True: pass"


@contextlib.contextmanager
def processes(commands):
    children = [subprocess.Popen(command, stdout=subprocess.PIPE) for command in commands]
    try:
        yield children
    finally:
        for child in children:
            child.kill()
            child.wait()


def small_products():
    a, b = (torch.randn(256, 256, device="cuda") for _ in range(2))

    def run():
        for _ in range(200):
            torch.mm(a, b)

    return run


def large_product():
    a = torch.randn(8192, 8192, device="cuda", dtype=torch.bfloat16)
    return lambda: torch.matmul(a, a)


def large_product_and_pause():
    a = torch.randn(8192, 8192, device="cuda", dtype=torch.bfloat16)

    def run():
        torch.matmul(a, a)
        torch.cuda.synchronize()
        time.sleep(0.002)

    return run


@contextlib.contextmanager
def neighbour():
    with processes([[sys.executable, __file__, "neighbour"]]) as children:
        children[0].stdout.readline()  # waits until it works
        yield


def image_batch():
    """Converts 64 images of bytes to normalised floats, as data loaders do: some 10 ms of one thread."""
    pixels = torch.randint(0, 255, (64, 3, 224, 224), dtype=torch.uint8)
    return pixels.float().sub_(127).div_(60).pin_memory()


def convolution(next_batch):
    filters = torch.randn(64, 3, 7, 7, device="cuda")

    def run():
        batch = next_batch().cuda(non_blocking=True)
        for _ in range(8):
            F.conv2d(batch, filters, stride=2)

    return run


@contextlib.contextmanager
def ahead(out):
    ready, going = queue.Queue(4), True

    def make():
        while going:
            with contextlib.suppress(queue.Full):
                ready.put(image_batch(), timeout=0.5)

    threads = [threading.Thread(target=make) for _ in range(4)]
    for thread in threads:
        thread.start()
    out.append(ready.get)
    try:
        yield
    finally:
        going = False
        while any(thread.is_alive() for thread in threads):
            with contextlib.suppress(queue.Empty):
                ready.get(timeout=0.05)


def processors_of(node):
    with open(f"/sys/devices/system/node/node{node}/cpulist") as file:
        parts = [part.split("-") for part in file.read().strip().split(",")]
    return {cpu for part in parts for cpu in range(int(part[0]), int(part[-1]) + 1)} & os.sched_getaffinity(0)


def nodes():
    """Returns the NUMA nodes whose processors we may use, that of the GPU first. Most virtual machines do not know the
    GPU's node; then the order has no meaning."""
    usable = [int(path.rsplit("node", 1)[1]) for path in sorted(glob.glob("/sys/devices/system/node/node[0-9]*"))]
    usable = [node for node in usable if processors_of(node)]
    properties = torch.cuda.get_device_properties(0)
    path = "/sys/bus/pci/devices/%04x:%02x:00.0/numa_node" % (properties.pci_domain_id, properties.pci_bus_id)
    near = -1
    with contextlib.suppress(OSError, ValueError), open(path) as file:
        near = int(file.read())
    return sorted(usable, key=lambda node: node != near), near


def copy_from(node):
    os.sched_setaffinity(0, processors_of(node))
    host = torch.empty(1 << 26, dtype=torch.uint8, pin_memory=True).random_()
    device = torch.empty(1 << 26, dtype=torch.uint8, device="cuda")
    return lambda: device.copy_(host, non_blocking=True)


def rounds_in(run, seconds):
    count, end = 0, time.monotonic() + seconds
    while time.monotonic() < end:
        for _ in range(4):
            run()
        torch.cuda.synchronize()
        count += 4
    return count


class Bench:
    def __init__(self, window, turns):
        import kwhy

        self.session, self.rows = kwhy.Session(counter_period_s=0.1, host=False), {}
        self.window, self.turns = window, turns
        self.session.measure_idle(2)

    def measure(self, name, run):
        region = self.session.measure(name)
        rounds_in(run, 0.3)
        with region:
            start = time.monotonic()
            rounds = rounds_in(run, self.window)
            seconds = time.monotonic() - start
        self.rows.setdefault(name, []).append((rounds, seconds))

    def results(self):
        regions, out = self.session.results().regions, {}
        for name, turns in self.rows.items():
            energy = regions[name].energy
            rounds = sum(count for count, _ in turns)
            out[name] = {
                "seconds": [seconds / count for count, seconds in turns],
                "joules": [value / rounds for value in (energy.joules, energy.low_j, energy.high_j)],
                "mean_w": energy.mean_w,
            }
        return out


def measure_all(bench):
    small, large, paced = small_products(), large_product(), large_product_and_pause()
    in_the_loop = convolution(image_batch)
    everywhere, (places, near) = os.sched_getaffinity(0), nodes()
    for _ in range(bench.turns):
        bench.measure("busy: quiet", small)
        with processes([[sys.executable, "-c", SPIN]] * len(everywhere)):
            bench.measure("busy: processors in use", small)
        bench.measure("limit: one after the other", large)
        bench.measure("limit: with pauses", paced)
        bench.measure("shared: alone", large)
        with neighbour():
            bench.measure("shared: with another", large)
        bench.measure("prepare: in the loop", in_the_loop)
        batches = []
        with ahead(batches):
            bench.measure("prepare: beside", convolution(batches[0]))
        for node in places if len(places) > 1 else []:
            bench.measure(f"place: node {node}", copy_from(node))
            os.sched_setaffinity(0, everywhere)
    return {"nodes": places, "near": near, "processors": len(everywhere)}


def main():
    if sys.argv[1] == "neighbour":
        run = large_product()
        rounds_in(run, 0.3)
        print("at work", flush=True)
        while True:
            rounds_in(run, 1)
    bench = Bench(float(sys.argv[2]) if len(sys.argv) > 2 else 1.0, int(sys.argv[3]) if len(sys.argv) > 3 else 3)
    result = {"device": torch.cuda.get_device_name(), "torch": torch.__version__, **measure_all(bench), "rows": bench.results()}
    with open(sys.argv[1], "w") as file:
        json.dump(result, file, indent=1)
    for name, row in result["rows"].items():
        print("{:28} {:.4g} s  {:.4g} J ({:.4g} to {:.4g})  {:.4g} W".format(name, sorted(row["seconds"])[len(row["seconds"]) // 2], *row["joules"], row["mean_w"]))


main()
