#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The results that lie with the examples are all listed, and whole; tables that are read off them say the same, to their last digit.
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


def rows_of(names):
    return [row for name in names for row in results["decode/" + name + ".json"]["rows"]]


def says(number, value, digits):
    """Rounded to the digits that the text has."""
    return abs(float(number.replace(",", "")) - value) <= 0.5001 * 10.0**-digits


def digits_of(number):
    whole, _, part = number.replace(",", "").partition(".")
    return len(part) if part else -(len(whole) - min(len(whole.rstrip("0")), 4) if whole.endswith("0") else 0)


def check(where, number, value):
    if not says(number, value, digits_of(number)):
        bad.append(f"{where} says {number}, the result {value:.6g}")


# The first table of docs/decode.md: rows of kwhy, then PyTorch's batches in columns.
page = open("docs/decode.md").read()
table = page[page.index("| keys, values | batch |") : page.index("- **Logits**")]
rows = {(row["cache"] == "fp8", row["batch"]): row for row in rows_of(("writing-1-to-16", "writing-32-and-64", "writing-128-and-256"))}
again = {row["cache"] == "fp8": row for row in rows_of(("writing-64-again",))}
kind, seen = None, 0
for line in table.splitlines():
    cells = [cell.strip() for cell in line.strip("|").split("|")]
    kind = cells[0] or kind
    batch = re.match(r"\d+", cells[1]) if len(cells) > 8 else None
    if not batch:
        continue
    row = again[kind == "fp8"] if "again" in cells[1] else rows[(kind == "fp8", int(batch.group()))]
    median, p95 = re.findall(r"[\d.]+", cells[3])
    where = f"docs/decode.md, {kind} {cells[1]},"
    check(where, median, row["token_s"]["median"] * 1e3)
    check(where, p95, row["token_s"]["p95"] * 1e3)
    check(where, cells[4], row["writing"]["tokens_per_s"])
    check(where, cells[5].split()[0], row["writing"]["tokens_per_j"])
    seen += 1
bad += [] if seen == 12 else [f"docs/decode.md has {seen} rows of the 12 in the results"]
peers = {peer["batch"]: peer for peer in results["decode/pytorch.json"]["peers"]}
columns = [int(cell) for cell in re.search(r"^\| PyTorch \| (.*) \|$", table, re.M).group(1).split(" | ")]
for batch, number in zip(columns, re.search(r"^\| tokens/s \| (.*) \|$", table, re.M).group(1).split(" | ")):
    check(f"docs/decode.md, PyTorch {batch},", number, peers[batch]["writing"]["tokens_per_s"])

# Case A: times of int8 to fp16.
page = " ".join(open("docs/cases.md").read().split())
rows = {(row["weights"], row["batch"]): row["writing"] for row in rows_of(("fp16-and-int8",))}
for batch in (1, 8, 64):
    found = re.search(rf"([\d.]+) times the tokens/s and ([\d.]+) times the tokens/J of fp16 at {batch}\b", page)
    if not found:
        bad.append(f"docs/cases.md does not say what int8 brings at {batch}")
        continue
    for number, key in zip(found.groups(), ("tokens_per_s", "tokens_per_j")):
        check(f"docs/cases.md, case A at {batch},", number, rows[("int8", batch)][key] / rows[("fp16", batch)][key])

# Cases C and D: a run of either form; samples a second and a joule without and with checkpointing.
def variants(name):
    return {variant["id"]: variant for variant in results["cases/" + name + ".json"]["variants"]}


found = re.search(r"a run of v5 ([\d.]+) ms and ([\d.]+) J, one of v6 ([\d.]+) ms and ([\d.]+) J", page)
graphs = variants("a-graph-a-step")
for number, value in zip(found.groups(), [value for id in ("v5", "v6") for value in (
        graphs[id]["run_s"]["median"] * 1e3, graphs[id]["energy"]["gross_j_a_run"]["value"])]):
    check("docs/cases.md, case C,", number, value)
found = re.search(r"([\d,]+) samples/s and (\d+) samples/J without checkpointing on batches of 4,096; ([\d,]+) and (\d+) with it", page)
for number, value in zip(found.groups(), [value for variant in (
        variants("batches-of-4096")["graph"], variants("batches-of-8192")["checkpoint"]) for value in (
        variant["samples_per_s"], variant["energy"]["samples_per_j"]["value"])]):
    check("docs/cases.md, case D,", number, value)

print("\n".join(bad) or f"{len(listed)} results, {seen} rows of a table and three cases agree")
sys.exit(bool(bad))
RESULTS
