#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes what is inside the release as an SPDX 2.3 document.

Usage: sbom.py SOURCE_DIR SYSROOT PORTABLE_DIR VERSION COMMIT > kwhy-VERSION-MACHINE.spdx.json
"""

from __future__ import annotations

import json
import os
import sys
import time
from pathlib import Path
from typing import Any, Dict, List, Tuple

# Debian packages whose static libraries are linked into the program and the shared libraries.
STATIC = ("libgcc-10-dev", "libiberty-dev", "liblz4-dev", "libncurses-dev", "libstdc++-10-dev", "libzstd-dev", "zlib1g-dev")
PAGE = ("echarts", "tslib", "zrender")  # npm modules in the report page


def part(name: str, version: str, locator: str, license_id: str = "NOASSERTION") -> Dict[str, Any]:
    return {
        "SPDXID": "SPDXRef-" + name.replace("+", "p").replace("_", "-"),
        "name": name,
        "versionInfo": version,
        "downloadLocation": "NOASSERTION",
        "filesAnalyzed": False,
        "licenseConcluded": "NOASSERTION",
        "licenseDeclared": license_id,
        "copyrightText": "NOASSERTION",
        "externalRefs": [
            {"referenceCategory": "PACKAGE-MANAGER", "referenceType": "purl", "referenceLocator": locator}
        ],
    }


def debian(name: str, version: str, release: str) -> str:
    return "pkg:deb/debian/{}@{}?distro={}".format(name, version.replace("+", "%2B"), release)


def linked(sysroot: Path, portable: Path) -> List[Tuple[str, Dict[str, Any]]]:
    """(relation to kwhy, package) of every library that is inside a file of the release."""
    bundled = {path.name for path in (portable / "lib").glob("*.so.*") if not path.name.startswith("libkwhy")}
    found = []
    for line in (sysroot / "packages").read_text().splitlines():
        name, version, _, _, _, *sonames = line.split()
        row = part(name, version, debian(name, version, "bullseye"))
        if name in STATIC:
            found.append(("STATIC_LINK", row))
        elif bundled & set(sonames):
            found.append(("DYNAMIC_LINK", row))
            bundled -= set(sonames)
    if bundled:
        sys.exit("sbom: no package has {}".format(", ".join(sorted(bundled))))
    for line in (sysroot / "sources").read_text().splitlines():
        name, version = line.split()
        found.append(("STATIC_LINK", part(name, version, debian(name, version, "bookworm"))))
    return found


def of_page(source: Path) -> List[Tuple[str, Dict[str, Any]]]:
    locked = json.loads((source / "web/package-lock.json").read_text())["packages"]
    found = []
    for name in PAGE:
        module = locked["node_modules/" + name]
        locator = "pkg:npm/{}@{}".format(name, module["version"])
        found.append(("CONTAINS", part("npm-" + name, module["version"], locator, module["license"])))
    return found


def main() -> None:
    source, sysroot, portable, version, commit = sys.argv[1:6]
    moment = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(int(os.environ["SOURCE_DATE_EPOCH"])))
    own = part("kwhy", version, "pkg:generic/kwhy@{}?vcs_commit={}".format(version, commit), "Apache-2.0")
    parts = linked(Path(sysroot), Path(portable)) + of_page(Path(source))
    relations = [("SPDXRef-DOCUMENT", "DESCRIBES", own["SPDXID"])]
    relations += [(own["SPDXID"], relation, row["SPDXID"]) for relation, row in parts]
    document = {
        "spdxVersion": "SPDX-2.3",
        "dataLicense": "CC0-1.0",
        "SPDXID": "SPDXRef-DOCUMENT",
        "name": "{} {}".format(Path(portable).name, commit),
        "documentNamespace": "urn:kwhy:{}:{}".format(Path(portable).name, commit),
        "creationInfo": {"created": moment, "creators": ["Tool: kwhy packaging/sbom.py"]},
        "packages": [own] + [row for _, row in parts],
        "relationships": [
            {"spdxElementId": first, "relationshipType": relation, "relatedSpdxElement": second}
            for first, relation, second in relations
        ],
    }
    print(json.dumps(document, indent=1, sort_keys=True))


if __name__ == "__main__":
    main()
