#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What `kwhy serve --accounts` takes. See serve_cost.sh.

usage: serve_cost.py FOLDER_OF_NVML_TIMES REAL_NVML OUT_FOLDER KWHY...
"""
import json
import os
import re
import statistics
import struct
import subprocess
import sys
import tempfile
import time
import urllib.request
from pathlib import Path

MEASURE_S = float(os.environ.get("MEASURE_S", 60))
ROUNDS = int(os.environ.get("ROUNDS", 1))
SCRAPES_S = [float(text) for text in os.environ.get("SCRAPES_S", "15 1").split()]
PROCESSES = int(os.environ.get("PROCESSES", 200))
OPTIONS = os.environ.get("OPTIONS", "").split()  # more options of kwhy serve
IS_FAKE, SYSCALLS, LOAD = (bool(os.environ.get(name)) for name in ("FAKE_NVML", "SYSCALLS", "LOAD"))
WARM_UP_S = float(os.environ.get("WARM_UP_S", 60))  # at first, finding the updates of the counters takes many reads
GPUS, JOBS_A_GPU = 8, 5
SYSCALLS_S = 20
ENTRY = struct.Struct("64sqqq")  # struct entry of nvml_times.c
PROGRAM = """
import sys, torch
a = torch.randn(4096, 4096, device="cuda", dtype=torch.float16)
print(flush=True)
while True:
    for _ in range(50):
        a @ a
    torch.cuda.synchronize()
"""


def make_machine(folder):
    """Eight simulated GPUs whose processes belong to jobs, with their /proc."""
    (folder / "root/etc").mkdir(parents=True)
    (folder / "root/etc/passwd").write_text("alice:x:1000:1000::/:/bin/sh\n")
    (folder / "gpus").write_text("".join(f'gpu "NVIDIA H200"\nbusy_percent 60\nsm_clock_mhz 1980\npower square {300 + 20 * gpu} 120 700 300\n' for gpu in range(GPUS)))
    lines = []
    for number in range(PROCESSES):
        gpu, job, pid = number % GPUS, number % (GPUS * JOBS_A_GPU), number + 1
        proc = folder / f"root/proc/{pid}"
        proc.mkdir(parents=True)
        (proc / "cgroup").write_text(f"0::/system.slice/slurmstepd.scope/job_{job + 1}/step_0/user/task_0\n")
        (proc / "status").write_text("Name:\tpython\nUid:\t1000\t1000\t1000\t1000\n")
        (proc / "stat").write_text(f"{pid} (python) S 1 1 1 0 -1 0 1 2 3 4 100 50 100 50 20 0 1 0 777 1 1\n")
        lines.append(f"{gpu} {pid} 100 {number % 4}\n")
    (folder / "processes").write_text("".join(lines))


def start_load():
    """Two programs on each GPU."""
    count = len(subprocess.run(["nvidia-smi", "-L"], capture_output=True, text=True, check=True).stdout.splitlines())
    programs = [subprocess.Popen([sys.executable, "-c", PROGRAM], stdout=subprocess.PIPE, env=dict(os.environ, CUDA_VISIBLE_DEVICES=str(gpu)))
                for gpu in range(count) for _ in range(2)]
    for program in programs:
        program.stdout.readline()
    return programs


class Server:
    def __init__(self, kwhy, place, shim, real):
        self.calls = place / "calls"
        environment = dict(os.environ, LD_LIBRARY_PATH=f"{shim}:{os.environ.get('LD_LIBRARY_PATH', '')}", NVML_REAL=real, NVML_CALLS=str(self.calls))
        command = [kwhy, "serve", "--listen", "127.0.0.1:0", "--accounts", str(place / "accounts")] + OPTIONS
        if IS_FAKE:
            make_machine(place)
            environment.update(KWHY_FAKE_NVML=str(place / "gpus"), KWHY_FAKE_NVML_PROCESSES=str(place / "processes"))
            command += ["--root", str(place / "root")]
        self.log = place / "log"
        with open(self.log, "w") as log:
            self.process = subprocess.Popen(command, stderr=log, env=environment)
        while True:
            found = re.search(r"http://[^/]*/metrics", self.log.read_text())
            if found:
                self.url = found[0]
                break
            if self.process.poll() is not None:
                sys.exit(f"kwhy serve ended: {self.log.read_text()}")
            time.sleep(0.05)
        self.opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))

    def scrape(self):
        begin = time.perf_counter()
        self.opener.open(self.url, timeout=60).read()
        return time.perf_counter() - begin

    def facts(self, name):
        return dict(re.findall(r"^(\w+):\s+(\d+)", Path(f"/proc/{self.process.pid}/{name}").read_text(), re.M))

    def used(self):
        """What the process has used so far."""
        tasks = Path(f"/proc/{self.process.pid}/task")
        cpu_ns = switches = 0
        for task in tasks.iterdir():
            cpu_ns += int((task / "schedstat").read_text().split()[0])
            switches += sum(int(count) for count in re.findall(r"ctxt_switches:\s+(\d+)", (task / "status").read_text()))
        stat = Path(f"/proc/{self.process.pid}/stat").read_text().rpartition(")")[2].split()
        ticks = os.sysconf("SC_CLK_TCK")
        try:
            written = int(self.facts("io")["wchar"])
        except PermissionError:  # the confined process may not be read
            written = None
        return {"cpu_s": cpu_ns * 1e-9, "user_s": int(stat[11]) / ticks, "system_s": int(stat[12]) / ticks, "switches": switches, "written": written}

    def nvml(self):
        data = self.calls.read_bytes()
        return {name.rstrip(b"\0").decode(): (count, cpu_ns * 1e-9, elapsed_ns * 1e-9) for name, count, cpu_ns, elapsed_ns in ENTRY.iter_unpack(data)}

    def mapped(self):
        """Resident kB of the largest mapped files; empty where they may not be read."""
        sums, name = {}, None
        try:
            text = Path(f"/proc/{self.process.pid}/smaps").read_text()
        except PermissionError:
            return {}
        for line in text.splitlines():
            mapping = re.match(r"[0-9a-f]+-[0-9a-f]+ \S+ \S+ \S+ \S+\s*(.*)", line)
            if mapping:
                name = os.path.basename(mapping[1]) or "anonymous"
            elif line.startswith("Rss:"):
                sums[name] = sums.get(name, 0) + int(line.split()[1])
        return dict(sorted(sums.items(), key=lambda row: -row[1])[:8])

    def stop(self):
        self.process.terminate()
        return self.process.wait()


def count_syscalls(server):
    ended = subprocess.run(["timeout", "-s", "INT", str(SYSCALLS_S), "strace", "-c", "-f", "-p", str(server.process.pid)], capture_output=True, text=True)
    rows = re.findall(r"^\s*[\d.]+\s+[\d.]+\s+\d+\s+(\d+)\s+(?:\d+\s+)?(\w+)$", ended.stderr, re.M)
    return {name: int(count) / SYSCALLS_S for count, name in rows if name != "total"}


def measure(kwhy, scrape_s, shim, real):
    with tempfile.TemporaryDirectory() as name:
        server = Server(kwhy, Path(name), shim, real)
        try:
            time.sleep(WARM_UP_S)
            server.scrape()
            time.sleep(1)
            begin, before, calls_before = time.monotonic(), server.used(), server.nvml()
            scrapes, due = [], begin + scrape_s / 2
            while due < begin + MEASURE_S:
                time.sleep(max(0, due - time.monotonic()))
                scrapes.append(server.scrape())
                due += scrape_s
            time.sleep(max(0, begin + MEASURE_S - time.monotonic()))
            after, calls, length_s = server.used(), server.nvml(), time.monotonic() - begin
            status = server.facts("status")
            result = {"kwhy": kwhy, "scrape_every_s": scrape_s, "length_s": length_s,
                      **{f"{key}_per_s": (after[key] - before[key]) / length_s for key in after if after[key] is not None},
                      "scrape_median_s": statistics.median(scrapes), "scrape_longest_s": max(scrapes),
                      "rss_kb": int(status["VmRSS"]), "anonymous_kb": int(status["RssAnon"]), "threads": int(status["Threads"]), "mapped_kb": server.mapped(),
                      "nvml": {call: {"per_s": (count - calls_before[call][0]) / length_s, "cpu_ms": 1e3 * (cpu_s - calls_before[call][1]) / (count - calls_before[call][0]),
                                      "elapsed_ms": 1e3 * (elapsed_s - calls_before[call][2]) / (count - calls_before[call][0])}
                               for call, (count, cpu_s, elapsed_s) in calls.items() if count > calls_before[call][0]}}
            result["nvml_cpu_s_per_s"] = sum(call["per_s"] * call["cpu_ms"] * 1e-3 for call in result["nvml"].values())
            if SYSCALLS:
                result["syscalls_per_s"] = count_syscalls(server)
        finally:
            status = server.stop()
        if status:
            sys.exit(f"kwhy serve ended with {status}")
    return result


def show(result):
    cpu, nvml = result["cpu_s_per_s"], result["nvml_cpu_s_per_s"]
    print(f"{result['kwhy']}, a scrape every {result['scrape_every_s']:g} s: {cpu:.3%} of a core, {nvml:.3%} in NVML, {cpu - nvml:.3%} kwhy itself "
          f"(user {result['user_s_per_s']:.2%}, system {result['system_s_per_s']:.2%}); {result['rss_kb'] / 1e3:.1f} MB resident, "
          f"{result['anonymous_kb'] / 1e3:.1f} MB of it its own, {result['threads']} threads; {result['switches_per_s']:.1f} switches/s, "
          f"{result.get('written_per_s', float('nan')) / 1e3:.1f} kB/s written; scrape {1e3 * result['scrape_median_s']:.1f} ms, {1e3 * result['scrape_longest_s']:.1f} ms at most")
    for call, of in sorted(result["nvml"].items(), key=lambda item: -item[1]["per_s"] * item[1]["cpu_ms"]):
        print(f"    {call:45} {of['per_s']:8.2f}/s {of['cpu_ms']:8.3f} ms of a core, {of['elapsed_ms']:8.3f} ms each: {of['per_s'] * of['cpu_ms'] * 1e-3:.3%}")
    print("    resident kB:", ", ".join(f"{name} {kb}" for name, kb in result["mapped_kb"].items()))
    if "syscalls_per_s" in result:
        print("    system calls per second:", ", ".join(f"{name} {count:.1f}" for name, count in sorted(result["syscalls_per_s"].items(), key=lambda row: -row[1])[:16]))
    sys.stdout.flush()


def main():
    shim, real, out, *programs = sys.argv[1:]
    load = start_load() if LOAD and not IS_FAKE else []
    results = []
    try:
        for number in range(ROUNDS):
            for scrape_s in SCRAPES_S:
                for kwhy in programs if number % 2 == 0 else programs[::-1]:
                    results.append(measure(kwhy, scrape_s, shim, real))
                    show(results[-1])
    finally:
        for program in load:
            program.kill()
    Path(out, "serve_cost.json").write_text(json.dumps({"when_unix_s": time.time(), "simulated": IS_FAKE, "results": results}, indent=1))


main()
