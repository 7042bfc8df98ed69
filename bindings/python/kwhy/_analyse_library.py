# SPDX-License-Identifier: Apache-2.0
"""libkwhy-analyse.so by ctypes: the structs and calls of kwhy/analyse.h."""

from __future__ import annotations

import ctypes
from typing import Optional

from . import _library

UNKNOWN = -(2**63)

_SIZE = ctypes.c_size_t
_TEXT = ctypes.c_char_p
_TEXTS = ctypes.POINTER(ctypes.c_char_p)
_INT = ctypes.c_int32
_LONG = ctypes.c_int64
_REAL = ctypes.c_double
_NUMBER = ctypes.c_uint32


class Work(ctypes.Structure):
    _fields_ = [("unit", _TEXT), ("count", _REAL)]


class Options(ctypes.Structure):
    _fields_ = [
        ("size", _SIZE),
        ("power_paths", _TEXTS),
        ("power_path_count", _SIZE),
        ("power_devices", _TEXTS),
        ("power_device_count", _SIZE),
        ("power_zone", _TEXT),
        ("profile_path", _TEXT),
        ("learnt_paths", _TEXTS),
        ("learnt_path_count", _SIZE),
        ("collectives_path", _TEXT),
        ("step_name", _TEXT),
        ("assumed_power", _TEXT),
        ("work", ctypes.POINTER(Work)),
        ("work_count", _SIZE),
        ("thresholds", _TEXTS),
        ("threshold_count", _SIZE),
        ("min_gain_percent", _REAL),
        ("price_per_kwh", _REAL),
        ("currency", _TEXT),
        ("intensity_g_per_kwh", _REAL),
        ("place", _TEXT),
        ("command", _TEXT),
        ("seed", ctypes.c_uint64),
        ("partial", _INT),
        ("progress", ctypes.c_void_p),
        ("progress_context", ctypes.c_void_p),
        ("run_start_unix_ns", _LONG),
        ("run_end_unix_ns", _LONG),
    ]


class RunInfo(ctypes.Structure):
    _fields_ = [("size", _SIZE)]
    _fields_ += [(name, _LONG) for name in ("time_ns", "energy_nj", "low_nj", "high_nj", "unmetered_nj")]
    _fields_ += [("is_modelled", _INT)]


class DeviceInfo(ctypes.Structure):
    _fields_ = [("size", _SIZE), ("name", _TEXT), ("uuid", _TEXT), ("rank", _INT), ("is_modelled", _INT)]
    _fields_ += [
        (name, _LONG) for name in ("span_ns", "busy_ns", "idle_ns", "energy_nj", "low_nj", "high_nj", "metered_nj")
    ]


class AccountInfo(ctypes.Structure):
    _fields_ = [("size", _SIZE), ("category", _TEXT), ("name", _TEXT), ("basis", _TEXT), ("count", ctypes.c_uint64)]
    _fields_ += [(name, _LONG) for name in ("time_ns", "gross_nj", "low_nj", "high_nj", "net_nj")]


class FindingInfo(ctypes.Structure):
    _fields_ = [("size", _SIZE)]
    _fields_ += [(name, _TEXT) for name in ("id", "title", "cure", "change", "assumption")]
    _fields_ += [(name, _INT) for name in ("device", "bound", "frees_device")]
    _fields_ += [("count", ctypes.c_uint64)]
    _fields_ += [(name, _LONG) for name in ("time_ns", "energy_nj", "low_nj", "high_nj", "saved_ns", "saved_nj")]
    _fields_ += [("saved_low_nj", _LONG), ("saved_high_nj", _LONG), ("evidence_count", _SIZE)]
    _fields_ += [(name, _TEXT) for name in ("credited_to", "place", "file")] + [("line", _INT)]


class ColumnInfo(ctypes.Structure):
    _fields_ = [("size", _SIZE), ("name", _TEXT), ("type", _INT), ("count", _SIZE), ("values", ctypes.c_void_p)]
    _fields_ += [("known", ctypes.c_void_p), ("unknown_count", ctypes.c_uint64), ("word_count", _SIZE)]


class EvidenceInfo(ctypes.Structure):
    _fields_ = [("size", _SIZE), ("start_ns", _LONG), ("end_ns", _LONG), ("what", _TEXT)]


class Change(ctypes.Structure):
    _fields_ = [("id", _TEXT), ("number", _NUMBER)]


class PlanInfo(ctypes.Structure):
    _fields_ = [("size", _SIZE)]
    _fields_ += [(name, _LONG) for name in ("before_ns", "before_nj", "after_ns", "low_ns", "high_ns", "after_nj")]
    _fields_ += [("low_nj", _LONG), ("high_nj", _LONG), ("busy_before_ratio", _REAL), ("busy_after_ratio", _REAL)]
    _fields_ += [("bound", _INT), ("change_count", _SIZE), ("refused_count", _SIZE)]


class PlanChangeInfo(ctypes.Structure):
    _fields_ = [("size", _SIZE)]
    _fields_ += [(name, _TEXT) for name in ("id", "title", "effort", "risk", "assumption")]
    _fields_ += [("places", ctypes.c_uint64), ("saved_ns", _LONG), ("saved_nj", _LONG), ("number", _NUMBER)]
    _fields_ += [("bound", _INT)]


class PlanRefusalInfo(ctypes.Structure):
    _fields_ = [("size", _SIZE), ("id", _TEXT), ("title", _TEXT), ("reason", _TEXT), ("saved_ns", _LONG)]
    _fields_ += [("saved_nj", _LONG)]


_ANALYSIS = ctypes.c_void_p
_PLAN = ctypes.c_void_p
_MESSAGE = [_TEXT, _SIZE]
_OUT = ctypes.POINTER(ctypes.c_void_p)

# functions of the C library: name: (type of the result, types of the arguments)
_CALLS = {
    "kwhy_analyse_version": (_TEXT, []),
    "kwhy_analysis_options_init": (None, [ctypes.POINTER(Options), _SIZE]),
    "kwhy_analysis_open": (ctypes.c_int, [_TEXTS, _SIZE, ctypes.POINTER(Options), _OUT] + _MESSAGE),
    "kwhy_analysis_close": (None, [_ANALYSIS]),
    "kwhy_analysis_run": (ctypes.c_int, [_ANALYSIS, ctypes.POINTER(RunInfo)]),
    "kwhy_analysis_device_count": (_SIZE, [_ANALYSIS]),
    "kwhy_analysis_device": (ctypes.c_int, [_ANALYSIS, _SIZE, ctypes.POINTER(DeviceInfo)]),
    "kwhy_analysis_account_count": (_SIZE, [_ANALYSIS, _SIZE]),
    "kwhy_analysis_account": (ctypes.c_int, [_ANALYSIS, _SIZE, _SIZE, ctypes.POINTER(AccountInfo)]),
    "kwhy_analysis_finding_count": (_SIZE, [_ANALYSIS]),
    "kwhy_analysis_finding": (ctypes.c_int, [_ANALYSIS, _SIZE, ctypes.POINTER(FindingInfo)]),
    "kwhy_analysis_evidence": (ctypes.c_int, [_ANALYSIS, _SIZE, _SIZE, ctypes.POINTER(EvidenceInfo)]),
    "kwhy_analysis_column": (ctypes.c_int, [_ANALYSIS, ctypes.c_int, _SIZE, ctypes.POINTER(ColumnInfo)]),
    "kwhy_analysis_word": (_TEXT, [_ANALYSIS, ctypes.c_int, _SIZE, _SIZE]),
    "kwhy_analysis_json": (ctypes.c_int, [_ANALYSIS, _OUT] + _MESSAGE),
    "kwhy_analysis_text_free": (None, [ctypes.c_void_p]),
    "kwhy_analysis_project": (ctypes.c_int, [_ANALYSIS, ctypes.POINTER(Change), _SIZE, _OUT] + _MESSAGE),
    "kwhy_analysis_plan": (ctypes.c_int, [_ANALYSIS, ctypes.c_int, _OUT] + _MESSAGE),
    "kwhy_analysis_plan_free": (None, [_PLAN]),
    "kwhy_analysis_plan_json": (ctypes.c_int, [_ANALYSIS, _PLAN, _OUT] + _MESSAGE),
    "kwhy_plan_info": (ctypes.c_int, [_PLAN, ctypes.POINTER(PlanInfo)]),
    "kwhy_plan_change": (ctypes.c_int, [_PLAN, _SIZE, ctypes.POINTER(PlanChangeInfo)]),
    "kwhy_plan_refusal": (ctypes.c_int, [_PLAN, _SIZE, ctypes.POINTER(PlanRefusalInfo)]),
}

_loaded: Optional[ctypes.CDLL] = None


def load() -> ctypes.CDLL:
    """libkwhy-analyse.so, loaded at first use."""
    global _loaded
    if _loaded is None:
        _loaded = _library.open_library("libkwhy-analyse.so.0", "KWHY_ANALYSE_LIBRARY", _CALLS)
    return _loaded
