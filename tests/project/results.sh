#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Tests that each result in examples/results is listed in the README.md there, and that each listed result is complete.
# Usage: results.sh SOURCE_DIR BUILD_DIR
set -euo pipefail
cd "$1"
python3 - << 'RESULTS'
import glob, json, re, sys

FOLDER = "examples/results/"
bad = []
listed = set(re.findall(r"^\| \[([^]]+)\]\(\1\)", open(FOLDER + "README.md").read(), re.M))
there = {path[len(FOLDER) :] for path in glob.glob(FOLDER + "*/*")}
bad += [f"{name} is in no row of {FOLDER}README.md" for name in sorted(there - listed)]
bad += [f"{FOLDER}README.md has {name}, which is not there" for name in sorted(listed - there)]
results = {name: json.load(open(FOLDER + name)) for name in sorted(listed & there) if name.endswith(".json")}
bad += [f"{name} says neither its schema nor its PyTorch" for name, result in results.items() if not {"schema", "torch"} & set(result)]

print("\n".join(bad) or f"{len(listed)} results")
sys.exit(bool(bad))
RESULTS
