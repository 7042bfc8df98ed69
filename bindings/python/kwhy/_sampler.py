# SPDX-License-Identifier: Apache-2.0
"""A replacement for hand-written power samplers that poll NVML in a thread."""

from __future__ import annotations

import math
from typing import Any, Optional

from ._session import Energy, Run, Session


class PowerSampler:
    """Energy of one device between start() and stop(), for code that was written for a polling sampler.

    `interval`, the period of such samplers, is accepted and ignored: a session reads the meters at its own times
    (NVML: the energy counter and the driver's 20 ms samples; polled averages only where both are missing).
    Each start() begins a new figure; while one is running it does nothing. Neither start() nor stop() waits for
    work of the GPU: synchronise before both. Other arguments are those of Session; `host` is False by default.
    start() raises KwhyError where the device has no meter.
    """

    _STARTS_MOST = 4000  # starts in one session, which has space for this many names

    def __init__(self, device_index: int = 0, interval: Optional[float] = None, **session_options: Any) -> None:
        self.device_index = device_index
        self.interval = interval
        self._options = session_options
        self._session: Optional[Session] = None
        self._starts = 0
        self._name = ""
        self._run: Optional[Run] = None
        self._energy: Optional[Energy] = None

    def start(self) -> None:
        """Begins a new figure; while it runs, nothing."""
        if self._run is not None:
            return
        if self._starts == self._STARTS_MOST:
            self.close()
        if self._session is None:
            self._starts = 0
            self._session = Session(str(self.device_index), **{"host": False, **self._options})
        self._energy = None
        self._starts += 1
        self._name = "sampled {}".format(self._starts)
        self._run = self._session.measure(self._name, synchronize=False)
        self._run.__enter__()

    def stop(self) -> None:
        if self._run is not None:
            self._run.__exit__(None, None, None)
            self._run = None

    @property
    def energy(self) -> Energy:
        """The figure with its interval and what it is based on."""
        if self._session is None:
            raise RuntimeError("PowerSampler: energy before start()")
        if self._energy is None or self._run is not None:
            self._energy = self._session.results()[self._name].energy
        return self._energy

    def energy_joules(self) -> float:
        """Joules between the last start() and its stop(), or up to now; not-a-number before start() and after close()."""
        return self.energy.joules if self._session is not None else math.nan

    def close(self) -> None:
        self.stop()
        if self._session is not None:
            self._session.close()
            self._session = None

    def __enter__(self) -> "PowerSampler":
        self.start()
        return self

    def __exit__(self, *exc_info: Any) -> None:
        self.stop()
