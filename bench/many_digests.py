#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes the digests of many ranks from that of one rank.

many_digests.py DIGEST COUNT FOLDER

Each digest has its own rank, identity and host (with 8 ranks per host), enters each collective up to 100 us earlier or
later, and has a clock that is off by up to 1 ms.
"""

import pathlib
import random
import shutil
import sqlite3
import sys


def main(digest, count, folder):
    chance = random.Random(11)
    folder = pathlib.Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    for rank in range(count):
        path = folder / f"rank-{rank:05}.sqlite"
        shutil.copyfile(digest, path)
        db = sqlite3.connect(path, isolation_level=None)
        db.execute("PRAGMA journal_mode=OFF")
        db.execute("PRAGMA synchronous=OFF")
        db.execute("BEGIN")
        db.execute("UPDATE digest SET rank=?, world_size=?, identity=?, host=?", (rank, count, f"{rank:016x}", f"node{rank // 8:04}"))
        db.execute("UPDATE device SET uuid=?", (f"GPU-{rank:08x}-0000-0000-0000-000000000000",))
        db.execute("UPDATE communicator SET size=?, ranks=''", (count,))
        off, span = chance.randrange(-1000000, 1000000), db.execute("SELECT min(exit_ns - enter_ns) FROM collective").fetchone()[0]
        reach = min(100000, span or 0)
        db.execute("UPDATE collective SET enter_ns = enter_ns + ? + (rowid * ?) % ?, exit_ns = exit_ns + ?",
                   (off, chance.randrange(1, 1 << 20), reach + 1, off))
        db.execute("UPDATE digest SET start_ns = start_ns - 2000000, end_ns = end_ns + 2000000")
        db.execute("COMMIT")
        db.close()


if len(sys.argv) != 4:
    sys.exit(__doc__)
main(sys.argv[1], int(sys.argv[2]), sys.argv[3])
