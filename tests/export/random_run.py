# SPDX-License-Identifier: Apache-2.0
"""Makes a random run of GPU programs, and writes it in several formats.

The same seed gives the same run. Times are integer nanoseconds from START. Activities of a stream follow one another.
"""

import json
import random
import sqlite3

START = 1795245124000000000
CALLS = {"kernel": "cudaLaunchKernel", "copy": "cudaMemcpyAsync", "memset": "cudaMemsetAsync"}
HIP_CALLS = {"kernel": "hipLaunchKernel", "copy": "hipMemcpyAsync", "memset": "hipMemsetAsync"}
WAITS = ("cudaStreamSynchronize", "cudaDeviceSynchronize", "cudaEventSynchronize")
HIP_WAITS = ("hipStreamSynchronize", "hipDeviceSynchronize", "hipEventSynchronize")
OTHERS = ("cudaMalloc", "cudaFree", "cudaEventRecord", "cudaGetDevice")
HIP_OTHERS = ("hipMalloc", "hipFree", "hipEventRecord", "hipGetDevice")
KERNELS = (
    "void scale<float>(float*, int)", "gemm<half, 4>", 'odd "quoted", name', "back\\slash\\n", "Kern für Größen 内核",
    "<script>alert(1)</script>", "ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevKernelArgsStorage<4096ul>)",
    "'single'", "%s%n %41", "k" * 700, "trailing space ", " leading space", "a;b|c", "=1+1", "Memcpy HtoD", "step 9",
)
HARD_KERNELS = ("line\nbreak", "carriage\rreturn", "tab\tin", "\x01 control", "\x7f delete", "\u202e reordered", "\u2028", "")
RANGES = ("step 1", "ProfilerStep#2", "step", "forward, \"x\"", "backward\\", "größe", "optimizer")
DIRECTIONS = {  # of a copy: CUPTI's number and name; memories of both ends, by CUPTI's numbers
    "copy_h2d": (1, "HtoD", ((0, 2), (1, 2))),
    "copy_d2h": (2, "DtoH", ((2, 0), (2, 1))),
    "copy_d2d": (8, "DtoD", ((2, 2),)),
}
MEMORIES = ("pageable", "pinned", "device")


class Run:
    """Activities of devices (works), and calls and ranges of the host, in the order in which the host made them."""

    def __init__(self, seed, processes=None, is_nested=True, kinds=("kernel", "copy", "memset"), is_hip=False, hard_names=()):
        self.random = random.Random(seed)
        choice = self.random
        self.is_hip, self.kinds = is_hip, kinds
        self.is_nested, self.hard_names = is_nested, hard_names
        self.devices = choice.randint(1, 3)
        self.processes = processes or choice.randint(1, 2)
        self.has_ranks = self.processes > 1 and choice.random() < 0.5 and self.devices >= self.processes
        self.has_odd_names = choice.random() < 0.5
        self.works, self.calls, self.ranges, self.power = [], [], [], []
        self.correlation = 0
        self.streams = {}  # time at which each stream becomes free
        for process in range(self.processes):
            for thread in range(choice.randint(1, 2)):
                self.make_thread(process, thread)
        self.works.sort(key=lambda work: work["start"])
        self.end = max(row["end"] for row in self.works + self.calls + self.ranges)

    def long(self, least, most):
        """Returns a logarithmically uniform length, ns."""
        return int(least * (most / least) ** self.random.random())

    def devices_of(self, process):
        own = [device for device in range(self.devices) if device % self.processes == process % self.devices]
        return own or [process % self.devices]

    def make_thread(self, process, thread):
        choice = self.random
        pid, tid, now = 70 + process, 900 + 10 * process + thread, self.random.randint(0, 100000)
        open_ranges = []
        kernels = choice.sample(KERNELS + self.hard_names if self.has_odd_names else KERNELS[:2], 4 if self.has_odd_names else 2)
        for _ in range(choice.randint(5, 60)):
            what = choice.choices(("work", "wait", "other", "range", "pause"), (6, 2, 1, 1, 1))[0]
            if what == "work":
                now = self.make_work(now, pid, tid, choice.choice(self.devices_of(process)), kernels)
            elif what == "wait":
                busy = max([free for (p, _, _), free in self.streams.items() if p == pid] or [now])
                end = max(now, busy) + self.long(100, 5000) if choice.random() < 0.8 else now + self.long(100, 5000)
                self.add_call(now, end, choice.choice(HIP_WAITS if self.is_hip else WAITS), pid, tid)
                now = end + self.long(10, 1000)
            elif what == "other":
                end = now + self.long(100, 100000)
                self.add_call(now, end, choice.choice(HIP_OTHERS if self.is_hip else OTHERS), pid, tid)
                now = end + self.long(10, 1000)
            elif what == "pause":
                now += self.long(1000, 30000000)
            elif open_ranges and (choice.random() < 0.6 or not self.is_nested):
                start, name = open_ranges.pop()
                self.ranges.append({"start": start, "end": now, "name": name, "pid": pid, "tid": tid})
                now += 1
            else:
                open_ranges.append((now, choice.choice(RANGES)))
                now += 1
        for start, name in reversed(open_ranges):
            self.ranges.append({"start": start, "end": now, "name": name, "pid": pid, "tid": tid})
            now += 1
        for device in self.devices_of(process):
            if not any(work["pid"] == pid and work["device"] == device for work in self.works):
                now = self.make_work(now, pid, tid, device, kernels)

    def add_call(self, start, end, name, pid, tid, correlation=None):
        if correlation is None:
            self.correlation += 1
            correlation = self.correlation
        self.calls.append({"start": start, "end": end, "name": name, "pid": pid, "tid": tid, "correlation": correlation})

    def make_work(self, now, pid, tid, device, kernels):
        choice = self.random
        self.correlation += 1
        stream = choice.choice((7, 7, 13, 20))
        kind = choice.choices(self.kinds, (6, 2, 1)[:len(self.kinds)])[0]
        end = now + self.long(500, 50000)
        self.add_call(now, end, (HIP_CALLS if self.is_hip else CALLS)[kind], pid, tid, self.correlation)
        start = max(now + self.long(100, 20000), self.streams.get((pid, device, stream), 0) + choice.choice((0, 500, 3000)))
        work = {"kind": kind, "device": device, "stream": stream, "start": start, "end": start + self.long(300, 20000000),
                "pid": pid, "correlation": self.correlation, "name": "", "bytes": None, "blocks": None, "threads": None}
        if kind == "kernel":
            work["name"] = choice.choice(kernels)
            work["blocks"], work["threads"] = choice.choice(((1, 32), (132, 256), (5000, 1024)))
        elif kind == "copy":
            work["way"] = choice.choice(tuple(DIRECTIONS))
            work["memories"] = choice.choice(DIRECTIONS[work["way"]][2])
            work["bytes"] = self.long(1, 1 << 28)
        else:
            work["bytes"] = self.long(1, 1 << 24)
        self.streams[pid, device, stream] = work["end"]
        self.works.append(work)
        return end + self.long(10, 3000)

    def rank_of(self, device):
        return device % self.processes if self.has_ranks else None


def quoted(text):
    return '"' + text.replace('"', '""') + '"' if any(c in text for c in '",') or text != text.strip() else text


def write_csv(run, path, clock=None):
    """Writes kwhy CSV."""
    lines = [f"# clock other {clock}"] if clock else []
    for device in range(run.devices):
        rank = run.rank_of(device)
        lines.append(f"# device {device} name=GPU" + (f" rank={rank}" if rank is not None else ""))
    lines.append("kind,name,device,stream,start_ns,end_ns,bytes,blocks,threads_per_block,context,process,thread,"
                 "correlation,src_memory,dst_memory")
    for work in run.works:
        kind, source, target = work["kind"], "", ""
        if kind == "copy":
            kind, (source, target) = work["way"], (MEMORIES[memory] for memory in work["memories"])
        elif kind == "memset":
            target = "device"
        elif "nccl" in work["name"]:
            kind = "collective"
        cells = [kind, quoted(work["name"]), work["device"], work["stream"], START + work["start"], START + work["end"],
                 work["bytes"], work["blocks"], work["threads"], 1, work["pid"], "", work["correlation"], source, target]
        lines.append(",".join("" if cell is None else str(cell) for cell in cells))
    for call in run.calls:
        lines.append(f"call,{call['name']},,,{START + call['start']},{START + call['end']},,,,,{call['pid']},"
                     f"{call['tid']},{call['correlation']},,")
    for row in run.ranges:
        lines.append(f"range,{quoted(row['name'])},,,{START + row['start']},{START + row['end']},,,,,{row['pid']},"
                     f"{row['tid']},,,")
    with open(path, "w", encoding="utf-8", newline="\n") as file:
        file.write("\n".join(lines) + "\n")


def write_power(run, path):
    """Writes readings of the devices' meters as kwhy CSV: 300 W and more during work, 100 W otherwise."""
    choice = run.random
    lines = ["time_ns,device,source,value"]
    step, first, last = 20000000, -200000000, run.end + 300000000
    for device in range(run.devices):
        works = [work for work in run.works if work["device"] == device]
        energy_uj = choice.randint(0, 1 << 40)
        for at in range(first, last, step):
            busy = sum(max(0, min(work["end"], at) - max(work["start"], at - step)) for work in works)
            power_mw = int(100000 + 300000 * min(1, busy / step)) + choice.randint(-2000, 2000)
            energy_uj += power_mw * step // 1000000000
            lines.append(f"{START + at},{device},nvml.sample_mw,{power_mw}")
            if (at - first) // step % 5 == 0:
                lines.append(f"{START + at},{device},nvml.energy_mj,{energy_uj // 1000}")
    with open(path, "w", encoding="utf-8") as file:
        file.write("\n".join(lines) + "\n")


def kineto_work(work):
    memories = [("Pageable", "Pinned", "Device")[memory] for memory in work.get("memories", ())]
    args = {"device": work["device"], "context": 1, "stream": work["stream"], "correlation": work["correlation"]}
    if work["kind"] == "kernel":
        name, category = work["name"], "kernel"
        args["grid"], args["block"] = [work["blocks"], 1, 1], [work["threads"], 1, 1]
    elif work["kind"] == "copy":
        name = f"Memcpy {DIRECTIONS[work['way']][1]} ({memories[0]} -> {memories[1]})"
        category, args["bytes"] = "gpu_memcpy", work["bytes"]
    else:
        name, category, args["bytes"] = "Memset (Device)", "gpu_memset", work["bytes"]
    return {"ph": "X", "cat": category, "name": name, "pid": work["device"], "tid": work["stream"], "args": args}


def micros(time_ns):
    return f"{time_ns // 1000}.{time_ns % 1000:03d}"


def write_kineto(run, path):
    """Writes what PyTorch's profiler writes for one process."""
    events = []
    for work in run.works:
        events.append((kineto_work(work), work))
    for call in run.calls:
        events.append(({"ph": "X", "cat": "cuda_runtime", "name": call["name"], "pid": call["pid"], "tid": call["tid"],
                        "args": {"correlation": call["correlation"]}}, call))
    for row in run.ranges:
        events.append(({"ph": "X", "cat": "user_annotation", "name": row["name"], "pid": row["pid"], "tid": row["tid"]}, row))
    first = {work["device"]: event for event, work in reversed(events[:len(run.works)])}
    run.random.shuffle(events)  # but devices are numbered by appearance
    events.sort(key=lambda pair: pair[0]["args"]["device"] if pair[0] in first.values() else run.devices)
    texts = []
    for event, row in events:  # times are written as text, because a double has too few digits
        text = json.dumps(event, ensure_ascii=run.random.random() < 0.5)
        texts.append(text[:-1] + f', "ts": {micros(row["start"])}, "dur": {micros(row["end"] - row["start"])}}}')
    with open(path, "w", encoding="utf-8") as file:
        file.write(f'{{"baseTimeNanoseconds": {START}, "deviceProperties": ')
        file.write(json.dumps([{"id": device, "name": "GPU"} for device in range(run.devices)]))
        file.write(', "traceEvents": [' + ",\n".join(texts) + "]}")


class Strings:
    """Texts by id, as databases store them."""

    def __init__(self):
        self.ids = {}

    def __call__(self, text):
        return self.ids.setdefault(text, len(self.ids) + 1)


def write_nsys(run, path):
    """Writes what nsys export --type sqlite writes."""
    database, strings = sqlite3.connect(path), Strings()
    database.executescript("""
        PRAGMA synchronous=OFF;
        CREATE TABLE StringIds(id INTEGER PRIMARY KEY, value TEXT);
        CREATE TABLE TARGET_INFO_SESSION_START_TIME(utcEpochNs INTEGER);
        CREATE TABLE TARGET_INFO_GPU(id INTEGER, name TEXT);
        CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL(start, end, deviceId, contextId, streamId, correlationId, globalPid,
            demangledName, gridX, gridY, gridZ, blockX, blockY, blockZ);
        CREATE TABLE CUPTI_ACTIVITY_KIND_MEMCPY(start, end, deviceId, contextId, streamId, correlationId, globalPid,
            bytes, copyKind, srcKind, dstKind);
        CREATE TABLE CUPTI_ACTIVITY_KIND_MEMSET(start, end, deviceId, contextId, streamId, correlationId, globalPid,
            bytes, memKind);
        CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME(start, end, eventClass, globalTid, correlationId, nameId);
        CREATE TABLE NVTX_EVENTS(start, end, eventType, globalTid, text);
        """)
    database.execute("INSERT INTO TARGET_INFO_SESSION_START_TIME VALUES(?)", (START,))
    database.executemany("INSERT INTO TARGET_INFO_GPU VALUES(?, 'GPU')", [(device,) for device in range(run.devices)])
    for work in run.works:
        row = [work["start"], work["end"], work["device"], 1, work["stream"], work["correlation"], (1 << 48) + (work["pid"] << 24)]
        if work["kind"] == "kernel":
            table, more = "KERNEL", [strings(work["name"]), work["blocks"], 1, 1, work["threads"], 1, 1]
        elif work["kind"] == "copy":
            table, more = "MEMCPY", [work["bytes"], DIRECTIONS[work["way"]][0], *work["memories"]]
        else:
            table, more = "MEMSET", [work["bytes"], 2]
        database.execute(f"INSERT INTO CUPTI_ACTIVITY_KIND_{table} VALUES({','.join('?' * len(row + more))})", row + more)
    for row in run.calls:
        thread = (1 << 48) + (row["pid"] << 24) + row["tid"]
        database.execute("INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES(?,?,0,?,?,?)",
                         (row["start"], row["end"], thread, row["correlation"], strings(row["name"] + "_v7000")))
    for row in run.ranges:
        thread = (1 << 48) + (row["pid"] << 24) + row["tid"]
        database.execute("INSERT INTO NVTX_EVENTS VALUES(?,?,59,?,?)", (row["start"], row["end"], thread, row["name"]))
    database.executemany("INSERT INTO StringIds VALUES(?,?)", [(number, text) for text, number in strings.ids.items()])
    database.commit()
    database.close()
