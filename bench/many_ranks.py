#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes the traces of many ranks from the Kineto trace of one rank.

many_ranks.py TRACE[.gz] COUNT FOLDER [MILLISECONDS]

The traces differ only in their rank, so sizes and times of a report depend on the number of ranks alone. With
MILLISECONDS, traces contain only the events that began within that time from the first GPU activity on.
"""

import gzip
import json
import pathlib
import sys


def shorten(events, milliseconds):
    start = min(e["ts"] for e in events if e.get("cat") == "kernel")
    return [e for e in events if e.get("ph") == "M" or start - 1000 <= e.get("ts", start) <= start + 1000 * milliseconds]


def main(trace, count, folder, milliseconds=None):
    read = gzip.open if trace.endswith(".gz") else open
    with read(trace, "rt", encoding="utf-8") as file:
        document = json.load(file)
    pathlib.Path(folder).mkdir(parents=True, exist_ok=True)
    if milliseconds:
        document["traceEvents"] = shorten(document["traceEvents"], milliseconds)
    information = document.setdefault("distributedInfo", {})
    information.update(rank="KWHY-RANK", world_size=count)
    text = json.dumps(document, separators=(",", ":"))
    before, after = text.split('"KWHY-RANK"')
    for rank in range(count):
        with gzip.open(f"{folder}/rank{rank:04}.json.gz", "wt", compresslevel=1, encoding="utf-8") as file:
            file.write(f"{before}{rank}{after}")


if len(sys.argv) not in (4, 5):
    sys.exit(__doc__)
main(sys.argv[1], int(sys.argv[2]), sys.argv[3], *map(float, sys.argv[4:]))
