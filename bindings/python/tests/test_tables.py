# SPDX-License-Identifier: Apache-2.0
"""Tables by the Arrow C data interface, read by a consumer of its own, and by pandas where it is installed."""

import ctypes
import gc
import json
import tempfile
import threading
import unittest
from pathlib import Path

import kwhy
from kwhy import _arrow

EXAMPLES = Path(__file__).resolve().parents[3] / "examples"
MIX = EXAMPLES / "recordings" / "mix.kwhy"

_api = ctypes.PyDLL(None)
_api.PyCapsule_GetPointer.restype = ctypes.c_void_p
_api.PyCapsule_GetPointer.argtypes = [ctypes.py_object, ctypes.c_char_p]
_SIZES = {"l": ctypes.c_int64, "L": ctypes.c_uint64, "I": ctypes.c_uint32, "S": ctypes.c_uint16, "C": ctypes.c_uint8}
_SIZES["g"] = ctypes.c_double


def struct_in(capsule, kind, name):
    return kind.from_address(_api.PyCapsule_GetPointer(capsule, name))


def is_known(filled, row):
    bits = filled.buffers[0]
    return not bits or bool(ctypes.c_uint8.from_address(bits + row // 8).value >> row % 8 & 1)


def values_of(schema, filled):
    """As the specification of the interface says, not as the producer does."""
    if filled.length == 0:
        return []
    format = schema.format.decode()
    if format == "u":
        offsets = (ctypes.c_int32 * (filled.length + 1)).from_address(filled.buffers[1])
        raw = [ctypes.string_at(filled.buffers[2] + a, b - a).decode() for a, b in zip(offsets, offsets[1:])]
    else:
        raw = list((_SIZES[format] * filled.length).from_address(filled.buffers[1]))
    if schema.dictionary:
        words = values_of(schema.dictionary.contents, filled.dictionary.contents)
        raw = [words[i] for i in raw]
    known = [value if is_known(filled, i) else None for i, value in enumerate(raw)]
    assert known.count(None) >= filled.null_count
    return known


def read(schema, filled):
    assert schema.format == b"+s" and filled.n_children == schema.n_children
    return {
        schema.children[i].contents.name.decode(): values_of(schema.children[i].contents, filled.children[i].contents)
        for i in range(schema.n_children)
    }


def read_stream(capsule):
    """Takes the stream out of its capsule, as consumers do, and reads it to its end."""
    lent = struct_in(capsule, _arrow._Stream, b"arrow_array_stream")
    stream = _arrow._Stream.from_buffer_copy(lent)
    lent.release = _arrow._ReleaseStream()
    schema, filled, end = _arrow._Schema(), _arrow._Array(), _arrow._Array()
    assert stream.get_schema(ctypes.byref(stream), ctypes.byref(schema)) == 0
    assert stream.get_next(ctypes.byref(stream), ctypes.byref(filled)) == 0
    assert stream.get_next(ctypes.byref(stream), ctypes.byref(end)) == 0 and not end.release
    stream.release(ctypes.byref(stream))
    assert not stream.release
    return schema, filled


def release(*structs):
    for struct in structs:
        struct.release(ctypes.byref(struct))
        assert not struct.release


class Tables(unittest.TestCase):
    def setUp(self):
        gc.collect()
        self.before = len(_arrow._held), len(_arrow._capsules)

    def tearDown(self):
        gc.collect()
        self.assertEqual((len(_arrow._held), len(_arrow._capsules)), self.before, "something was not released")

    def test_a_consumer_reads_what_was_put_in(self):
        put = {"n": [1, None, -3], "x": [0.5, None, 2.0], "s": ["a", None, "\u00e9"], "full": [7, 8, 9]}
        schema, filled = read_stream(kwhy.Table(put).__arrow_c_stream__())
        self.assertEqual(read(schema, filled), put)
        self.assertEqual([schema.children[i].contents.format for i in range(4)], [b"l", b"g", b"u", b"l"])
        self.assertEqual(filled.children[0].contents.null_count, 1)
        self.assertFalse(filled.children[3].contents.buffers[0])
        release(schema, filled)
        self.assertEqual(kwhy.Table(put).to_dict(), put)

    def test_an_empty_table_and_unequal_columns(self):
        schema, filled = read_stream(kwhy.Table({"a": [], "b": []}).__arrow_c_stream__())
        self.assertEqual(read(schema, filled), {"a": [], "b": []})
        release(schema, filled)
        with self.assertRaisesRegex(ValueError, "differ in length"):
            kwhy.Table({"a": [1], "b": [1, 2]})

    def test_arrays_come_with_their_schema_and_capsules_nobody_takes_are_released(self):
        schema, filled = kwhy.Table({"a": [1, 2]}).__arrow_c_array__()
        self.assertEqual(
            read(struct_in(schema, _arrow._Schema, b"arrow_schema"), struct_in(filled, _arrow._Array, b"arrow_array")),
            {"a": [1, 2]},
        )
        del schema, filled
        kwhy.Table({"a": ["x"]}).__arrow_c_stream__()

    def test_children_may_be_taken_and_outlive_their_table(self):
        schema, filled = read_stream(kwhy.Table({"a": [4, 5, 6], "b": ["p", "q", "r"]}).__arrow_c_stream__())
        lent = filled.children[1].contents
        taken = _arrow._Array.from_buffer_copy(lent)
        lent.release = _arrow._ReleaseArray()
        release(filled)
        gc.collect()
        self.assertEqual(values_of(schema.children[1].contents, taken), ["p", "q", "r"])
        release(taken, schema)

    def test_a_consumer_may_release_on_another_thread(self):
        schema, filled = read_stream(kwhy.Table({"a": [1]}).__arrow_c_stream__())
        thread = threading.Thread(target=release, args=(schema, filled))
        thread.start()
        thread.join()

    def test_activities_are_the_recordings_memory(self):
        analysis = kwhy.load(MIX)
        table = analysis.table("activities")
        again = analysis.table("activities")
        self.assertEqual(table["start_ns"].address, again["start_ns"].address)
        schema, filled = read_stream(table.__arrow_c_stream__())
        self.assertEqual(filled.children[0].contents.buffers[1], table["start_ns"].address)
        figures = read(schema, filled)
        self.assertEqual(filled.length, table.row_count)
        self.assertEqual(set(figures["kind"]) - {"kernel", "copy", "memset", "collective", "graph"}, set())
        self.assertTrue(all(end >= start for start, end in zip(figures["start_ns"], figures["end_ns"])))
        self.assertTrue(any(size is None for size in figures["bytes"]))
        self.assertTrue(any(size for size in figures["bytes"]))
        self.assertIn("h2d", figures["copy_kind"])
        self.assertEqual(table.to_dict(), figures)
        # The columns' memory must stay valid after the analysis and the table are gone, as long as
        # a consumer (view, filled) has it.
        analysis.close()
        with self.assertRaisesRegex(kwhy.KwhyError, "closed"):
            analysis.table("calls")
        view = table["start_ns"].memory()
        del table, again, analysis
        gc.collect()
        self.assertEqual(view[0], figures["start_ns"][0])
        self.assertEqual(read(schema, filled)["name"], figures["name"])
        release(schema, filled)
        del view

    def test_figures_are_tables_too(self):
        with kwhy.load(MIX) as analysis:
            accounts = analysis.table("accounts").to_dict()
            self.assertEqual(len(accounts["name"]), len(analysis.devices[0].accounts))
            self.assertEqual(analysis.table("findings").to_dict()["id"], [one.id for one in analysis.findings])
            self.assertEqual(analysis.table("devices").row_count, 1)
            places = [finding.place for finding in analysis.findings]
            self.assertTrue(any(place for place in places))
            self.assertEqual(places, [row["in"] for row in analysis.as_dict()["findings"]])
            self.assertIn("cudaMemcpyAsync", analysis.table("calls")["name"].words.values())
            with self.assertRaisesRegex(KeyError, "activities, calls, devices, accounts, findings"):
                analysis.table("nothing")

    def test_results_are_loaded_by_their_schema(self):
        result = kwhy.load(EXAMPLES / "results" / "power" / "fitted.json")
        self.assertTrue(result.schema.startswith("kwhy.model.power/"))
        self.assertEqual(result["schema"], result.schema)
        for name in result.tables:
            self.assertGreater(result.table(name).row_count, 0)
        with self.assertRaisesRegex(KeyError, "no table 'x'"):
            result.table("x")

    def test_nested_rows_are_flat_and_of_one_type(self):
        document = {"schema": "kwhy.made/1", "rows": [{"a": 1, "k": {"b": 2}, "m": [1, 2]}, {"a": 1.5, "t": "x"}]}
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "made.json"
            path.write_text(json.dumps(document))
            self.assertEqual(
                kwhy.load(path).table("rows").to_dict(),
                {"a": [1.0, 1.5], "k.b": [2, None], "m": ["[1, 2]", None], "t": [None, "x"]},
            )
            path.write_text(json.dumps(document)[:-3])
            with self.assertRaisesRegex(kwhy.KwhyError, "not whole"):
                kwhy.load(path)
            with self.assertRaisesRegex(kwhy.KwhyError, "nowhere"):
                kwhy.load(Path(folder) / "nowhere")

    def test_pandas_and_numpy_read_the_columns(self):
        try:
            import numpy
            import pandas
        except ImportError:
            self.skipTest("pandas is not installed")
        with kwhy.load(MIX) as analysis:
            table = analysis.table("activities")
            starts = numpy.asarray(table["start_ns"].memory())
            self.assertEqual(starts.__array_interface__["data"][0], table["start_ns"].address)
            frame = pandas.DataFrame(table.to_dict())
            self.assertEqual(len(frame), table.row_count)
            self.assertTrue((frame["end_ns"] >= frame["start_ns"]).all())

    def test_polars_and_pyarrow_read_the_stream(self):
        with kwhy.load(MIX) as analysis:
            table = analysis.table("activities")
        readers = 0
        for name, read_by in (("polars", lambda m: m.from_arrow(table).height), ("pyarrow", lambda m: m.table(table).num_rows)):
            try:
                module = __import__(name)
            except ImportError:
                continue
            self.assertEqual(read_by(module), table.row_count)
            readers += 1
        if not readers:
            self.skipTest("neither polars nor pyarrow is installed")


if __name__ == "__main__":
    unittest.main()
