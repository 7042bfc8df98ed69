#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Fits the power model by performance counters of a machine profile to a recording of alone.py.

counter_model.py RECORDING OPERATIONS.csv CONDITIONS

RECORDING is a folder that `kwhy record --counters` wrote, OPERATIONS.csv is alone.py's output. Prints the profile's part
counter_model, and on the standard error how far the model is off for operations and for groups that it was not fitted
to. The power of an operation is the mean of the 20 ms samples; the energy of a count is at least 0.
"""
import csv
import json
import math
import pathlib
import struct
import sys

import numpy as np

NAMES = ["instructions", "fma_instructions", "fp64_cycles", "tensor_cycles", "l1_request_cycles", "dram_read_bytes",
         "dram_write_bytes", "l2_sectors"]
NAME, SOURCE, READING, COUNTERS = 0, 10, 11, 25  # kinds of records (docs/formats/recording.md)
SETTLE_S = 0.1  # at the start of an operation: the meter's lag
GAP_S = 0.05  # before an operation, in which the device waits (alone.py)
SAMPLING_W = 30.0  # by which samples raise the power of a device with a context (docs/results/probe.md)
ROUNDS = 20000


def blocks_of(path):
    data, at = path.read_bytes(), 0
    while at + 64 <= len(data):
        kind, count, record, stored = struct.unpack_from("<HIII", data, at + 6)
        yield kind, count, record, data[at + 64:at + 64 + stored]
        at += (64 + stored + 7) // 8 * 8


def names_of(payload):
    names, at = {}, 0
    while at < len(payload):
        number, length = struct.unpack_from("<II", payload, at)
        names[number] = payload[at + 8:at + 8 + length].decode()
        at += 8 + (length + 7) // 8 * 8
    return names


def read(folder):
    """Returns the counter samples, and the 20 ms power samples as time in ns and watts."""
    samples, readings = [], []
    for path in sorted(pathlib.Path(folder).glob("*.blocks")):
        names, meters = {}, {}
        for kind, count, record, payload in blocks_of(path):
            if kind == NAME:
                names |= names_of(payload)
            for i in range(count if kind != NAME else 0):
                row = payload[i * record:(i + 1) * record]
                if kind == SOURCE:
                    meters[struct.unpack_from("<I", row)[0]] = names.get(struct.unpack_from("<I", row, 4)[0])
                elif kind == READING and meters.get(struct.unpack_from("<I", row, 16)[0]) == "nvml.sample_mw":
                    readings.append(struct.unpack_from("<qq", row))
            if kind == COUNTERS:
                samples.append(np.frombuffer(payload, np.dtype([("start", "<i8"), ("length", "<u4"), ("device", "<i4"),
                                                                ("counts", "<f4", len(NAMES))])))
    readings = np.array(readings, float)
    return np.concatenate(samples), readings[:, 0], readings[:, 1] / 1000


def rates_of(folder, operations):
    """Returns of each operation its name, its group, the counts per second, and the power in watts."""
    samples, times, watts = read(folder)
    for group, name, size, start, end in operations:
        start_ns, end_ns = int(start) + 1e9 * SETTLE_S, int(end)
        inside = (samples["start"] > start_ns) & (samples["start"] + samples["length"] < end_ns)
        metered = (times > start_ns) & (times < end_ns)
        if inside.sum() >= 20 and metered.sum() >= 5 and not name.startswith("copy_"):
            seconds = 1e-9 * samples["length"][inside].sum()
            yield f"{group}/{name}/{size}", group, samples["counts"][inside].sum(0) / seconds, watts[metered].mean()


def idle_of(folder, operations):
    """The idle level while counters are sampled: the median of the lowest power before each operation."""
    _, times, watts = read(folder)
    lowest = [watts[(times > int(start) - 1e9 * GAP_S) & (times < int(start))] for _, _, _, start, _ in operations]
    return float(np.median([some.min() for some in lowest if len(some)]))


def fit(features, above_w, weights):
    scale = features.max(0)
    scale[scale == 0] = 1
    rows, values = features / scale * weights[:, None], above_w * weights
    normal, target, found = rows.T @ rows, rows.T @ values, np.zeros(features.shape[1])
    for _ in range(ROUNDS):
        for i in range(len(found)):
            if normal[i, i] > 0:
                found[i] = max(0, found[i] + (target[i] - normal[i] @ found) / normal[i, i])
    return found / scale


def errors_without(features, above_w, weights, parts):
    errors = np.zeros(len(above_w))
    for part in sorted(set(parts)):
        out = np.array([other == part for other in parts])
        errors[out] = np.log(features[out] @ fit(features[~out], above_w[~out], weights[~out]) / above_w[out])
    return math.sqrt((errors**2).mean())


def main():
    if len(sys.argv) != 4:
        sys.exit(__doc__)
    with open(sys.argv[2], encoding="utf-8", newline="") as file:
        operations = list(csv.reader(file))
    names, groups, rates, watts = zip(*rates_of(sys.argv[1], operations))
    features, above_w = np.c_[np.ones(len(watts)), np.array(rates)], np.array(watts) - idle_of(sys.argv[1], operations)
    weights = 1 / np.array(watts)
    spread = errors_without(features, above_w, weights, groups)
    numbers = [index % 20 for index in range(len(names))]  # twenty parts of operations
    print(f"{len(names)} operations of {min(watts):.0f} to {max(watts):.0f} W: the logarithm of the power above idle is "
          f"{errors_without(features, above_w, weights, numbers):.3f} off for operations that the fit does not use, "
          f"{spread:.3f} for groups", file=sys.stderr)
    found = fit(features, above_w, weights)
    json.dump({"conditions": sys.argv[3], "base_w": round(found[0], 1), "sampling_w": SAMPLING_W, "spread": round(spread, 3),
               "joules": {name: float(f"{value:.4g}") for name, value in zip(NAMES, found[1:])}}, sys.stdout, indent="\t")
    print()


if __name__ == "__main__":
    main()
