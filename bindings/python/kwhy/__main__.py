# SPDX-License-Identifier: Apache-2.0
"""The command `kwhy` of a wheel, and `python3 -m kwhy`: the program that lies in this package takes the process over."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import NoReturn

PROGRAM = Path(__file__).resolve().parent / "program" / "bin" / "kwhy"


def main() -> NoReturn:
    try:
        os.execv(PROGRAM, ["kwhy", *sys.argv[1:]])
    except OSError as error:
        sys.exit(
            "kwhy: cannot start {}: {}; install the wheel of kwhy for this machine with pip, or run an installed "
            "kwhy by its path".format(PROGRAM, error.strerror)
        )


if __name__ == "__main__":
    main()
