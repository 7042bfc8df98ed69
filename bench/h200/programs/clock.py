# SPDX-License-Identifier: Apache-2.0
"""How the clocks of a recording of steps.py lie to each other.

Host against device: no kernel starts before the call that launched it began, and none ends after the wait behind it did; the margins bound the
error. Device against the power ring: the time from a burst's first kernel to the rise of the power, and from its last to the fall, each as the
delay of a first-order low-pass of 14.5 ms (SENSORS: 3.5 +- 1 ms on this card) that fits the samples within 0.1 s best. If the clocks are related
rightly the delay is that of the meter alone, for rises and falls, at the beginning and the end of the run. The median tells: every fifth stamp
of the ring is 6 to 10 ms late, which the mean feels.

usage: clock.py RECORDING OUT.json
"""
import bisect
import json
import math
import statistics
import sys

import blocks

TAU = 14.5e-3


def bursts_of(kernels):
    edges = []
    for kernel in sorted(kernels, key=lambda k: k["start"]):
        if edges and kernel["start"] - edges[-1][1] < 50e6:
            edges[-1][1] = max(edges[-1][1], kernel["end"])
        else:
            edges.append([kernel["start"], kernel["end"]])
    return [(start, end) for start, end in edges if end - start > 100e6]


def fitted_delay(times, powers, edge):
    """Delay in seconds of the step at `edge` (ns); the levels on both sides are free."""
    first, last = bisect.bisect(times, edge - 100e6), bisect.bisect(times, edge + 100e6)
    x, y = [1e-9 * (t - edge) for t in times[first:last]], powers[first:last]
    if len(x) < 6:
        return None

    def error(delay):
        shape = [0.0 if t < delay else 1 - math.exp(-(t - delay) / TAU) for t in x]
        n, s, ss = len(x), sum(shape), sum(v * v for v in shape)
        sy, sxy = sum(y), sum(v * w for v, w in zip(shape, y))
        determinant = n * ss - s * s
        if determinant < 1e-9:
            return float("inf")
        gain = (n * sxy - s * sy) / determinant
        level = (sy - gain * s) / n
        return sum((level + gain * v - w) ** 2 for v, w in zip(shape, y))

    return min((d * 1e-4 for d in range(-200, 300)), key=error)


def summary(values):
    if len(values) < 2:
        return None
    return {
        "count": len(values),
        "mean_ms": 1e3 * statistics.fmean(values),
        "median_ms": 1e3 * statistics.median(values),
        "spread_ms": 1e3 * statistics.stdev(values),
        "standard_error_ms": 1e3 * statistics.stdev(values) / math.sqrt(len(values)),
    }


def host_margins(rows, names):
    launches = {c["correlation"]: c for c in rows["call"] if "Launch" in names.get(c["name"], "")}
    waits = sorted((c["end"], c["start"]) for c in rows["call"] if "Synchronize" in names.get(c["name"], ""))
    before = [k["start"] - launches[k["correlation"]]["start"] for k in rows["kernel"] if k["correlation"] in launches]
    after = []
    for _, end in bursts_of(rows["kernel"]):
        at = bisect.bisect(waits, (end - 2000000, 0))
        after += [w[0] - end for w in waits[at : at + 1]]
    return {
        "kernels": len(before),
        "least_ns_from_launch_to_start": min(before, default=None),
        "starts_before_their_launch": sum(b < 0 for b in before),
        "least_ns_from_last_end_to_end_of_wait": min(after, default=None),
        "median_ns_from_last_end_to_end_of_wait": statistics.median(after) if after else None,
    }


def main():
    times, powers, result, bursts = [], [], {}, []
    for _, rows, names in blocks.read(sys.argv[1]):
        wanted = {s["id"] for s in rows["source"] if "sample" in names.get(s["meter"], "")}
        for reading in sorted((r for r in rows["reading"] if r["source"] in wanted), key=lambda r: r["time"]):
            times.append(reading["time"])
            powers.append(reading["value"] / 1000)
        if rows["kernel"]:
            result["host"] = host_margins(rows, names)
            bursts += bursts_of(rows["kernel"])
    rises = [fitted_delay(times, powers, start) for start, _ in bursts]
    falls = [fitted_delay(times, powers, end) for _, end in bursts]
    pairs = [(r, f) for r, f in zip(rises, falls) if r is not None and f is not None]
    half = len(pairs) // 2
    both = [(r + f) / 2 for r, f in pairs]
    result["ring"] = {
        "samples": len(times),
        "rises": summary([r for r, _ in pairs]),
        "falls": summary([f for _, f in pairs]),
        "first_half": summary(both[:half]),
        "second_half": summary(both[half:]),
    }
    with open(sys.argv[2], "w") as file:
        json.dump(result, file, indent=1)
    print(json.dumps(result, indent=1))


main()
