# SPDX-License-Identifier: Apache-2.0
"""Determines how the clocks of a recording of steps.py are related.

Host and device: no kernel may start before the call that launched it began, and none may end after the wait for it
ended; the margins bound the error. Device and power samples: the time from the first kernel of a burst to the rise of
the power, and from its last kernel to the fall, each as the delay of the first-order low-pass that fits the samples
within 0.1 s best. There are two fits: one has the time constant of the machine profile, the
other one the time constant that fits all steps best. If the clocks are related correctly, the delay is that of the meter alone, as the profile has
it, for rises and falls, at the start and at the end of the run. Medians are compared, because every fifth time stamp of
a sample is 6 to 10 ms late, which would shift a mean.

usage: clock.py RECORDING PROFILE.json OUT.json
"""
import bisect
import json
import math
import statistics
import sys

import blocks

def bursts_of(kernels):
    edges = []
    for kernel in sorted(kernels, key=lambda k: k["start"]):
        if edges and kernel["start"] - edges[-1][1] < 50e6:
            edges[-1][1] = max(edges[-1][1], kernel["end"])
        else:
            edges.append([kernel["start"], kernel["end"]])
    return [(start, end) for start, end in edges if end - start > 100e6]


def fitted_delay(times, powers, edge, tau):
    """Fits a step of the power at `edge` (ns). Returns its delay in seconds, the residual in W^2, and the levels before
    and after it."""
    first, last = bisect.bisect(times, edge - 100e6), bisect.bisect(times, edge + 100e6)
    x, y = [1e-9 * (t - edge) for t in times[first:last]], powers[first:last]
    if len(x) < 6:
        return None

    def error(delay):
        shape = [0.0 if t < delay else 1 - math.exp(-(t - delay) / tau) for t in x]
        n, s, ss = len(x), sum(shape), sum(v * v for v in shape)
        sy, sxy = sum(y), sum(v * w for v, w in zip(shape, y))
        determinant = n * ss - s * s
        if determinant < 1e-9:
            return float("inf")
        gain = (n * sxy - s * sy) / determinant
        level = (sy - gain * s) / n
        return sum((level + gain * v - w) ** 2 for v, w in zip(shape, y))

    delay = min((d * 1e-4 for d in range(-100, 200)), key=error)
    return delay, error(delay)


def fitted(times, powers, bursts, tau):
    """Returns the delays of rises and falls, and the sum of the residuals."""
    edges = [(fitted_delay(times, powers, start, tau), fitted_delay(times, powers, end, tau)) for start, end in bursts]
    edges = [(rise, fall) for rise, fall in edges if rise and fall]
    return [r[0] for r, _ in edges], [f[0] for _, f in edges], sum(r[1] + f[1] for r, f in edges)


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
    with open(sys.argv[2]) as file:
        sensor = json.load(file)["sensor"]
    known = {name: 1e3 * sensor[name]["value"] for name in ("time_constant_s", "delay_s")}
    best = min((t * 5e-4 for t in range(20, 37)), key=lambda tau: fitted(times, powers, bursts, tau)[2])
    result["profile"] = {"time_constant_ms": known["time_constant_s"], "delay_ms": known["delay_s"]}
    result["ring"] = {"samples": len(times)}
    for name, tau in (("at_the_profiles_time_constant", 1e-3 * known["time_constant_s"]), ("at_the_best_time_constant", best)):
        rises, falls, _ = fitted(times, powers, bursts, tau)
        both = [(r + f) / 2 for r, f in zip(rises, falls)]
        half = len(both) // 2
        result["ring"][name] = {
            "time_constant_ms": 1e3 * tau,
            "rises": summary(rises),
            "falls": summary(falls),
            "both": summary(both),
            "first_half": summary(both[:half]),
            "second_half": summary(both[half:]),
            "median_off_the_profiles_delay_ms": 1e3 * statistics.median(both) - known["delay_s"] if both else None,
        }
    with open(sys.argv[3], "w") as file:
        json.dump(result, file, indent=1)
    print(json.dumps(result, indent=1))


main()
