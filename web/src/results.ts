// SPDX-License-Identifier: Apache-2.0
// Pages of results whose rows all have the same figures: kwhy bench ops (docs/formats/operations.md), and kwhy-lab (lab/README.md).

import { chart, escapeHtml, legend } from "./chart";
import { button, el, section } from "./dom";
import { exact, known, percent, si, visible, type Maybe } from "./format";
import { color, isDark, setTheme } from "./theme";
import { table } from "./views/parts";

interface Figure { value: Maybe; low: Maybe; high: Maybe }
interface Operation {
	id: string; title: string; class: string; unit: string; missing: string | null; count: Maybe; bytes: Maybe; seconds: Maybe; rate_per_s: Maybe; mean_w: Maybe; gross_j: Maybe;
	gross_j_per_unit: Figure; net_j_per_unit: Figure;
}
export interface Operations {
	schema: string; backend: string; gpus: string[]; memory_bytes: number; energy_missing: string | null; ended: string | null; operations: Operation[];
	rooflines: { compute: string; memory: string; time_balance_per_byte: Maybe; energy_balance_per_byte: Maybe }[];
}
interface Phase { name: string | null; runs: number; run_s: { median: Maybe }; items_a_run: Maybe; items_per_s: Maybe; window_s: Maybe; mean_w: Maybe; gross_j_per_item: Figure; net_j_per_item: Figure }
interface Row {
	id: string; name: string; title: string | null; after: string | null; change: string | null; missing: string | null; wrong: string | null; busy_ratio: Maybe; phases: Phase[];
	a_run?: Record<string, Maybe>;
}
export interface Lab { schema: string; backend: string; gpus: { name: string | null }[]; item: string; energy_missing: string | null; ended: string | null; rows: Row[] }

/* A row of a chart: gross joules with their interval, and net joules, as two marks on a logarithmic axis. */
interface Bar { label: string; gross: Figure; net: Maybe }

/* Explains "±" in the texts of joules(). */
const INTERVAL = "± is half of a 95 % interval";

/** Joules with half of their 95 % interval; if the interval includes 0, "<" and its upper end. */
function joules({ value, low, high }: Figure): string {
	if (!known(value)) return "n/a";
	if (known(low) && known(high)) return low <= 0 ? `< ${si(Math.max(high, 0), "J", 2)}` : `${si(value, "J")} ± ${percent((high - low) / 2 / value)}`;
	return si(value, "J");
}

function bars(id: string, label: string, unit: string, get: Bar[]): HTMLElement {
	const shown = get.filter((b) => known(b.gross.value) && b.gross.value > 0), series = (name: string, tone: string, value: (b: Bar) => Maybe): object => ({
		type: "scatter", name, symbol: name === "gross" ? "circle" : "diamond", symbolSize: 10, itemStyle: { color: color(tone) },
		data: shown.flatMap((b, i) => (known(value(b)) && value(b)! > 0 ? [{ value: [value(b), i], bar: b }] : [])),
	});
	return chart({
		id, label, height: 90 + 28 * shown.length,
		rows: () => [["what", `gross_j_per_${unit}`, "low", "high", `net_j_per_${unit}`], ...shown.map((b) => [b.label, b.gross.value ?? null, b.gross.low ?? null, b.gross.high ?? null, b.net ?? null])],
		option: (isNarrow) => ({
			grid: { left: isNarrow ? 72 : 150, right: 40, top: 36, bottom: 46 }, legend: legend(),
			tooltip: { formatter: (p: { data: { bar: Bar } }) => `${escapeHtml(p.data.bar.label)}<br>gross ${joules(p.data.bar.gross)} a ${unit}<br>above idle ${si(p.data.bar.net, "J")}` },
			xAxis: { type: "log", name: `J a ${unit}`, nameLocation: "middle", nameGap: 28, axisLabel: { color: color("muted"), formatter: (v: number) => si(v, "J", 1), hideOverlap: true }, splitLine: { lineStyle: { color: color("line") } } },
			yAxis: { type: "category", inverse: true, data: shown.map((b) => b.label), axisLabel: { color: color("text"), fontSize: isNarrow ? 10 : 12, width: isNarrow ? 66 : 140, overflow: "truncate" }, splitLine: { show: true, lineStyle: { color: color("line") } } },
			series: [series("gross", "compute", (b) => b.gross.value), series("above idle", "range", (b) => b.net)],
		}),
	});
}

function heading(title: string, gpus: string, note: string, ended: string | null, energyMissing: string | null): HTMLElement {
	return el("header", {}, el("div", { class: "topline" }, el("h1", {}, title), el("span", {}, visible(gpus)), el("span", { class: "muted small" }, visible(note)), el("span", { class: "grow" }), button("light / dark", () => setTheme(!isDark()))),
		ended ? el("p", { class: "warn" }, `The run ended early: ${visible(ended)}.`) : null, energyMissing ? el("p", { class: "warn" }, `Joules are missing: ${visible(energyMissing)}`) : null);
}

function show(app: HTMLElement, head: HTMLElement, sections: (HTMLElement | null)[]): void {
	const shown = sections.filter((s): s is HTMLElement => s !== null);
	app.replaceChildren(head, el("nav", { "aria-label": "views" }, ...shown.map((s) => el("a", { href: `#${s.id}` }, s.querySelector("h2")?.textContent ?? s.id))), el("main", {}, ...shown));
}

/* Units for which the joules of operations are compared. Other units, of transfers and launches, are not comparable. */
const UNITS = ["FLOP", "OP", "B"];
const unitOf = (o: Operation): string => (UNITS.includes(o.unit) ? o.unit : "");

function operationsOf(all: Operations, kind: string): HTMLElement | null {
	const rows = all.operations.filter((o) => o.class === kind && !o.missing);
	if (!rows.length) return null;
	return section(`class-${kind}`, kind[0]!.toUpperCase() + kind.slice(1), "", table(["operation", "rate", "power", "gross each", "above idle", "a", "done", "moved", "time"], rows.map((o) =>
		[visible(o.title), si(o.rate_per_s, `${unitOf(o)}/s`), si(o.mean_w, "W"), joules(o.gross_j_per_unit), joules(o.net_j_per_unit), visible(o.unit), si(o.count, unitOf(o)), known(o.bytes) ? si(o.bytes, "B") : "", si(o.seconds, "s")]), true, [6, 7, 8]));
}

/* Section with a chart and a table for each of UNITS: its operations, those with the fewest joules first. */
function efficiency(all: Operations): HTMLElement | null {
	const nodes = UNITS.flatMap((unit) => {
		const rows = all.operations.filter((o) => o.unit === unit && known(o.gross_j_per_unit.value)).sort((a, b) => a.gross_j_per_unit.value! - b.gross_j_per_unit.value!), best = rows[0];
		return best ? [el("h3", {}, `Joules of a ${unit === "B" ? "byte" : unit}`), bars(`joules-${unit}`, `joules a ${unit} by operation`, unit, rows.map((o) => ({ label: o.id, gross: o.gross_j_per_unit, net: o.net_j_per_unit.value }))),
			table(["operation", "gross", "of the least"], rows.map((o) => [visible(o.title), joules(o.gross_j_per_unit), `${(o.gross_j_per_unit.value! / best.gross_j_per_unit.value!).toPrecision(3)} x`]), true)] : [];
	});
	return nodes.length ? section("efficiency", "Efficiency", "Each unit by itself: a byte is no FLOP. The axis is logarithmic.", ...nodes) : null;
}

function balances(all: Operations): HTMLElement | null {
	const point = (value: Maybe): string => (known(value) ? `${Number(value.toPrecision(3))} a byte` : "n/a");
	return all.rooflines.length ? section("balance", "Where arithmetic and device memory balance", "Operations for each byte at which the arithmetic takes as long, or as much energy above idle, as the byte.",
		table(["arithmetic", "memory", "equal time", "equal energy"], all.rooflines.map((r) => [visible(r.compute), visible(r.memory), point(r.time_balance_per_byte), point(r.energy_balance_per_byte)]))) : null;
}

function absent(rows: { id: string; missing: string | null }[]): HTMLElement | null {
	const missing = rows.filter((r) => r.missing);
	return missing.length ? section("absent", "Not measured here", "", table(["", "why"], missing.map((r) => [visible(r.id), el("span", { class: "words" }, visible(r.missing!))]))) : null;
}

export function openOperations(app: HTMLElement, all: Operations): void {
	const classes = [...new Set(all.operations.map((o) => o.class))];
	show(app, heading("kwhy bench ops", all.gpus.join(", "), `${all.backend}; buffers of ${si(all.memory_bytes, "B")} of random data; ${INTERVAL}`, all.ended, all.energy_missing),
		[efficiency(all), ...classes.map((kind) => operationsOf(all, kind)), balances(all), absent(all.operations)]);
}

const phaseName = (row: Row, phase: Phase): string => (phase.name ? `${row.name}, ${phase.name}` : row.name);
const secondsOf = (phase: Phase): Maybe => (known(phase.run_s.median) && known(phase.items_a_run) && phase.items_a_run > 0 ? phase.run_s.median / phase.items_a_run : null);

function variants(all: Lab): HTMLElement {
	const rows = all.rows.filter((r) => !r.missing).flatMap((r) => r.phases.map((p) => [
		el("span", {}, el("b", {}, visible(phaseName(r, p))), r.title ? ` ${visible(r.title)}` : "", r.wrong ? el("span", { class: "warn" }, ` wrong: ${visible(r.wrong)}`) : null), si(secondsOf(p), "s"), known(p.items_per_s) ? `${exact(Number(p.items_per_s.toPrecision(3)))} /s` : "n/a", joules(p.gross_j_per_item), joules(p.net_j_per_item),
		si(p.mean_w, "W"), percent(r.busy_ratio), exact(p.runs), el("span", { class: "words" }, visible([r.after ? `after ${r.after}: ` : "", r.change ?? ""].join(""))),
	]));
	return section("variants", "Variants", `Time and joules of one ${visible(all.item)}; the change of each variant against the one that it follows.`, table(["variant", "time", "rate", "gross each", "above idle", "power", "busy", "runs", "change"], rows, true, [5, 7]));
}

function energies(all: Lab): HTMLElement | null {
	const list = all.rows.flatMap((r) => r.phases.map((p) => ({ label: phaseName(r, p), gross: p.gross_j_per_item, net: p.net_j_per_item.value })));
	return list.some((b) => known(b.gross.value)) ? section("joules", `Joules of a ${visible(all.item)}`, "Gross, and what of it is above the idle level; the axis is logarithmic.", bars("joules-chart", "joules by variant", all.item, list)) : null;
}

/* Table of the calls, copies and so on that a run of each variant makes, as counted by the variants' own code. */
function counts(all: Lab): HTMLElement | null {
	const rows = all.rows.filter((r) => Object.values(r.a_run ?? {}).some(known)), names = [...new Set(rows.flatMap((r) => Object.keys(r.a_run!).filter((k) => known(r.a_run![k]) && r.a_run![k] !== 0)))];
	return rows.length ? section("counts", "What a run does", "", table(["variant", ...names.map((n) => n.replaceAll("_", " "))], rows.map((r) => [visible(r.name), ...names.map((n) => exact(r.a_run![n] ?? null))]))) : null;
}

export function openLab(app: HTMLElement, all: Lab): void {
	const workload = /^kwhy\.(\w+)\//.exec(all.schema)?.[1] ?? "";
	show(app, heading(`kwhy-lab ${workload}`, all.gpus.map((g) => g.name ?? "a GPU of unknown name").join(", "), `${all.backend}; ${INTERVAL}`, all.ended, all.energy_missing), [variants(all), energies(all), counts(all), absent(all.rows)]);
}
