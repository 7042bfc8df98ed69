#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests that the report of an export is that of its source: times, causes of idle time, findings, ranks, processes.

Usage: round_trip.py KWHY SOURCE_DIR
"""

import json
import os
import subprocess
import sys
import tempfile

from differential import normal
from random_run import Run, write_nsys

START = 1795245124000000000
FORMS = ("chrome", "perfetto", "sqlite", "csv", "parquet")

# Columns of a CSV trace of two processes on two GPUs. The ids of threads, streams and correlations
# of one process occur again in the other.
HEADER = (
    "kind,name,device,stream,start_ns,end_ns,bytes,blocks,threads_per_block,energy_nj,context,process,"
    "thread,correlation"
)


def two_processes(ranks):
    lines = (["# device 0 rank=0", "# device 1 rank=1"] if ranks else []) + [HEADER]
    for process, device in ((70, 0), (71, 1)):
        for i in range(40):
            at = START + i * 100000 + 500 * device
            lines.append(
                f"kernel,work,{device},7,{at + 9000},{at + 29000 + 1000 * device},,10,128,,1,{process},,{i}"
            )
            lines.append(f"call,cudaLaunchKernel,,,{at},{at + 5000},,,,,,{process},5,{i}")
            lines.append(f"call,cudaStreamSynchronize,,,{at + 6000},{at + 40000},,,,,,{process},5,")
            lines.append(f"range,step {i},,,{at},{at + 90000},,,,,,{process},5,")
    return "\n".join(lines) + "\n"


def operators(path):
    """Writes a program that waits for launches as PyTorch's profiler does: with operators, their inputs, and source lines."""
    events = []

    def add(category, name, start_us, end_us, **args):
        events.append({"ph": "X", "cat": category, "name": name, "pid": 70 if category[0] != "k" else 0, "tid": 7,
                       "ts": start_us, "dur": end_us - start_us, "args": args})

    inputs = {"Input Dims": [[512, 512], [512, 512]], "Input type": ["float", "float"], "Concrete Inputs": ["", ""]}
    for step in range(20):
        at = 100000 + step * 20000
        add("user_annotation", f"ProfilerStep#{step}", at, at + 19000)
        add("python_function", "train.py(54): step", at + 10, at + 18000)
        for i in range(40):
            now, call = at + 100 + i * 400, step * 40 + i
            stack = {"Call stack": "model.py(12): forward;train.py(54): step"} if i % 2 else {}
            add("cpu_op", "aten::mm" if i % 4 else 'odd "op"; \\ with, all', now, now + 60, **inputs, **stack)
            add("cuda_runtime", "cudaLaunchKernel", now + 10, now + 20, correlation=call)
            add("kernel", "gemm", now + 30, now + 50, correlation=call, device=0, stream=7, grid=[64, 1, 1],
                block=[128, 1, 1], **{"registers per thread": 64, "shared memory": 4096})
            if i % 10 == 9:
                add("cpu_op", "aten::item", now + 100, now + 300)
                add("cuda_runtime", "cudaStreamSynchronize", now + 110, now + 290, correlation=100000 + call)
    properties = [{"id": 0, "name": "GPU", "numSms": 80, "maxThreadsPerMultiprocessor": 2048, "computeMajor": 7,
                   "computeMinor": 0, "regsPerMultiprocessor": 65536, "sharedMemPerMultiprocessor": 98304}]
    with open(path, "w", encoding="utf-8") as file:
        json.dump({"baseTimeNanoseconds": START, "deviceProperties": properties, "traceEvents": events}, file)


def export(kwhy, trace, power, form, path):
    """Exports. Returns False if the form needs DuckDB's library, which is missing."""
    command = [kwhy, "export", trace, "--to", form, "-o", path] + (["--power", power] if power else [])
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode and form == "parquet" and "libduckdb.so" in done.stderr:
        return False
    if done.returncode:
        sys.exit(f"{' '.join(command)}: {done.stderr}")
    return True


def report(kwhy, path, power):
    command = [kwhy, "report", path, "--json"] + (["--power", power] if power else [])
    return json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


def facts(report_json, with_energy):
    """Returns everything that must be equal, with times in Unix nanoseconds, because origins may differ."""
    origin = int(report_json["window"]["origin_unix_ns"])
    for device in report_json["devices"]:
        for key in ("first_ns", "last_ns"):
            device["time"][key] += origin
    devices = [
        {key: device[key] for key in ("index", "rank", "time", "kernels", "collectives", "memsets", "host_waits", "utilisation")}
        for device in report_json["devices"]
    ]
    if with_energy:
        for device, source in zip(devices, report_json["devices"]):
            device["measured_nj"] = source["energy"]["measured_nj"]
    processes = sorted((p["rank"] if p["rank"] is not None else -1) for p in report_json["processes"])
    return {
        "window": [origin + report_json["window"][key] for key in ("start_ns", "end_ns")],
        "devices": devices,
        "ranks": report_json["ranks"],
        "processes": processes,
        "streams": len(report_json["streams"]),
        "findings": normal(report_json["findings"], origin),
        "lost": report_json["lost"]["unlinked_activities"],
    }


def check_operators(report_json):
    """Checks that the findings name operators and source lines, which must not be lost."""
    words = json.dumps(report_json["findings"]) + json.dumps(report_json["devices"][0]["host_waits"])
    for word in ("aten::mm", "aten::item", "model.py", "train.py"):
        if word not in words:
            sys.exit(f"the findings of the source do not name {word}: {words[:2000]}")


def main():
    kwhy, source = sys.argv[1:3]
    os.environ["KWHY_PROFILES"] = os.path.join(source, "profiles")
    example = os.path.join(source, "examples", "h200-train")
    forms = set(FORMS)
    with tempfile.TemporaryDirectory() as folder:
        sources = [(os.path.join(example, "trace.json.zst"), os.path.join(example, "power.csv"))]
        for ranks in (False, True):
            made = os.path.join(folder, f"two{ranks}.csv")
            with open(made, "w", encoding="utf-8") as file:
                file.write(two_processes(ranks))
            sources.append((made, None))
        sources.append((os.path.join(folder, "operators.json"), None))
        operators(sources[-1][0])
        sources.append((os.path.join(folder, "ranges.nsys"), None))
        write_nsys(Run(4, processes=1, is_nested=False), sources[-1][0])
        for trace, power in sources:
            if trace.endswith("operators.json"):
                check_operators(report(kwhy, trace, None))
            for form in FORMS:
                path = os.path.join(folder, "export." + form)
                if not export(kwhy, trace, power, form, path):
                    forms.discard(form)
                    continue
                # of the exports, only SQLite and Parquet contain meter readings, so only they are compared with
                # energies
                with_energy = power is not None and form in ("sqlite", "parquet")
                first = facts(report(kwhy, trace, power if with_energy else None), with_energy)
                back = facts(report(kwhy, path, None), with_energy)
                for key, value in first.items():
                    if back[key] != value:
                        sys.exit(f"{form} of {trace}: {key} is {back[key]}, not {value}")
    if "parquet" not in forms:
        print("skipped: parquet, as DuckDB's library (libduckdb.so) is not here")
    print(f"reports of exports to {', '.join(sorted(forms))} are those of their sources")


if __name__ == "__main__":
    main()
