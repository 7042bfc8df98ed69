# SPDX-License-Identifier: Apache-2.0
"""Measures in pairs what recording costs a loop, compared with the same loop without recording.

A set has one fresh process per variant; all of them exist at the same time. They take turns on one core, in an order
that is shuffled in each round, so that disturbances of the machine affect all variants alike. A turn is one run of the
loop (a fraction of a second), or RUNS runs. The launchers of the variants whose turn it is not are stopped (SIGSTOP),
so their meters cost nothing. A set gives one ratio per variant: the sum of the variant's seconds, divided by that of
`plain`. Results: the median and the mean of the sets, and the upper 95 % bound of the mean by a bootstrap over the sets
(20,000 draws, seeded).

usage: pairs.py KWHY OUT.json LOOP VARIANT,... SETS ROUNDS LATEST_SECONDS [RUNS]
variants: plain record no-calls duty10 duty10-no-calls graphs-node graphs-graph inject nsys profiler
"""
import json
import os
import random
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))


def command_of(variant, kwhy, loop, folder):
    child = [sys.executable, os.path.join(HERE, "segment.py"), loop]
    record = [kwhy, "record", "-q", "-o", os.path.join(folder, variant)]
    return {
        "plain": child,
        "record": [*record, "--", *child],
        "duty10": [*record, "--duty", "10%", "--", *child],
        "no-calls": [*record, "--no-calls", "--", *child],
        "duty10-no-calls": [*record, "--no-calls", "--duty", "10%", "--", *child],
        "graphs-node": [*record, "--graphs", "node", "--", *child],
        "graphs-graph": [*record, "--graphs", "graph", "--", *child],
        "inject": child,
        "nsys": ["nsys", "profile", "-t", "cuda", "-s", "none", "--cpuctxsw=none", "-o", os.path.join(folder, "n"), *child],
        "profiler": [*child, "profiler"],
    }[variant]


class Child:
    def __init__(self, variant, kwhy, loop, folder):
        environment = dict(os.environ)
        if variant == "inject":  # the library alone, without launcher and meters
            library = os.path.join(os.path.dirname(kwhy), "..", "lib", "kwhy", "libkwhy-inject.so")
            os.makedirs(os.path.join(folder, "inject"))
            environment.update(CUDA_INJECTION64_PATH=os.path.realpath(library), KWHY_RECORD_DIR=os.path.join(folder, "inject"))
        self.variant = variant
        self.has_launcher = variant.startswith(("record", "no-calls", "duty10", "graphs-"))
        self.process = subprocess.Popen(
            command_of(variant, kwhy, loop, folder), stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment
        )
        self.seconds = []

    def answer(self):
        for line in self.process.stdout:
            if line.startswith("{"):
                return json.loads(line)
        return None

    def hold(self):
        if self.has_launcher:
            os.kill(self.process.pid, signal.SIGSTOP)

    def turn(self, runs):
        if self.has_launcher:
            os.kill(self.process.pid, signal.SIGCONT)
        time.sleep(0.05)  # the same for all variants, because a device that has rested runs faster
        self.process.stdin.write(f"{runs}\n")
        self.process.stdin.flush()
        answer = self.answer()
        if answer is None:
            raise SystemExit(f"{self.variant} ended with {self.process.wait()}")
        self.seconds.append(answer["seconds"])
        self.hold()

    def end(self):
        if self.has_launcher:
            os.kill(self.process.pid, signal.SIGCONT)
        self.process.stdin.close()
        self.process.wait()


def measure_set(kwhy, loop, variants, rounds, runs, seed):
    folder = tempfile.mkdtemp()
    order = random.Random(seed)
    children = [Child(variant, kwhy, loop, folder) for variant in variants]
    device = None
    for child in list(children):
        answer = child.answer()
        if answer is None:  # a profiler that cannot run here is left out and named
            print(f"{child.variant} is left out: it ended with {child.process.wait()}", file=sys.stderr)
            children.remove(child)
            variants.remove(child.variant)
            continue
        device = answer["ready"]
    for child in children:
        child.hold()
    for _ in range(rounds):
        order.shuffle(children)
        for child in children:
            child.turn(runs)
    for child in children:
        child.end()
    shutil.rmtree(folder, ignore_errors=True)
    return device, {child.variant: child.seconds for child in children}


def bound_of(ratios, seed=1):
    draws = random.Random(seed)
    means = sorted(statistics.fmean(draws.choices(ratios, k=len(ratios))) for _ in range(20000))
    return means[int(0.95 * len(means))]


def summary_of(sets, variants):
    out = {}
    for variant in variants[1:]:
        ratios = [sum(one[variant]) / sum(one["plain"]) for one in sets]
        out[variant] = {
            "ratios": ratios,
            "median": statistics.median(ratios),
            "mean": statistics.fmean(ratios),
            "upper_95": bound_of(ratios) if len(ratios) > 1 else None,
        }
    return out


def main():
    kwhy, out, loop, variants, wanted, rounds, latest = sys.argv[1:8]
    runs = int(sys.argv[8]) if len(sys.argv) > 8 else 1
    variants = [v for v in variants.split(",") if v != "nsys" or shutil.which("nsys")]
    latest = time.monotonic() + float(latest)
    sets, device, longest = [], None, 0.0
    while len(sets) < int(wanted) and time.monotonic() + longest < latest:
        start = time.monotonic()
        device, seconds = measure_set(kwhy, loop, variants, int(rounds), runs, len(sets))
        longest = max(longest, time.monotonic() - start)
        sets.append(seconds)
        result = {"device": device, "loop": loop, "runs_a_turn": runs, "sets": sets, "against_plain": summary_of(sets, variants)}
        with open(out, "w") as file:
            json.dump(result, file, indent=1)
    for variant, row in result["against_plain"].items():
        bound = "n/a" if row["upper_95"] is None else f"{row['upper_95']:.4f}"
        print(f"{loop} {variant}: {len(sets)} sets, median {row['median']:.4f}, mean {row['mean']:.4f}, upper 95 % bound {bound}")


main()
