#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests that random runs give the same report in every format: as exports of kwhy that are read back, and as traces of
several profilers.

Without SEEDS and FIRST, the environment variables with these names state which runs are tested. Usage: differential.py
KWHY [SEEDS [FIRST]]
"""

import json
import os
import subprocess
import sys
import tempfile

from random_rocprof import write_rocpd, write_rocprof_csv, write_rocprof_json
from random_run import HARD_KERNELS, Run, write_csv, write_kineto, write_nsys, write_power

TIMES = ("first_ns", "last_ns", "start_ns", "end_ns")


class Failure(Exception):
    """Reports differ, or a command failed."""


def command(*words):
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    if done.returncode:
        raise Failure(f"{' '.join(words)}: status {done.returncode}: {done.stderr.strip()}")
    return done


def normal(value, origin):
    """Returns the value with times in Unix nanoseconds, because the origin of times differs between formats."""
    if value == "nvtx":  # kwhy CSV and Kineto do not say which library a range comes from
        return "user"
    if isinstance(value, dict):
        return {key: item + origin if key in TIMES and isinstance(item, int) else normal(item, origin)
                for key, item in value.items()}
    return [normal(item, origin) for item in value] if isinstance(value, list) else value


def report(kwhy, path, power=None):
    words = [kwhy, "report", path, "--json"] + (["--power", power] if power else [])
    whole = json.loads(command(*words).stdout)
    whole = normal(whole, int(whole["window"].pop("origin_unix_ns")))
    del whole["source"]
    whole["warnings"] = [note for note in whole["warnings"] if note["id"] != "no-kernels"]  # of nsys alone
    processes = [(process["rank"] or 0, process["pid"]) for process in whole["processes"]]
    whole["processes"].sort(key=lambda process: (process["rank"] or 0, process["pid"]))
    for stream in whole["streams"]:
        stream["process"] = processes[stream["process"]]
    whole["streams"].sort(key=lambda stream: (stream["device"], stream["process"], stream["context"], stream["stream"]))
    return whole


def differences(first, second, place=""):
    """Yields (place, first, second) for each leaf that differs."""
    if isinstance(first, dict) and isinstance(second, dict):
        for key in sorted(first.keys() | second.keys()):
            yield from differences(first.get(key), second.get(key), f"{place}/{key}")
    elif isinstance(first, list) and isinstance(second, list) and len(first) == len(second):
        for index, pair in enumerate(zip(first, second)):
            yield from differences(*pair, f"{place}/{index}")
    elif first != second:
        yield place, first, second


def compare(first, second, words):
    found = list(differences(first, second))
    if found:
        raise Failure(words + "".join(f"\n  {place}: {str(a)[:300]} != {str(b)[:300]}" for place, a, b in found[:12]))


def has_duckdb(kwhy, folder, source):
    """Whether DuckDB's library, which the Parquet export needs, is installed."""
    words = [kwhy, "export", source, "-o", os.path.join(folder, "one.parquet")]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    return not done.returncode or "libduckdb.so" not in done.stderr


def exports(kwhy, folder, run):
    """Exports a run in each form and reads it back, also through exports of exports."""
    source, power = os.path.join(folder, "run"), None
    (write_kineto if run.hard_names else write_csv)(run, source)
    if run.random.random() < 0.5:
        power = os.path.join(folder, "power.csv")
        write_power(run, power)
    first = report(kwhy, source, power)
    forms = ["chrome", "perfetto", "sqlite", "csv"] + (["parquet"] if has_duckdb(kwhy, folder, source) else [])
    for number, form in enumerate(forms + [run.random.choice(forms)]):
        path = os.path.join(folder, f"export{number}.{form}")
        words = [kwhy, "export", source, "--to", form, "-o", path]
        command(*words, *(["--power", power] if power else []))
        compare(first, report(kwhy, path, None if form in ("sqlite", "parquet") else power), f"{form} of {source}")
        source = path if run.random.random() < 0.3 else source


def importers(kwhy, folder, run):
    """Compares one run as several profilers write it."""
    paths = {name: os.path.join(folder, name) for name in ("one.csv", "one.json", "one.sqlite")}
    write_csv(run, paths["one.csv"])
    write_kineto(run, paths["one.json"])
    write_nsys(run, paths["one.sqlite"])
    first = report(kwhy, paths["one.csv"])
    for name in ("one.json", "one.sqlite"):
        compare(first, report(kwhy, paths[name]), f"{name} and one.csv")


def rocm_importers(kwhy, folder, run):
    """Compares one run in the three forms of rocprofv3. CSV contains neither the sizes of copies nor the host's name."""
    database, text = os.path.join(folder, "one.db"), os.path.join(folder, "one.json")
    write_rocpd(run, database)
    write_rocprof_json(run, text)
    first = report(kwhy, database)
    compare(first, report(kwhy, text), "JSON and database of rocprofv3")
    if "copy" not in run.kinds:
        for process in first["processes"]:
            process["host"] = None
        compare(first, report(kwhy, write_rocprof_csv(run, folder)), "CSV and database of rocprofv3")


def checks(seed):
    one = {"processes": 1, "is_nested": False}  # kwhy names NVTX ranges with those around them, others without
    kinds = ("kernel",) if seed % 2 else ("kernel", "copy")
    source = {"processes": 1, "hard_names": HARD_KERNELS} if seed % 3 == 0 else {}  # kwhy CSV does not hold them
    return (exports, Run(seed, **source)), (importers, Run(seed, **one)), (rocm_importers, Run(seed, kinds=kinds, is_hip=True, **one))


def main():
    kwhy, *numbers = sys.argv[1:]
    seeds = int(numbers[0] if numbers else os.environ.get("SEEDS", 1000))
    start = int(numbers[1] if len(numbers) > 1 else os.environ.get("FIRST", 1))
    os.environ["KWHY_PROFILES"] = os.devnull
    bad = 0
    for seed in range(start, start + seeds):
        for check, run in checks(seed):
            with tempfile.TemporaryDirectory() as folder:
                try:
                    check(kwhy, folder, run)
                except Failure as failure:
                    print(f"seed {seed}: {failure}", flush=True)
                    bad += 1
    if bad:
        sys.exit(f"{bad} of {3 * seeds} checks fail")
    print(f"{3 * seeds} random runs give the same report in each format and from each importer")


if __name__ == "__main__":
    main()
