# SPDX-License-Identifier: Apache-2.0
"""Reads the counter for llm_joules.sh and checks its files.

llm_joules.py count DEVICE FILE.csv: reads NVML's energy counter of a GPU 10 times a second, until it is ended
llm_joules.py check PREFIX: compares PREFIX-mixed with PREFIX-prefill and PREFIX-decode, and PREFIX-*-windows.csv with
PREFIX-counter.csv. It also fits all but one load of all three runs, and compares each fit with the load that was left
out.
"""
import bisect
import csv
import ctypes
import glob
import json
import sys
import time


def count(device, path):
    nvml = ctypes.CDLL("libnvidia-ml.so.1")
    handle, energy = ctypes.c_void_p(), ctypes.c_ulonglong()
    if nvml.nvmlInit_v2() or nvml.nvmlDeviceGetHandleByIndex_v2(int(device), ctypes.byref(handle)):
        sys.exit("NVML does not begin")
    with open(path, "w", buffering=1) as file:
        print("unix_s,energy_mj", file=file)
        last = None
        while True:
            before = time.time()
            if nvml.nvmlDeviceGetTotalEnergyConsumption(handle, ctypes.byref(energy)) == 0 and energy.value != last:
                last = energy.value
                print(f"{(before + time.time()) / 2:.6f},{last}", file=file)
            time.sleep(0.1)  # not more often, because a read of the counter occupies the driver for milliseconds


RAMP_S = 1  # --ramp of llm_joules.sh
KINDS = {  # column of windows.csv: key of its joules in the JSON
    "prompt_tokens": "j_a_prompt_token", "cached_tokens": "j_a_cached_prompt_token", "prompt_batches": "j_a_prompt_batch",
    "output_tokens": "j_an_output_token", "steps": "j_a_step", "context_tokens": "j_a_context_token"}


def steady(prefix, name):
    """Returns the rows of the steady windows by load; load 0 has those of the idle server."""
    loads = {0: []}
    for number, load in enumerate(json.load(open(f"{prefix}-{name}.json"))["loads"], 1):
        loads[number] = []
        rows = [row for row in csv.DictReader(open(f"{prefix}-{name}-windows.csv")) if int(row["load"]) == number]
        for row in rows:
            at = float(row["unix_s"]) - float(rows[0]["unix_s"])
            if at > RAMP_S - 0.01 and at + float(row["seconds"]) < RAMP_S + load["steady_s"] + 0.01:
                loads[number].append({key: float(value or "nan") for key, value in row.items()})
    for row in csv.DictReader(open(f"{prefix}-{name}-windows.csv")):
        if row["load"] == "0":
            loads[0].append({key: float(value or "nan") for key, value in row.items()})
    return loads


def work_of(rows):
    return {kind: sum(row[kind] for row in rows) for kind in KINDS}


def show(name, fit, rows, load, tokens):
    """Compares the energy of a run of one kind of work with what the coefficients of the mixed run give for this work.
    Errors of the coefficients are assumed to be independent."""
    work, alone = work_of(rows), load["energy"]["above_idle_j"]
    used = [(work[kind], fit[key]) for kind, key in KINDS.items() if work[kind] and fit[key]["value"] is not None]
    if not used or not tokens or not alone["value"]:
        print(f"{name}: not known; alone {alone['value']} J for {tokens} tokens")
        return
    value = sum(amount * figure["value"] for amount, figure in used) / tokens
    half = sum((amount * (figure["high"] - figure["value"])) ** 2 for amount, figure in used) ** 0.5 / tokens
    apart = alone["value"] / tokens
    print(f"{name}: mixed {value:.6g} J ({value - half:.6g} to {value + half:.6g}), alone {apart:.6g} J ({alone['low'] / tokens:.6g} to {alone['high'] / tokens:.6g}), "
          f"off by {100 * (value / apart - 1):+.1f} %, interval {'holds' if abs(value - apart) <= half else 'misses'}")


def apart(prefix):
    """Compares the fit of the mixed loads with prefill alone and with decoding alone."""
    mixed, prefill, decode = (json.load(open(f"{prefix}-{name}.json")) for name in ("mixed", "prefill", "decode"))
    fit = mixed["requests_energy"]
    if fit["missing"]:
        print("no fit:", fit["missing"])
        return
    for name, figure in fit.items():
        if isinstance(figure, dict) and "low" in figure:
            print(f"  mixed: {name} {figure['value']} ({figure['low']} to {figure['high']}), known {figure['is_known']}, amount {figure['amount']}")
    rows = steady(prefix, "prefill")
    show("a prompt token", fit, rows[1], prefill["loads"][0], prefill["loads"][0]["prompt_tokens"])
    rows = steady(prefix, "decode")
    for number, load in enumerate(decode["loads"], 1):
        show(f"an output token, {load['concurrency']} at a time", fit, rows[number], load, load["tokens"])
    for name, run in (("mixed", mixed), ("prefill", prefill), ("decode", decode)):
        for load in run["loads"]:
            parts = load["requests_nj"]
            print(f"  {name} {load['concurrency']}: parts less meter", parts["prefill"] + parts["decode"] + parts["idle"] - parts["metered"] if parts else None,
                  f"nJ; {load['tokens_per_s']:.0f} tokens/s, {load['prompt_tokens'] / load['steady_s']:.0f} prompt tokens/s, "
                  f"{(load['energy']['gross_j']['value'] or 0) / load['steady_s']:.0f} W, token {load['token_s']['p50']}, first {load['first_s']['p50']}")


def solve(rows):
    """Fits the power of the idle server and the joules of each kind of work that occurs, by least squares. Kinds with
    negative joules are left out."""
    kinds = ["seconds"] + [kind for kind in KINDS if any(row[kind] for row in rows)]
    while True:
        scale = {kind: sum(row[kind] ** 2 for row in rows) ** 0.5 for kind in kinds}
        table = [[sum(row[a] * row[b] for row in rows) / scale[a] / scale[b] for b in kinds]
                 + [sum(row[a] * row["metered_j"] for row in rows) / scale[a]] for a in kinds]
        for i in range(len(kinds)):  # Gauss-Jordan elimination
            pivot = max(range(i, len(kinds)), key=lambda k: abs(table[k][i]))
            table[i], table[pivot] = table[pivot], table[i]
            table[i] = [value / table[i][i] for value in table[i]]
            for k in range(len(kinds)):
                if k != i:
                    table[k] = [value - table[k][i] * at for value, at in zip(table[k], table[i])]
        joules = {kind: table[i][-1] / scale[kind] for i, kind in enumerate(kinds)}
        worst = min(joules, key=joules.get)
        if joules[worst] >= 0:
            return joules
        kinds.remove(worst)


def leave_out(prefix):
    loads = {(name, number): rows for name in ("mixed", "prefill", "decode") for number, rows in steady(prefix, name).items()}
    for left in [key for key in loads if key[1]]:
        joules = solve([row for key, rows in loads.items() if key != left for row in rows])
        rows, idle = loads[left], loads[left[0], 0]
        idle_w = sum(row["metered_j"] for row in idle) / sum(row["seconds"] for row in idle)
        net = sum(row["metered_j"] - idle_w * row["seconds"] for row in rows)
        said = sum(joules.get(kind, 0) * amount for kind, amount in work_of(rows).items())
        print(f"  {left[0]} {left[1]} from all other loads: {said:.1f} J above idle, off by {100 * (said / net - 1):+.1f} %")


def windows(prefix):
    """Compares the sums of kwhy's energies over about 10 s with NVML's counter, which another process has read."""
    try:
        rows = list(csv.DictReader(open(f"{prefix}-counter.csv")))
    except OSError:
        rows = []
    times, joules = [float(row["unix_s"]) for row in rows], [int(row["energy_mj"]) * 1e-3 for row in rows]
    if len(rows) < 2:
        print("windows: NVML's counter was not read")
        return

    def at(moment):
        i = min(max(bisect.bisect_right(times, moment), 1), len(times) - 1)
        return joules[i - 1] + (joules[i] - joules[i - 1]) * (moment - times[i - 1]) / (times[i] - times[i - 1])

    worst, counted = 0, 0
    for path in sorted(glob.glob(f"{prefix}-*-windows.csv")):
        span, load = [], None
        for row in csv.DictReader(open(path)):
            if row["load"] != load:  # its first second is left out: the counter lags where the power changes
                span, load = [], row["load"]
                continue
            span.append(row)
            start, end = float(span[0]["unix_s"]), float(row["unix_s"]) + float(row["seconds"])
            if end - start < 9.5:
                continue
            parts = sum(float(each[part] or "nan") for each in span for part in ("idle_j", "prefill_j", "decode_j"))
            off = parts / (at(end) - at(start)) - 1
            print(f"  window of {end - start:.2f} s, {path.rsplit('/', 1)[-1]}, load {row['load']}: requests and idle {parts:.2f} J, off the counter by {100 * off:+.3f} %")
            worst, counted, span = max(worst, abs(off)), counted + 1, []
    print(f"windows: {counted} of about 10 s, worst {100 * worst:.3f} % off the counter")


if sys.argv[1] == "count":
    count(sys.argv[2], sys.argv[3])
else:
    apart(sys.argv[2])
    leave_out(sys.argv[2])
    windows(sys.argv[2])
