// SPDX-License-Identifier: Apache-2.0
// What single operations cost: memory operations, the parts of a transfer, joules by category, joules per byte.

import { el, section } from "../dom";
import { energy, exact, known, percent, power, shorten, si, time, type Maybe } from "../format";
import { deviceEnergy, deviceLabel, IDLE_CATEGORIES, isOpened, sum, type Account, type Device, type Operation, type RankedCost, type Report, type Split } from "../report_types";
import { categoryVariable } from "../theme";
import { table } from "./parts";

const ratio = (part: Maybe, whole: Maybe): Maybe => (known(part) && known(whole) && whole > 0 ? part / whole : null);

/* Calls `draw` for each device that the page shows in full; returns the nodes, each preceded by the device's name if the report has several devices. */
function each(report: Report, draw: (device: Device, index: number) => HTMLElement | null): (HTMLElement | null)[] {
	const several = report.devices.length > 1;
	return report.devices.flatMap((device, index) => {
		const node = isOpened(device) ? draw(device, index) : null;
		return node ? [several ? el("h3", {}, deviceLabel(device)) : null, node] : [];
	});
}

const interval = (low: Maybe, high: Maybe): string => (known(low) && known(high) ? `${energy(low)} to ${energy(high)}` : "n/a");

function operationRow(row: Operation, all: Operation, whole: Maybe, priced: boolean, work: boolean): string[] {
	const times = [row.operation, time(row.time_ns / row.count), exact(row.count), time(row.time_ns), percent(ratio(row.time_ns, all.time_ns))];
	if (!priced) return times;
	return [...times, energy(row.each_nj), energy(row.gross_nj), interval(row.low_nj, row.high_nj), percent(ratio(row.gross_nj, all.gross_nj), 2), percent(ratio(row.gross_nj, whole), 2), ...(work ? [si(row.each_flop, "FLOP")] : [])];
}

function operations(report: Report, device: Device, index: number): HTMLElement | null {
	const rows = report.memory_operations?.find((o) => o.device === index)?.rows ?? [], all = rows.find((r) => r.operation === "sum");
	if (!all) return null;
	const priced = known(all.gross_nj) || rows.some((r) => known(r.gross_nj)), work = rows.some((r) => known(r.each_flop));
	const head = ["operation", "time each", "count", "time", "of time", ...(priced ? ["energy each", "energy", "90 % interval", "of energy", "of all metered", ...(work ? ["each is worth"] : [])] : [])];
	return table(head, rows.map((row) => operationRow(row, all, deviceEnergy(device), priced, work)), false, priced ? [3, 4, 7, 9, 10] : []);
}

export function operationsView(report: Report): HTMLElement | null {
	const nodes = each(report, (device, index) => operations(report, device, index));
	return nodes.length ? section("operations", "Memory operations", "Copies and memsets: their own time and gross energy, without the waiting for them.", ...nodes) : null;
}

/**
 * Rows for a kind of transfer: mean time and, if known, mean energy of its copy on the device, of the host's wait, and of the remainder; then a bar of their shares (of the energy
 * if that is known, otherwise of the time).
 */
function splitRow(split: Split): (string | Node)[][] {
	const mean = (sum: Maybe, count: number): Maybe => (known(sum) && count > 0 ? sum / count : null);
	const times = [split.dma_ns, split.wait_ns, split.rest_ns].map((v) => mean(v, split.count)) as Maybe[];
	const joules = [mean(split.dma_nj, split.priced_count), mean(split.wait_nj, split.count), mean(split.rest_nj, split.count)];
	const priced = joules.every(known), parts = priced ? joules : times, all = parts.reduce<number>((a, b) => a + (b ?? 0), 0);
	const tones = ["copy", "sync", "host"];
	const bar = el("span", { class: "bar wide" }, ...parts.map((part, i) => el("i", { style: `width:${all > 0 ? ((part ?? 0) / all) * 100 : 0}%;background:var(--${tones[i]!})` })));
	const row = (name: string | Node, count: string, values: Maybe[], show: (v: Maybe) => string): (string | Node)[] =>
		[name, count, ...values.map(show), show(values.every(known) ? values.reduce<number>((a, b) => a + b!, 0) : null)];
	return [
		row(`${split.kind}, time`, exact(split.count), times, time),
		...(priced ? [row(`${split.kind}, energy`, exact(split.priced_count), joules, energy)] : []),
		row(bar, "", parts.map((part) => ratio(part, all)), (v) => percent(v)),
	];
}

/* Notes on kinds of transfers whose mean remainder is more than twice the median, because a few remainders are long, for example at the start of the program. */
function uneven(splits: Split[]): HTMLElement[] {
	const rows = splits.filter((s) => known(s.rest_median_ns) && known(s.rest_longest_ns) && s.rest_ns > 2 * s.count * s.rest_median_ns);
	return rows.map((s) => el("p", { class: "note" }, `${s.kind}: a few long remainders make their mean; half last at most ${time(s.rest_median_ns!)}, the longest ${time(s.rest_longest_ns!)} (${percent(s.rest_longest_ns! / s.rest_ns)} of their sum).`));
}

export function splitView(report: Report): HTMLElement | null {
	const nodes = each(report, (_, index) => {
		const splits = (report.transfer_split ?? []).filter((s) => s.device === index);
		if (!splits.length) return null;
		return el("div", {}, table(["a transfer", "count", "DMA", "wait", "remainder", "sum"], splits.flatMap(splitRow), false, [1]), ...uneven(splits));
	});
	return nodes.length ? section("split", "What a transfer costs", "Means of one. DMA is the copy itself. Then the device idles until its next activity: wait, while the thread that issued the copy is blocked; remainder, while it works or launches.", ...nodes) : null;
}

const POTENTIAL: Record<string, string> = { high: "sync", medium: "copy", low: "range" };

export function categoriesView(report: Report): HTMLElement | null {
	const rows = report.categories ?? [];
	if (!rows.length) return null;
	const priced = rows.some((r) => known(r.gross_nj) && r.gross_nj > 0);
	const name = (category: string): Node => el("span", {}, el("span", { class: "swatch", style: `background:${categoryVariable(category)}` }), category);
	const potential = (word: string): Node => el("span", {}, POTENTIAL[word] ? el("span", { class: "swatch", style: `background:var(--${POTENTIAL[word]!})` }) : null, word);
	const head = ["category", "share", "time", "count", ...(priced ? ["gross", "idle level", "net"] : []), "potential found"];
	return section("categories", priced ? "Energy by category" : "Time by category", "Sums over all devices. Potential: what the best finding would save of the whole; high from 10 %, medium from 3 %, low from 0.1 %.",
		table(head, rows.map((r) => [name(r.category), percent(r.share_ratio), time(r.time_ns), exact(r.count), ...(priced ? [energy(r.gross_nj), energy(r.idle_nj), energy(r.net_nj)] : []), potential(r.potential)])));
}

/**
 * A row of the cost ranking for accounts that move no bytes (kernels, collectives, idle time), for comparison. It has no ratio to the cheapest copy, since its joules are not per
 * byte.
 */
function otherRow(device: Device, name: string, categories: string[], more: (rows: Account[]) => string): string[] | null {
	const rows = device.accounts.filter((a) => categories.includes(a.category));
	if (!rows.length) return null;
	const nj = sum(rows.map((a) => a.gross_nj)), net = sum(rows.map((a) => a.net_nj)), metered = rows.filter((a) => known(a.gross_nj) && known(a.mean_power_mw) && a.mean_power_mw > 0);
	const seconds = metered.reduce((all, a) => all + (a.gross_nj! / a.mean_power_mw!) * 1e-6, 0);
	return [name, more(rows), "", "", energy(nj), energy(net), known(nj) && seconds > 0 ? power((nj * 1e-6) / seconds) : "n/a", time(rows.reduce((all, a) => all + a.time_ns, 0))];
}

function costRow(device: Device, cost: RankedCost): string[] {
	const account = device.accounts[cost.account]!, share = ratio(cost.rate_bytes_per_s, cost.peak_bytes_per_s);
	return [shorten(account.name, 64), `${si(known(cost.gross_nj_per_byte) ? cost.gross_nj_per_byte * 1e-9 : null, "J")}/B gross, ${si(known(cost.net_nj_per_byte) ? cost.net_nj_per_byte * 1e-9 : null, "J")}/B net`,
		known(cost.ratio_to_best) ? `${cost.ratio_to_best < 100 ? cost.ratio_to_best.toPrecision(3) : exact(Number(cost.ratio_to_best.toPrecision(3)))} x` : "n/a", `${si(cost.rate_bytes_per_s, "B/s")}${known(share) ? `, ${share < 0.0005 ? "<0.1 %" : percent(share)} of peak` : ""}`, energy(account.gross_nj), energy(account.net_nj), power(account.mean_power_mw), time(account.time_ns)];
}

/* Text of the joules per FLOP of the accounts if the report states the FLOP and has one device, otherwise of the joules per kernel. */
function perFlop(report: Report, rows: Account[]): string {
	const stated = (report.work ?? []).filter((w) => /^flop/.test(w.unit) && known(w.count));
	const whole = stated.filter((w) => w.unit === "flop"), count = (whole.length ? whole : stated).reduce((all, w) => all + w.count!, 0);
	const joules = rows.every((a) => known(a.mean_power_mw)) ? rows.reduce((all, a) => all + a.mean_power_mw! * 1e-3 * a.time_ns * 1e-9, 0) : null;
	return known(joules) && count > 0 && report.devices.length === 1 ? `${si(joules / count, "J")}/FLOP` : `${energy(eachOf(rows))} a kernel`;
}

function eachOf(rows: Account[]): Maybe {
	const count = rows.reduce((all, a) => all + a.count, 0);
	return rows.every((a) => known(a.mean_power_mw)) && count > 0 ? rows.reduce((all, a) => all + a.mean_power_mw! * 1e-3 * a.time_ns, 0) / count : null;
}

export function rankingView(report: Report): HTMLElement | null {
	const nodes = each(report, (device, index) => {
		const costs = (report.transfer_efficiency ?? []).filter((c) => c.device === index);
		if (!costs.length) return null;
		const others = [
			otherRow(device, "kernels", ["compute"], (rows) => perFlop(report, rows)), otherRow(device, "collectives", ["collective"], (rows) => `${energy(eachOf(rows))} each`),
			otherRow(device, "idle", IDLE_CATEGORIES.filter((c) => c !== "outside"), (rows) => `${energy(eachOf(rows))} a gap`),
		].filter((row): row is string[] => row !== null);
		const rows = [...costs.map((cost) => costRow(device, cost)), ...others], head = ["operation", "cost", "x best", "rate", "gross", "net", "power", "time"];
		const timeOnly = (row: string[]): string[] => [0, 2, 3, 7].map((at) => row[at]!);
		return known(deviceEnergy(device)) ? table(head, rows, true, [3, 4, 5, 6, 7]) : table(timeOnly(head), rows.map(timeOnly), true);
	});
	const note = report.devices.some((d) => known(deviceEnergy(d)))
		? "Copies and memsets, the cheapest byte first; then, in units of their own, what kernels, collectives and idle time cost. Net: above the idle level."
		: "Copies and memsets, the fastest first; then the time of kernels, collectives and idling. No energy is known.";
	return nodes.length ? section("ranking", "What a byte costs", note, ...nodes) : null;
}

