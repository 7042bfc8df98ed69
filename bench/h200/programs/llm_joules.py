# SPDX-License-Identifier: Apache-2.0
"""What llm_joules.sh asks of its files.

llm_joules.py count DEVICE FILE.csv: NVML's energy counter of a GPU, 10 times a second, until it is ended
llm_joules.py check PREFIX: compares PREFIX-mixed with PREFIX-prefill and PREFIX-decode, and PREFIX-*-windows.csv with PREFIX-counter.csv
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
            time.sleep(0.1)  # a read of the counter holds up the driver for milliseconds


def show(name, value, low, high, load, tokens):
    alone = load["energy"]["above_idle_j"]
    if None in (value, low, high, alone["value"]) or not tokens or not alone["value"]:
        print(f"{name}: not known: {value}, {low} to {high}; alone {alone['value']} J for {tokens} tokens")
        return
    apart = alone["value"] / tokens
    print(f"{name}: mixed {value:.6g} J ({low:.6g} to {high:.6g}), alone {apart:.6g} J ({alone['low'] / tokens:.6g} to {alone['high'] / tokens:.6g}), "
          f"off by {100 * (value / apart - 1):+.1f} %, interval {'holds' if low <= apart <= high else 'misses'}")


def apart(prefix):
    """The fit of the mixed loads against prefill alone and decoding alone."""
    mixed, prefill, decode = (json.load(open(f"{prefix}-{name}.json")) for name in ("mixed", "prefill", "decode"))
    fit = mixed["requests_energy"]
    if fit["missing"]:
        print("no fit:", fit["missing"])
        return
    for name, figure in fit.items():
        if isinstance(figure, dict) and "low" in figure:
            print(f"  mixed: {name} {figure['value']} ({figure['low']} to {figure['high']}), known {figure['is_known']}, amount {figure['amount']}")
    prompt = fit["j_a_prompt_token"]
    show("a prompt token", prompt["value"], prompt["low"], prompt["high"], prefill["loads"][0], prefill["loads"][0]["prompt_tokens"])
    output, step = fit["j_an_output_token"], fit["j_a_step"]
    for load in decode["loads"]:
        if None in (output["value"], step["value"]):
            print("an output token: not known:", output, step)
            continue
        steps = 1 / load["concurrency"]
        half = ((output["high"] - output["low"]) ** 2 + (steps * (step["high"] - step["low"])) ** 2) ** 0.5 / 2
        value = output["value"] + steps * step["value"]
        show(f"an output token, {load['concurrency']} at a time", value, value - half, value + half, load, load["tokens"])
    for name, run in (("mixed", mixed), ("prefill", prefill), ("decode", decode)):
        for load in run["loads"]:
            parts = load["requests_nj"]
            print(f"  {name} {load['concurrency']}: parts less meter", parts["prefill"] + parts["decode"] + parts["idle"] - parts["metered"] if parts else None,
                  f"nJ; {load['tokens_per_s']:.0f} tokens/s, {load['prompt_tokens'] / load['steady_s']:.0f} prompt tokens/s, "
                  f"{(load['energy']['gross_j']['value'] or 0) / load['steady_s']:.0f} W, token {load['token_s']['p50']}, first {load['first_s']['p50']}")


def windows(prefix):
    """Sums of kwhy's seconds over about 10 s against NVML's counter, which another process has read."""
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
    windows(sys.argv[2])
