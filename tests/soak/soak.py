#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs kwhy record, serve, watch and llm on fakes for some minutes.

Memory, descriptors and threads must not grow. No served counter may ever fall, and the served energy must be that of
the fake meter. Whenever the recording is read, also while it is written, its accounts must add up to the nanojoule.
Usage: soak.py KWHY INJECT FAKE_NVML_DIR FAKE_CUDA_DIR FAKE_CUPTI FAKE_PROGRAM SOURCE_DIR. MINUTES is the length of the
test (default 1).
"""
import decimal
import json
import os
import pty
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request

MINUTES = float(os.environ.get("MINUTES", 1))
KWHY, INJECT, NVML, CUDA, CUPTI, PROGRAM, SOURCE = sys.argv[1:]
SCENARIOS = SOURCE + "/tests/fakes/nvml/scenarios/"
WATTS = 300  # constant power of h200_constant_300w.txt
WATTS_RATIO = 0.02
SCRAPE_S = 1
REPORT_EVERY = 15  # number of scrapes between two reports
WARM_UP = 0.25  # share of the time after which nothing may grow any more
CONNECTIONS = 1  # of a scrape that may be open while descriptors are counted
MEMORY_KB = 512  # variation of a heap's size that is no growth
LOADS = 64  # loads of kwhy llm; it accepts no more
# Memory that a process keeps on purpose, in kB per second. kwhy llm divides joules among the requests of all loads
# after the last load, so until then it keeps requests and meter readings: 0.6 kB per second in a test of 30 minutes.
KEPT_KB_PER_S = {"llm": 1.0}


def environment(**more):
    result = {name: value for name, value in os.environ.items() if not name.startswith("KWHY_")}
    result.update(LC_ALL="C.UTF-8", TERM="xterm", LD_LIBRARY_PATH=NVML, KWHY_INJECT=INJECT, **more)
    return result


class Watched:
    """A process, and the resources that it used at each scrape."""

    def __init__(self, name, child):
        self.name, self.child, self.used = name, child, []

    def look(self):
        if self.child.poll() is not None:
            sys.exit(f"{self.name} ended: {self.child.returncode}")
        with open(f"/proc/{self.child.pid}/status", encoding="ascii") as file:
            facts = dict(re.findall(r"^(\w+):\s+(\d+)", file.read(), re.M))
        self.used.append((int(facts["RssAnon"]), len(os.listdir(f"/proc/{self.child.pid}/fd")), int(facts["Threads"])))

    def problems(self):
        warm = self.used[int(len(self.used) * WARM_UP):]
        third = max(1, len(warm) // 3)
        early, late = ([max(row[i] for row in rows) for i in range(3)] for rows in (warm[:third], warm[-third:]))
        print(f"{self.name:7} memory {early[0]} -> {late[0]} kB, descriptors {early[1]} -> {late[1]}, "
              f"threads {early[2]} -> {late[2]}")
        kept_kb = KEPT_KB_PER_S.get(self.name, 0) * SCRAPE_S * (len(warm) - third)
        if late[0] > early[0] + MEMORY_KB + kept_kb:
            yield f"{self.name}: memory grows from {early[0]} to {late[0]} kB"
        if late[1] > early[1] + CONNECTIONS:
            yield f"{self.name}: descriptors grow from {early[1]} to {late[1]}"
        if late[2] > early[2]:
            yield f"{self.name}: threads grow from {early[2]} to {late[2]}"


def start_serve(place):
    child = subprocess.Popen([KWHY, "serve", "--listen", "127.0.0.1:0"], stderr=subprocess.PIPE,
                             env=environment(KWHY_FAKE_NVML=SCENARIOS + "h200_constant_300w.txt"), cwd=place)
    for line in child.stderr:
        found = re.search(rb"http://[^/]+/metrics", line)
        if found:
            threading.Thread(target=child.stderr.read, daemon=True).start()
            return Watched("serve", child), found.group(0).decode()
    sys.exit("kwhy serve does not begin")


def drain(file):
    """Reads what a terminal shows, so that its program never blocks."""
    try:
        while os.read(file, 65536):
            pass
    except OSError:
        pass  # the program has ended


def start_watch(place):
    ours, theirs = pty.openpty()
    child = subprocess.Popen([KWHY, "watch"], stdin=theirs, stdout=theirs, stderr=theirs, start_new_session=True,
                             env=environment(KWHY_FAKE_NVML=SCENARIOS + "two_gpus.txt"), cwd=place)
    os.close(theirs)
    threading.Thread(target=drain, args=(ours,), daemon=True).start()
    return Watched("watch", child)


def start_record(place):
    """Runs a program with some kernels, again and again until the file `go` is removed."""
    command = (f"export KWHY_CUPTI={CUPTI} LD_LIBRARY_PATH={CUDA}; "
               f"while [ -e go ]; do {PROGRAM} cuda range:step launch:50 copy; sleep 0.5; done")
    open(place + "/go", "w", encoding="ascii").close()
    child = subprocess.Popen([KWHY, "record", "-q", "-o", "run.kwhy", "--", "sh", "-c", command],
                             env=environment(KWHY_FAKE_NVML=SCENARIOS + "h200_of_fake_cuda.txt"), cwd=place)
    return Watched("record", child)


def start_llm(place):
    server = subprocess.Popen([sys.executable, SOURCE + "/tests/fakes/llm/server.py", "well", place + "/port"])
    while not os.path.exists(place + "/port") or not os.path.getsize(place + "/port"):
        if server.poll() is not None:
            sys.exit("the fake server of language models ended")
        time.sleep(0.05)
    with open(place + "/port", encoding="ascii") as file:
        url = f"http://127.0.0.1:{file.read().strip()}/v1/"
    child = subprocess.Popen([KWHY, "llm", "--url", url, "-c", ",".join(["2"] * LOADS),
                              "--seconds", str(max(10, MINUTES * 60 / (LOADS - 4))),
                              "--idle", "1", "--ramp", "0", "-q", "-o", "llm.json"],
                             # without a GPU: to divide energy, kwhy llm would keep more of each request until the end
                             env=environment(KWHY_FAKE_NVML=SCENARIOS + "no_gpu.txt"), cwd=place)
    return Watched("llm", child), server


class Scrapes:
    """Checks what is served: no counter may fall."""

    def __init__(self, address):
        self.address, self.last, self.first = address, {}, None
        self.opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        self.count, self.problems = 0, []

    def scrape(self):
        text = self.opener.open(self.address, timeout=60).read().decode()
        counters = {name: decimal.Decimal(value) for name, value in re.findall(r"^(\w+_total\{?.*) (\S+)$", text, re.M)}
        for name, value in counters.items():
            if value < self.last.get(name, 0):
                self.problems.append(f"{name} falls from {self.last[name]} to {value}")
        for name in self.last.keys() - counters.keys():
            self.problems.append(f"{name} is gone")
        idle = sum(value for name, value in counters.items() if name.startswith("kwhy_device_idle_energy_joules"))
        energy = sum(value for name, value in counters.items() if name.startswith("kwhy_device_energy_joules"))
        if idle > energy:
            self.problems.append(f"idle energy {idle} J is more than all energy, {energy} J")
        self.last = counters
        self.count += 1
        now = (time.monotonic(), energy)
        self.first = self.first or (now if energy else None)
        return now

    def check_power(self, last):
        seconds, joules = last[0] - self.first[0], float(last[1] - self.first[1])
        print(f"serve: {self.count} scrapes, {joules:.0f} J in {seconds:.0f} s")
        if abs(joules / seconds / WATTS - 1) > WATTS_RATIO + 2 / seconds:  # a served value is up to half a second old
            self.problems.append(f"{joules} J in {seconds} s are not {WATTS} W")


def check_balance(place, is_last=False):
    """Returns the problems of a report of the recording as it is now. At the end, a device must have an energy."""
    shutil.copytree(place + "/run.kwhy", place + "/copy.kwhy")
    ended = subprocess.run([KWHY, "report", "copy.kwhy", "-q", "-o", "report.json"], env=environment(), cwd=place,
                           capture_output=True, check=False)
    shutil.rmtree(place + "/copy.kwhy")
    if ended.returncode:
        return [f"report: {ended.stderr.decode()}"]
    with open(place + "/report.json", encoding="utf-8") as file:
        devices = json.load(file)["devices"]
    problems = []
    if is_last and not any((device["energy"] or {}).get("measured_nj") for device in devices):
        problems.append("no device has a measured energy")
    for device in devices:
        energy = device["energy"] or {}
        gross = sum(row["gross_nj"] or 0 for row in device["accounts"])
        if energy.get("measured_nj") is not None and gross != energy["measured_nj"]:
            problems.append(f"accounts add up to {gross} nJ of {energy['measured_nj']}")
    return problems


def end(watched, place):
    """Ends all processes as their users would. Returns those that fail."""
    os.unlink(place + "/go")
    for process in watched:
        if process.name != "record":
            process.child.send_signal(signal.SIGINT)
    problems = []
    for process in watched:
        status = process.child.wait(timeout=120)
        if status not in ((1,) if process.name == "llm" else (0, -signal.SIGINT)):  # its load was interrupted
            problems.append(f"{process.name} ends with {status}")
    ended = subprocess.run([KWHY, "verify", "run.kwhy"], env=environment(), cwd=place, capture_output=True, check=False)
    return problems + ([f"verify: {ended.stderr.decode()}"] if ended.returncode else [])


def main():
    signal.signal(signal.SIGINT, signal.default_int_handler)  # as in a foreground process; shells start background jobs with SIGINT ignored
    with tempfile.TemporaryDirectory() as place:
        serve, address = start_serve(place)
        llm, server = start_llm(place)
        watched = [serve, llm, start_watch(place), start_record(place)]
        scrapes, problems, reports = Scrapes(address), [], 0
        until = time.monotonic() + MINUTES * 60
        try:
            while time.monotonic() < until:
                time.sleep(SCRAPE_S)
                last = scrapes.scrape()
                for process in watched:
                    process.look()
                if scrapes.count % REPORT_EVERY == 0:
                    problems += check_balance(place)
                    reports += 1
            scrapes.check_power(last)
            problems += end(watched, place)
            problems += check_balance(place, is_last=True)
        finally:
            for process in watched:
                if process.child.poll() is None:
                    process.child.kill()
            server.kill()
        print(f"record: {reports + 1} reports")
        for process in watched:
            problems += process.problems()
        problems += scrapes.problems
        for problem in problems[:20]:
            print("wrong:", problem)
        sys.exit(1 if problems else 0)


if __name__ == "__main__":
    main()
