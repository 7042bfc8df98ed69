#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes the traces of all ranks of a job from the Kineto trace of one rank, and the results that a report must find.

job_ranks.py TRACE[.gz] COUNT FOLDER [--slow RANK=PERCENT]... [--clocks] [--gpu] [--repeat N]

Between its collectives, every rank does the work of the trace, up to 2 % slower or faster, and the --slow ones slower
by PERCENT. A rank enters each collective when it arrives there. All ranks leave it together, after the last of them has
spent the time in it that the collective took in the trace. --clocks: each rank's clock is off by up to 1 ms and 50 ppm.
--gpu: only events of the GPU. --repeat: the trace N times, one after the other. FOLDER/truth.json has the waiting times
by rank, and the clocks.
"""

import argparse
import bisect
import gzip
import json
import pathlib
import random

GPU = {"kernel", "gpu_memcpy", "gpu_memset"}


def read(path):
    with (gzip.open if path.endswith(".gz") else open)(path, "rt", encoding="utf-8") as file:
        return json.load(file)


def collectives_of(events):
    found = [e for e in events if e.get("cat") == "kernel" and "Collective name" in e.get("args", {})]
    found.sort(key=lambda e: e["ts"])
    return [e for i, e in enumerate(found) if i == 0 or e["ts"] >= found[i - 1]["ts"] + found[i - 1]["dur"]]


def repeated(document, count):
    """Returns the events `count` times, each time after the last event of the previous time."""
    events = [e for e in document["traceEvents"] if e.get("ph") != "M"]
    first = min(e["ts"] for e in events)
    period = max(e["ts"] + e.get("dur", 0) for e in events) - first + 100
    meta = [e for e in document["traceEvents"] if e.get("ph") == "M"]
    return meta + [{**e, "ts": e["ts"] + i * period} for i in range(count) for e in events]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("trace")
    parser.add_argument("count", type=int)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--slow", action="append", default=[])
    parser.add_argument("--clocks", action="store_true")
    parser.add_argument("--gpu", action="store_true")
    parser.add_argument("--repeat", type=int, default=1)
    options = parser.parse_args()
    slow = {int(rank): float(percent) for rank, percent in (text.split("=") for text in options.slow)}
    chance = random.Random(7)
    document = read(options.trace)
    if options.gpu:
        document["traceEvents"] = [e for e in document["traceEvents"] if e.get("cat") in GPU or e.get("ph") == "M"]
    document["traceEvents"] = repeated(document, options.repeat)
    events = document["traceEvents"]
    met = collectives_of(events)
    for number, event in enumerate(met):
        event["args"] = {**event["args"], "Seq": number, "Group size": options.count, "Process Group Ranks": ""}
    start = min(e["ts"] for e in events if "ts" in e and e.get("ph") != "M")
    # start and end of each collective in turn, in nanoseconds from the start of the trace; `old` as
    # in the trace, `new` for each rank
    old = [0] + [round(1000 * (t - start)) for e in met for t in (e["ts"], e["ts"] + e["dur"])]
    speeds = [1 + chance.uniform(-0.02, 0.02) * 0.1 + slow.get(r, 0) / 100 for r in range(options.count)]
    new = [[0] for _ in range(options.count)]
    compared = 0
    late, waiting, caused = [0] * options.count, [0] * options.count, [0] * options.count
    for i in range(len(met)):
        gap = old[2 * i + 1] - old[2 * i]
        enters = [round(times[-1] + gap * speeds[r] * (1 + chance.uniform(0, 0.02))) for r, times in enumerate(new)]
        last = max(enters)
        leave = last + max(1000, (old[2 * i + 2] - old[2 * i + 1]) // 2)
        culprit = enters.index(last)
        is_compared = "allreduce" in met[i]["args"]["Collective name"]  # a rank may leave a broadcast before others enter
        compared += is_compared
        late[culprit] += is_compared
        for r, times in enumerate(new):
            times += [enters[r], leave]
            waiting[r] += is_compared * (last - enters[r])
            caused[culprit] += is_compared * (last - enters[r])
    clocks = [(chance.uniform(-1e6, 1e6), chance.uniform(-50e-6, 50e-6)) if options.clocks else (0, 0)
              for _ in range(options.count)]

    def warped(rank, time):
        at = bisect.bisect_right(old, time) - 1
        if at + 1 < len(old):
            part = (time - old[at]) / max(1, old[at + 1] - old[at])
            time = new[rank][at] + part * (new[rank][at + 1] - new[rank][at])
        else:
            time = new[rank][at] + time - old[at]
        offset, drift = clocks[rank]
        return round(time + offset + drift * time)

    options.folder.mkdir(parents=True, exist_ok=True)
    for rank in range(options.count):
        copy = []
        for event in events:
            if event.get("ph") == "M" or "ts" not in event:
                copy.append(event)
                continue
            begin = round(1000 * (event["ts"] - start))
            at = warped(rank, begin)
            moved = {**event, "ts": round(start * 1000 + at) / 1000}
            if "dur" in event:
                moved["dur"] = (warped(rank, begin + round(1000 * event["dur"])) - at) / 1000
            copy.append(moved)
        information = {**document.get("distributedInfo", {}), "rank": rank, "world_size": options.count}
        rest = {k: v for k, v in document.items() if k not in ("traceEvents", "distributedInfo")}
        with open(options.folder / f"rank{rank:05}.json", "w", encoding="utf-8") as file:
            json.dump({**rest, "distributedInfo": information, "traceEvents": copy}, file, separators=(",", ":"))
    truth = {"compared": compared, "late": late, "waiting_ns": waiting, "caused_ns": caused, "clocks": clocks}
    (options.folder / "truth.json").write_text(json.dumps(truth), encoding="utf-8")


main()
