# SPDX-License-Identifier: Apache-2.0
"""Writes a random run of a HIP program as rocprofv3 does: database, JSON and CSV."""

import csv
import json
import os
import sqlite3

from random_run import Strings

BOOT = 1550151853000000
CPUS = 1  # number of agents before the first GPU
ROUTES = {"copy_h2d": "HOST_TO_DEVICE", "copy_d2h": "DEVICE_TO_HOST", "copy_d2d": "DEVICE_TO_DEVICE"}
HANDLE = 1 << 20
PID, TID = 77, 78


def agents(run):
    """Returns (id, type, number among agents of its type, location on the PCI bus) of each agent."""
    for number in range(CPUS + run.devices):
        is_cpu = number < CPUS
        yield number, "CPU" if is_cpu else "GPU", number if is_cpu else number - CPUS, 0 if is_cpu else 0x2F00 + 0x100 * number


def ends(work):
    """Returns the agents from which and to which a copy goes."""
    gpu = CPUS + work["device"]
    return 0 if work["way"] == "copy_h2d" else gpu, 0 if work["way"] == "copy_d2h" else gpu


def kernels(run):
    return [work for work in run.works if work["kind"] == "kernel"]


def copies(run):
    return [work for work in run.works if work["kind"] == "copy"]


def write_rocpd(run, path):
    database, strings, symbols = sqlite3.connect(path), Strings(), Strings()
    database.executescript("""
        PRAGMA synchronous=OFF;
        CREATE TABLE rocpd_info_node_g(id INTEGER PRIMARY KEY, hostname TEXT);
        INSERT INTO rocpd_info_node_g VALUES(5, 'node7');
        CREATE TABLE rocpd_info_process_g(id INTEGER PRIMARY KEY, pid INTEGER, environment JSONB);
        INSERT INTO rocpd_info_process_g VALUES(77, 77, '{}');
        CREATE TABLE rocpd_info_thread_g(id INTEGER PRIMARY KEY, tid INTEGER);
        INSERT INTO rocpd_info_thread_g VALUES(9, 78);
        CREATE VIEW rocpd_info_process AS SELECT * FROM rocpd_info_process_g;
        CREATE TABLE rocpd_info_agent_g(id INTEGER PRIMARY KEY, type, type_index, name, model_name, product_name, extdata);
        CREATE TABLE rocpd_string_g(id INTEGER PRIMARY KEY, string);
        CREATE TABLE rocpd_event_g(id INTEGER PRIMARY KEY, stack_id, correlation_id, extdata);
        CREATE TABLE rocpd_info_kernel_symbol_g(id INTEGER PRIMARY KEY, display_name, arch_vgpr_count, accum_vgpr_count);
        CREATE TABLE rocpd_region_g(id INTEGER PRIMARY KEY, tid, start, end, name_id, event_id);
        CREATE TABLE rocpd_kernel_dispatch_g(start, end, agent_id, queue_id, stream_id, kernel_id, group_segment_size,
            workgroup_size_x, workgroup_size_y, workgroup_size_z, grid_size_x, grid_size_y, grid_size_z, event_id);
        CREATE TABLE rocpd_memory_copy_g(start, end, src_agent_id, dst_agent_id, size, stream_id, name_id, event_id);
        """)

    def event(row, extdata="{}"):
        return database.execute("INSERT INTO rocpd_event_g VALUES(NULL, ?, 0, ?)", (row.get("correlation", 0), extdata)).lastrowid

    for number, kind, index, location in agents(run):
        database.execute("INSERT INTO rocpd_info_agent_g VALUES(?, ?, ?, 'gfx942', 'MI300X', 'Instinct', ?)",
                         (number, kind, index, json.dumps({"cu_count": 304, "domain": 0, "location_id": location})))
    for row in run.calls:
        database.execute("INSERT INTO rocpd_region_g VALUES(NULL, 9, ?, ?, ?, ?)",
                         (BOOT + row["start"], BOOT + row["end"], strings(row["name"]), event(row)))
    for row in run.ranges:
        database.execute("INSERT INTO rocpd_region_g VALUES(NULL, 9, ?, ?, ?, ?)",
                         (BOOT + row["start"], BOOT + row["end"], strings("roctxThreadRangeA"),
                          event(row, json.dumps({"message": row["name"]}))))
    for work in kernels(run):
        database.execute("INSERT INTO rocpd_kernel_dispatch_g VALUES(?, ?, ?, 5, ?, ?, 0, ?, 1, 1, ?, 1, 1, ?)",
                         (BOOT + work["start"], BOOT + work["end"], CPUS + work["device"], work["stream"],
                          symbols(work["name"]), work["threads"], work["blocks"] * work["threads"], event(work)))
    for work in copies(run):
        database.execute("INSERT INTO rocpd_memory_copy_g VALUES(?, ?, ?, ?, ?, ?, ?, ?)",
                         (BOOT + work["start"], BOOT + work["end"], *ends(work), work["bytes"], work["stream"],
                          strings("MEMORY_COPY_" + ROUTES[work["way"]]), event(work)))
    database.executemany("INSERT INTO rocpd_info_kernel_symbol_g VALUES(?, ?, 24, 4)",
                         [(number, text) for text, number in symbols.ids.items()])
    database.executemany("INSERT INTO rocpd_string_g VALUES(?, ?)", [(number, text) for text, number in strings.ids.items()])
    database.commit()
    database.close()


def json_row(row, kind, operation, **more):
    return {"kind": kind, "operation": operation, "thread_id": TID, "correlation_id": {"internal": row.get("correlation", 0)},
            "start_timestamp": BOOT + row["start"], "end_timestamp": BOOT + row["end"], **more}


def write_rocprof_json(run, path):
    names = sorted({row["name"] for row in run.calls})
    routes, symbols = list(ROUTES.values()), Strings()
    markers = [dict(row, correlation=1 << 20 | number) for number, row in enumerate(run.ranges)]
    sizes = lambda size: {"x": size, "y": 1, "z": 1}
    dispatches = [json_row(work, 5, 1, stream_id={"handle": work["stream"]}, dispatch_info={
        "agent_id": {"handle": HANDLE + CPUS + work["device"]}, "queue_id": {"handle": 5}, "kernel_id": symbols(work["name"]),
        "group_segment_size": 0, "workgroup_size": sizes(work["threads"]),
        "grid_size": sizes(work["blocks"] * work["threads"])}) for work in kernels(run)]
    moves = [json_row(work, 2, routes.index(ROUTES[work["way"]]), bytes=work["bytes"], stream_id={"handle": work["stream"]},
                      src_agent_id={"handle": HANDLE + ends(work)[0]}, dst_agent_id={"handle": HANDLE + ends(work)[1]})
             for work in copies(run)]
    tool = {
        "metadata": {"node": {"hostname": "node7"}, "pid": PID},
        "agents": [{"id": {"handle": HANDLE + number}, "type": 1 if kind == "CPU" else 2, "cu_count": 304, "domain": 0,
                    "location_id": location, "name": "gfx942", "product_name": "Instinct", "logical_node_type_id": index}
                   for number, kind, index, location in agents(run)],
        "strings": {
            "callback_records": [],
            "marker_api": [{"key": row["correlation"], "value": row["name"]} for row in markers],
            "buffer_records": [{"kind": "NONE", "operations": []}, {"kind": "HIP", "operations": names},
                               {"kind": "MEMORY_COPY", "operations": ["MEMORY_COPY_" + route for route in routes]}]},
        "kernel_symbols": [{"kernel_id": number, "formatted_kernel_name": text, "arch_vgpr_count": 24, "accum_vgpr_count": 4}
                           for text, number in symbols.ids.items()],
        "buffer_records": {
            "kernel_dispatch": dispatches, "memory_copy": moves,
            "hip_api": [json_row(row, 1, names.index(row["name"])) for row in run.calls],
            "marker_api": [json_row(row, 3, 0) for row in markers]}}
    with open(path, "w", encoding="utf-8") as file:
        json.dump({"rocprofiler-sdk-tool": [tool]}, file, ensure_ascii=False)


def write_part(folder, part, rows):
    with open(os.path.join(folder, f"77_{part}.csv"), "w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, quoting=csv.QUOTE_NONNUMERIC, lineterminator="\n")
        writer.writerow(list(rows[0]))
        writer.writerows(list(row.values()) for row in rows)


def write_rocprof_csv(run, folder):
    """Writes the set of CSV files. Returns the one that kwhy is given."""
    host = lambda row, domain: {"Domain": domain, "Function": row["name"], "Process_Id": PID, "Thread_Id": TID,
                                "Correlation_Id": row.get("correlation", 0), "Start_Timestamp": BOOT + row["start"],
                                "End_Timestamp": BOOT + row["end"]}
    device = lambda work: {"Correlation_Id": work["correlation"], "Stream_Id": work["stream"],
                           "Start_Timestamp": BOOT + work["start"], "End_Timestamp": BOOT + work["end"]}
    parts = {
        "agent_info": [{"Node_Id": number, "Logical_Node_Id": number, "Agent_Type": kind, "Cu_Count": 304, "Location_Id": location,
                        "Domain": 0, "Name": "gfx942", "Product_Name": "Instinct"} for number, kind, _, location in agents(run)],
        "hip_api_trace": [host(row, "HIP_RUNTIME_API") for row in run.calls],
        "marker_api_trace": [host(row, "MARKER_CORE_API") for row in run.ranges],
        "kernel_trace": [{"Kind": "KERNEL_DISPATCH", "Agent_Id": f"Agent {CPUS + work['device']}", "Queue_Id": 5,
                          "Kernel_Name": work["name"], "LDS_Block_Size": 0, "VGPR_Count": 24, "Accum_VGPR_Count": 4,
                          "Workgroup_Size_X": work["threads"], "Workgroup_Size_Y": 1, "Workgroup_Size_Z": 1,
                          "Grid_Size_X": work["blocks"] * work["threads"], "Grid_Size_Y": 1, "Grid_Size_Z": 1, **device(work)}
                         for work in kernels(run)],
        "memory_copy_trace": [{"Kind": "MEMORY_COPY", "Direction": "MEMORY_COPY_" + ROUTES[work["way"]],
                               "Source_Agent_Id": f"Agent {ends(work)[0]}", "Destination_Agent_Id": f"Agent {ends(work)[1]}",
                               **device(work)} for work in copies(run)]}
    for part, rows in parts.items():
        if rows:
            write_part(folder, part, rows)
    return os.path.join(folder, "77_hip_api_trace.csv")
