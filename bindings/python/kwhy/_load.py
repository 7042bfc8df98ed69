# SPDX-License-Identifier: Apache-2.0
"""Whatever kwhy has written or reads, by path."""

from __future__ import annotations

import json
import os
from typing import Any, Dict, List, Mapping, Union

from ._analysis import Analysis
from ._arrow import Table
from ._session import KwhyError

_Path = Union[str, "os.PathLike[str]"]


class Result(Mapping[str, Any]):
    """A result as JSON, of any command of kwhy: its members by name, and its lists of rows as tables."""

    def __init__(self, document: Dict[str, Any]) -> None:
        self.schema: str = document["schema"]  # "kwhy.pairs/1"
        self.document = document

    def __getitem__(self, name: str) -> Any:
        return self.document[name]

    def __iter__(self) -> Any:
        return iter(self.document)

    def __len__(self) -> int:
        return len(self.document)

    def __repr__(self) -> str:
        return "<Result {}: {}>".format(self.schema, ", ".join(self.tables) or "no tables")

    @property
    def tables(self) -> List[str]:
        """Names of the members that are lists of rows."""
        return [name for name, rows in self.document.items() if _is_rows(rows)]

    def table(self, name: str) -> Table:
        """Such a list for pandas, polars and others. Members of members get names with a point: "key.size"."""
        if not _is_rows(self.document.get(name)):
            raise KeyError("no table {!r}; there are {}".format(name, ", ".join(self.tables) or "none"))
        rows: List[Dict[str, Any]] = [{} for _ in self.document[name]]
        for row, flat in zip(self.document[name], rows):
            _flatten("", row, flat)
        names = list(dict.fromkeys(name for row in rows for name in row))
        return Table({name: _alike([row.get(name) for row in rows]) for name in names})


def _is_rows(value: Any) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(row, dict) for row in value)


def _flatten(prefix: str, row: Dict[str, Any], out: Dict[str, Any]) -> None:
    for name, value in row.items():
        if isinstance(value, dict):
            _flatten(prefix + name + ".", value, out)
        elif isinstance(value, list):
            out[prefix + name] = json.dumps(value)
        else:
            out[prefix + name] = int(value) if isinstance(value, bool) else value


def _alike(values: List[Any]) -> List[Any]:
    """Values of one type: texts if any is a text, real numbers if any is real or above 64 bits."""
    kinds = {type(value) for value in values if value is not None}
    if str in kinds:
        return [value if value is None or isinstance(value, str) else json.dumps(value) for value in values]
    if float in kinds or any(value is not None and not -(2**63) <= value < 2**63 for value in values):
        return [None if value is None else float(value) for value in values]
    return values


def load(*paths: _Path, **options: Any) -> Union[Analysis, Result]:
    """Opens what kwhy has written or reads: results as JSON become a Result, recordings and traces an Analysis.

    Several paths are the ranks of one run. `options` are those of Analysis.
    """
    if len(paths) == 1 and not options and os.path.isfile(paths[0]):
        document = _result_in(paths[0])
        if document is not None:
            return Result(document)
    return Analysis(*paths, **options)


def _result_in(path: _Path) -> Any:
    """The document of a result; None: the file is something else."""
    with open(path, "rb") as file:
        start = file.read(4096)
        if b'"kwhy.' not in start or not start.lstrip().startswith(b"{"):
            return None
        try:
            document = json.loads(start + file.read())
        except ValueError as error:
            raise KwhyError("{}: a result of kwhy that is not whole: {}".format(os.fspath(path), error)) from None
    schema = document.get("schema")
    return document if isinstance(schema, str) and schema.startswith("kwhy.") else None
