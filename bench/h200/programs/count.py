# SPDX-License-Identifier: Apache-2.0
"""Compares the counts of the same loops under kwhy record and under torch.profiler: of kernels, copies and memsets, and of
each name.

usage: count.py child LOOP [TRACE.json]   runs the loop twice, the second time inside the NVTX range "counted" or the profiler
       count.py compare KWHY_FOLDER OUT.json LOOP...
       count.py kernels KWHY LOOP         prints how many kernels of a run kwhy record records
"""
import collections
import json
import os
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))


def child(loop, trace):
    import torch

    import loops

    run = loops.LOOPS[loop]()
    run()
    torch.cuda.synchronize()
    if trace:
        with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CUDA]) as profile:
            run()
            torch.cuda.synchronize()
        profile.export_chrome_trace(trace)
        return
    torch.cuda.nvtx.range_push("counted")
    run()
    torch.cuda.synchronize()
    torch.cuda.nvtx.range_pop()


def recorded(kwhy, loop, folder):
    import blocks

    path = os.path.join(folder, loop + ".kwhy")
    subprocess.run([kwhy, "record", "-q", "-o", path, "--", sys.executable, __file__, "child", loop], check=True)
    counts = {"kernel": collections.Counter(), "copy": 0, "memset": 0, "lost": 0}
    for _, rows, names in blocks.read(path):
        windows = [(r["start"], r["end"]) for r in rows["range"] if names[r["name"]] == "counted"]
        inside = lambda row: any(start <= row["start"] <= end for start, end in windows)
        counts["kernel"].update(names[row["name"]] for row in rows["kernel"] if inside(row))
        counts["copy"] += sum(map(inside, rows["copy"]))
        counts["memset"] += sum(map(inside, rows["memset"]))
        counts["lost"] += sum(row["records"] for row in rows["lost"])
    return counts


def profiled(loop, folder):
    path = os.path.join(folder, loop + ".json")
    subprocess.run([sys.executable, __file__, "child", loop, path], check=True)
    with open(path) as file:
        events = [e for e in json.load(file)["traceEvents"] if e.get("ph") == "X"]
    kinds = collections.Counter(e.get("cat") for e in events)
    names = collections.Counter(e["name"] for e in events if e.get("cat") == "kernel")
    return {"kernel": names, "copy": kinds["gpu_memcpy"], "memset": kinds["gpu_memset"]}


def plain_names(counter):
    """Returns the demangled name without spaces, because demanglers differ in their spaces."""
    text = subprocess.run(["c++filt"], input="\n".join(counter), capture_output=True, text=True, check=True).stdout
    out = collections.Counter()
    for name, count in zip(text.splitlines(), counter.values()):
        out[name.replace(" ", "")] += count
    return out


def compare(folder, out, loops):
    kwhy = os.path.join(os.path.realpath(folder), "bin", "kwhy")
    result = {}
    for loop in loops:
        with tempfile.TemporaryDirectory() as place:
            ours, theirs = recorded(kwhy, loop, place), profiled(loop, place)
        kernels = [plain_names(counts["kernel"]) for counts in (ours, theirs)]
        result[loop] = {
            "kernels": [sum(k.values()) for k in kernels],
            "copies": [ours["copy"], theirs["copy"]],
            "memsets": [ours["memset"], theirs["memset"]],
            "lost": ours["lost"],
            "names": [len(k) for k in kernels],
            "counts_by_name_equal": kernels[0] == kernels[1],
            "sorted_counts_equal": sorted(kernels[0].values()) == sorted(kernels[1].values()),
            "differences": {n: [kernels[0][n], kernels[1][n]] for n in kernels[0] | kernels[1] if kernels[0][n] != kernels[1][n]},
        }
        print(loop, {k: v for k, v in result[loop].items() if k != "differences"})
    with open(out, "w") as file:
        json.dump(result, file, indent=1)


if sys.argv[1] == "child":
    child(sys.argv[2], sys.argv[3] if len(sys.argv) > 3 else None)
elif sys.argv[1] == "kernels":
    with tempfile.TemporaryDirectory() as place:
        print(sum(recorded(sys.argv[2], sys.argv[3], place)["kernel"].values()), "kernels a run")
else:
    compare(sys.argv[2], sys.argv[3], sys.argv[4:])
