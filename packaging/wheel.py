#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes a wheel of the Python package and a portable folder, the same bytes for the same input.

Usage: wheel.py SOURCE_DIR PORTABLE_DIR VERSION MACHINE OUT_DIR; SOURCE_DATE_EPOCH is the time of its files.
"""

from __future__ import annotations

import base64
import hashlib
import os
import re
import sys
import time
import zipfile
from pathlib import Path
from typing import Dict, List, Tuple

# Files of the portable build that go into the Python package; headers, man pages and other examples do not.
PARTS = ("bin/*", "lib/*.so.*", "lib/kwhy/*", "share/kwhy/profiles/*", "share/kwhy/monitoring/**/*", "share/terminfo/*/*",
         "share/doc/kwhy/licenses/*")
EXAMPLES = ("decode.kwhy", "README.md")


def shortest_soname(path: Path) -> bool:
    """Of the names of a library only its soname is loaded: libkwhy.so.0, not libkwhy.so.0.1.0."""
    return not re.fullmatch(r".*\.so\.\d+\.\d+\.\d+", path.name)


def package_files(source: Path, portable: Path) -> Dict[str, Tuple[bytes, int]]:
    """Name in the wheel: (bytes, mode). Links become what they lead to: a zip file has none."""
    files = {}
    for path in source.glob("bindings/python/kwhy/*"):
        if path.suffix == ".py" or path.name == "py.typed":
            files["kwhy/" + path.name] = (path.read_bytes(), 0o644)
    for part in PARTS:
        for path in portable.glob(part):
            if path.is_file() and shortest_soname(path):
                mode = 0o755 if os.access(path, os.X_OK) else 0o644
                files["kwhy/program/" + path.relative_to(portable).as_posix()] = (path.read_bytes(), mode)
    for name in EXAMPLES:
        path = portable / "share/kwhy/examples/recordings" / name
        files["kwhy/program/share/kwhy/examples/recordings/" + name] = (path.read_bytes(), 0o644)
    return files


def metadata(source: Path, version: str) -> str:
    return "\n".join([
        "Metadata-Version: 2.1",
        "Name: kwhy",
        "Version: " + version,
        "Summary: Says where the joules and the seconds of a GPU program went, and what a change would save",
        "License: Apache-2.0",
        "Requires-Python: >=3.8",
        "Classifier: License :: OSI Approved :: Apache Software License",
        "Classifier: Operating System :: POSIX :: Linux",
        "Classifier: Programming Language :: Python :: 3",
        "Classifier: Typing :: Typed",
        "Description-Content-Type: text/markdown",
        "",
        (source / "bindings/python/README.md").read_text(),
    ])


def record(files: Dict[str, Tuple[bytes, int]], own: str) -> str:
    rows: List[str] = []
    for name, (content, _) in sorted(files.items()):
        digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
        rows.append("{},sha256={},{}".format(name, digest, len(content)))
    return "\n".join(rows + [own + ",,", ""])


def write(path: Path, files: Dict[str, Tuple[bytes, int]], epoch: int) -> None:
    moment = time.gmtime(max(epoch, 315532800))[:6]  # zip files begin in 1980
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        for name, (content, mode) in sorted(files.items(), key=lambda file: (".dist-info/" in file[0], file[0])):
            entry = zipfile.ZipInfo(name, moment)
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.create_system = 3
            entry.external_attr = (0o100000 | mode) << 16
            archive.writestr(entry, content)


def main() -> None:
    source, portable, version, machine, out = sys.argv[1:6]
    tag = "py3-none-manylinux_2_28_" + machine
    info = "kwhy-{}.dist-info/".format(version)
    files = package_files(Path(source), Path(portable))
    texts = {
        "METADATA": metadata(Path(source), version),
        "WHEEL": "Wheel-Version: 1.0\nGenerator: kwhy packaging/wheel.py\nRoot-Is-Purelib: false\nTag: {}\n".format(tag),
        "entry_points.txt": "[console_scripts]\nkwhy = kwhy.__main__:main\n",
        "top_level.txt": "kwhy\n",
        "LICENSE": (Path(source) / "LICENSE").read_text(),
    }
    for name, text in texts.items():
        files[info + name] = (text.encode(), 0o644)
    files[info + "RECORD"] = (record(files, info + "RECORD").encode(), 0o644)
    path = Path(out) / "kwhy-{}-{}.whl".format(version, tag)
    write(path, files, int(os.environ["SOURCE_DATE_EPOCH"]))
    print(path)


if __name__ == "__main__":
    main()
