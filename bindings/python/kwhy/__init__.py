# SPDX-License-Identifier: Apache-2.0
"""Energy and time of parts of a GPU program, measured from inside.

    import kwhy

    with kwhy.measure("forward") as region:
        model(batch)
        region.work("tokens", 2048)
    print(region.result)

    @kwhy.measure("step")
    def step(): ...

    print(kwhy.results())

    for finding in kwhy.Analysis("run.kwhy").findings[:3]:
        print(finding)

kwhy.measure() uses one session of the process, opened at its first use and at the first one after it was closed. Make a
Session for other options.
"""

from __future__ import annotations

import atexit
import threading
from typing import Any, Optional

from . import _library
from ._analysis import Account, Analysis, Device, Evidence, Finding, Plan, PlanChange, Refusal, RunEnergy
from ._arrow import Column, Table
from ._load import Result, load
from ._sampler import PowerSampler
from ._session import Energy, KwhyError, Meter, Region, Results, Run, Session, Work
from ._transfer import Chunk, Loader, Transfer

__all__ = [
    "Account",
    "Analysis",
    "Chunk",
    "Column",
    "Device",
    "Energy",
    "Evidence",
    "Finding",
    "KwhyError",
    "Loader",
    "Meter",
    "Plan",
    "PlanChange",
    "PowerSampler",
    "Refusal",
    "Region",
    "Result",
    "Results",
    "Run",
    "RunEnergy",
    "Session",
    "Table",
    "Transfer",
    "Work",
    "library_version",
    "load",
    "measure",
    "results",
    "session",
    "work",
]

_lock = threading.Lock()
_shared: Optional[Session] = None


def library_version() -> str:
    """Of libkwhy.so."""
    return _library.load().kwhy_measure_version().decode()


def session(**options: Any) -> Session:
    """The session of this process, opened where none is open; while one is, calls take no options."""
    global _shared
    with _lock:
        if _shared is None or _shared._is_closed():
            _shared = Session(**options)
        elif options:
            raise KwhyError("the process's session is open already; give options at the first use, or close it first")
        return _shared


@atexit.register
def _close() -> None:
    if _shared is not None:
        _shared.close()


def measure(name: str, *, synchronize: bool = True) -> Run:
    """A region of the process's session, for `with` or as a decorator; opens the session at its first run."""
    return Run(session, name, synchronize)


def work(unit: str, amount: float) -> None:
    """Counts work for every region that this thread is in."""
    session().work(unit, amount)


def results() -> Results:
    """What all regions of the process's session have used up to now."""
    return session().results()
