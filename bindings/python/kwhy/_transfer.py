# SPDX-License-Identifier: Apache-2.0
"""Many small pieces, and long streams, to and from a GPU: kwhy/transfer.h (docs/transfer.md)."""

from __future__ import annotations

import ctypes
from dataclasses import dataclass
from typing import Any, Callable, Dict, Iterator, List, Optional

from . import _library
from ._library import MESSAGE_BYTES
from ._session import KwhyError, _text

_BACKENDS = {"cuda": 0, "hip": 1, "host": 2}
_WAYS = {"choose": 0, "packed": 1, "mapped": 2, "batch": 3, "inline": 4}
_FORMATS = {"f32": 0, "f16": 1, "bf16": 2, "i8": 3}
_END = 8  # KWHY_TRANSFER_END
_FULL = 6  # KWHY_TRANSFER_FULL

_ENGINE = ctypes.c_void_p
_SIZE = ctypes.c_size_t
_INT = ctypes.c_int
_LONG = ctypes.c_uint64
_Reader = ctypes.CFUNCTYPE(_INT, ctypes.c_void_p, ctypes.c_void_p, _LONG, _SIZE)


class _Limits(ctypes.Structure):
    _fields_ = [(name, _LONG) for name in ("put_packed_bytes", "get_packed_bytes", "batch_bytes", "inline_bytes")]


class _Options(ctypes.Structure):
    _fields_ = [
        ("size", _SIZE),
        ("backend", ctypes.c_int32),
        ("way", ctypes.c_int32),
        ("device", ctypes.c_char_p),
        ("stream", ctypes.c_void_p),
        ("slot_bytes", _LONG),
        ("slots", ctypes.c_uint32),
        ("pieces", ctypes.c_uint32),
        ("refuse_full", ctypes.c_int32),
        ("disjoint", ctypes.c_int32),
        ("numa", ctypes.c_int32),
        ("limits", _Limits),
    ]


class _Counts(ctypes.Structure):
    _NAMES = "pieces bytes flushes driver_calls waits packed mapped batched plain overlapping inlined".split()
    _fields_ = [("size", _SIZE)] + [(name, _LONG) for name in _NAMES]


class _LoaderOptions(ctypes.Structure):
    _fields_ = [
        ("size", _SIZE),
        ("bytes", _LONG),
        ("chunk_bytes", _LONG),
        ("slots", ctypes.c_uint32),
        ("from_", ctypes.c_void_p),
        ("read", _Reader),
        ("context", ctypes.c_void_p),
        ("pinned", ctypes.c_int32),
        ("format", ctypes.c_int32),
        ("scale", ctypes.c_float),
        ("on_device", ctypes.c_int32),
        ("copy_s", ctypes.c_double),
        ("compute_s", ctypes.c_double),
        ("threads", ctypes.c_uint32),
    ]


class _Chunk(ctypes.Structure):
    _fields_ = [("size", _SIZE), ("offset", _LONG), ("bytes", _LONG), ("device", _LONG), ("stream", ctypes.c_void_p)]


_CALLS = {
    "kwhy_transfer_open": (_INT, [ctypes.POINTER(_Options), ctypes.POINTER(_ENGINE), ctypes.c_char_p, _SIZE]),
    "kwhy_transfer_close": (None, [_ENGINE]),
    "kwhy_transfer_message": (None, [_ENGINE, ctypes.c_char_p, _SIZE]),
    "kwhy_transfer_put": (_INT, [_ENGINE, _LONG, ctypes.c_void_p, _SIZE]),
    "kwhy_transfer_get": (_INT, [_ENGINE, ctypes.c_void_p, _LONG, _SIZE]),
    "kwhy_transfer_put_numbers": (_INT, [_ENGINE, _LONG, ctypes.c_void_p, _SIZE, _INT, ctypes.c_float]),
    "kwhy_transfer_flush": (_INT, [_ENGINE, ctypes.POINTER(_LONG)]),
    "kwhy_transfer_wait": (_INT, [_ENGINE, _LONG]),
    "kwhy_transfer_cancel": (None, [_ENGINE]),
    "kwhy_transfer_stream": (ctypes.c_void_p, [_ENGINE]),
    "kwhy_transfer_memory_new": (_INT, [_ENGINE, _INT, _SIZE, ctypes.POINTER(_LONG)]),
    "kwhy_transfer_memory_free": (None, [_ENGINE, _LONG]),
    "kwhy_transfer_counts": (_INT, [_ENGINE, ctypes.POINTER(_Counts)]),
    "kwhy_transfer_loader_open": (_INT, [_ENGINE, ctypes.POINTER(_LoaderOptions), ctypes.POINTER(_ENGINE)]),
    "kwhy_transfer_loader_next": (_INT, [_ENGINE, ctypes.POINTER(_Chunk)]),
    "kwhy_transfer_loader_arrived": (_INT, [_ENGINE, ctypes.POINTER(_Chunk)]),
    "kwhy_transfer_loader_done": (_INT, [_ENGINE, ctypes.POINTER(_Chunk)]),
    "kwhy_transfer_loader_close": (None, [_ENGINE]),
}

_loaded: Optional[ctypes.CDLL] = None


def _load() -> ctypes.CDLL:
    global _loaded
    if _loaded is None:
        _loaded = _library.open_library(_library.SONAME, "KWHY_LIBRARY", _CALLS)
    return _loaded


class _View(ctypes.Structure):
    """Py_buffer of the interpreter."""

    _fields_ = [
        ("buf", ctypes.c_void_p),
        ("obj", ctypes.c_void_p),
        ("len", ctypes.c_ssize_t),
        ("itemsize", ctypes.c_ssize_t),
        ("readonly", ctypes.c_int),
        ("ndim", ctypes.c_int),
        ("format", ctypes.c_char_p),
        ("shape", ctypes.c_void_p),
        ("strides", ctypes.c_void_p),
        ("suboffsets", ctypes.c_void_p),
        ("internal", ctypes.c_void_p),
    ]


_api = ctypes.PyDLL(None)
_api.PyObject_GetBuffer.argtypes = [ctypes.py_object, ctypes.POINTER(_View), ctypes.c_int]
_api.PyBuffer_Release.argtypes = [ctypes.POINTER(_View)]
_api.PyBuffer_Release.restype = None


class _Buffer:
    """The memory of an object with a buffer (bytes, array, NumPy, a CPU tensor's numpy()), where it lies."""

    def __init__(self, of: Any, writable: bool = False) -> None:
        self._view = _View()
        _api.PyObject_GetBuffer(of, ctypes.byref(self._view), int(writable))  # raises BufferError or TypeError
        self.address, self.bytes = self._view.buf or 0, self._view.len

    def __del__(self) -> None:
        if self._view.obj:
            _api.PyBuffer_Release(ctypes.byref(self._view))


@dataclass(frozen=True)
class Chunk:
    """A part of the data of a loader, on the device until the next one is taken."""

    offset: int  # in the data as it is read
    bytes: int  # on the device
    device: int  # address there
    stream: Optional[int]  # whose later work runs after the chunk has arrived; None on the host back end
    _loader: "Loader"
    _given: _Chunk

    def arrived(self) -> "Chunk":
        """Waits until it is there, for work that is not queued in its stream."""
        self._loader._ask("kwhy_transfer_loader_arrived", ctypes.byref(self._given))
        return self


class Loader:
    """Chunks of large data, which are read ahead and sent while earlier ones are processed. One thread may use it."""

    _failure: Optional[BaseException] = None  # of the reader, which runs on a thread of its own

    def __init__(self, transfer: "Transfer", options: _LoaderOptions, keeps: Any) -> None:
        self._transfer, self._keeps = transfer, keeps
        self._taken: Optional[_Chunk] = None
        handle = ctypes.c_void_p()
        transfer._ask("kwhy_transfer_loader_open", ctypes.byref(options), ctypes.byref(handle))
        self._handle: Optional[int] = handle.value
        transfer._loaders.append(self)

    def _ask(self, call: str, *arguments: Any) -> int:
        if self._handle is None:
            raise KwhyError("the loader is closed")
        code = getattr(self._transfer._library, call)(self._handle, *arguments)
        if code and code != _END:
            if self._failure is not None:
                raise self._failure
            self._transfer._fail()
        return code

    def __iter__(self) -> Iterator[Chunk]:
        return self

    def __next__(self) -> Chunk:
        given = _Chunk(ctypes.sizeof(_Chunk))
        if self._taken is not None:
            self._ask("kwhy_transfer_loader_done", ctypes.byref(self._taken))
            self._taken = None
        if self._ask("kwhy_transfer_loader_next", ctypes.byref(given)) == _END:
            self.close()
            raise StopIteration
        self._taken = given
        return Chunk(given.offset, given.bytes, given.device, given.stream, self, given)

    def close(self) -> None:
        handle, self._handle = self._handle, None
        if handle is not None:
            self._transfer._library.kwhy_transfer_loader_close(handle)
            self._transfer._loaders.remove(self)

    def __enter__(self) -> "Loader":
        return self

    def __exit__(self, *exc_info: Any) -> None:
        self.close()


class Transfer:
    """Moves pieces and streams to and from a device without a call of the driver for each (docs/transfer.md).

    `backend`: "cuda", "hip", or "host", which needs no GPU. `way`: "choose", "packed", "mapped", "batch", "inline".
    Further options have the names of kwhy/transfer.h: `device`, `stream`, `slot_bytes`, `slots`, `pieces`,
    `refuse_full`, `disjoint`, `numa`. Addresses on the device are whole numbers, as of a tensor's data_ptr().
    """

    _OPTIONS = "stream slot_bytes slots pieces refuse_full disjoint numa".split()

    def __init__(self, backend: str = "cuda", way: str = "choose", device: Optional[str] = None, **options: int) -> None:
        self._handle: Optional[int] = None
        self._loaders: List[Loader] = []
        self._requested: List[_Buffer] = []  # targets of gets since the last flush
        self._flushed: Dict[int, List[_Buffer]] = {}
        given = _Options(ctypes.sizeof(_Options), _named(_BACKENDS, "backend", backend), _named(_WAYS, "way", way))
        given.device = None if device is None else str(device).encode()
        for name, value in options.items():
            if name not in self._OPTIONS:
                raise TypeError("Transfer() has no option {!r}".format(name))
            setattr(given, name, value)
        self._library = _load()
        handle, message = ctypes.c_void_p(), ctypes.create_string_buffer(MESSAGE_BYTES)
        if self._library.kwhy_transfer_open(ctypes.byref(given), ctypes.byref(handle), message, MESSAGE_BYTES):
            raise KwhyError(_text(message.value))
        self._handle = handle.value

    def _open_handle(self) -> int:
        if self._handle is None:
            raise KwhyError("the transfer engine is closed; open another one")
        return self._handle

    def _fail(self) -> None:
        message = ctypes.create_string_buffer(MESSAGE_BYTES)
        self._library.kwhy_transfer_message(self._open_handle(), message, MESSAGE_BYTES)
        raise KwhyError(_text(message.value) or "the transfer engine was cancelled")

    def _ask(self, call: str, *arguments: Any) -> None:
        code = getattr(self._library, call)(self._open_handle(), *arguments)
        if code == _FULL:
            raise BlockingIOError("the ring of the transfer engine is full; wait for a flush, then put the piece again")
        if code:
            self._fail()

    def put(self, to: int, data: Any) -> None:
        """Copies the bytes of `data` to device address `to` with the next flush; `data` may change at once."""
        buffer = _Buffer(data)
        self._ask("kwhy_transfer_put", to, buffer.address, buffer.bytes)

    def put_numbers(self, to: int, data: Any, format: str = "bf16", scale: float = 1.0) -> None:
        """The same of 32-bit floats, which become "f16", "bf16" or "i8" (value / scale) on their way."""
        buffer = _Buffer(data)
        if buffer.bytes % 4:
            raise ValueError("put_numbers() takes 32-bit floats, not {} bytes".format(buffer.bytes))
        number = _named(_FORMATS, "format", format)
        self._ask("kwhy_transfer_put_numbers", to, buffer.address, buffer.bytes // 4, number, scale)

    def get(self, to: Any, source: int) -> None:
        """Fills `to` from device address `source` with the next flush; it is there once wait() has returned for it."""
        buffer = _Buffer(to, writable=True)
        self._ask("kwhy_transfer_get", buffer.address, source, buffer.bytes)
        self._requested.append(buffer)

    def flush(self) -> int:
        """Sends what was put and requested; returns a ticket for wait(), before it has arrived."""
        ticket = _LONG()
        self._ask("kwhy_transfer_flush", ctypes.byref(ticket))
        self._flushed.setdefault(ticket.value, []).extend(self._requested)
        self._requested = []
        return ticket.value

    def wait(self, ticket: Optional[int] = None) -> None:
        """Waits for a flush and all before it; without a ticket flushes and waits for all."""
        ticket = self.flush() if ticket is None else ticket
        self._ask("kwhy_transfer_wait", ticket)
        for arrived in [other for other in self._flushed if other <= ticket]:
            del self._flushed[arrived]

    def cancel(self) -> None:
        """Drops what was not flushed, and ends loaders."""
        self._library.kwhy_transfer_cancel(self._open_handle())
        self._flushed.setdefault(0, []).extend(self._requested)  # a part may be on its way until the next wait()
        self._requested = []

    @property
    def stream(self) -> Optional[int]:
        """The engine's stream, for torch.cuda.ExternalStream and the like."""
        return self._library.kwhy_transfer_stream(self._open_handle())

    def allocate(self, bytes: int, pinned: bool = False) -> int:
        """Address of new memory on the device, or of page-locked memory; free() it, or close the engine."""
        address = _LONG()
        self._ask("kwhy_transfer_memory_new", int(pinned), bytes, ctypes.byref(address))
        return address.value

    def free(self, address: int) -> None:
        self._library.kwhy_transfer_memory_free(self._open_handle(), address)

    def counts(self) -> Dict[str, int]:
        """Pieces, bytes, flushes, calls of the driver and more, since the engine was opened."""
        counts = _Counts(ctypes.sizeof(_Counts))
        self._ask("kwhy_transfer_counts", ctypes.byref(counts))
        return {name: getattr(counts, name) for name in _Counts._NAMES}

    def chunks(
        self,
        data: Any = None,
        *,
        read: Optional[Callable[[memoryview, int], None]] = None,
        bytes: int = 0,
        format: str = "f32",
        **options: Any,
    ) -> Loader:
        """A loader: `data` with a buffer, or `read(into, offset)`, which fills `into`, of `bytes` in all.

            for chunk in transfer.chunks(data):
                launch(chunk.device, chunk.bytes, chunk.stream)

        Options: `chunk_bytes`, `slots`, `scale`, `on_device`, `copy_s`, `compute_s`, `threads`.
        """
        if (data is None) == (read is None):
            raise TypeError("chunks() takes data, or read= and bytes=")
        given = _LoaderOptions(ctypes.sizeof(_LoaderOptions), bytes)
        given.format, given.scale = _named(_FORMATS, "format", format), 1.0
        for name, value in options.items():
            if name not in "chunk_bytes slots scale on_device copy_s compute_s threads".split():
                raise TypeError("chunks() has no option {!r}".format(name))
            setattr(given, name, value)
        loader = Loader.__new__(Loader)  # known to the reader before the loader reads ahead
        if data is not None:
            buffer = _Buffer(data)
            given.bytes, given.from_ = buffer.bytes, buffer.address
            Loader.__init__(loader, self, given, buffer)
        else:
            given.read = _Reader(_reader(loader, read))
            Loader.__init__(loader, self, given, given.read)
        return loader

    def close(self) -> None:
        """Waits for what was flushed, drops what was not, and frees the memory of allocate()."""
        for loader in list(self._loaders):
            loader.close()
        handle, self._handle = self._handle, None
        if handle is not None:
            self._library.kwhy_transfer_close(handle)
        self._requested, self._flushed = [], {}

    def __enter__(self) -> "Transfer":
        return self

    def __exit__(self, *exc_info: Any) -> None:
        self.close()

    def __del__(self) -> None:
        if getattr(self, "_handle", None) is not None:
            self.close()


def _reader(loader: Loader, read: Any) -> Callable[..., int]:
    def fill(context: Any, to: int, offset: int, size: int) -> int:
        try:
            read(memoryview((ctypes.c_uint8 * size).from_address(to)).cast("B"), offset)
        except BaseException as failure:  # no exception may pass through the library
            loader._failure = failure
            return 1
        return 0

    return fill


def _named(numbers: Dict[str, int], what: str, name: str) -> int:
    if name not in numbers:
        raise ValueError("{} is one of {}, not {!r}".format(what, ", ".join(numbers), name))
    return numbers[name]
