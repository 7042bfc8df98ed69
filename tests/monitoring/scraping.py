#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests kwhy serve with a real Prometheus that scrapes it each second, while jobs come and go among 200 processes on eight
fake GPUs and others read the metrics, too. No scrape may fail, no counter may fall, the owners' joules must rise as the
devices' do, and the memory must not grow. Usage: scraping.py KWHY FAKE_NVML_DIR. MINUTES is the length of the test
(default 1)."""
import itertools
import json
import os
import random
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.parse
import urllib.request
from pathlib import Path

MINUTES = float(os.environ.get("MINUTES", 1))
KWHY, NVML = sys.argv[1:]
GPUS, JOBS_A_GPU, PROCESSES_A_JOB = 8, 5, 5
LABELS = 300  # number of owners with labels of their own; in ten minutes there are more jobs
WARM_UP_S = 15
MEMORY_KB = 1024  # the rows of owners that ended stay for an hour
LATE_S = 3  # figures of owners are up to one update late at both ends of the time, and scrapes are a second apart
EXTRAPOLATED = 0.03  # increase() extrapolates each series to the ends of the time, by up to a scrape interval each
numbers = itertools.count(1)
generator = random.Random(1)


def watts(gpu):
    return 100 + 50 * gpu


class Machine:
    """Simulates jobs on fake GPUs: the driver's list of processes, and their /proc."""

    def __init__(self, folder):
        self.folder, self.root, self.count = folder, folder / "root", 0
        (self.root / "etc").mkdir(parents=True)
        (self.root / "etc/passwd").write_text("alice:x:1000:1000::/:/bin/sh\n")
        (folder / "gpus").write_text("".join(f'gpu "NVIDIA H200"\npower constant {watts(gpu)}\n' for gpu in range(GPUS)))
        self.jobs = [self.job(gpu) for gpu in range(GPUS) for _ in range(JOBS_A_GPU)]
        self.write()

    def job(self, gpu):
        self.count += 1
        pids = [next(numbers) for _ in range(PROCESSES_A_JOB)]
        for pid in pids:
            proc = self.root / f"proc/{pid}"
            proc.mkdir(parents=True)
            (proc / "cgroup").write_text(f"0::/system.slice/slurmstepd.scope/job_{self.count}/step_0/user/task_0\n")
            (proc / "status").write_text("Name:\tpython\nUid:\t1000\t1000\t1000\t1000\n")
            (proc / "stat").write_text(f"{pid} (python) S 1 1 1 0 -1 0 1 2 3 4 100 50 100 50 20 0 1 0 777 1 1\n")
        return gpu, generator.randint(0, 100 // JOBS_A_GPU // PROCESSES_A_JOB), pids

    def write(self):
        lines = [f"{gpu} {pid} 100 {percent}\n" for gpu, percent, pids in self.jobs for pid in pids]
        (self.folder / "new").write_text("".join(lines))
        (self.folder / "new").rename(self.folder / "processes")

    def replace(self):
        at = self.count % len(self.jobs)  # each job lives for some seconds, so that it is seen
        gpu, _, pids = self.jobs[at]
        self.jobs[at] = self.job(gpu)
        self.write()
        for pid in pids:
            shutil.rmtree(self.root / f"proc/{pid}")


def free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


def read(url):
    with urllib.request.urlopen(url, timeout=60) as answer:
        return answer.read().decode()


def serve(folder):
    log = open(folder / "serve.log", "w")
    environment = dict(os.environ, LD_LIBRARY_PATH=NVML, KWHY_FAKE_NVML=str(folder / "gpus"), KWHY_FAKE_NVML_PROCESSES=str(folder / "processes"))
    child = subprocess.Popen([KWHY, "serve", "--listen", "127.0.0.1:0", "--root", folder / "root", "--accounts", folder / "accounts",
                              "--owners-max", str(LABELS)], stderr=log, env=environment)
    while True:
        found = re.search(r"http://([^/]*)/metrics", (folder / "serve.log").read_text())
        if found:
            return child, found[1]
        if child.poll() is not None:
            sys.exit((folder / "serve.log").read_text())
        time.sleep(0.05)


def start_prometheus(folder, address):
    (folder / "prometheus.yml").write_text(f"global: {{scrape_interval: 1s}}\nscrape_configs:\n  - job_name: kwhy\n"
                                           f"    static_configs: [{{targets: ['{address}']}}]\n")
    for _ in range(5):  # another process may take the port first
        port = free_port()
        child = subprocess.Popen(["prometheus", f"--config.file={folder}/prometheus.yml", f"--storage.tsdb.path={folder}/data", "--log.level=warn",
                                  f"--web.listen-address=127.0.0.1:{port}"], stderr=open(folder / "prometheus.log", "w"))
        while child.poll() is None:
            try:
                read(f"http://127.0.0.1:{port}/-/ready")
                return child, port
            except (urllib.error.URLError, ConnectionError):
                time.sleep(0.1)
    sys.exit((folder / "prometheus.log").read_text())


class Prometheus:
    def __init__(self, port, at_s):
        self.port, self.at_s = port, at_s

    def ask(self, query):
        """Returns the values of a query at the end of the time, by device."""
        text = read(f"http://127.0.0.1:{self.port}/api/v1/query?" + urllib.parse.urlencode({"query": query, "time": self.at_s}))
        answer = json.loads(text)["data"]["result"]
        return {row["metric"].get("device"): float(row["value"][1]) for row in answer}


def use(machine, server, address, seconds):
    """Lets jobs come and go, and reads the metrics as well. Returns the server's memory in kB."""
    memory, end = [], time.monotonic() + seconds
    while time.monotonic() < end:
        machine.replace()
        if server.poll() is not None:
            sys.exit(f"kwhy serve ended: {server.returncode}")
        read(f"http://{address}/metrics")
        memory.append(int(re.search(r"RssAnon:\s+(\d+)", Path(f"/proc/{server.pid}/status").read_text())[1]))
        time.sleep(0.5)
    return memory


def check_energy(prometheus, window_s, machine, say):
    window = f"[{window_s}s]"
    device = prometheus.ask(f"increase(kwhy_device_energy_joules_total{window})")
    owners = "kwhy_owner_energy_joules_total"
    rise = prometheus.ask(f"sum by (device) ({owners}) - sum by (device) ({owners} offset {window_s}s)")
    # increase() leaves out the value that a series had at its first scrape; min_over_time() of the new series adds that
    increase = prometheus.ask(f"sum by (device) (increase({owners}{window}))")
    first = prometheus.ask(f"sum by (device) (min_over_time({owners}{window}) unless {owners} offset {window_s}s)")
    if len(device) != GPUS:
        say(f"{len(device)} devices have energy")
    for gpu in range(GPUS):
        name, late_j = str(gpu), LATE_S * watts(gpu)
        if abs(device[name] - watts(gpu) * window_s) > late_j + EXTRAPOLATED * watts(gpu) * window_s:
            say(f"device {name}: {device[name]} J in {window_s} s at {watts(gpu)} W")
        if abs(rise[name] - device[name]) > late_j:
            say(f"device {name}: its owners have {rise[name]} J, it has {device[name]} J")
        by_increase = increase[name] + first.get(name, 0)
        if abs(by_increase - device[name]) > late_j + EXTRAPOLATED * device[name]:
            say(f"device {name}: increase() of its owners is {by_increase} J, that of the device {device[name]} J")
    print("joules of devices, their owners' rise, increase() and first values:",
          *(f"{sum(values.values()):.0f}" for values in (device, rise, increase, first)), f"of {machine.count} jobs")


def main():
    if not shutil.which("prometheus"):
        print("skipped: Prometheus is not installed")
        sys.exit(77)
    problems = []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        machine = Machine(folder)
        server, address = serve(folder)
        child, port = start_prometheus(folder, address)
        try:
            use(machine, server, address, WARM_UP_S)
            window_s = int(MINUTES * 60)
            memory = use(machine, server, address, window_s + 2)
            prometheus = Prometheus(port, time.time() - 1)
            window = f"[{window_s}s]"
            check_energy(prometheus, window_s, machine, problems.append)
            scrapes = prometheus.ask(f"count_over_time(up{window})")[None]
            if prometheus.ask(f"min_over_time(up{window})")[None] != 1 or prometheus.ask(f"absent_over_time(up{window})"):
                problems.append("a scrape failed")
            if prometheus.ask(f"sum(resets(kwhy_owner_energy_joules_total{window}))")[None]:
                problems.append("a counter fell")
            slow, typical = (prometheus.ask(f"{of}(scrape_duration_seconds{window})")[None] for of in ("max_over_time", "avg_over_time"))
            third = max(1, len(memory) // 3)
            early, late = max(memory[third:2 * third]), max(memory[-third:])
            print(f"{scrapes:.0f} scrapes in {window_s} s, {typical * 1e3:.1f} ms each, {slow * 1e3:.1f} ms at most; memory {early} -> {late} kB")
            if late - early > MEMORY_KB:
                problems.append("the memory grows")
            server.terminate()
            if server.wait():
                problems.append(f"kwhy serve ended with {server.returncode}")
            subprocess.run([KWHY, "job", "--accounts", folder / "accounts", "-o", folder / "jobs.csv"], check=True)
            jobs = (folder / "jobs.csv").read_text().count("\nslurm,")
            if jobs < machine.count - 5:  # the last ones may not have been seen yet
                problems.append(f"kwhy job shows {jobs} of {machine.count} jobs")
            if re.search("level=(warn|error)", (folder / "prometheus.log").read_text()):
                problems.append((folder / "prometheus.log").read_text())
        finally:
            for process in (server, child):
                process.kill()
                process.wait()
        if problems:
            problems.append((folder / "serve.log").read_text())
    print("\n".join(problems))
    sys.exit(bool(problems))


main()
