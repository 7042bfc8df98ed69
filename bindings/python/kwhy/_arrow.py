# SPDX-License-Identifier: Apache-2.0
"""Tables that pandas, polars, pyarrow and others read without a copy, by the Arrow C data interface.

https://arrow.apache.org/docs/format/CDataInterface.html and .../CStreamInterface.html; capsules as in
.../CDataInterface/PyCapsuleInterface.html.
"""

from __future__ import annotations

import ctypes
import itertools
from array import array
from typing import Any, Dict, Iterator, List, Mapping, Optional, Sequence, Tuple, Union

_NULLABLE = 2  # ARROW_FLAG_NULLABLE
_ITEMS = {"l": "q", "L": "Q", "I": "I", "S": "H", "C": "B", "g": "d", "i": "i"}  # Arrow's format: Python's


class _Schema(ctypes.Structure):
    pass


class _Array(ctypes.Structure):
    pass


class _Stream(ctypes.Structure):
    pass


_ReleaseSchema = ctypes.CFUNCTYPE(None, ctypes.POINTER(_Schema))
_ReleaseArray = ctypes.CFUNCTYPE(None, ctypes.POINTER(_Array))
_ReleaseStream = ctypes.CFUNCTYPE(None, ctypes.POINTER(_Stream))
_GetSchema = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(_Stream), ctypes.POINTER(_Schema))
_GetArray = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(_Stream), ctypes.POINTER(_Array))
_GetError = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.POINTER(_Stream))
_Destroy = ctypes.PYFUNCTYPE(None, ctypes.c_void_p)

_Schema._fields_ = [
    ("format", ctypes.c_char_p),
    ("name", ctypes.c_char_p),
    ("metadata", ctypes.c_char_p),
    ("flags", ctypes.c_int64),
    ("n_children", ctypes.c_int64),
    ("children", ctypes.POINTER(ctypes.POINTER(_Schema))),
    ("dictionary", ctypes.POINTER(_Schema)),
    ("release", _ReleaseSchema),
    ("private_data", ctypes.c_void_p),
]
_Array._fields_ = [
    ("length", ctypes.c_int64),
    ("null_count", ctypes.c_int64),
    ("offset", ctypes.c_int64),
    ("n_buffers", ctypes.c_int64),
    ("n_children", ctypes.c_int64),
    ("buffers", ctypes.POINTER(ctypes.c_void_p)),
    ("children", ctypes.POINTER(ctypes.POINTER(_Array))),
    ("dictionary", ctypes.POINTER(_Array)),
    ("release", _ReleaseArray),
    ("private_data", ctypes.c_void_p),
]
_Stream._fields_ = [
    ("get_schema", _GetSchema),
    ("get_next", _GetArray),
    ("get_last_error", _GetError),
    ("release", _ReleaseStream),
    ("private_data", ctypes.c_void_p),
]


class Column:
    """One column: its Arrow format, and memory that `owner` keeps."""

    def __init__(
        self,
        format: str,
        count: int,
        address: int,
        owner: Any,
        known: Tuple[int, int] = (0, 0),
        words: "Optional[Column]" = None,
        offsets: int = 0,
    ) -> None:
        self.format, self.count, self.address, self.owner = format, count, address, owner
        self.known, self.unknown_count = known  # address of the bits of the known values; 0: all are known
        self.words = words  # what the values number
        self.offsets = offsets  # of texts

    @classmethod
    def of(cls, values: Sequence[Any]) -> "Column":
        """A column of Python's values: texts, whole numbers or real ones; None is unknown."""
        present = [value for value in values if value is not None]
        if any(isinstance(value, str) for value in present):
            return cls._texts([None if value is None else str(value) for value in values])
        whole = all(isinstance(value, int) for value in present)
        numbers = array("q" if whole else "d", [0 if value is None else value for value in values])
        bits = _bits(values)
        return cls(
            "l" if whole else "g",
            len(values),
            numbers.buffer_info()[0],
            (numbers, bits),
            (bits.buffer_info()[0] if bits else 0, len(values) - len(present)),
        )

    @classmethod
    def _texts(cls, values: Sequence[Optional[str]]) -> "Column":
        encoded = [b"" if value is None else value.encode("utf-8", "replace") for value in values]
        offsets = array("i", itertools.accumulate(map(len, encoded), initial=0))
        data, bits = array("B", b"".join(encoded) or b"\0"), _bits(values)
        known = (bits.buffer_info()[0] if bits else 0, sum(value is None for value in values))
        owner = (offsets, data, bits)
        return cls("u", len(values), data.buffer_info()[0], owner, known, None, offsets.buffer_info()[0])

    def buffers(self) -> List[int]:
        """Addresses in the order of Arrow's layouts."""
        return [self.known] + ([self.offsets, self.address] if self.format == "u" else [self.address])

    def is_known(self, row: int) -> bool:
        return not self.known or bool(ctypes.c_uint8.from_address(self.known + row // 8).value >> row % 8 & 1)

    def memory(self) -> memoryview:
        """The numbers, not copied; numpy.asarray() reads them."""
        item = _ITEMS[self.format]
        size = self.count * array(item).itemsize
        held = _hold((ctypes.c_uint8 * size).from_address(self.address or 1), self.owner)
        return memoryview(held).cast("B").cast(item) if size else memoryview(array(item))

    def values(self) -> List[Any]:
        """As Python's values; unknown ones are None."""
        if self.format == "u":
            offsets = (ctypes.c_int32 * (self.count + 1)).from_address(self.offsets)
            data = [
                ctypes.string_at(self.address + offsets[i], offsets[i + 1] - offsets[i]).decode("utf-8", "replace")
                for i in range(self.count)
            ]
        elif self.words is not None:
            words = self.words.values()
            data = [words[i] for i in self.memory()]
        else:
            data = list(self.memory())
        return [value if self.is_known(i) else None for i, value in enumerate(data)] if self.known else data


def _hold(memory: Any, owner: Any) -> Any:
    memory.owner = owner
    return memory


def _bits(values: Sequence[Any]) -> Optional[array]:
    """A bit for each value that is known; None: all are."""
    if all(value is not None for value in values):
        return None
    bits = array("B", bytes(len(values) // 8 + 1))
    for i, value in enumerate(values):
        if value is not None:
            bits[i // 8] |= 1 << i % 8
    return bits


class Table(Mapping[str, Column]):
    """Columns of equal length, by name.

    `polars.from_arrow(table)`, `pyarrow.table(table)` and `pandas.DataFrame.from_arrow(table)` (pandas 3) read it
    without a copy; older ones take `pandas.DataFrame(table.to_dict())`.
    """

    def __init__(self, columns: Dict[str, Union[Column, Sequence[Any]]]) -> None:
        self._columns = {
            name: column if isinstance(column, Column) else Column.of(column) for name, column in columns.items()
        }
        counts = {column.count for column in self._columns.values()}
        if len(counts) > 1:
            raise ValueError("columns of a table differ in length: {}".format(sorted(counts)))
        self.row_count = counts.pop() if counts else 0

    def __getitem__(self, name: str) -> Column:
        return self._columns[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._columns)

    def __len__(self) -> int:
        return len(self._columns)

    def __repr__(self) -> str:
        return "<Table of {} rows: {}>".format(self.row_count, ", ".join(self._columns))

    def to_dict(self) -> Dict[str, List[Any]]:
        """Columns as lists."""
        return {name: column.values() for name, column in self._columns.items()}

    def __arrow_c_schema__(self) -> Any:
        schema = _Schema()
        _fill_schema(schema, self)
        return _capsule(schema, b"arrow_schema")

    def __arrow_c_array__(self, requested_schema: Any = None) -> Tuple[Any, Any]:
        filled = _Array()
        _fill_array(filled, self)
        return self.__arrow_c_schema__(), _capsule(filled, b"arrow_array")

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        return _capsule(_stream_of(self), b"arrow_array_stream")


# Objects whose memory consumers of Arrow structs hold, by a number that the struct has in
# private_data. Not by the struct's address, since a consumer may move the struct.
_held: Dict[int, Any] = {}
_numbers = itertools.count(1)


def _keep(thing: Any) -> int:
    number = next(_numbers)
    _held[number] = thing
    return number


def _release(pointer: Any) -> None:
    """Ends a struct's life: its children's first, as the interface demands."""
    struct = pointer.contents
    for i in range(getattr(struct, "n_children", 0)):
        child = struct.children[i]
        if child.contents.release:
            child.contents.release(child)
    if getattr(struct, "dictionary", None) and struct.dictionary.contents.release:
        struct.dictionary.contents.release(struct.dictionary)
    _held.pop(struct.private_data, None)
    struct.release = type(struct.release)()


_release_schema, _release_array = _ReleaseSchema(_release), _ReleaseArray(_release)


def _pointers(kind: Any, structs: List[Any]) -> Any:
    return (ctypes.POINTER(kind) * max(len(structs), 1))(*[ctypes.pointer(struct) for struct in structs])


def _fill_column_schema(schema: _Schema, name: str, column: Column) -> None:
    schema.format, schema.name = column.format.encode(), name.encode()
    schema.flags = _NULLABLE
    words = None
    if column.words is not None:
        words = _Schema()
        _fill_column_schema(words, "", column.words)
        schema.dictionary = ctypes.pointer(words)
    schema.private_data = _keep((schema.format, schema.name, words))
    schema.release = _release_schema


def _fill_schema(schema: _Schema, table: Table) -> None:
    children = [_Schema() for _ in table]
    for child, (name, column) in zip(children, table.items()):
        _fill_column_schema(child, name, column)
    pointers = _pointers(_Schema, children)
    schema.format, schema.name = b"+s", b""
    schema.n_children, schema.children = len(children), pointers
    schema.private_data = _keep((children, pointers))
    schema.release = _release_schema


def _fill_column(filled: _Array, column: Column) -> None:
    addresses = column.buffers()
    buffers = (ctypes.c_void_p * len(addresses))(*[address or None for address in addresses])
    words = None
    filled.length, filled.null_count = column.count, column.unknown_count
    filled.n_buffers, filled.buffers = len(addresses), buffers
    if column.words is not None:
        words = _Array()
        _fill_column(words, column.words)
        filled.dictionary = ctypes.pointer(words)
    filled.private_data = _keep((buffers, column, words))
    filled.release = _release_array


def _fill_array(filled: _Array, table: Table) -> None:
    children = [_Array() for _ in table]
    for child, column in zip(children, table.values()):
        _fill_column(child, column)
    pointers, buffers = _pointers(_Array, children), (ctypes.c_void_p * 1)(None)
    filled.length = table.row_count
    filled.n_buffers, filled.buffers = 1, buffers
    filled.n_children, filled.children = len(children), pointers
    filled.private_data = _keep((children, pointers, buffers))
    filled.release = _release_array


class _Source:
    """The state of a stream: one batch of rows, then the end."""

    def __init__(self, table: Table) -> None:
        self.table, self.is_read = table, False


def _stream_schema(stream: Any, out: Any) -> int:
    ctypes.memset(out, 0, ctypes.sizeof(_Schema))
    _fill_schema(out.contents, _held[stream.contents.private_data].table)
    return 0


def _stream_next(stream: Any, out: Any) -> int:
    source = _held[stream.contents.private_data]
    ctypes.memset(out, 0, ctypes.sizeof(_Array))
    if not source.is_read:
        source.is_read = True
        _fill_array(out.contents, source.table)
    return 0


_stream_calls = (
    _GetSchema(_stream_schema),
    _GetArray(_stream_next),
    _GetError(lambda stream: None),
    _ReleaseStream(_release),
)


def _stream_of(table: Table) -> _Stream:
    stream = _Stream(*_stream_calls)
    stream.private_data = _keep(_Source(table))
    return stream


def _destroy(capsule: int) -> None:
    """Releases what no consumer has taken: one that takes a struct clears `release` in the capsule's."""
    name = _api.PyCapsule_GetName(capsule)
    address = _api.PyCapsule_GetPointer(capsule, name)
    kind = {b"arrow_schema": _Schema, b"arrow_array": _Array, b"arrow_array_stream": _Stream}[name]
    struct = kind.from_address(address)
    if struct.release:
        struct.release(ctypes.pointer(struct))
    _capsules.pop(address, None)


_destructor = _Destroy(_destroy)
_capsules: Dict[int, Any] = {}
_api = ctypes.PyDLL(None)
_api.PyCapsule_New.restype = ctypes.py_object
_api.PyCapsule_New.argtypes = [ctypes.c_void_p, ctypes.c_char_p, _Destroy]
_api.PyCapsule_GetName.restype = ctypes.c_char_p
_api.PyCapsule_GetName.argtypes = [ctypes.c_void_p]
_api.PyCapsule_GetPointer.restype = ctypes.c_void_p
_api.PyCapsule_GetPointer.argtypes = [ctypes.c_void_p, ctypes.c_char_p]
_NAMES = {name: ctypes.c_char_p(name) for name in (b"arrow_schema", b"arrow_array", b"arrow_array_stream")}


def _capsule(struct: Any, name: bytes) -> Any:
    address = ctypes.addressof(struct)
    _capsules[address] = struct
    return _api.PyCapsule_New(address, _NAMES[name], _destructor)
