// SPDX-License-Identifier: Apache-2.0
// Changes to a program, made one after the other: what each brings, as a waterfall of time and of joules, and as a table.

import { chart, escapeHtml } from "../chart";
import { el } from "../dom";
import { energy, exact, known, percent, si, time, visible, type Maybe } from "../format";
import { color } from "../theme";
import type { Change, LeftOut, Plan, Projection } from "../whatif_types";

const EFFORT: Record<string, string> = { lines: "some lines", days: "days", design: "another design" };
const RISK: Record<string, string> = { none: "none (same bits)", order: "relies on order", numerics: "other numbers" };
const SIGN: Record<string, string> = { expected: "", upper: "≤ ", lower: "≥ " };

const option = (change: Change): string => `--${change.id}${known(change.number) ? `=${change.number}` : ""}`;

/* A quantity that a plan projects, time or joules: how to show it, and how to get its value and the ends of its interval from a projection. */
interface Measure { id: string; title: string; show: (value: Maybe) => string; value: (p: Projection) => Maybe; low: (p: Projection) => Maybe; high: (p: Projection) => Maybe }

const TIME: Measure = { id: "waterfall-time", title: "Time", show: time, value: (p) => p.time_ns, low: (p) => p.time_low_ns, high: (p) => p.time_high_ns };
const JOULES: Measure = { id: "waterfall-energy", title: "Energy", show: energy, value: (p) => p.energy_nj, low: (p) => p.low_nj, high: (p) => p.high_nj };

interface Fall { label: string; from: number; to: number; tone: string; upper: boolean; low: Maybe; high: Maybe; text: string }

/* The bars of a waterfall chart: the recorded value, what each change saves, one after the other, and the value with all changes. */
function falls(plan: Plan, m: Measure): Fall[] {
	const start = m.value(plan.before) ?? 0;
	const rows: Fall[] = [{ label: "as recorded", from: 0, to: start, tone: "host", upper: false, low: null, high: null, text: m.show(start) }];
	let before = start;
	plan.changes.forEach((change, i) => {
		const after = m.value(change.after) ?? before, saved = before - after;
		rows.push({ label: `${i + 1}. ${visible(change.title)}`, from: after, to: before, tone: saved < 0 ? "sync" : "range", upper: change.bound === "upper", low: m.low(change.after), high: m.high(change.after),
			text: `${saved < 0 ? `${m.show(-saved)} more` : `${SIGN[change.bound] ?? ""}${m.show(saved)} less`} (${percent(start ? Math.abs(saved) / start : null)})` });
		before = after;
	});
	rows.push({ label: "with all of them", from: 0, to: before, tone: "compute", upper: plan.bound === "upper", low: m.low(plan.after), high: m.high(plan.after), text: `${plan.bound === "upper" ? "≥ " : ""}${m.show(before)}` });
	return rows;
}

/* Returns the function with which the chart draws a bar of the waterfall, and on it the interval of the value after the change. */
function drawFall(rows: Fall[], isNarrow: boolean) {
	return (_: unknown, api: { value: (i: number) => number; coord: (p: number[]) => number[]; size: (p: number[]) => number[] }) => {
		const at = api.value(0), row = rows[at]!, height = Math.min(api.size([0, 1])[1]! * 0.5, 26);
		const [left, y] = api.coord([Math.min(row.from, row.to), at]) as [number, number], right = api.coord([Math.max(row.from, row.to), at])[0]!;
		const fill = color(row.tone), line = { stroke: color("text"), lineWidth: 1.5 };
		const shapes: object[] = [{ type: "rect", shape: { x: left, y: y - height / 2, width: Math.max(right - left, 1), height, r: 2 }, style: { fill, opacity: row.upper ? 0.55 : 1, ...(row.upper ? { stroke: fill, lineDash: [4, 3] } : {}) } }];
		if (known(row.low) && known(row.high) && row.high > row.low) {
			const [a, b] = [api.coord([row.low, at])[0]!, api.coord([row.high, at])[0]!];
			shapes.push({ type: "line", shape: { x1: a, y1: y, x2: b, y2: y }, style: line });
			for (const x of [a, b]) shapes.push({ type: "line", shape: { x1: x, y1: y - 5, x2: x, y2: y + 5 }, style: line });
		}
		const end = Math.max(right, known(row.high) ? api.coord([row.high, at])[0]! : 0) + 8;
		shapes.push({ type: "text", style: { text: row.text, ...(isNarrow ? { x: 122, y: y + height / 2 + 8 } : { x: end, y }), verticalAlign: "middle", fill: color("text"), fontSize: isNarrow ? 11 : 13 } });
		return { type: "group", children: shapes };
	};
}

function waterfall(plan: Plan, m: Measure): HTMLElement | null {
	if (!known(m.value(plan.before))) return null;
	const rows = falls(plan, m), reach = Math.max(...rows.map((r) => Math.max(r.to, r.from, r.high ?? 0)));
	return el("div", {}, el("h3", {}, m.title), chart({
		id: m.id, label: `${m.title} as recorded, what each change takes off it, and what is left`, height: 60 + rows.length * 40,
		rows: () => [["step", "from", "to", "low", "high"], ...rows.map((r) => [r.label, r.from, r.to, r.low ?? null, r.high ?? null])],
		option: (isNarrow) => ({
			grid: isNarrow ? { left: 120, right: 40, top: 6, bottom: 34 } : { left: 230, right: 190, top: 6, bottom: 34 },
			tooltip: { formatter: (p: { dataIndex: number }) => fallText(rows[p.dataIndex]!, m) },
			xAxis: { type: "value", min: 0, max: reach, splitNumber: isNarrow ? 2 : 5, axisLabel: { color: color("muted"), formatter: (v: number) => m.show(v), showMaxLabel: false }, splitLine: { lineStyle: { color: color("line") } } },
			yAxis: { type: "category", inverse: true, data: rows.map((r) => r.label), axisTick: { show: false }, axisLabel: { color: color("text"), width: isNarrow ? 104 : 215, fontSize: isNarrow ? 11 : 12, lineHeight: 15, overflow: isNarrow ? "break" : "truncate" } },
			series: [{ type: "custom", renderItem: drawFall(rows, isNarrow), encode: { x: [1, 2], y: 0 }, data: rows.map((r, i) => [i, r.from, r.to]) }],
		}),
	}));
}

function fallText(row: Fall, m: Measure): string {
	const left = row.from === 0 ? row.to : row.from;
	return [escapeHtml(row.label), row.text, `then left: ${m.show(left)}${known(row.low) && known(row.high) ? ` (${m.show(row.low)} to ${m.show(row.high)})` : ""}`].join("<br>");
}

function range(m: Measure, p: Projection): string {
	return known(m.value(p)) ? `${m.show(m.value(p))} (${m.show(m.low(p))} to ${m.show(m.high(p))})` : "n/a";
}

function share(saved: Maybe, all: Maybe, change: Change): string {
	return known(saved) && known(all) && all > 0 ? `${SIGN[change.bound] ?? ""}${percent(saved / all)}` : "n/a";
}

function words(change: Change): string {
	return `Effort: ${EFFORT[change.effort] ?? change.effort}. Risk: ${RISK[change.risk] ?? change.risk}.${change.finding ? ` Cures ${change.finding}.` : ""}`;
}

function changeRows(plan: Plan, change: Change, i: number): HTMLElement[] {
	const cells = [share(change.saved_ns, plan.before.time_ns, change), range(TIME, change.after)];
	if (known(plan.before.energy_nj)) cells.push(share(change.saved_nj, plan.before.energy_nj, change), range(JOULES, change.after));
	if (known(plan.before.cost)) cells.push(si(change.after.cost, plan.currency ?? ""));
	if (known(plan.before.g_co2e)) cells.push(si(change.after.g_co2e, "g"));
	return [
		el("tr", {}, el("td", {}, String(i + 1)), el("td", { class: "text" }, el("b", {}, visible(change.title)), " ", el("code", {}, option(change))), ...cells.map((text, at) => el("td", { class: isThen(plan, at) ? "minor" : "" }, text))),
		el("tr", { class: "under" }, el("td"), el("td", { class: "text wrap muted", colspan: String(cells.length + 1) }, `If ${visible(change.assumption)}. ${words(change)}`)),
	];
}

/* Whether a cell shows a value after the change (column "... then") and not a saving; narrow screens leave such cells out. cell: 0 is the one after the change's name. */
const isThen = (plan: Plan, cell: number): boolean => cell % 2 === 1 || (known(plan.before.energy_nj) ? cell > 3 : cell > 1);

function table(plan: Plan): HTMLElement {
	const head = ["", "change", "time saved", "time then", ...(known(plan.before.energy_nj) ? ["energy saved", "energy then"] : []), ...(known(plan.before.cost) ? ["cost then"] : []), ...(known(plan.before.g_co2e) ? ["CO2e then"] : [])];
	return el("div", { class: "scroll" }, el("table", {}, el("thead", {}, el("tr", {}, ...head.map((h, i) => el("th", { scope: "col", class: i === 1 ? "text" : i > 1 && isThen(plan, i - 2) ? "minor" : "" }, h)))),
		el("tbody", {}, ...plan.changes.flatMap((change, i) => changeRows(plan, change, i)))));
}

/* Text of what a change that the plan left out would save in addition to the plan's changes. */
function more(plan: Plan, l: LeftOut): string {
	if (!known(l.saved_ns)) return "";
	const much = `${time(Math.abs(l.saved_ns))} (${percent(plan.before.time_ns ? Math.abs(l.saved_ns) / plan.before.time_ns : null)})`;
	return l.saved_ns === 0 ? "would save no time beyond the others; " : l.saved_ns < 0 ? `beside the others the run would take ${much} longer; ` : `would save ${much} more; `;
}

function leftOut(plan: Plan): HTMLElement | null {
	if (!plan.left_out.length) return null;
	const rows = plan.left_out.map((l) => el("li", {}, el("code", {}, `--${l.id}`), `: ${l.premise ? `only if ${visible(l.premise)}; ` : ""}${more(plan, l)}${visible(l.reason)}`));
	return el("details", {}, el("summary", {}, `${exact(rows.length)} changes left out, and why`), el("ul", { class: "notes" }, ...rows));
}

function tile(label: string, before: string, after: string, note: string): HTMLElement {
	return el("div", { class: "tile" }, el("span", { class: "muted small" }, label), el("b", {}, `${before} → ${after}`), el("span", { class: "muted small" }, note));
}

function tiles(plan: Plan): HTMLElement {
	const { before, after } = plan, sign = SIGN[plan.bound ?? "expected"] ?? "";
	const saved = (a: Maybe, b: Maybe): string => (known(a) && known(b) && a > 0 ? `${sign}${percent(1 - b / a)} less` : "");
	const list = [tile("time of the run", time(before.time_ns), time(after.time_ns), `${time(after.time_low_ns)} to ${time(after.time_high_ns)}; ${saved(before.time_ns, after.time_ns)}`)];
	list.push(known(before.energy_nj) ? tile("energy of the run", energy(before.energy_nj), energy(after.energy_nj), `${energy(after.low_nj)} to ${energy(after.high_nj)}; ${saved(before.energy_nj, after.energy_nj)}`) : el("div", { class: "tile" }, el("span", { class: "muted small" }, "energy of the run"), el("b", {}, "n/a"), el("span", { class: "muted small" }, visible(plan.no_energy ?? ""))));
	if (known(before.cost)) list.push(tile("cost of the run", si(before.cost, plan.currency ?? ""), si(after.cost, plan.currency ?? ""), saved(before.cost, after.cost)));
	if (known(before.g_co2e)) list.push(tile("CO2e of the run", si(before.g_co2e, "g"), si(after.g_co2e, "g"), saved(before.g_co2e, after.g_co2e)));
	if (known(before.busy_ratio) && known(after.busy_ratio)) list.push(tile("busy", percent(before.busy_ratio), percent(after.busy_ratio), "share of the time, mean of the devices"));
	return el("div", { class: "tiles" }, ...list);
}

/* Makes the section of a plan, which is used in a report and on a page that has only a plan. */
export function planView(plan: Plan): HTMLElement {
	const note = "Each change on top of those above it. Lines: all costs and powers at one end of their intervals, and what differs from run to run as far as this one shows it. Paler and ≤: saves at most that.";
	return el("section", { id: "plan", "aria-labelledby": "h-plan" }, el("h2", { id: "h-plan" }, "What changes would bring"), tiles(plan),
		...(plan.lost ? [el("p", { class: "warn" }, visible(plan.lost[0]!.toUpperCase() + plan.lost.slice(1)), ".")] : []),
		el("p", { class: "muted" }, plan.changes.length ? note : "No change saves more than the threshold."),
		...(plan.changes.length ? [waterfall(plan, TIME), waterfall(plan, JOULES), table(plan)] : []), leftOut(plan));
}
