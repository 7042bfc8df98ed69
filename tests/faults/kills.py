#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Kills (SIGKILL) commands of kwhy that replace a result at one of their calls: a write after half of its bytes, or before
a rename or a flush. Afterwards the old result or the new one must be complete, and the same command must then make its
result.

Usage: kills.py [_all] KWHY FAULTS FAKE_NVML_DIR SOURCE_DIR. Without _all, a few calls of each kind are chosen.
"""
import os
import random
import re
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time

EVERY = sys.argv[1] == "_all"
KWHY, FAULTS, NVML, SOURCE = sys.argv[-4:]
RECORDINGS = [f"{SOURCE}/examples/recordings/{name}.kwhy" for name in ("mix", "transfer")]
KINDS = ["write", "rename", "sync"]
WAIT_S = 300  # limit for a server that does not start; starting takes a fraction of a second


def environment(place, fault=None):
    result = {name: value for name, value in os.environ.items() if not name.startswith("KWHY_")}
    result.update(LC_ALL="C", LD_LIBRARY_PATH=NVML, TMPDIR=place + "/tmp", XDG_CACHE_HOME=place + "/tmp",
                  KWHY_FAKE_NVML=SOURCE + "/tests/fakes/nvml/scenarios/h200_constant_300w.txt")
    if fault:
        result.update(LD_PRELOAD=FAULTS, KWHY_FAULT=fault, KWHY_FAULT_MARK=place + "/mark")
    return result


def run(words, place, fault=None):
    return subprocess.run([KWHY, *words], cwd=place + "/out", env=environment(place, fault), capture_output=True,
                          stdin=subprocess.DEVNULL, check=False)


def tree(path):
    """Returns the bytes of a file, or of the files of a folder; None: there is nothing."""
    if os.path.isdir(path):
        return {name: tree(f"{path}/{name}") for name in os.listdir(path)}
    if not os.path.exists(path):
        return None
    with open(path, "rb") as file:
        return re.sub(rb'"own_seconds": *[0-9.e-]+', b"", file.read())


class File:
    """A command that writes one file: first for one recording, then for another."""

    def __init__(self, name, result, words, same=True):
        self.name, self.result, self.words, self.same = name, result, words, same

    def make(self, place, which, fault=None):
        words = [word.replace("REC", RECORDINGS[which]) for word in self.words]
        return run(words + ["-o", self.result], place, fault)

    def whole(self, place, before, after):
        """Returns what is wrong; None: nothing."""
        found = tree(place + "/out/" + self.result)
        return None if found in (before, after) else "it has neither the old bytes nor the new ones"

    def again(self, place, after):
        done = self.make(place, 1)
        if done.returncode:
            return "cannot be made again: " + done.stderr.decode()[-300:]
        return None if not self.same or tree(place + "/out/" + self.result) == after else "is another one when it is made again"


class Digests(File):
    """A command that writes a folder with one file per rank. Each file must be complete."""

    def whole(self, place, before, after):
        found = {name: data for name, data in tree(place + "/out/" + self.result).items() if name.endswith(".json")}
        known = list(before.values()) + list(after.values())
        return None if all(data in known for data in found.values()) else "a digest is neither the old one nor the new one"


class Study(File):
    """The state of a study, which says which steps have results."""

    def make(self, place, which, fault=None):
        shutil.copyfile(RECORDINGS[which], place + "/out/run.kwhy")
        return run(["study", "utilisation", "run.kwhy", "-o", self.result], place, fault)

    def whole(self, place, before, after):
        return None  # again() checks whether the state can be read

    def again(self, place, after):
        done = self.make(place, 1)
        return "cannot go on: " + done.stderr.decode()[-300:] if done.returncode else None


FILES = [
    File("a report as data", "r.json", ["report", "REC"]),
    File("a page", "r.html", ["report", "REC"], same=False),  # it states the time of the report
    File("powers", "r.powers.json", ["export", "REC"]),
    File("an export to Chrome", "e.json", ["export", "REC"]),
    File("an export to SQLite", "e.sqlite", ["export", "REC"]),
    File("an export to Perfetto", "e.pftrace", ["export", "REC"]),
    File("a compressed export", "e.csv.gz", ["export", "REC", "--to", "csv"]),
    Digests("digests", "digests", ["digest", "-q", "REC"], same=False),
    Study("the state of a study", "study", []),
]


def calls_to_try(chance, was_made):
    """Yields numbers of calls; was_made() says whether the last one was reached."""
    n = 1
    while True:
        yield n
        if not was_made():
            return
        n += 1 if EVERY or n == 1 else chance.randint(1, 4 * n)


def empty(place):
    shutil.rmtree(place, ignore_errors=True)
    os.makedirs(place + "/out")
    os.makedirs(place + "/tmp")


def check_file(file, place, chance):
    """Kills a command at its calls and prints what is wrong. Returns the numbers of kills and of problems."""
    kills = problems = 0
    empty(place)
    for which in (0, 1):
        done = file.make(place, which)
        if done.returncode:
            sys.exit(f"{file.name} cannot be made: {done.stderr.decode()}")
        if which == 0:
            shutil.copytree(place + "/out", place + "/old", symlinks=True)
            before = tree(place + "/out/" + file.result)
    after = tree(place + "/out/" + file.result)
    for kind in KINDS:
        state = {"made": True}
        for n in calls_to_try(chance, lambda: state["made"]):
            shutil.rmtree(place + "/out")
            shutil.copytree(place + "/old", place + "/out", symlinks=True)
            done = file.make(place, 1, f"{kind}:{n}:kill")
            state["made"] = os.path.exists(place + "/mark")
            if not state["made"]:
                continue
            os.unlink(place + "/mark")
            kills += 1
            wrong = file.whole(place, before, after) or file.again(place, after)
            if wrong:
                problems += 1
                print(f"{file.name}, killed at {kind} {n}: {wrong}", flush=True)
    shutil.rmtree(place + "/old")
    return kills, problems


def serve(place, fault, seconds):
    """Runs a server with accounts until it is killed, or for a time."""
    child = subprocess.Popen([KWHY, "serve", "--unconfined", "--listen", "127.0.0.1:0", "--accounts", place + "/out/a.sqlite"],
                             env=environment(place, fault), stderr=subprocess.PIPE, text=True)
    until = time.monotonic() + WAIT_S
    for line in child.stderr:
        found = re.search(r"http://[^/]+/metrics", line)
        if found or time.monotonic() > until:
            break
    end = time.monotonic() + seconds
    while child.poll() is None and time.monotonic() < end:
        time.sleep(0.05)
    child.send_signal(signal.SIGTERM)
    child.communicate()


def accounted(place):
    """Returns the number of rows in the accounts, which must be complete."""
    with sqlite3.connect(place + "/out/a.sqlite") as base:
        if base.execute("PRAGMA integrity_check").fetchall() != [("ok",)]:
            return -1
        tables = [row[0] for row in base.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
        return sum(base.execute(f'SELECT COUNT(*) FROM "{table}"').fetchone()[0] for table in tables)


def check_accounts(place, chance):
    kills = problems = 0
    empty(place)
    serve(place, None, 2)
    rows = accounted(place)
    for kind in ("write", "sync"):
        state = {"made": True}
        for n in calls_to_try(chance, lambda: state["made"]):
            serve(place, f"{kind}:{n}:kill", 3)
            state["made"] = os.path.exists(place + "/mark")
            if not state["made"]:
                continue
            os.unlink(place + "/mark")
            kills += 1
            shown = run(["job", "--accounts", "a.sqlite"], place)
            found = accounted(place)
            if found < rows or shown.returncode:
                problems += 1
                print(f"accounts, killed at {kind} {n}: {found} rows after {rows}, {shown.stderr.decode()[-300:]}", flush=True)
            rows = max(rows, found)
    return kills, problems


def main():
    chance = random.Random(1)
    kills = problems = 0
    with tempfile.TemporaryDirectory() as place:
        for file in FILES:
            a, b = check_file(file, place + "/run", chance)
            print(f"{file.name}: killed at {a} calls", flush=True)
            kills, problems = kills + a, problems + b
        a, b = check_accounts(place + "/run", chance)
        print(f"accounts: killed at {a} calls", flush=True)
    if not a:
        sys.exit("no server was killed")
    print(f"killed at {kills + a} calls, {problems + b} wrong")
    sys.exit(problems + b > 0)


if __name__ == "__main__":
    main()
