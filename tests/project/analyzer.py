#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests that gcc's analyser finds no leak, no double free, no use of NULL and no descriptor that stays open in code that
reads files and messages of others: import, recording and the messages between ranks. Usage: analyzer.py SOURCE_DIR
BUILD_DIR [FILE...]"""
import concurrent.futures
import json
import os
import re
import shlex
import shutil
import subprocess
import sys

SOURCE, BUILD, FILES = os.path.abspath(sys.argv[1]), sys.argv[2], [os.path.abspath(path) for path in sys.argv[3:]]
PLACES = re.compile(r"src/(import|recording)/.*\.c|src/bench/pairs/rank[^/]*\.c")  # gcc 12 analyses C alone
# (file, warning of gcc 12): why the warning is false there
WRONG = {
    ("src/import/recorded/symbols.c", "malloc-leak"): "the array of modules holds the path",
    ("src/import/rocprof/csv_rows.c", "use-of-uninitialized-value"): "take_integers() sets all numbers, or fails",
}
FLAG = re.compile(r"-(I|D|isystem|std=).*")


def analyse(row):
    """Returns gcc's warnings on a file; "": none."""
    words, flags = shlex.split(row["command"]), []
    for i, word in enumerate(words):
        if FLAG.match(word):
            flags += [word, words[i + 1]] if word == "-isystem" else [word]
    said = subprocess.run(["gcc", "-fanalyzer", "-O1", *flags, "-c", row["file"], "-o", "/dev/null"], cwd=row["directory"],
                          capture_output=True, text=True, check=False)
    found = {(os.path.relpath(row["file"], SOURCE), kind) for kind in re.findall(r"\[-Wanalyzer-([\w-]+)\]", said.stderr)}
    return said.stderr if said.returncode or found - WRONG.keys() else ""


def main():
    if not shutil.which("gcc"):
        print("skipped: no gcc")
        sys.exit(77)
    with open(BUILD + "/compile_commands.json", encoding="utf-8") as file:
        rows = {os.path.abspath(row["file"]): row for row in json.load(file)}
    chosen = [row for path, row in sorted(rows.items())
              if (path in FILES if FILES else PLACES.fullmatch(os.path.relpath(path, SOURCE)))]
    if not chosen:
        sys.exit("no file is compiled that is to be analysed")
    with concurrent.futures.ThreadPoolExecutor(int(os.environ.get("JOBS", os.cpu_count()))) as pool:
        warnings = 0
        for row, said in zip(chosen, pool.map(analyse, chosen)):
            if said:
                print(f"{row['file']}:\n{said[:4000]}", flush=True)
                warnings += 1
    print(f"{len(chosen)} files, {warnings} with warnings of gcc -fanalyzer")
    sys.exit(warnings > 0)


if __name__ == "__main__":
    main()
