# SPDX-License-Identifier: Apache-2.0
"""Reads an unpacked recording (docs/formats/recording.md) with nothing but Python, as a check from outside of kwhy."""
import glob
import os
import struct

HEADER = struct.Struct("<IHHIIIIHHI QQ 12x I")
LAYOUTS = {
    1: ("kernel", "<qqQIIIIIIIIHHHH", "start end graph_node name correlation context stream blocks shared graph is_graph device threads registers zero"),
    2: ("copy", "<qqQQIIIIHHHBBB7x", "start end bytes graph_node correlation context stream zero device src dst kind src_memory dst_memory"),
    3: ("memset", "<qqQQIIIHBx", "start end bytes graph_node correlation context stream device memory"),
    4: ("call", "<qqIIII", "start end name correlation thread result"),
    5: ("range", "<qqIIII", "start end name thread kind zero"),
    7: ("overhead", "<qqII", "start end name thread"),
    10: ("source", "<IIIIiIIIqq", "id meter gauge uuid device domain label zero period wrap"),
    11: ("reading", "<qqII", "time value source zero"),
    12: ("clock", "<qqq", "mono offset spread"),
    13: ("coverage", "<qqiIq", "start end device choice since"),
    14: ("work", "<qdII", "time count unit zero"),
    15: ("lost", "<QII", "records reason zero"),
    19: ("selection", "<qqIIdqQ", "start end choice range share window seed"),
    20: ("cost", "<qQII", "spent count kind zero"),
}


def names_of(payload):
    at = 0
    while at + 8 <= len(payload):
        number, length = struct.unpack_from("<II", payload, at)
        yield number, payload[at + 8 : at + 8 + length].decode(errors="replace")
        at += 8 + (length + 7 & ~7)


def read_file(path):
    """Returns the rows of one writer by kind, each as a dictionary, and the writer's names by id."""
    rows, names = {kind[0]: [] for kind in LAYOUTS.values()}, {0: ""}
    with open(path, "rb") as file:
        data = file.read()
    at = 0
    while at + 64 <= len(data):
        magic, _, kind, count, width, stored, _, codec, _, _, _, _, _ = HEADER.unpack_from(data, at)
        if magic != 0x5948574B or codec:
            raise SystemExit(f"{path}: byte {at}: not a plain block")
        payload = data[at + 64 : at + 64 + stored]
        if kind == 0:
            names.update(names_of(payload))
        if kind in LAYOUTS:
            title, layout, fields = LAYOUTS[kind]
            fields, length = fields.split(), struct.calcsize(layout)
            for i in range(count):  # fields that an older writer did not write are 0
                row = payload[i * width : (i + 1) * width][:length].ljust(length, b"\0")
                rows[title].append(dict(zip(fields, struct.unpack(layout, row))))
        at += 64 + (stored + 7 & ~7)
    return rows, names


def read(folder):
    """Yields (path, rows, names) for each file of a recording."""
    for path in sorted(glob.glob(os.path.join(folder, "*.blocks"))):
        yield (path, *read_file(path))
