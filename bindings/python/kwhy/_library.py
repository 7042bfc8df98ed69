# SPDX-License-Identifier: Apache-2.0
"""libkwhy.so by ctypes: the structs and calls of kwhy/measure.h, and where the library is looked for."""

from __future__ import annotations

import ctypes
import os
from pathlib import Path
from typing import Any, Dict, List, Optional, Tuple

MESSAGE_BYTES = 720
ALL_GPUS = ctypes.c_size_t(-1).value
NO_NAME = 0xFFFFFFFF
SONAME = "libkwhy.so.0"


class Options(ctypes.Structure):
    _fields_ = [
        ("size", ctypes.c_size_t),
        ("devices", ctypes.c_char_p),
        ("replay_path", ctypes.c_char_p),
        ("meter_path", ctypes.c_char_p),
        ("enough_ratio", ctypes.c_double),
        ("without_gpus", ctypes.c_int32),
        ("without_host", ctypes.c_int32),
        ("counter_period_s", ctypes.c_double),
    ]


class MeterInfo(ctypes.Structure):
    _fields_ = [
        ("size", ctypes.c_size_t),
        ("kind", ctypes.c_int32),
        ("index", ctypes.c_int32),
        ("name", ctypes.c_char_p),
        ("product", ctypes.c_char_p),
        ("uuid", ctypes.c_char_p),
        ("pci_address", ctypes.c_char_p),
        ("driver", ctypes.c_char_p),
    ]


class RegionInfo(ctypes.Structure):
    _fields_ = [
        ("size", ctypes.c_size_t),
        ("name", ctypes.c_char_p),
        ("count", ctypes.c_uint64),
        ("open", ctypes.c_uint64),
        ("unmatched", ctypes.c_uint64),
        ("total_s", ctypes.c_double),
        ("wall_s", ctypes.c_double),
        ("number", ctypes.c_uint32),
    ]


class RegionEnergy(ctypes.Structure):
    _fields_ = [
        ("size", ctypes.c_size_t),
        ("state", ctypes.c_int32),
        ("enough", ctypes.c_int32),
        ("repetitions_needed", ctypes.c_uint64),
        ("basis", ctypes.c_char_p),
        ("joules", ctypes.c_double),
        ("low_j", ctypes.c_double),
        ("high_j", ctypes.c_double),
        ("net_joules", ctypes.c_double),
        ("net_low_j", ctypes.c_double),
        ("net_high_j", ctypes.c_double),
        ("mean_w", ctypes.c_double),
        ("peak_w", ctypes.c_double),
    ]


class RegionWork(ctypes.Structure):
    _fields_ = [
        ("size", ctypes.c_size_t),
        ("unit", ctypes.c_char_p),
        ("amount", ctypes.c_double),
        ("joules_per_unit", ctypes.c_double),
        ("low_j_per_unit", ctypes.c_double),
        ("high_j_per_unit", ctypes.c_double),
        ("seconds_per_unit", ctypes.c_double),
    ]


_SESSION = ctypes.c_void_p
_RESULTS = ctypes.c_void_p
_TEXT = ctypes.c_char_p
_SIZE = ctypes.c_size_t

# functions of the C library: name: (type of the result, types of the arguments)
_CALLS = {
    "kwhy_measure_version": (_TEXT, []),
    "kwhy_session_open": (ctypes.c_int, [ctypes.POINTER(Options), ctypes.POINTER(_SESSION), _TEXT, _SIZE]),
    "kwhy_session_close": (None, [_SESSION]),
    "kwhy_session_meter_count": (_SIZE, [_SESSION]),
    "kwhy_session_meter": (ctypes.c_int, [_SESSION, _SIZE, ctypes.POINTER(MeterInfo)]),
    "kwhy_session_absence": (_TEXT, [_SESSION, _SIZE]),
    "kwhy_session_name": (ctypes.c_uint32, [_SESSION, _TEXT]),
    "kwhy_region_begin": (None, [_SESSION, ctypes.c_uint32]),
    "kwhy_region_end": (None, [_SESSION, ctypes.c_uint32]),
    "kwhy_region_work": (None, [_SESSION, ctypes.c_uint32, ctypes.c_double]),
    "kwhy_session_idle": (ctypes.c_int, [_SESSION, ctypes.c_double, _TEXT, _SIZE]),
    "kwhy_session_results": (ctypes.c_int, [_SESSION, ctypes.POINTER(_RESULTS), _TEXT, _SIZE]),
    "kwhy_results_free": (None, [_RESULTS]),
    "kwhy_results_region_count": (_SIZE, [_RESULTS]),
    "kwhy_results_region": (ctypes.c_int, [_RESULTS, _SIZE, ctypes.POINTER(RegionInfo)]),
    "kwhy_results_energy": (ctypes.c_int, [_RESULTS, _SIZE, _SIZE, ctypes.POINTER(RegionEnergy)]),
    "kwhy_results_work_count": (_SIZE, [_RESULTS, _SIZE]),
    "kwhy_results_work": (ctypes.c_int, [_RESULTS, _SIZE, _SIZE, ctypes.POINTER(RegionWork)]),
    "kwhy_results_lost_events": (ctypes.c_uint64, [_RESULTS]),
    "kwhy_results_lost_readings": (ctypes.c_uint64, [_RESULTS]),
    "kwhy_results_json": (_TEXT, [_RESULTS]),
}


def _candidates(soname: str, variable: str) -> List[str]:
    """The variable's, then in this package or in the lib/ of the folder it was installed in, then the system's."""
    named = os.environ.get(variable)
    if named:
        return [named]
    here = Path(__file__).resolve().parent
    beside = [here / soname, here / "program" / "lib" / soname]
    beside += [parent / "lib" / soname for parent in list(here.parents)[:5]]
    return [str(path) for path in beside if path.exists()] + [soname]


def open_library(soname: str, variable: str, calls: Dict[str, Tuple[Any, List[Any]]]) -> ctypes.CDLL:
    """A library with the types of its calls; OSError with every place that was tried."""
    tried = []
    for name in _candidates(soname, variable):
        try:
            library = ctypes.CDLL(name)
        except OSError as error:
            tried.append(str(error))
            continue
        for call, (result, arguments) in calls.items():
            function = getattr(library, call)
            function.restype = result
            function.argtypes = arguments
        return library
    raise OSError("{} is not there ({}); install kwhy, or set {} to its path".format(soname, "; ".join(tried), variable))


_loaded: Optional[ctypes.CDLL] = None


def load() -> ctypes.CDLL:
    """libkwhy.so, loaded at first use."""
    global _loaded
    if _loaded is None:
        _loaded = open_library(SONAME, "KWHY_LIBRARY", _CALLS)
    return _loaded
