# SPDX-License-Identifier: Apache-2.0
"""A drop-in for the power samplers that energy guides have people write."""

from __future__ import annotations

import math
from typing import Any, Optional

from ._session import Energy, Run, Session


class PowerSampler:
    """start(), stop(), energy_joules(), as the sampler it replaces.

    `interval` is taken and not needed: nothing polls the 1 s average; the driver's own 20 ms samples and its
    energy counter are read. Times when it was stopped do not count.
    """

    def __init__(self, device_index: int = 0, interval: Optional[float] = None, **session_options: Any) -> None:
        self.device_index = device_index
        self.interval = interval
        self._options = session_options
        self._session: Optional[Session] = None
        self._run: Optional[Run] = None
        self._energy: Optional[Energy] = None

    def start(self) -> None:
        if self._run is not None:
            return
        if self._session is None:
            self._session = Session(str(self.device_index), **{"host": False, **self._options})
        self._energy = None
        self._run = self._session.measure("sampled", synchronize=False)
        self._run.__enter__()

    def stop(self) -> None:
        if self._run is not None:
            self._run.__exit__(None, None, None)
            self._run = None

    @property
    def energy(self) -> Energy:
        """The figure with its interval and what it rests on."""
        if self._session is None:
            raise RuntimeError("PowerSampler: energy before start()")
        if self._energy is None or self._run is not None:
            self._energy = self._session.results()["sampled"].energy
        return self._energy

    def energy_joules(self) -> float:
        """Joules between start() and stop(), or up to now; not-a-number without a meter."""
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
