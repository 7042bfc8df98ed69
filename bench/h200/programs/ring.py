# SPDX-License-Identifier: Apache-2.0
"""Shows gaps between the power samples in a CSV, and what reading the samples cost. usage: ring.py POWER.csv STAT.json"""
import csv
import json
import statistics
import sys

with open(sys.argv[1]) as file:
    rows = [row for row in csv.DictReader(line for line in file if not line.startswith("#")) if row["source"] == "nvml.sample_mw"]
cost = json.load(open(sys.argv[2]))["own_cost"]
for device in sorted({row["device"] for row in rows}):
    times = sorted(int(row["time_ns"]) for row in rows if row["device"] == device)
    gaps = [b - a for a, b in zip(times, times[1:])]
    period = statistics.fmean(g for g in gaps if 15e6 < g < 25e6)
    span = times[-1] - times[0]
    print(f"GPU {device}: {len(times)} samples in {span / 60e9:.2f} minutes, every {period / 1e6:.3f} ms; gaps {min(gaps) / 1e6:.1f} to {max(gaps) / 1e6:.1f} ms, "
          f"{sum(g > 60e6 for g in gaps)} above 60 ms; {span / period - len(gaps):+.1f} samples are missing by the period")
print(f"readings lost {cost['lost_readings']}, failed {cost['failed_readings']}, deadlines missed {cost['missed_deadlines']} of {cost['reads']} reads, longest "
      f"{1e3 * cost['longest_read_s']:.1f} ms; {cost['all_cpu_s']:.2f} s of processor time in {cost['all_s']:.1f} s: {100 * cost['all_cpu_s'] / cost['all_s']:.3f} % of a core")
