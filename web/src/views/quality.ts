// SPDX-License-Identifier: Apache-2.0
// Can these figures be trusted: balance, meter, utilisation, what was lost or unknown.

import { el } from "../dom";
import { energy, exact, known, percent, power, si, time, visible } from "../format";
import { deviceLabel, hasActivity, isOpened, type Device, type HostEnergy, type Report } from "../report_types";
import { table } from "./parts";

const TIME_ROWS: [string, string][] = [
	["compute_ns", "compute"], ["overlap_ns", "copy or collective under compute"], ["collective_ns", "collective, exposed"], ["copy_ns", "copy"], ["memset_ns", "memset"],
	["sync_ns", "idle: host in synchronize"], ["launch_ns", "idle: host launching"], ["alloc_ns", "idle: host allocating"], ["host_ns", "idle: host elsewhere"], ["probing_ns", "probing: kernels repeated"], ["unrecorded_ns", "not recorded"],
];

/* Section with the time of each category on each device that the page shows in full; null if no activity was recorded. */
export function timeView(report: Report): HTMLElement | null {
	if (!hasActivity(report)) return null;
	const devices = report.devices.filter(isOpened);
	const rows = TIME_ROWS.map(([key, label]) => [label, ...devices.map((d) => known(d.time[key]) ? `${time(d.time[key])} · ${percent(d.time[key]! / (d.time["span_ns"] || 1))}` : "n/a")]);
	rows.push(["span", ...devices.map((d) => time(d.time["span_ns"]))]);
	return el("section", { id: "time", "aria-labelledby": "h-time" }, el("h2", { id: "h-time" }, "Where the time went"),
		el("p", { class: "muted" }, "Disjoint: the rows add up to the span."), table(["category", ...devices.map(deviceLabel)], rows));
}

/* Titles of the rows by reason, the same as in the text report. */
const waitTitles: { [reason: string]: string } = {
	range: "a step, in none of its ranges",
	outside: "no range",
	launched: "nothing: launched, not begun",
	unlinked: "unknown: no API call is linked",
};

/**
 * Section on the host range (or its absence) in which the host was while the device idled; null if no device idled in a range, since the table would then only repeat the
 * categories of idle time.
 */
export function waitsView(report: Report): HTMLElement | null {
	const devices = report.devices.filter((d) => d.host_waits?.some((w) => w.reason === "range"));
	if (!devices.length) return null;
	return el("section", { id: "waits", "aria-labelledby": "h-waits" }, el("h2", { id: "h-waits" }, "The device waited while the host was in ..."),
		el("p", { class: "muted" }, "By the innermost range; the rows of a device add up to its idle time."),
		...devices.flatMap((d) => [...(devices.length > 1 ? [el("h3", {}, deviceLabel(d))] : []),
			table(["host in", "time", "of idle", "gaps", "longest", "at"], d.host_waits!.slice(0, 25).map((w) =>
				[visible(w.name ?? waitTitles[w.reason] ?? w.reason).slice(0, 80), time(w.time_ns), percent(w.time_ns / (d.time["idle_ns"] || 1)), exact(w.gap_count), time(w.longest_ns),
					w.file ? visible(w.file) + (w.line ? `:${w.line}` : "") : ""]))]));
}

function balance(device: Device): string[][] {
	const e = device.energy;
	if (!e) return [["energy", "not available: no meter reports it"]];
	const measured = e["measured_nj"];
	const even = known(measured) && known(e["attributed_nj"]);
	return [
		["meter", e.source ?? "n/a"],
		["metered", `${energy(measured)} (${exact(measured, "nJ")})`],
		["attributed", `${energy(e["attributed_nj"])} (${exact(e["attributed_nj"], "nJ")})`],
		["balance", even ? (measured === e["attributed_nj"] ? "exact, to the nanojoule" : `off by ${exact(measured! - e["attributed_nj"]!, "nJ")}`) : "no meter to balance against"],
		["clean idle / context / net", `${energy(e["clean_idle_nj"])} / ${energy(e["context_idle_nj"])} / ${energy(e["net_nj"])}`],
		["not metered, estimated", energy(e["edge_nj"])],
		["expected on the wrong account", percent(e["expected_wrong_ratio"])],
		["model against counter updates, rms", percent(e["counter_check_ratio"])],
		["meter response", known(e["time_constant_s"]) ? `low-pass ${si(e["time_constant_s"], "s")}, delay ${si(e["delay_s"], "s")}` : "n/a"],
	];
}

/* Titles of the rows of what recording cost, by kind, the same as in the text report. */
const tookTitles: { [kind: string]: string } = {
	thread: "processor, writing what was recorded",
	buffers: "processor, reading the profiler's buffers",
	start: "program waits: the profiler starts",
	switch: "windows begin and end",
	finish: "program waits: the last records",
	launcher: "processor, kwhy record itself",
	sampler: "of that, reading the meters",
	profiler: "profiler, on the program's threads",
	device_idle: "device idle meanwhile",
	counters: "performance counters enabled; in no other figure",
};

/* Table of the energies that hosts' meters measured; it has the hosts' names if any is known. */
function hostTable(hosts: HostEnergy[]): HTMLElement {
	const names = hosts.some((h) => h.host);
	return table([...(names ? ["host"] : []), "meter", "window", "energy", "mean power"], hosts.map((h) => {
		const length = h.end_ns - h.start_ns, milliwatts = known(h.measured_nj) && length > 0 ? h.measured_nj / length * 1000 : null;
		return [...(names ? [visible(h.host ?? "n/a")] : []), h.source, time(length), energy(h.measured_nj), power(milliwatts)];
	}));
}

/* Largest number of notes that are shown; of a report of many ranks there may be more, which are only counted. */
const NOTES = 40;

export function quality(report: Report): HTMLElement {
	const lost = Object.entries(report.lost).filter(([, value]) => value !== 0 && value !== false && value !== null);
	const notes = [
		...lost.map(([key, value]) => `${key.replaceAll("_", " ")}: ${typeof value === "number" ? exact(value) : String(value)}`),
		...report.warnings.map((w) => (typeof w === "string" ? w : w.text)),
	];
	return el("section", { id: "quality", "aria-labelledby": "h-quality" }, el("h2", { id: "h-quality" }, "How far to trust this"),
		...report.devices.filter(isOpened).flatMap((d) => [el("h3", {}, `${deviceLabel(d)}${d.name ? `, ${visible(d.name)}` : ""}`), table(["check", "value"], balance(d))]),
		...(report.hosts?.length ? [el("h3", {}, "Host: metered in addition to the devices, not part of the figures above"), hostTable(report.hosts)] : []),
		...(report.overhead?.length ? [el("h3", {}, "What the recording took"), table(["", "times", "time", "energy, modelled"],
			report.overhead.map((o) => [(tookTitles[o.kind] ?? o.kind) + (known(o.device) ? `, ${deviceLabel(report.devices[o.device]!)}` : ""), o.count ? exact(o.count) : "", time(o.time_ns), energy(o.energy_nj)]))] : []),
		el("h3", {}, "Lost or unknown"),
		notes.length ? el("ul", { class: "notes" }, ...notes.slice(0, NOTES).map((text) => el("li", {}, visible(text)))) : el("p", {}, "Nothing."),
		notes.length > NOTES ? el("p", { class: "muted" }, `${exact(notes.length - NOTES)} more: kwhy report --section unknown`) : null);
}

export function apiView(report: Report): HTMLElement | null {
	if (!report.api.length) return null;
	return el("section", { id: "api", "aria-labelledby": "h-api" }, el("h2", { id: "h-api" }, "API calls"),
		table(["call", "count", "total", "mean"], report.api.slice(0, 25).map((a) => [visible(a.name), exact(a.count), time(a.total_ns), time(a.total_ns / a.count)])));
}
