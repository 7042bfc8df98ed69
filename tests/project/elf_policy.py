#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks whether the programs and libraries in a folder run on glibc 2.28, by auditwheel's rules for manylinux_2_28.

Usage: elf_policy.py FOLDER [SONAME...]; further sonames may come from the system. Prints each violation; exit status 1: there are some.
"""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from typing import Iterator, List, Tuple

# Shared libraries of the system that the wheel policy manylinux_2_28 permits a program to need (those for C programs),
# and the newest versions of their symbols that it permits.
SYSTEM = {"libc.so.6", "libm.so.6", "libdl.so.2", "librt.so.1", "libpthread.so.0", "libresolv.so.2", "libutil.so.1", "libgcc_s.so.1",
          "ld-linux-x86-64.so.2", "ld-linux-aarch64.so.1"}
NEWEST = {"GLIBC": (2, 28), "GCC": (7, 0, 0), "CXXABI": (1, 3, 11), "GLIBCXX": (3, 4, 24)}


def output(*words: str) -> str:
    return subprocess.run(words, check=True, stdout=subprocess.PIPE, universal_newlines=True).stdout


def elf_files(folder: Path) -> List[Path]:
    found = []
    for path in sorted(folder.rglob("*")):
        if path.is_file() and not path.is_symlink():
            with path.open("rb") as file:
                if file.read(4) == b"\x7fELF":
                    found.append(path)
    return found


def wanted(path: Path) -> Iterator[Tuple[str, str]]:
    """Yields (name, version) of each symbol of the system that a file needs: "pow", "GLIBC_2.2.5"."""
    for line in output("objdump", "-T", str(path)).splitlines():
        match = re.search(r"\*UND\*\s+[0-9a-f]+\s+\(?([A-Z]+_[0-9A-Z._]+)\)?\s+(\S+)$", line)
        if match:
            yield match.group(2), match.group(1)


def too_new(version: str) -> bool:
    name, _, number = version.partition("_")
    if name not in NEWEST or not re.fullmatch(r"[0-9.]+", number):
        return number == "PRIVATE"
    return tuple(int(part) for part in number.split(".")) > NEWEST[name]


def breaches(path: Path, inside: set, further: set) -> Iterator[str]:
    for name, version in wanted(path):
        if too_new(version):
            yield "{} wants {} of {}".format(path, name, version)
    dynamic = output("readelf", "--dynamic", "--wide", str(path))
    for soname in re.findall(r"\(NEEDED\).*\[(.*)\]", dynamic):
        if soname not in SYSTEM | inside | further:
            yield "{} needs {}, which is neither in the folder nor part of every system".format(path, soname)
    for place in re.findall(r"\((?:RPATH|RUNPATH)\).*\[(.*)\]", dynamic):
        if not all(part.startswith("$ORIGIN") for part in place.split(":")):
            yield "{} searches libraries in {}".format(path, place)
    if re.search(r"\(TEXTREL\)", dynamic):
        yield "{} has relocations in its text".format(path)
    if "GNU_STACK" in output("readelf", "--program-headers", "--wide", str(path)):
        if re.search(r"GNU_STACK.*RWE", output("readelf", "--program-headers", "--wide", str(path))):
            yield "{} wants an executable stack".format(path)


def main() -> int:
    folder, further = Path(sys.argv[1]), set(sys.argv[2:])
    files = elf_files(folder)
    inside = {path.name for path in files}
    inside |= {path.name for path in folder.rglob("*.so.*")}
    found = [breach for path in files for breach in breaches(path, inside, further)]
    print("\n".join(found) if found else "{}: {} files keep to glibc 2.28".format(folder.name, len(files)))
    return 1 if found or not files else 0


if __name__ == "__main__":
    sys.exit(main())
