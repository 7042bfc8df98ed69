# SPDX-License-Identifier: Apache-2.0
"""Sessions, regions and their results."""

from __future__ import annotations

import ctypes
import functools
import inspect
import json
import math
import os
import sys
import threading
import time
from dataclasses import dataclass, field
from typing import Any, Callable, Dict, List, Optional, Tuple, TypeVar

from . import _library
from ._library import ALL_GPUS, MESSAGE_BYTES, NO_NAME

_Function = TypeVar("_Function", bound=Callable[..., Any])

_STATES = (
    "measured",
    "not metered",
    "the meter has stopped reporting",
    "began before the meter's first reading",
)

_OWN_NAMES = ("(session)", "(idle)")

_forks = 0


def _count_fork() -> None:
    global _forks
    _forks += 1


os.register_at_fork(after_in_child=_count_fork)


class KwhyError(RuntimeError):
    """What the library refuses, in its words."""


def _text(value: Optional[bytes]) -> Optional[str]:
    return None if value is None else value.decode("utf-8", "replace")


@dataclass(frozen=True)
class Meter:
    """Something whose energy is metered."""

    kind: str  # "gpu", "host", "wall"
    index: Optional[int]  # of a GPU, as the vendor numbers it
    name: str
    product: Optional[str]
    uuid: Optional[str]


@dataclass(frozen=True)
class Energy:
    """Joules of a region, with the 95 % interval; not-a-number where not available.

    The meter's constant gain error is not in the interval: no meter knows it.
    """

    joules: float
    low_j: float
    high_j: float
    net_joules: float  # above the idle level; needs Session.measure_idle()
    net_low_j: float
    net_high_j: float
    mean_w: float
    peak_w: float
    basis: str  # "counter+power", "counter", "power", "averages", "wall", "mixed", "none"
    state: str  # "measured", or why not
    enough: bool  # the half-width is within the ratio asked for
    repetitions_needed: int  # so often, back to back in one region, would be enough; 0: unknown

    @property
    def available(self) -> bool:
        return not math.isnan(self.joules)

    def __str__(self) -> str:
        if not self.available:
            return "not available ({})".format(self.state)
        half = (self.high_j - self.low_j) / 2
        text = "{:.6g} J +- {:.2g} J".format(self.joules, half)
        if self.enough:
            return text
        if self.repetitions_needed:
            return text + ", too short to tell: repeat it {} times".format(self.repetitions_needed)
        return text + ", cannot be determined"


@dataclass(frozen=True)
class Work:
    """Work done inside a region, and what a unit of it took."""

    unit: str
    amount: float
    joules_per_unit: float
    low_j_per_unit: float
    high_j_per_unit: float
    seconds_per_unit: float

    @property
    def units_per_joule(self) -> float:
        return 1 / self.joules_per_unit if self.joules_per_unit else math.nan

    def __str__(self) -> str:
        return "{:g} {}, {:.4g} J each, {:.4g} a joule".format(
            self.amount, self.unit, self.joules_per_unit, self.units_per_joule
        )


@dataclass(frozen=True)
class Region:
    """All runs of one name."""

    name: str
    count: int
    open: int  # of those not ended yet
    unmatched: int  # ends without a beginning
    total_s: float  # of all runs, also those at the same time
    wall_s: float  # at least one was running
    energy: Energy  # of all GPUs together
    by_meter: Dict[str, Energy]
    work: Dict[str, Work]

    def __str__(self) -> str:
        lines = ["{}: {} runs, {:.6g} s, {}".format(self.name, self.count, self.wall_s, self.energy)]
        return "; ".join(lines + [str(work) for work in self.work.values()])


@dataclass(frozen=True)
class Results:
    """What all regions have used; region "(session)" is everything. Names are as the library keeps them."""

    regions: Dict[str, Region]
    lost_events: int
    lost_readings: int
    json_text: str
    _by_number: Dict[int, Region] = field(default_factory=dict, repr=False, compare=False)

    def __getitem__(self, name: str) -> Region:
        return self.regions[name]

    def as_dict(self) -> Dict[str, Any]:
        """The JSON document, schema kwhy.measure/1."""
        return json.loads(self.json_text)

    def __str__(self) -> str:
        return "\n".join(str(region) for region in self.regions.values())


class Run:
    """One run of a region; a context manager, a decorator, and where its result is found."""

    def __init__(self, session: Callable[[], "Session"], name: str, synchronize: bool) -> None:
        self._open_session = session
        self._session: Optional["Session"] = None
        self._begun = threading.local()  # .sessions: of this thread's runs by `with`, the innermost last
        self._synchronize = synchronize
        self.name = name

    def _resolve(self) -> "Session":
        if self._session is None:
            self._session = self._open_session()
        return self._session

    def _begin(self) -> "Session":
        """Whose run it is: by its end, other threads may have closed that session and opened another."""
        session = self._session
        if session is None or session._is_closed():
            session = self._open_session()
            self._session = session
        number = session._name(self.name)
        self._settle(session)
        session._begin(number)
        return session

    def _end(self, session: "Session") -> None:
        try:
            self._settle(session)
        finally:
            session._end(session._name(self.name))

    def __enter__(self) -> "Run":
        session = self._begin()
        self._begun.__dict__.setdefault("sessions", []).append(session)
        return self

    def __exit__(self, *exc_info: Any) -> None:
        sessions = self._begun.__dict__.get("sessions")
        self._end(sessions.pop() if sessions else self._resolve())  # none: another thread began it

    def __call__(self, function: _Function) -> _Function:
        if inspect.isasyncgenfunction(function):
            raise TypeError(
                "{!r} is an asynchronous generator, which cannot be decorated; measure inside it, "
                "by a `with` around its body".format(function.__name__)
            )
        if inspect.iscoroutinefunction(function):
            measured = self._around_coroutine(function)
        elif inspect.isgeneratorfunction(function):
            measured = self._around_generator(function)
        else:
            measured = self._around_call(function)
        return functools.wraps(function)(measured)  # type: ignore[return-value]

    def _around_call(self, function: Callable[..., Any]) -> Callable[..., Any]:
        def measured(*args: Any, **kwargs: Any) -> Any:
            session = self._begin()
            try:
                return function(*args, **kwargs)
            finally:
                self._end(session)

        return measured

    def _around_coroutine(self, function: Callable[..., Any]) -> Callable[..., Any]:
        async def measured(*args: Any, **kwargs: Any) -> Any:
            session = self._begin()
            try:
                return await function(*args, **kwargs)
            finally:
                self._end(session)

        return measured

    def _around_generator(self, function: Callable[..., Any]) -> Callable[..., Any]:
        def measured(*args: Any, **kwargs: Any) -> Any:
            session = self._begin()
            try:
                return (yield from function(*args, **kwargs))
            finally:
                self._end(session)

        return measured

    def work(self, unit: str, amount: float) -> None:
        """Counts work for every region that this thread is in."""
        self._resolve().work(unit, amount)

    @property
    def result(self) -> Region:
        """All runs of this name up to now; waits about 0.2 s for the meters."""
        session = self._resolve()
        region = session.results()._by_number.get(session._name(self.name))
        if region is None:
            raise KwhyError("no run of {!r} has begun".format(self.name))
        return region

    @property
    def joules(self) -> float:
        return self.result.energy.joules

    def _settle(self, session: "Session") -> None:
        if self._synchronize and not session._is_parents():
            _synchronize_torch()


def _synchronize_torch() -> None:
    """Waits for the GPU's work, if the program has loaded PyTorch and used it."""
    torch = sys.modules.get("torch")
    if torch is not None and torch.cuda.is_available() and torch.cuda.is_initialized():
        torch.cuda.synchronize()


class Session:
    """Opens the machine's meters and samples them until close().

    Threads may begin and end regions at any time. After os.fork() a child's calls do nothing.

    devices: GPUs as their driver numbers them, "0,2"; None: all, or those that CUDA_VISIBLE_DEVICES shows.
    counter_period_s: how often the energy counter is read; 0: as rarely as every 20 s where that costs the driver
    milliseconds, with the 20 ms samples in between. 0.1 makes short regions under periodic work surer, for some percent
    of a core.
    """

    def __init__(
        self,
        devices: Optional[str] = None,
        *,
        replay_path: Optional[str] = None,
        meter_path: Optional[str] = None,
        enough_ratio: float = 0.1,
        counter_period_s: float = 0.0,
        gpus: bool = True,
        host: bool = True,
    ) -> None:
        self._handle: Optional[int] = None
        self._callers: List[int] = []  # threads that are in a call of the library, once for each
        self._library = _library.load()
        self._names: Dict[str, int] = {}
        self._forks = _forks
        options = _library.Options(
            ctypes.sizeof(_library.Options),
            None if devices is None else devices.encode(),
            None if replay_path is None else os.fsencode(replay_path),
            None if meter_path is None else os.fsencode(meter_path),
            enough_ratio,
            not gpus,
            not host,
            counter_period_s,
        )
        handle = ctypes.c_void_p()
        message = ctypes.create_string_buffer(MESSAGE_BYTES)
        if self._library.kwhy_session_open(ctypes.byref(options), ctypes.byref(handle), message, MESSAGE_BYTES):
            raise KwhyError(_text(message.value))
        self._handle = handle.value

    def close(self) -> None:
        """Ends all regions; waits for calls that other threads have begun."""
        handle, self._handle = self._handle, None  # a call that begins from here on finds none
        if handle is None or self._is_parents():
            return
        own = threading.get_ident()  # one of its own is below this one, as in a signal's handler
        while any(caller != own for caller in tuple(self._callers)):
            time.sleep(0.001)
        self._library.kwhy_session_close(handle)

    def __enter__(self) -> "Session":
        return self

    def __exit__(self, *exc_info: Any) -> None:
        self.close()

    def __del__(self) -> None:
        if getattr(self, "_handle", None) is not None:
            self.close()

    def _is_closed(self) -> bool:
        return self._handle is None

    def _is_parents(self) -> bool:
        """This is a child after fork(): the session is not this process's."""
        return self._forks != _forks

    def _call(self, function: Callable[..., Any], *arguments: Any) -> Any:
        """One of the library's, on the session, which is not closed before it has returned: close() takes the handle
        away first, and then looks who is here."""
        own = threading.get_ident()
        self._callers.append(own)
        try:
            return function(self._open_handle(), *arguments)
        finally:
            self._callers.remove(own)

    def _open_handle(self) -> int:
        if self._handle is None:
            raise KwhyError("the session is closed; open another one")
        return self._handle

    def _name(self, name: str) -> int:
        number = self._names.get(name)
        if number is None:
            if "\0" in name:
                raise KwhyError("a region or unit cannot have a NUL in its name: {!r}".format(name))
            if name in _OWN_NAMES:
                raise KwhyError("{!r} is a region of the library itself; give another name".format(name))
            number = self._call(self._library.kwhy_session_name, name.encode("utf-8", "surrogatepass"))
            if number == NO_NAME and self._is_parents():
                return number
            if number == NO_NAME:
                raise KwhyError("no room for another region or unit: {}".format(name))
            self._names[name] = number
        return number

    def _begin(self, name: int) -> None:
        self._call(self._library.kwhy_region_begin, name)

    def _end(self, name: int) -> None:
        try:
            self._call(self._library.kwhy_region_end, name)
        except KwhyError:
            pass  # a closed session's regions have ended with it

    def measure(self, name: str, *, synchronize: bool = True) -> Run:
        """A region, for `with` or as a decorator.

        A decorated coroutine is measured until it returns, a generator from when its first value is
        asked for to its end, with what others do meanwhile.

        `synchronize`: wait for PyTorch's GPU work at both ends, so that the region holds the work launched in it.
        """
        return Run(lambda: self, name, synchronize)

    def work(self, unit: str, amount: float) -> None:
        """Counts work, such as tokens, for every region that this thread is in; KwhyError: no finite amount from 0 up."""
        if not 0 <= amount < math.inf:
            raise KwhyError("work of {} {} cannot be counted; give a finite amount from 0 up".format(amount, unit))
        self._call(self._library.kwhy_region_work, self._name(unit), amount)

    def measure_idle(self, seconds: float = 2.0) -> None:
        """Waits and takes what is drawn meanwhile as the idle level of net energies."""
        message = ctypes.create_string_buffer(MESSAGE_BYTES)
        if self._call(self._library.kwhy_session_idle, seconds, message, MESSAGE_BYTES):
            raise KwhyError(_text(message.value))

    @property
    def meters(self) -> List[Meter]:
        meters = []
        for number in range(self._call(self._library.kwhy_session_meter_count)):
            info = _library.MeterInfo(ctypes.sizeof(_library.MeterInfo))
            self._call(self._library.kwhy_session_meter, number, ctypes.byref(info))
            meters.append(
                Meter(
                    ("gpu", "host", "wall")[info.kind],
                    info.index if info.index >= 0 else None,
                    _text(info.name) or "",
                    _text(info.product),
                    _text(info.uuid),
                )
            )
        return meters

    @property
    def not_available(self) -> List[str]:
        """Why something is not metered here, a sentence each."""
        sentences: List[str] = []
        while True:
            sentence = self._call(self._library.kwhy_session_absence, len(sentences))
            if sentence is None:
                return sentences
            sentences.append(_text(sentence) or "")

    def results(self) -> Results:
        """What all regions have used up to now; waits about 0.2 s for the meters. The session goes on."""
        results = ctypes.c_void_p()
        message = ctypes.create_string_buffer(MESSAGE_BYTES)
        names = [meter.name for meter in self.meters]
        if self._call(self._library.kwhy_session_results, ctypes.byref(results), message, MESSAGE_BYTES):
            raise KwhyError(_text(message.value))
        try:
            return _read_results(self._library, results, names)
        finally:
            self._library.kwhy_results_free(results)


def _read_energy(library: Any, results: Any, region: int, meter: int) -> Energy:
    energy = _library.RegionEnergy(ctypes.sizeof(_library.RegionEnergy))
    library.kwhy_results_energy(results, region, meter, ctypes.byref(energy))
    return Energy(
        energy.joules,
        energy.low_j,
        energy.high_j,
        energy.net_joules,
        energy.net_low_j,
        energy.net_high_j,
        energy.mean_w,
        energy.peak_w,
        _text(energy.basis) or "none",
        _STATES[energy.state],
        bool(energy.enough),
        energy.repetitions_needed,
    )


def _read_work(library: Any, results: Any, region: int, number: int) -> Tuple[str, Work]:
    work = _library.RegionWork(ctypes.sizeof(_library.RegionWork))
    library.kwhy_results_work(results, region, number, ctypes.byref(work))
    unit = _text(work.unit) or ""
    return unit, Work(
        unit, work.amount, work.joules_per_unit, work.low_j_per_unit, work.high_j_per_unit, work.seconds_per_unit
    )


def _read_region(library: Any, results: Any, number: int, meters: List[str]) -> Tuple[int, Region]:
    """A region, and the number of its name."""
    info = _library.RegionInfo(ctypes.sizeof(_library.RegionInfo))
    library.kwhy_results_region(results, number, ctypes.byref(info))
    region = Region(
        _text(info.name) or "",
        info.count,
        info.open,
        info.unmatched,
        info.total_s,
        info.wall_s,
        _read_energy(library, results, number, ALL_GPUS),
        {name: _read_energy(library, results, number, meter) for meter, name in enumerate(meters)},
        dict(
            _read_work(library, results, number, work)
            for work in range(library.kwhy_results_work_count(results, number))
        ),
    )
    return info.number, region


def _read_results(library: Any, results: Any, meters: List[str]) -> Results:
    by_number = dict(
        _read_region(library, results, number, meters)
        for number in range(library.kwhy_results_region_count(results))
    )
    return Results(
        {region.name: region for region in by_number.values()},
        library.kwhy_results_lost_events(results),
        library.kwhy_results_lost_readings(results),
        _text(library.kwhy_results_json(results)) or "",
        by_number,
    )
