#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The report of an export is the report of its source: times, causes of idle time, ranks, processes.

Usage: round_trip.py KWHY SOURCE_DIR
"""

import json
import os
import subprocess
import sys
import tempfile

START = 1795245124000000000
FORMS = ("chrome", "perfetto", "sqlite", "csv", "parquet")

# Two processes on two GPUs: equal thread numbers, equal streams, equal correlations.
HEADER = (
    "kind,name,device,stream,start_ns,end_ns,bytes,blocks,threads_per_block,energy_nj,context,process,"
    "thread,correlation"
)


def two_processes(ranks):
    lines = (["# device 0 rank=0", "# device 1 rank=1"] if ranks else []) + [HEADER]
    for process, device in ((70, 0), (71, 1)):
        for i in range(40):
            at = START + i * 100000 + 500 * device
            lines.append(
                f"kernel,work,{device},7,{at + 9000},{at + 29000 + 1000 * device},,10,128,,1,{process},,{i}"
            )
            lines.append(f"call,cudaLaunchKernel,,,{at},{at + 5000},,,,,,{process},5,{i}")
            lines.append(f"call,cudaStreamSynchronize,,,{at + 6000},{at + 40000},,,,,,{process},5,")
            lines.append(f"range,step {i},,,{at},{at + 90000},,,,,,{process},5,")
    return "\n".join(lines) + "\n"


def export(kwhy, trace, power, form, path):
    """False: the form needs DuckDB's library, which is not here."""
    command = [kwhy, "export", trace, "--to", form, "-o", path] + (["--power", power] if power else [])
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode and form == "parquet" and "libduckdb.so" in done.stderr:
        return False
    if done.returncode:
        sys.exit(f"{' '.join(command)}: {done.stderr}")
    return True


def report(kwhy, path, power):
    command = [kwhy, "report", path, "--json"] + (["--power", power] if power else [])
    return json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


def facts(report_json, with_energy):
    """What must be equal, with times in Unix nanoseconds: origins may differ."""
    origin = int(report_json["window"]["origin_unix_ns"])
    for device in report_json["devices"]:
        for key in ("first_ns", "last_ns"):
            device["time"][key] += origin
    devices = [
        {key: device[key] for key in ("index", "rank", "time", "kernels", "collectives", "memsets")}
        for device in report_json["devices"]
    ]
    if with_energy:
        for device, source in zip(devices, report_json["devices"]):
            device["measured_nj"] = source["energy"]["measured_nj"]
    processes = sorted((p["rank"] if p["rank"] is not None else -1) for p in report_json["processes"])
    return {
        "window": [origin + report_json["window"][key] for key in ("start_ns", "end_ns")],
        "devices": devices,
        "ranks": report_json["ranks"],
        "processes": processes,
        "streams": len(report_json["streams"]),
        "lost": report_json["lost"]["unlinked_activities"],
    }


def main():
    kwhy, source = sys.argv[1:3]
    os.environ["KWHY_PROFILES"] = os.path.join(source, "profiles")
    example = os.path.join(source, "examples", "h200-train")
    forms = set(FORMS)
    with tempfile.TemporaryDirectory() as folder:
        sources = [(os.path.join(example, "trace.json.zst"), os.path.join(example, "power.csv"))]
        for ranks in (False, True):
            made = os.path.join(folder, f"two{ranks}.csv")
            with open(made, "w", encoding="utf-8") as file:
                file.write(two_processes(ranks))
            sources.append((made, None))
        for trace, power in sources:
            for form in FORMS:
                path = os.path.join(folder, "export." + form)
                if not export(kwhy, trace, power, form, path):
                    forms.discard(form)
                    continue
                # databases hold the power, too
                with_energy = power is not None and form in ("sqlite", "parquet")
                first = facts(report(kwhy, trace, power if with_energy else None), with_energy)
                back = facts(report(kwhy, path, None), with_energy)
                for key, value in first.items():
                    if back[key] != value:
                        sys.exit(f"{form} of {trace}: {key} is {back[key]}, not {value}")
    if "parquet" not in forms:
        print("skipped: parquet, as DuckDB's library (libduckdb.so) is not here")
    print(f"reports of exports to {', '.join(sorted(forms))} are those of their sources")


if __name__ == "__main__":
    main()
