#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares the energies by owner of `kwhy serve --accounts` with the joules that the owners' work takes alone: owners.py
KWHY OUT_FOLDER. See owners.sh."""
import ctypes
import glob
import json
import os
import sqlite3
import subprocess
import sys
import tempfile
import threading
import time

HERE = os.path.dirname(os.path.abspath(__file__))
BUDGET_S = float(os.environ.get("BUDGET_S", 230))  # no new part begins that would end later than this
SHARE_S = float(os.environ.get("SHARE_S", 8))  # how long the programs of a round work
TOGETHER_S = float(os.environ.get("TOGETHER_S", SHARE_S))  # those of a round of several programs
DEVICE = int(os.environ.get("CUDA_VISIBLE_DEVICES", "0") or 0)  # its number, as NVML counts
IDLE_S = float(os.environ.get("IDLE_S", 8))  # length of one stretch of the idle GPU; each way has two
LAG_S = 2.5  # kwhy's accounts are at most this late: ten looks of 200 ms, and half a second for the meters
KINDS = ["product", "copy", "train", "idle"]
ROUNDS = [
    ["product"], ["copy"], ["train"], ["idle"],
    ["product", "train"], ["product"] * 3 + ["copy"] * 2 + ["train"] * 3 + ["idle"] * 2,
    ["product", "copy", "idle", "train"], ["product", "copy", "train"],
]
FIRST_UID = 3000


def duration_s(programs):
    return TOGETHER_S if len(programs) > 1 else SHARE_S


started_s = time.monotonic()


def left_s():
    return BUDGET_S - (time.monotonic() - started_s)


class Process(ctypes.Structure):
    _fields_ = [("pid", ctypes.c_uint), ("bytes", ctypes.c_ulonglong), ("gpu_instance", ctypes.c_uint), ("compute_instance", ctypes.c_uint)]


class Use(ctypes.Structure):
    _fields_ = [("pid", ctypes.c_uint), ("unix_us", ctypes.c_ulonglong)] + [(name, ctypes.c_uint) for name in ("sm", "memory", "encoder", "decoder")]


class Gpu:
    """The energy, the processes and the GPM metrics of the GPU, as this program itself reads them."""

    def __init__(self):
        self.nvml = ctypes.CDLL("libnvidia-ml.so.1")
        self.device = ctypes.c_void_p()
        self.sample = ctypes.c_void_p()
        self.call("nvmlInit_v2")
        self.call("nvmlDeviceGetHandleByIndex_v2", DEVICE, ctypes.byref(self.device))

    def call(self, name, *arguments):
        result = getattr(self.nvml, name)(*arguments)
        if result:
            raise OSError(f"{name} fails with {result}")

    def energy_j(self):
        millijoules = ctypes.c_ulonglong()
        self.call("nvmlDeviceGetTotalEnergyConsumption", self.device, ctypes.byref(millijoules))
        return millijoules.value / 1e3

    def pids(self):
        count, rows = ctypes.c_uint(64), (Process * 64)()
        self.call("nvmlDeviceGetComputeRunningProcesses_v3", self.device, ctypes.byref(count), rows)
        return {rows[i].pid for i in range(count.value)}

    def number(self, name, *arguments):
        value = ctypes.c_uint()
        self.call(name, self.device, *arguments, ctypes.byref(value))
        return value.value

    def uses(self, after_us):
        count, rows = ctypes.c_uint(4096), (Use * 4096)()  # too small a number of rows is an error, and the driver keeps rows of many seconds
        if self.nvml.nvmlDeviceGetProcessUtilization(self.device, rows, ctypes.byref(count), ctypes.c_ulonglong(after_us)):
            return []
        return [rows[i] for i in range(count.value) if rows[i].pid]

    def read_gpm(self):
        if not self.sample:
            self.call("nvmlGpmSampleAlloc", ctypes.byref(self.sample))
        self.call("nvmlGpmSampleGet", self.device, self.sample)


class Samples:
    """Writes what the driver reports about the processes, with power and SM clock, ten times a second to
    owners-samples.csv."""

    def __init__(self, gpu, out):
        self.gpu, self.file, self.ended = gpu, open(os.path.join(out, "owners-samples.csv"), "w"), threading.Event()
        self.file.write("unix_s,power_mw,sm_mhz,pid,sample_unix_us,sm_percent,memory_percent,encoder_percent,decoder_percent\n")
        self.thread = threading.Thread(target=self.run)
        self.thread.start()

    def run(self):
        after_us = int(time.time() * 1e6)
        while not self.ended.wait(0.1):
            try:
                state = f"{time.time():.3f},{self.gpu.number('nvmlDeviceGetPowerUsage')},{self.gpu.number('nvmlDeviceGetClockInfo', 1)}"
            except OSError:
                continue
            uses = self.gpu.uses(after_us)
            for use in uses:
                self.file.write(f"{state},{use.pid},{use.unix_us},{use.sm},{use.memory},{use.encoder},{use.decoder}\n")
                after_us = max(after_us, use.unix_us)
            if not uses:
                self.file.write(f"{state},,,,,,\n")

    def stop(self):
        self.ended.set()
        self.thread.join()
        self.file.close()


class Programs:
    """The processes of share.py. A kind has the same user in each round, so that kwhy can learn its power; a second
    process of a kind in a round has a user of its own. Processes are started early, because their imports take long."""

    def __init__(self, folder):
        self.folder, self.all, self.rounds = folder, [], []
        python, program = sys.executable, os.path.join(folder, "share.py")
        with open(os.path.join(HERE, "share.py")) as source, open(program, "w") as copy:
            copy.write(source.read())
        may_read = subprocess.run([python, "-c", "import torch"], user=FIRST_UID, group=FIRST_UID, extra_groups=[], env=self.environment(),
                                  stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode == 0
        for number, kinds in enumerate(ROUNDS):
            programs = []
            for kind in kinds:
                uid = FIRST_UID + (KINDS.index(kind) if all(program["kind"] != kind for program in programs) else len(KINDS) + len(self.all))
                name = f"{number}-{len(programs)}-{kind}"
                who = {"user": uid, "group": uid, "extra_groups": []} if may_read else {}
                log = open(os.path.join(folder, f"{name}.log"), "w")
                process = subprocess.Popen([python, program, kind, str(duration_s(kinds)), folder, name, str(number)] + ([] if may_read else [str(uid)]),
                                           env=self.environment(), stdout=log, stderr=log, cwd=folder, **who)
                programs.append({"kind": kind, "user": str(uid), "name": name, "process": process, "pid": process.pid})
                self.all.append(programs[-1])
            self.rounds.append(programs)

    def environment(self):
        return dict(os.environ, HOME=self.folder, USER="share", LOGNAME="share", TORCHINDUCTOR_CACHE_DIR=self.folder, PYTHONDONTWRITEBYTECODE="1")

    def path(self, name):
        return os.path.join(self.folder, name)

    def signal(self, name):
        with open(self.path(name), "w"):
            pass

    def wait(self, programs, suffix, seconds):
        end = time.monotonic() + seconds
        while not all(os.path.exists(self.path(f"{program['name']}.{suffix}")) for program in programs):
            for program in programs:
                if program["process"].poll() is not None:
                    with open(self.path(f"{program['name']}.log")) as log:
                        raise OSError(f"{program['name']} has ended: {log.read()[-600:]}")
            if time.monotonic() > end:
                raise OSError(f"not {suffix} after {seconds} s")
            time.sleep(0.05)

    def leave(self, programs):
        for program in programs:
            self.signal(f"{program['name']}.leave")
        for program in programs:
            try:
                program["process"].wait(10)
            except subprocess.TimeoutExpired:
                program["process"].kill()

    def end(self, programs):
        for program in programs:
            if program["process"].poll() is None:
                program["process"].kill()
                program["process"].wait()


class Serve:
    def __init__(self, kwhy, out, interval_ms, accounts=None, root=None):
        self.path = accounts
        command = [kwhy, "serve", "--listen", "127.0.0.1:0", "--interval", str(interval_ms), "--device", str(DEVICE)]
        command += ["--accounts", accounts] if accounts else []
        command += ["--root", root] if root else []
        self.log = open(os.path.join(out, "owners-serve.log"), "a+")
        self.process = subprocess.Popen(command, stdout=self.log, stderr=self.log)

    def query(self, sql):
        database = sqlite3.connect(f"file:{self.path}?mode=ro", uri=True, timeout=5)
        try:
            return database.execute(sql).fetchall()
        finally:
            database.close()

    def by_user(self):
        """Returns the nanojoules of the GPU since the start by (kind, user), with bounds and idle part."""
        return {(kind, user): sums for kind, user, *sums in self.query(
            "SELECT owner.kind, user, sum(energy_nj), sum(low_nj), sum(high_nj), sum(idle_nj), sum(held_ns), sum(busy_ns) FROM account "
            "JOIN owner ON owner.id = owner JOIN meter ON meter.id = meter WHERE meter.key NOT LIKE 'host:%' GROUP BY owner.kind, user")}

    def powers(self):
        """What kwhy has learnt of the owners."""
        return [{"user": user, "w_per_ghz": rate, "w_per_ghz_sd": rate_variance ** 0.5, "other_w": other, "other_w_sd": other_variance ** 0.5}
                for user, rate, rate_variance, other, other_variance in
                self.query("SELECT user, rate_w, rate_variance, other_w, other_variance FROM power JOIN owner ON owner.id = owner")]

    def stop(self):
        if self.process.poll() is None:
            self.process.terminate()
            try:
                self.process.wait(15)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()


def idle_power(gpu, kwhy, out):
    """Measures the mean power of the GPU without a context while nobody reads it, while GPM is read once a second, and
    while kwhy serve runs with all its meters."""
    def nothing():
        time.sleep(IDLE_S)

    def gpm(period_s):
        end = time.monotonic() + IDLE_S
        while time.monotonic() < end:
            gpu.read_gpm()
            time.sleep(period_s)

    def serve():
        server = Serve(kwhy, out, 1000)
        time.sleep(IDLE_S)
        server.stop()

    ways = {"nobody_reads": nothing, "gpm_each_second": lambda: gpm(1), "kwhy_serve": serve}
    watts = {way: [] for way in ways}
    for order in (list(ways), list(ways)[::-1]):
        for way in order:
            try:
                begin_s, begin_j = time.monotonic(), gpu.energy_j()
                ways[way]()
                watts[way].append((gpu.energy_j() - begin_j) / (time.monotonic() - begin_s))
            except (OSError, AttributeError) as error:
                watts[way].append(str(error))
    return {"stretch_s": IDLE_S, "watts": watts, "processes": sorted(gpu.pids())}


def show_process(root, pid, uid):
    """Makes a process visible to `kwhy serve --root` if its pid here is not the one that the driver reports."""
    folder = os.path.join(root, "proc", str(pid))
    os.makedirs(folder, exist_ok=True)
    texts = {"cgroup": "0::/\n", "status": f"Name:\tpython\nUid:\t{uid}\t{uid}\t{uid}\t{uid}\n",
             "stat": f"{pid} (python) S 1 1 1 0 -1 0 1 2 3 4 100 50 100 50 20 0 1 0 777 1 1\n"}
    for name, text in texts.items():
        with open(os.path.join(folder, name), "w") as file:
            file.write(text)


def prepare(gpu, programs, members, root):
    """Lets the programs of a round make their contexts: all at once, or one after the other if only that shows which
    process is whose."""
    if not root:
        for program in members:
            programs.signal(f"{program['name']}.prepare")
        programs.wait(members, "ready", 45)
        return
    for program in members:
        before = gpu.pids()
        programs.signal(f"{program['name']}.prepare")
        programs.wait([program], "ready", 30)
        for pid in gpu.pids() - before:
            show_process(root, pid, program["user"])


def play(gpu, programs, serve, number, root):
    """Runs one round. Returns by how much the accounts of each user rose during the programs' work, and how much work the
    programs did."""
    members = programs.rounds[number]
    prepare(gpu, programs, members, root)
    time.sleep(LAG_S)
    accounts, begin_j, begin_s, begin_unix_s = serve.by_user(), gpu.energy_j(), time.monotonic(), time.time()
    programs.signal(f"{number}.start")
    programs.wait(members, "done", duration_s(members) + 60)
    work_j, work_s = gpu.energy_j() - begin_j, time.monotonic() - begin_s
    time.sleep(LAG_S)
    after, whole_j = serve.by_user(), gpu.energy_j() - begin_j
    programs.leave(members)
    rise = {key: [a - b for a, b in zip(sums, accounts.get(key, [0] * len(sums)))] for key, sums in after.items()}
    owners = []
    for program in members:
        with open(programs.path(f"{program['name']}.done")) as file:
            iterations, seconds = file.read().split()
        sums = [0] * 6
        for (_, user), of in rise.items():
            if user == program["user"]:
                sums = [a + b for a, b in zip(sums, of)]
        owners.append({"kind": program["kind"], "user": program["user"], "pid": program["pid"], "iterations": int(iterations), "work_s": float(seconds),
                       "energy_j": sums[0] / 1e9, "low_j": sums[1] / 1e9, "high_j": sums[2] / 1e9, "idle_j": sums[3] / 1e9,
                       "held_s": sums[4] / 1e9, "busy_s": sums[5] / 1e9})
    users = {program["user"] for program in members}
    return {"begin_unix_s": begin_unix_s, "work_j": work_j, "work_s": work_s, "counter_j": whole_j, "accounts_j": sum(of[0] for of in rise.values()) / 1e9,
            "powers": serve.powers(), "owners": owners, "others_j": {f"{kind} {user}": of[0] / 1e9 for (kind, user), of in rise.items() if user not in users and of[0]}}


def compare(rounds):
    """Adds the expected energy of each owner to the shared rounds: its iterations times the energy of an iteration alone
    above the idle context, scaled so that the sum is that of the owners without idle time."""
    alone = {r["owners"][0]["kind"]: r for r in rounds if len(r["owners"]) == 1}
    if "idle" not in alone:
        return "there is no round of the idle holder alone"
    idle_w = alone["idle"]["work_j"] / alone["idle"]["work_s"]
    each_j = {kind: max(0.0, (r["work_j"] - idle_w * r["work_s"]) / r["owners"][0]["iterations"]) for kind, r in alone.items() if kind != "idle"}
    each_j["idle"] = 0.0
    errors, held, bounds, sums = [], 0, 0, {}
    for r in rounds:
        owners = r["owners"]
        if len(owners) == 1:
            continue
        if not all(owner["kind"] in each_j for owner in owners):
            return "a program has no round alone"
        own = [owner["iterations"] * each_j[owner["kind"]] for owner in owners]
        busy = sum(owner["energy_j"] - owner["idle_j"] for owner in owners)
        for owner, work_j in zip(owners, own):
            owner["expected_j"] = work_j / sum(own) * busy if sum(own) else None
            owner["shared_j"] = owner["energy_j"] - owner["idle_j"]
            if owner["expected_j"] is None:
                continue
            if owner["expected_j"]:
                owner["error"] = owner["shared_j"] / owner["expected_j"] - 1
                errors.append(abs(owner["error"]))
            owner["is_inside"] = owner["low_j"] <= owner["expected_j"] + owner["idle_j"] <= owner["high_j"]
            bounds += 1
            held += owner["is_inside"]
            sums.setdefault(owner["user"], []).append((owner["low_j"], owner["expected_j"] + owner["idle_j"], owner["high_j"]))
    return {"idle_context_w": idle_w, "joules_an_iteration": each_j, "worst_error": max(errors, default=None),
            "within_5_percent": sum(error <= 0.05 for error in errors), "errors": len(errors), "bounds_hold": held, "bounds": bounds,
            # an owner's interval is that of all energy that it got since the start, so the relative width of
            # the interval falls with each round
            "sums": {user: [sum(values) for values in zip(*of)] for user, of in sums.items()}}


def balance(serve, before_j, after_j, end_j):
    """Tests whether the accounts add up to the meter exactly, and whether the first reading of the meter's counter lies
    between the two that this program made at that time."""
    rows = serve.query("SELECT key, booked_nj, taken_off_gj, counter_nj, counted, (SELECT sum(energy_nj) FROM account WHERE meter = meter.id) "
                       "FROM meter WHERE key NOT LIKE 'host:%'")
    return [{"meter": key, "booked_nj": booked, "accounts_nj": summed, "adds_up": booked == summed,
             "counter_at_start_j": (counted * 10**6 - counter) / 1e9, "seen_before_j": before_j, "seen_after_j": after_j, "seen_at_end_j": end_j,
             "last_counted_j": counted / 1e3, "start_agrees": before_j <= (counted * 10**6 - counter) / 1e9 <= after_j,
             "owners": serve.query("SELECT count(DISTINCT user) FROM owner WHERE user <> ''")[0][0]}
            for key, booked, _, counter, counted, summed in rows]


def sees_own_pids(gpu, programs):
    """Tests whether the pids that the driver reports are those of this PID namespace."""
    program = subprocess.Popen([sys.executable, "-c", "import torch; torch.zeros(1, device='cuda'); torch.cuda.synchronize(); print(flush=True); input()"],
                               stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=programs.environment())
    before = gpu.pids()
    program.stdout.readline()
    new = gpu.pids()
    program.communicate(b"\n")
    return program.pid in new, sorted(new - before)


def measure(kwhy, out, folder, result):
    gpu = Gpu()
    programs = Programs(folder)
    serve = samples = None
    try:
        programs.wait(programs.all, "imported", 90)
        result["imports_s"] = time.monotonic() - started_s
        result["idle_power"] = idle_power(gpu, kwhy, out)
        own, new = sees_own_pids(gpu, programs)
        result["pids"] = {"own": own, "new": new}
        root = None if own else os.path.join(folder, "root")
        before_j = gpu.energy_j()
        for name in glob.glob(os.path.join(out, "owners-accounts.sqlite*")):
            os.remove(name)
        serve = Serve(kwhy, out, 200, os.path.join(out, "owners-accounts.sqlite"), root)
        time.sleep(LAG_S)
        after_j = gpu.energy_j()
        samples = Samples(gpu, out)
        for number, kinds in enumerate(ROUNDS):
            if left_s() < duration_s(kinds) + 2 * LAG_S + 4 + len(kinds) * (1 if own else 4):
                result["skipped"].append("+".join(kinds))
                continue
            try:
                result["rounds"].append(play(gpu, programs, serve, number, root))
            except (OSError, sqlite3.Error) as error:
                result["errors"].append(f"{'+'.join(kinds)}: {error}")
                programs.end(programs.rounds[number])
        time.sleep(LAG_S)
        serve.stop()
        result["balance"] = balance(serve, before_j, after_j, gpu.energy_j())
        result["comparison"] = compare(result["rounds"])
        result["powers"] = serve.powers()
        jobs = subprocess.run([kwhy, "job", "--accounts", serve.path, "--by", "user"], capture_output=True, text=True)
        result["kwhy_job"] = (jobs.stdout + jobs.stderr).splitlines()
    finally:
        if samples:
            samples.stop()
        if serve:
            serve.stop()
        programs.end(programs.all)


def main():
    kwhy, out = sys.argv[1:]
    result = {"when_unix_s": time.time(), "rounds": [], "skipped": [], "errors": []}
    with tempfile.TemporaryDirectory() as folder:
        os.chmod(folder, 0o777)
        try:
            measure(kwhy, out, folder, result)
        except (OSError, sqlite3.Error, subprocess.SubprocessError) as error:
            result["errors"].append(str(error))
    result["took_s"] = time.monotonic() - started_s
    with open(os.path.join(out, "owners.json"), "w") as file:
        json.dump(result, file, indent=1)
    for r in result["rounds"]:
        print(f"counter {r['counter_j']:.1f} J, accounts {r['accounts_j']:.1f} J, others {r['others_j']}")
        for o in r["owners"]:
            expected = f", expected {o['expected_j']:.1f} J" if o.get("expected_j") is not None else ""
            error = f", off by {o['error']:+.1%}" if "error" in o else ""
            print(f"  {o['kind']:8} {o['iterations']:7} iterations, {o['energy_j']:.1f} J ({o['low_j']:.1f} to {o['high_j']:.1f}, idle {o['idle_j']:.1f}){expected}{error}")
    print(json.dumps({key: result.get(key) for key in ("idle_power", "pids", "balance", "comparison", "powers", "skipped", "errors", "took_s")}, indent=1))
    return bool(result["errors"])


sys.exit(main())
