#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Two mixtures of FP64, tensor and gather kernels up to the power limit: one in bursts of 10 to 60 ms (`burst`), one
launch by launch (`fine`).

truth OUT.json: measures the power of each kernel in both mixtures. In place: the energy counter is read over the
mixture without the kernel, and with twice as many bursts of it; the power is the difference of the energies divided by
the difference of the durations. Alone: the counter is read over the kernel alone, whose clock may be lower.
loop burst|fine SECONDS TRUTH.json: runs the mixture, with as many rounds per kernel as in the truth.
judge OUT.json TRUTH.json burst=REPORT.json fine=REPORT.json: compares the ledger with the truth.
"""
import json
import random
import sys
import time

import torch
import triton
import triton.language as tl

from inplace_sets import Meter

ALONE_S, PLACE_S, WARM_S, IDLE_W = 1.2, 1.9, 0.3, 120.0
MHZ_MIN = 1950  # mean clock of an H200, MHz; below this the power limit has lowered the clock
SMS = 132
# for each kernel: number of blocks of a launch, and duration of a launch in seconds
SHAPES = {"burst": {"fma64": (8 * SMS, 2e-3), "tensor": (SMS, 2e-3), "gather": (16 * SMS, 2e-3)},
          "fine": {"fma64": (4 * SMS, 2e-4), "tensor": (SMS // 2, 1.5e-4), "gather": (8 * SMS, 1e-4)}}
# A cycle of `burst` has, for each kernel, one burst of each of these durations, and these pauses, in random order; a
# cycle of `fine` has LAUNCHES single launches of each kernel instead.
BURSTS_S, PAUSES_S, LAUNCHES = (0.01, 0.025, 0.04, 0.06), (0.01, 0.03), 40


@triton.jit(do_not_specialize=["rounds"])
def fma64_kernel(out, rounds, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    a = at.to(tl.float64) * 1e-9
    b, c, d = a + 0.5, a + 0.25, a + 0.125
    for _ in range(rounds):
        a = a * 0.999 + 0.001
        b = b * 0.998 + 0.002
        c = c * 0.997 + 0.003
        d = d * 0.996 + 0.004
    tl.store(out + at, a + b + c + d)


@triton.jit(do_not_specialize=["rounds"])
def tensor_kernel(values, out, rounds, SIDE: tl.constexpr, DEEP: tl.constexpr):
    i, k = tl.arange(0, SIDE), tl.arange(0, DEEP)
    a = tl.load(values + i[:, None] * DEEP + k[None, :])
    b = tl.load(values + SIDE * DEEP + k[:, None] * SIDE + i[None, :])
    total = tl.zeros((SIDE, SIDE), tl.float32)
    for _ in range(rounds):
        total = tl.dot(a, b, total)
    at = tl.program_id(0) * SIDE * SIDE + i[:, None] * SIDE + i[None, :]
    tl.store(out + at, total)


@triton.jit(do_not_specialize=["rounds"])
def gather_kernel(table, out, mask, rounds, BLOCK: tl.constexpr):
    begin = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    at, total = begin * 40503, tl.zeros((BLOCK,), tl.float32)
    for _ in range(rounds):
        at = (at * 1664525 + 1013904223) & mask
        total += tl.load(table + at)
    tl.store(out + begin, total)


def works(mixture, rounds):
    """Returns functions that launch each kernel once; `rounds` has the loop counts of the Triton kernels."""
    torch.manual_seed(1)
    shapes = SHAPES[mixture]
    doubles = torch.empty(shapes["fma64"][0] * 512, device="cuda", dtype=torch.float64)
    values = torch.randn(2 * 128 * 64, device="cuda", dtype=torch.float16)
    sums = torch.empty(shapes["tensor"][0] * 128 * 128, device="cuda")
    words = 1 << (27 if mixture == "burst" else 22)  # 512 MB, or 16 MB, which the L2 cache holds
    table, gathered = torch.randn(words, device="cuda"), torch.empty(shapes["gather"][0] * 512, device="cuda")
    side, kind = (4096, torch.float16) if mixture == "burst" else (1536, torch.float64)
    left, product = torch.randn(side, side, device="cuda", dtype=kind), torch.empty(side, side, device="cuda", dtype=kind)
    return {
        "fma64": lambda: fma64_kernel[(shapes["fma64"][0],)](doubles, rounds["fma64"], BLOCK=512, num_warps=4),
        "tensor": lambda: tensor_kernel[(shapes["tensor"][0],)](values, sums, rounds["tensor"], SIDE=128, DEEP=64, num_warps=4),
        "gather": lambda: gather_kernel[(shapes["gather"][0],)](table, gathered, words - 1, rounds["gather"], BLOCK=512, num_warps=4),
        "product": lambda: torch.mm(left, left, out=product),
    }


def seconds_of(work, count):
    first, last = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
    work()
    first.record()
    for _ in range(count):
        work()
    last.record()
    torch.cuda.synchronize()
    return first.elapsed_time(last) / count / 1e3


def fitted_rounds(mixture):
    """Returns the loop counts with which launches take as long as SHAPES says."""
    rounds = {name: 1000 for name in SHAPES[mixture]}
    run = works(mixture, rounds)
    for name, (_, wanted_s) in SHAPES[mixture].items():
        for _ in range(2):
            rounds[name] = max(64, round(rounds[name] * wanted_s / seconds_of(run[name], 10)))
    return rounds


class Mixture:
    def __init__(self, name, rounds):
        self.run, self.random = works(name, rounds), random.Random(7)
        self.each_s = {kernel: seconds_of(work, 10) for kernel, work in self.run.items()}
        if name == "burst":
            self.series = {kernel: [max(1, round(burst_s / each_s)) for burst_s in BURSTS_S] for kernel, each_s in self.each_s.items()}
            self.pauses = [("pause", pause_s) for pause_s in PAUSES_S]
        else:
            self.series, self.pauses = {kernel: [1] * LAUNCHES for kernel in self.run}, []

    def cycle(self, see=lambda: None, kernel=None, times=1):
        """Runs one cycle in a new random order, with `times` as many bursts or launches of `kernel`. Calls `see` while the
        device computes."""
        order = [(name, count) for name, counts in self.series.items() for count in counts * (times if name == kernel else 1)]
        order += self.pauses
        self.random.shuffle(order)
        for name, count in order:
            if name == "pause":
                torch.cuda.synchronize()
                time.sleep(count)
                continue
            for _ in range(count):
                self.run[name]()
            if count > 1:
                see()
        see()
        torch.cuda.synchronize()


def window(meter, work, seconds):
    """Calls `work` for the given time. Returns joules and seconds per call, and the mean clock during the calls, in which
    `work` calls its argument while the device computes."""
    clocks = []

    def see():
        clocks.append(meter.clock_mhz())

    until = time.perf_counter() + WARM_S
    while time.perf_counter() < until:
        work(see)
    first_j, first_s = meter.at_update()
    begin_s, calls = time.perf_counter(), 0
    clocks.clear()
    while time.perf_counter() - begin_s < seconds:
        work(see)
        calls += 1
    busy_s = time.perf_counter() - begin_s
    last_j, last_s = meter.at_update()
    joules = last_j - first_j - IDLE_W * (last_s - first_s - busy_s)
    return joules / calls, busy_s / calls, sum(clocks) / len(clocks)


def truth(path):
    meter, out = Meter(), {}
    for name in SHAPES:
        rounds = fitted_rounds(name)
        mixture = Mixture(name, rounds)
        out[name] = {"rounds": rounds, "kernels": {}}
        for kernel, work in mixture.run.items():
            count = max(1, round(0.02 / mixture.each_s[kernel]))

            def alone(see, run=work, launches=count):
                for _ in range(launches):
                    run()
                see()
                torch.cuda.synchronize()

            joules, seconds, mhz = window(meter, alone, ALONE_S)
            out[name]["kernels"][kernel] = {"alone_w": joules / seconds, "alone_mhz": mhz, "us": 1e6 * mixture.each_s[kernel]}
        plain_j, plain_s, plain_mhz = window(meter, mixture.cycle, PLACE_S)
        out[name].update(watts=plain_j / plain_s, mhz=plain_mhz)
        for kernel in mixture.run:
            # Two measurements: without the kernel's launches, and with twice those of the mixture. As the clock depends on
            # the power, one of them has a higher clock than the mixture, and the other a lower one, which is kept.
            none_j, none_s, none_mhz = window(meter, lambda see, k=kernel: mixture.cycle(see, k, 0), PLACE_S)
            twice_j, twice_s, twice_mhz = window(meter, lambda see, k=kernel: mixture.cycle(see, k, 2), PLACE_S)
            row, launches = out[name]["kernels"][kernel], 2 * sum(mixture.series[kernel])
            seconds, mhz = twice_s - none_s, min(none_mhz, twice_mhz)
            row.update(place_w=(twice_j - none_j) / seconds, place_us=1e6 * seconds / launches, place_mhz=mhz)
            print(f"{name:5} {kernel:8} {row['us']:8.1f} us alone {row['alone_w']:6.1f} W {row['alone_mhz']:4.0f} MHz; "
                  f"in place {row['place_us']:8.1f} us {row['place_w']:6.1f} W {mhz:4.0f} MHz (mixture {plain_j / plain_s:.1f} W {plain_mhz:.0f} MHz)", flush=True)
    with open(path, "w", encoding="utf-8") as file:
        json.dump(out, file, indent=1)


def loop(name, seconds, path):
    with open(path, encoding="utf-8") as file:
        mixture = Mixture(name, json.load(file)[name]["rounds"])
    mixture.random, until, cycles = random.Random(11), time.perf_counter() + seconds, 0
    while time.perf_counter() < until:
        mixture.cycle()
        cycles += 1
    print(name, "ended well", cycles > 0)


def account_of(report, kernel):
    """Returns the report's account of a kernel. PyTorch chooses the name of a product's kernel."""
    computes = [account for account in report["devices"][0]["accounts"] if account["category"] == "compute" and account.get("gross_nj")]
    own = [account for account in computes if account["name"].startswith(kernel + "_kernel")]
    others = [account for account in computes if not account["name"].startswith(("fma64_kernel", "tensor_kernel", "gather_kernel"))]
    return max(own or others, key=lambda account: account["gross_nj"])


def judge(path, truth_path, reports):
    with open(truth_path, encoding="utf-8") as file:
        truths = json.load(file)
    rows = []
    for name, report_path in (pair.split("=", 1) for pair in reports):
        with open(report_path, encoding="utf-8") as file:
            report = json.load(file)
        for kernel, true in truths[name]["kernels"].items():
            account = account_of(report, kernel)
            busy_us, watts = 1e-3 * account["time_ns"] / account["count"], 1e-3 * account["mean_power_mw"]
            # place_us is the time from one launch to the next, so place_w includes the gap after
            # each launch, at the idle level
            gap_us = max(0.0, true["place_us"] - busy_us)
            with_gap_w = (watts * busy_us + IDLE_W * gap_us) / (busy_us + gap_us)
            low, high = account["low_nj"] / account["gross_nj"], account["high_nj"] / account["gross_nj"]
            rows.append({"mixture": name, "kernel": kernel, "account": account["name"], "basis": account["basis"], "watts": watts, "busy_us": busy_us,
                         "half_percent": 50 * (high - low), "error_percent": 100 * (with_gap_w / true["place_w"] - 1), **true,
                         "holds": low * with_gap_w <= true["place_w"] <= high * with_gap_w,
                         "holds_alone": low * watts <= true["alone_w"] <= high * watts, "at_full_clock": true["place_mhz"] >= MHZ_MIN})
            row = rows[-1]
            print(f"{name:5} {kernel:8} true {true['place_w']:6.1f} W at {true['place_mhz']:4.0f} MHz (alone {true['alone_w']:6.1f} W at "
                  f"{true['alone_mhz']:4.0f} MHz), ledger {watts:6.1f} W ±{row['half_percent']:4.1f} % ({row['basis']}): {row['error_percent']:+5.1f} %, "
                  f"{'holds' if row['holds'] else 'MISSES'}; alone {'holds' if row['holds_alone'] else 'misses'}")
    judged = [row for row in rows if row["at_full_clock"]]
    print(f"hold in place {sum(row['holds'] for row in judged)} of {len(judged)} at full clock, {sum(row['holds'] for row in rows)} of {len(rows)} in all; "
          f"alone {sum(row['holds_alone'] for row in rows)} of {len(rows)}; mean half-width {sum(row['half_percent'] for row in rows) / len(rows):.1f} %")
    with open(path, "w", encoding="utf-8") as file:
        json.dump(rows, file, indent=1)


def main():
    words = sys.argv[1:]
    if len(words) == 2 and words[0] == "truth":
        truth(words[1])
    elif len(words) == 4 and words[0] == "loop" and words[1] in SHAPES:
        loop(words[1], float(words[2]), words[3])
    elif len(words) >= 4 and words[0] == "judge":
        judge(words[1], words[2], words[3:])
    else:
        sys.exit(__doc__)


if __name__ == "__main__":
    main()
