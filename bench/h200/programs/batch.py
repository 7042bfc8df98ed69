# SPDX-License-Identifier: Apache-2.0
"""Runs the steps of a plan on one or two GPUs, and packs their results.

A line of a plan is a step: lane | seconds | name | command. Empty lines and lines that begin with # are ignored. Steps
of lane 0 and of lane 1 run concurrently, each lane on its GPU (CUDA_VISIBLE_DEVICES) and on half of the CPUs, in the
order of the file. A step of lane 01 has both GPUs and all CPUs. With one GPU, both lanes are one lane, and steps of
lane 01 are left out. bash runs the command in OUT/name with $KWHY and $OUT (that folder) set and with these scripts on
PATH; its output goes to OUT/name.log. If a step takes longer than its seconds, it is ended together with all processes
that it started: by TERM and, five seconds later, by KILL. Processes that still run when a step has ended by itself are
killed, too, unless they have a session of their own (setsid).

After the last step, when --seconds are over, or when batch.py receives TERM, everything below OUT is packed into
OUT/results.tar.gz (--pack: another file), small files first, up to --pack-mib. Its summary.txt says how each step ended
and what was left out. The exit status is 1 if a step failed or did not run.

usage: batch.py KWHY OUT PLAN [--seconds S] [--gpus N] [--pack FILE] [--pack-mib N]
"""
import argparse
import collections
import os
import signal
import subprocess
import sys
import tarfile
import threading
import time
import zlib

GRACE_S = 5
LANES = ("0", "1", "01")


class Step:
    def __init__(self, lane, limit_s, name, command):
        self.lane, self.limit_s, self.name, self.command = lane, limit_s, name, command
        self.ended, self.seconds = "did not run", None


def step_of(line):
    fields = [field.strip() for field in line.split("|", 3)]
    if len(fields) < 4 or not all(fields):
        raise ValueError("is not lane | seconds | name | command")
    lane, limit, name, command = fields
    if lane not in LANES:
        raise ValueError(f"has lane {lane}, which is none of {', '.join(LANES)}")
    if not name.replace("-", "").replace("_", "").isalnum():
        raise ValueError(f"has the name {name}, which is more than letters, digits, - and _")
    if not float(limit) > 0:
        raise ValueError("takes no time")
    return Step(lane, float(limit), name, command)


def read_plan(path):
    steps = []
    with open(path) as file:
        for number, line in enumerate(file, 1):
            if not line.strip() or line.lstrip().startswith("#"):
                continue
            try:
                steps.append(step_of(line))
                if steps[-1].name in [step.name for step in steps[:-1]]:
                    raise ValueError(f"has the name {steps[-1].name} again")
            except ValueError as problem:
                raise SystemExit(f"batch: line {number} of {path} {problem}")
    return steps


def siblings_of(cpu):
    """Returns the first hardware thread of the core that `cpu` belongs to."""
    try:
        with open(f"/sys/devices/system/cpu/cpu{cpu}/topology/thread_siblings_list") as file:
            return int(file.read().replace("-", ",").split(",")[0])
    except (OSError, ValueError):
        return cpu


def halves_of_cpus():
    """Returns two halves of the CPUs that share no core; with a single CPU, twice that CPU."""
    cpus = sorted(os.sched_getaffinity(0), key=lambda cpu: (siblings_of(cpu), cpu))
    middle = len(cpus) // 2
    return (cpus[:middle], cpus[middle:]) if middle else (cpus, cpus)


def processes():
    """Returns (parent, session) of all processes by (pid, start time). The start time distinguishes processes that had the
    same pid one after the other."""
    found = {}
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{pid}/stat") as file:
                fields = file.read().rpartition(")")[2].split()
        except OSError:
            continue
        found[int(pid), fields[19]] = int(fields[1]), int(fields[3])
    return found


def descendants_of(pid):
    """Returns the processes of the session of `pid` and all children of these, which may have sessions of their own, as
    launchers make them."""
    running, found, found_pids = processes(), set(), {pid}
    while True:
        more = {key for key, (parent, session) in running.items() if session == pid or parent in found_pids} - found
        if not more:
            return found
        found |= more
        found_pids |= {key[0] for key in more}


def send(keys, number):
    for pid, start in keys & set(processes()):
        try:
            os.kill(pid, number)
        except ProcessLookupError:
            pass


class Batch:
    def __init__(self, options, steps):
        self.options, self.steps = options, steps
        self.out = os.path.abspath(options.out)
        self.began = time.monotonic()
        self.is_over = threading.Event()
        self.printing = threading.Lock()

    def say(self, words):
        with self.printing:
            print(f"[{time.monotonic() - self.began:5.0f} s] {words}", flush=True)

    def left_s(self):
        if self.is_over.is_set():
            return 0
        return self.options.seconds - (time.monotonic() - self.began) if self.options.seconds else float("inf")

    def start(self, step, gpus):
        folder = os.path.join(self.out, step.name)
        os.makedirs(folder, exist_ok=True)
        environment = dict(os.environ, KWHY=os.path.abspath(self.options.kwhy), OUT=folder, CUDA_VISIBLE_DEVICES=gpus)
        with open(folder + ".log", "wb") as log:
            return subprocess.Popen(
                ["bash", "-c", step.command], cwd=folder, env=environment, stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True
            )

    def wait(self, process, until):
        """Waits for the process. Returns False if the time of the step or of all steps ended first."""
        while time.monotonic() < until and self.left_s() > 0:
            try:
                process.wait(max(0, min(0.2, until - time.monotonic())))
                return True
            except subprocess.TimeoutExpired:
                pass
        return False

    def end(self, process):
        everything = descendants_of(process.pid)
        send(everything, signal.SIGTERM)
        try:
            process.wait(GRACE_S)
        except subprocess.TimeoutExpired:
            pass
        send(everything | descendants_of(process.pid), signal.SIGKILL)
        process.wait()

    def run(self, step, gpus):
        if self.left_s() <= 0:
            return
        self.say(f"{step.name} begins on GPU {gpus}")
        start = time.monotonic()
        process = self.start(step, gpus)
        if self.wait(process, start + step.limit_s):
            step.ended = f"exit {process.returncode}"
        else:
            step.ended = "ended with all" if self.left_s() <= 0 else f"ended after {step.limit_s:g} s"
            self.end(process)
        send(descendants_of(process.pid), signal.SIGKILL)
        step.seconds = time.monotonic() - start
        self.say(f"{step.name}: {step.ended}, {step.seconds:.1f} s")

    def run_lane(self, steps, gpu, cpus):
        os.sched_setaffinity(0, cpus)  # for this thread and the processes that it starts
        for step in steps:
            self.run(step, gpu)

    def run_side_by_side(self, steps):
        lanes = [
            threading.Thread(target=self.run_lane, args=([step for step in steps if step.lane == gpu], gpu, cpus))
            for gpu, cpus in zip("01", halves_of_cpus())
        ]
        for lane in lanes:
            lane.start()
        for lane in lanes:
            while lane.is_alive():
                lane.join(0.2)  # with a timeout, because a signal that comes right before a join() without one is handled only after it

    def run_all(self):
        if self.options.gpus < 2:
            for step in self.steps:
                if step.lane == "01":
                    step.ended = "needs two GPUs"
                else:
                    self.run(step, "0")
            return
        beside = []
        for step in self.steps:
            if step.lane != "01":
                beside.append(step)
                continue
            self.run_side_by_side(beside)
            self.run(step, "0,1")
            beside = []
        self.run_side_by_side(beside)

    def summary(self):
        lines = [f"{'step':24} lane  {'how':20} seconds"]
        for step in self.steps:
            seconds = "" if step.seconds is None else f"{step.seconds:.1f}"
            lines.append(f"{step.name:24} {step.lane:4}  {step.ended:20} {seconds:>7}")
        lines.append(f"all: {time.monotonic() - self.began:.1f} s on {self.options.gpus} GPUs")
        return "\n".join(lines) + "\n"


def last_lines(path, count):
    try:
        with open(path, errors="replace") as file:
            return "".join(collections.deque(file, count))
    except OSError:  # the step did not run
        return ""


def files_below(folder, without):
    """Returns the paths of all files in the folder, the smallest first."""
    found = [os.path.join(place, name) for place, _, names in os.walk(folder) for name in names]
    found = [path for path in found if os.path.isfile(path) and not os.path.islink(path) and os.path.abspath(path) != without]
    return sorted(found, key=os.path.getsize)


def packed_bytes(path):
    """Returns an upper bound of the file's size in the archive."""
    compressor, count = zlib.compressobj(1), 0
    with open(path, "rb") as file:
        while block := file.read(1 << 20):
            count += len(compressor.compress(block))
    return count + len(compressor.flush()) + 2 * tarfile.BLOCKSIZE


def pack(folder, target, most_bytes):
    """Packs the folder. Returns the names of the files that were left out."""
    left_out = []
    with open(target, "wb") as file, tarfile.open(fileobj=file, mode="w:gz", compresslevel=5) as archive:
        for path in files_below(folder, os.path.abspath(target)):
            name = os.path.relpath(path, folder)
            try:
                if file.tell() + packed_bytes(path) > most_bytes:
                    left_out.append(name)
                else:
                    archive.add(path, name)
            except OSError as problem:  # the file changed while it was read
                left_out.append(f"{name} ({problem})")
    return left_out


def count_gpus():
    try:
        return subprocess.run(["nvidia-smi", "-L"], stdout=subprocess.PIPE, check=True).stdout.count(b"\nGPU ") + 1
    except (OSError, subprocess.CalledProcessError):
        raise SystemExit("batch: nvidia-smi names no GPU; --gpus 1 or --gpus 2 says how many there are")


def parse():
    parser = argparse.ArgumentParser(prog="batch.sh", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("kwhy")
    parser.add_argument("out")
    parser.add_argument("plan")
    parser.add_argument("--seconds", type=float, help="of all steps together; then they are ended")
    parser.add_argument("--gpus", type=int, choices=(1, 2), help="default: as many as nvidia-smi names")
    parser.add_argument("--pack", help="default OUT/results.tar.gz")
    parser.add_argument("--pack-mib", type=float, default=15)
    return parser.parse_args()


def main():
    options = parse()
    steps = read_plan(options.plan)
    options.gpus = options.gpus or min(2, count_gpus())
    os.makedirs(options.out, exist_ok=True)
    target = os.path.abspath(options.pack or os.path.join(options.out, "results.tar.gz"))
    batch = Batch(options, steps)
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: batch.is_over.set())
    batch.run_all()
    words = batch.summary()
    place = os.path.join(options.out, "summary.txt")
    with open(place, "w") as file:
        file.write(words)
    print(words, end="")
    failed = [step.name for step in steps if step.ended != "exit 0"]
    for name in failed:
        print(f"{name}:\n" + last_lines(os.path.join(options.out, name + ".log"), 5), end="")
    for name in pack(options.out, target, options.pack_mib * (1 << 20)):
        print("not packed:", name)
    return 1 if failed else 0


sys.exit(main())
