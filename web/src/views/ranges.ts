// SPDX-License-Identifier: Apache-2.0
// Ranges of the program as components: how busy the device is in each, why it is not, and what that could save at most.

import { el } from "../dom";
import { energy, exact, known, percent, time, visible, type Maybe } from "../format";
import { isOpened, type RangeSum, type Report } from "../report_types";
import { table } from "./parts";

const SHOWN = 40;
/**
 * IDLES: if the device idles for this share of a range or more, idling is named as the cause of low utilisation. EMPTY: likewise if kernels leave this share of the multiprocessors
 * empty.
 */
const IDLES = 0.1;
const EMPTY = 0.3;

/* Time of a range over all devices of its process, ns: busy time divided by the busy share; if the devices were never busy, the host's time. */
function windowOf(range: RangeSum): Maybe {
	return known(range.busy_ratio) && range.busy_ratio > 0 && known(range.busy_ns) ? range.busy_ns / range.busy_ratio : range.busy_ratio === 0 ? range.host_ns : null;
}

/* Text of the finding whose range this is or, if there is none, of the line of code in which the host was longest while a device idled in this range; empty if neither is known. */
function reason(report: Report, range: RangeSum): string {
	const finding = report.findings.find((f) => f.in?.split(" of ").includes(range.name));
	if (finding) return `: ${visible(finding.title)}`;
	const wait = report.devices.filter(isOpened).flatMap((d) => d.host_waits ?? []).filter((w) => w.name === range.name && w.file).sort((a, b) => b.time_ns - a.time_ns)[0];
	return wait ? `, the host in ${visible(wait.file!)}${known(wait.line) ? `:${wait.line}` : ""}` : "";
}

function cause(report: Report, range: RangeSum): string {
	if (!known(range.busy_ratio)) return "n/a";
	const idle = 1 - range.busy_ratio, empty = known(range.sm_weighted_ratio) && range.busy_ratio > 0 ? 1 - range.sm_weighted_ratio / range.busy_ratio : 0;
	if (idle >= IDLES && idle >= empty * range.busy_ratio) return `the device idles in ${percent(idle)} of it${reason(report, range)}`;
	return empty >= EMPTY ? `kernels leave ${percent(empty)} of the multiprocessors empty` : "none: the device is busy";
}

/* Text of the share of `span` by which the run would be shorter if the devices did not idle in this range: an upper bound of what can be saved there. */
function potential(range: RangeSum, span: number): string {
	const length = windowOf(range);
	if (!known(length) || !known(range.busy_ns) || span <= 0) return "n/a";
	const share = Math.max(0, length - range.busy_ns) / span;
	const word = share >= 0.1 ? "high" : share >= 0.03 ? "medium" : share >= 0.001 ? "low" : "none";
	return word === "none" ? word : `${word}, at most ${percent(share)}`;
}

export function rangesView(report: Report): HTMLElement | null {
	const rows = (report.ranges ?? []).slice(0, SHOWN), span = report.devices.reduce((all, d) => all + (d.time["span_ns"] ?? 0), 0);
	if (!rows.length) return null;
	const priced = rows.some((r) => known(r.energy_nj) || known(r.window_energy_nj)), share = (r: RangeSum): Maybe => { const length = windowOf(r); return known(length) && span > 0 ? length / span : null; };
	const head = ["range", "share of run", "busy", "SM-weighted", "cause", "potential", "count", "host time", "device time", ...(priced ? ["energy launched", "energy in window"] : [])];
	const cells = (r: RangeSum): (string | Node)[] => [
		visible(r.name).slice(0, 80), percent(share(r)), percent(r.busy_ratio), percent(r.sm_weighted_ratio), el("span", { class: "words" }, cause(report, r)), potential(r, span),
		exact(r.count), time(r.host_ns), time(r.device_ns), ...(priced ? [energy(r.energy_nj), energy(r.window_energy_nj)] : []),
	];
	return el("section", { id: "ranges", "aria-labelledby": "h-ranges" }, el("h2", { id: "h-ranges" }, "Ranges"),
		el("p", { class: "muted" }, "Ranges may nest, so shares do not add up. Potential: the share of the run's device time that would be free if the device did not idle in the range. Device work counts for the range that launched it; nested ranges each count it."),
		table(head, rows.map(cells), true, [6, 7, 8, 9, 10]));
}
