# SPDX-License-Identifier: Apache-2.0
"""Recordings, analysed: the run, devices, accounts, findings and plans of changes."""

from __future__ import annotations

import ctypes
import json
import math
import os
import threading
from dataclasses import dataclass
from typing import Any, Callable, Dict, List, Optional, Sequence, Type, TypeVar, Union

from . import _analyse_library as _library
from ._arrow import Column, Table
from ._library import MESSAGE_BYTES
from ._session import KwhyError, _text

_Info = TypeVar("_Info", bound=ctypes.Structure)
_Path = Union[str, "os.PathLike[str]"]

_BOUNDS = ("expected", "upper", "lower")


@dataclass(frozen=True)
class RunEnergy:
    """The run, from its first start to its last end on any device; not-a-number where not available."""

    seconds: float
    joules: float
    low_j: float
    high_j: float
    unmetered_j: float  # part of joules that no reading covers and is estimated
    modelled: bool  # from assumed powers, not metered


@dataclass(frozen=True)
class Account:
    """What energy and time of a device are attributed to."""

    category: str
    name: str
    basis: str
    count: int
    seconds: float
    joules: float
    low_j: float
    high_j: float
    net_j: float  # above what the device would have drawn while idle


@dataclass(frozen=True)
class Device:
    """One device; its accounts add up to metered_j."""

    name: Optional[str]
    uuid: Optional[str]
    rank: Optional[int]
    modelled: bool
    seconds: float
    busy_s: float
    idle_s: float
    joules: float  # of the run
    low_j: float
    high_j: float
    metered_j: float
    accounts: List[Account]  # the largest first


@dataclass(frozen=True)
class Evidence:
    """An occurrence of a finding."""

    start_ns: int
    end_ns: int
    what: str


@dataclass(frozen=True)
class Finding:
    """One kind of waste on one device."""

    id: str
    title: str
    cure: str
    change: Optional[str]  # name for Analysis.project(); None: no such change
    assumption: str
    device: Optional[int]  # None: on the host or across devices
    bound: str  # of the saving: "expected", "upper" (no more than this), "lower"
    frees_device: bool  # saved_s becomes free on the device; the run is not shorter
    count: int
    seconds: float
    joules: float
    saved_s: float
    saved_j: float
    saved_low_j: float
    saved_high_j: float
    evidence: List[Evidence]
    credited_to: Optional[str] = None  # id of the finding that has the saving of the change that cures both
    place: Optional[str] = None  # where the program does most of it: "backward (train.py:18)"; None: unknown
    file: Optional[str] = None
    line: Optional[int] = None

    def __str__(self) -> str:
        if self.credited_to:
            return "{}\n  saving {}: {}".format(self.title, self.assumption, self.cure)
        verb = "frees the device for" if self.frees_device else "saves"
        limit = {"upper": "at most ", "lower": "at least "}.get(self.bound, "")
        energy = "" if math.isnan(self.saved_j) else ", {:.1f} J".format(self.saved_j)
        return "{}\n  {} {}{:.3f} s{}: {}".format(self.title, verb, limit, self.saved_s, energy, self.cure)


@dataclass(frozen=True)
class PlanChange:
    """A change of a plan, and what it saves beyond those before it."""

    id: str
    title: str
    effort: str
    risk: str
    assumption: str
    places: int
    saved_s: float
    saved_j: float
    number: int
    bound: str


@dataclass(frozen=True)
class Refusal:
    """A change that was left out; savings are not-a-number where it cannot be made."""

    id: str
    title: str
    reason: str
    saved_s: float
    saved_j: float


@dataclass(frozen=True)
class Plan:
    """The run as recorded, and with all changes."""

    before_s: float
    before_j: float
    after_s: float
    after_j: float
    low_s: float
    high_s: float
    low_j: float
    high_j: float
    busy_before_ratio: float
    busy_after_ratio: float
    bound: str
    changes: List[PlanChange]
    refused: List[Refusal]
    json_text: str

    def as_dict(self) -> Dict[str, Any]:
        """The JSON document, schema kwhy.whatif/1."""
        return json.loads(self.json_text)


def _real(value: int) -> float:
    """Seconds of nanoseconds, joules of nanojoules."""
    return math.nan if value == _library.UNKNOWN else value * 1e-9


def _number(value: int) -> Optional[int]:
    return None if value < 0 else value


def _fill(kind: Type[_Info], function: Callable[..., int], *arguments: Any) -> _Info:
    info = kind(ctypes.sizeof(kind))
    if function(*arguments, ctypes.byref(info)):
        raise KwhyError("no memory is left for the figures of an analysis")
    return info


def _texts(texts: Sequence[Any]) -> Any:
    return (ctypes.c_char_p * max(len(texts), 1))(*[os.fsencode(text) for text in texts])


class _Opened:
    """An open analysis of the library. It is closed when nothing refers to it any more: tables lend its memory."""

    def __init__(self, library: ctypes.CDLL, handle: int) -> None:
        self.library, self.handle = library, handle

    def __del__(self) -> None:
        self.library.kwhy_analysis_close(self.handle)


def _rows(rows: Sequence[Any], leave_out: Sequence[str] = ()) -> Table:
    """A table of dataclasses; not-a-number is unknown."""
    names = [name for name in (rows[0].__dataclass_fields__ if rows else ()) if name not in leave_out]
    columns: Dict[str, List[Any]] = {name: [] for name in names}
    for row in rows:
        for name in names:
            value = getattr(row, name)
            columns[name].append(None if isinstance(value, float) and math.isnan(value) else value)
    return Table({name: [_plain(value) for value in values] for name, values in columns.items()})


def _plain(value: Any) -> Any:
    return int(value) if isinstance(value, bool) else value


class Analysis:
    """Recordings and traces of one run, analysed as `kwhy report` does; other threads wait while one uses it.

    `power`: files of readings. `work`: amounts by unit. Further options have the names of kwhy/analyse.h:
    `power_devices`, `power_zone`, `profile_path`, `learnt_paths`, `collectives_path`, `step_name`, `assumed_power`,
    `thresholds`, `min_gain_percent`, `price_per_kwh`, `currency`, `intensity_g_per_kwh`, `place`, `seed`, `partial`.
    """

    _TABLES = ["activities", "calls"]
    _FIGURES = ["devices", "accounts", "findings"]
    _FORMATS = "lLISC"  # of Arrow, by the library's numbers of types
    _LISTS = {"power_devices": "power_device", "learnt_paths": "learnt_path", "thresholds": "threshold"}
    _TEXTS = "power_zone profile_path collectives_path step_name assumed_power currency place".split()
    _NUMBERS = "min_gain_percent price_per_kwh intensity_g_per_kwh seed partial".split()

    def __init__(
        self,
        *paths: _Path,
        power: Sequence[_Path] = (),
        work: Optional[Dict[str, float]] = None,
        **options: Any,
    ) -> None:
        self._opened: Optional[_Opened] = None
        self._lock = threading.Lock()
        self._library = _library.load()
        given = self._options(power, work or {}, options)
        handle = ctypes.c_void_p()
        self._ask(self._library.kwhy_analysis_open, _texts(paths), len(paths), ctypes.byref(given), ctypes.byref(handle))
        self._opened = _Opened(self._library, handle.value or 0)
        self.run: RunEnergy = self._read_run()
        self.devices: List[Device] = [
            self._read_device(i) for i in range(self._library.kwhy_analysis_device_count(handle))
        ]
        self.findings: List[Finding] = [
            self._read_finding(i) for i in range(self._library.kwhy_analysis_finding_count(handle))
        ]

    def _options(self, power: Sequence[_Path], work: Dict[str, float], options: Dict[str, Any]) -> _library.Options:
        given = _library.Options()
        self._library.kwhy_analysis_options_init(ctypes.byref(given), ctypes.sizeof(given))
        given.power_paths, given.power_path_count = _texts(power), len(power)
        works = [_library.Work(unit.encode(), count) for unit, count in work.items()]
        given.work, given.work_count = (_library.Work * max(len(works), 1))(*works), len(works)
        for name, value in options.items():
            if name in self._LISTS:
                setattr(given, name, _texts(value))
                setattr(given, self._LISTS[name] + "_count", len(value))
            elif name in self._TEXTS:
                setattr(given, name, os.fsencode(value))
            elif name in self._NUMBERS:
                setattr(given, name, value)
            else:
                raise TypeError("Analysis() has no option {!r}".format(name))
        return given

    def _ask(self, function: Callable[..., int], *arguments: Any) -> None:
        message = ctypes.create_string_buffer(MESSAGE_BYTES)
        if function(*arguments, message, MESSAGE_BYTES):
            raise KwhyError(_text(message.value))

    def _open_handle(self) -> int:
        if self._opened is None:
            raise KwhyError("the analysis is closed; open another one")
        return self._opened.handle

    @property
    def _handle(self) -> Optional[int]:
        return self._opened.handle if self._opened is not None else None

    def close(self) -> None:
        """Frees the recording, once no table lends its memory; the figures stay."""
        with self._lock:
            self._opened = None

    def __enter__(self) -> "Analysis":
        return self

    def __exit__(self, *exc_info: Any) -> None:
        self.close()

    def _read_run(self) -> RunEnergy:
        info = _fill(_library.RunInfo, self._library.kwhy_analysis_run, self._handle)
        figures = (info.time_ns, info.energy_nj, info.low_nj, info.high_nj, info.unmetered_nj)
        return RunEnergy(*map(_real, figures), bool(info.is_modelled))

    def _read_device(self, device: int) -> Device:
        info = _fill(_library.DeviceInfo, self._library.kwhy_analysis_device, self._handle, device)
        times = map(_real, (info.span_ns, info.busy_ns, info.idle_ns))
        energies = map(_real, (info.energy_nj, info.low_nj, info.high_nj, info.metered_nj))
        count = self._library.kwhy_analysis_account_count(self._handle, device)
        return Device(
            _text(info.name),
            _text(info.uuid),
            _number(info.rank),
            bool(info.is_modelled),
            *times,
            *energies,
            [self._read_account(device, i) for i in range(count)],
        )

    def _read_account(self, device: int, account: int) -> Account:
        info = _fill(_library.AccountInfo, self._library.kwhy_analysis_account, self._handle, device, account)
        figures = (info.time_ns, info.gross_nj, info.low_nj, info.high_nj, info.net_nj)
        words = (_text(word) or "" for word in (info.category, info.name, info.basis))
        return Account(*words, info.count, *map(_real, figures))

    def _read_finding(self, finding: int) -> Finding:
        info = _fill(_library.FindingInfo, self._library.kwhy_analysis_finding, self._handle, finding)
        figures = (info.time_ns, info.energy_nj, info.saved_ns, info.saved_nj, info.saved_low_nj, info.saved_high_nj)
        evidence = []
        for i in range(info.evidence_count):
            shown = _fill(_library.EvidenceInfo, self._library.kwhy_analysis_evidence, self._handle, finding, i)
            evidence.append(Evidence(shown.start_ns, shown.end_ns, _text(shown.what) or ""))
        return Finding(
            _text(info.id) or "",
            _text(info.title) or "",
            _text(info.cure) or "",
            _text(info.change),
            _text(info.assumption) or "",
            _number(info.device),
            _BOUNDS[info.bound],
            bool(info.frees_device),
            info.count,
            *map(_real, figures),
            evidence,
            _text(info.credited_to),
            _text(info.place),
            _text(info.file),
            info.line or None,
        )

    def table(self, name: str) -> Table:
        """A table for pandas, polars and others (kwhy.Table), without a copy where it is of the recording.

        "activities" and "calls" are of the recording; "devices", "accounts" and "findings" hold the figures of a report.
        """
        if name in self._TABLES:
            return self._recorded(self._TABLES.index(name))
        if name == "devices":
            return _rows(self.devices, ["accounts"])
        if name == "findings":
            return _rows(self.findings, ["evidence"])
        if name != "accounts":
            raise KeyError("no table {!r}; there are {}".format(name, ", ".join(self._TABLES + self._FIGURES)))
        rows = [(i, account) for i, device in enumerate(self.devices) for account in device.accounts]
        table = _rows([account for _, account in rows])
        return Table({"device": [device for device, _ in rows], **table})

    def _recorded(self, table: int) -> Table:
        columns: Dict[str, Any] = {}
        with self._lock:
            handle, info = self._open_handle(), _library.ColumnInfo(ctypes.sizeof(_library.ColumnInfo))
            while not self._library.kwhy_analysis_column(handle, table, len(columns), ctypes.byref(info)):
                name = (info.name or b"").decode()
                columns[name] = self._column(handle, table, len(columns), info)
        return Table(columns)

    def _column(self, handle: int, table: int, number: int, info: _library.ColumnInfo) -> Column:
        words = [self._library.kwhy_analysis_word(handle, table, number, i) for i in range(info.word_count)]
        return Column(
            self._FORMATS[info.type],
            info.count,
            info.values or 0,
            self._opened,
            (info.known or 0, info.unknown_count),
            Column.of([(word or b"").decode("utf-8", "replace") for word in words]) if words else None,
        )

    def _document(self, function: Callable[..., int], *arguments: Any) -> str:
        out = ctypes.c_void_p()
        self._ask(function, *arguments, ctypes.byref(out))
        try:
            return ctypes.string_at(out.value or 0).decode("utf-8", "replace")
        finally:
            self._library.kwhy_analysis_text_free(out)

    def json_text(self) -> str:
        """report.json, schema kwhy.report/1."""
        with self._lock:
            return self._document(self._library.kwhy_analysis_json, self._open_handle())

    def as_dict(self) -> Dict[str, Any]:
        """The same, read."""
        return json.loads(self.json_text())

    def project(self, *changes: str, **numbered: int) -> Plan:
        """What changes would bring, in that order: project("pinned", graph=4). Names are options of `kwhy whatif`."""
        asked = [_library.Change(name.encode(), 0) for name in changes]
        asked += [_library.Change(name.replace("_", "-").encode(), number) for name, number in numbered.items()]
        array = (_library.Change * max(len(asked), 1))(*asked)
        return self._make_plan(self._library.kwhy_analysis_project, array, len(asked))

    def plan(self, *, numerics: bool = False) -> Plan:
        """The changes that save most. `numerics`: also those whose results are other numbers."""
        return self._make_plan(self._library.kwhy_analysis_plan, int(numerics))

    def _make_plan(self, function: Callable[..., int], *arguments: Any) -> Plan:
        with self._lock:
            handle, plan = self._open_handle(), ctypes.c_void_p()
            self._ask(function, handle, *arguments, ctypes.byref(plan))
            try:
                return self._read_plan(plan, self._document(self._library.kwhy_analysis_plan_json, handle, plan))
            finally:
                self._library.kwhy_analysis_plan_free(plan)

    def _read_plan(self, plan: ctypes.c_void_p, json_text: str) -> Plan:
        info = _fill(_library.PlanInfo, self._library.kwhy_plan_info, plan)
        figures = (info.before_ns, info.before_nj, info.after_ns, info.after_nj)
        ends = (info.low_ns, info.high_ns, info.low_nj, info.high_nj)
        return Plan(
            *map(_real, figures + ends),
            info.busy_before_ratio,
            info.busy_after_ratio,
            _BOUNDS[info.bound],
            [self._read_change(plan, i) for i in range(info.change_count)],
            [self._read_refusal(plan, i) for i in range(info.refused_count)],
            json_text,
        )

    def _read_change(self, plan: ctypes.c_void_p, change: int) -> PlanChange:
        info = _fill(_library.PlanChangeInfo, self._library.kwhy_plan_change, plan, change)
        words = (_text(word) or "" for word in (info.id, info.title, info.effort, info.risk, info.assumption))
        saved = map(_real, (info.saved_ns, info.saved_nj))
        return PlanChange(*words, info.places, *saved, info.number, _BOUNDS[info.bound])

    def _read_refusal(self, plan: ctypes.c_void_p, refusal: int) -> Refusal:
        info = _fill(_library.PlanRefusalInfo, self._library.kwhy_plan_refusal, plan, refusal)
        words = (_text(word) or "" for word in (info.id, info.title, info.reason))
        return Refusal(*words, *map(_real, (info.saved_ns, info.saved_nj)))
