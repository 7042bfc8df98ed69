// SPDX-License-Identifier: Apache-2.0
// Copies, kernels, steps, ranks and memory as charts.

import { chart, escapeHtml, legend } from "../chart";
import { section } from "../dom";
import { bytes, energy, exact, known, power, shorten, si, time } from "../format";
import { deviceLabel, IDLE_CATEGORIES, type Account, type Report } from "../report_types";
import { categoryColor, color } from "../theme";
import type { TimelineData } from "../timeline_data";

const SYMBOLS: Record<string, string> = { h2d: "circle", d2h: "rect", d2d: "triangle", p2p: "diamond", h2h: "pin" };
/* Styles of the curves of devices' memory, used in turn. */
const DASHES = ["solid", "dashed", "dotted"];
const KIND_COLORS: Record<string, string> = { h2d: "compute", d2h: "copy", d2d: "range", p2p: "collective", h2h: "host" };

interface Point { kind: string; label: string; size: number; rate: number | null; cost: number | null; count: number }

function copyPoints(report: Report): Point[] {
	return report.devices.flatMap((d) => d.accounts).filter((a) => a.category === "copy" && known(a.bytes) && a.bytes > 0 && a.count > 0).map((a) => ({
		kind: /^(h2d|d2h|d2d|p2p|h2h)/.exec(a.name)?.[1] ?? "other", label: a.name, size: a.bytes! / a.count, count: a.count,
		rate: a.time_ns > 0 ? (a.bytes! / a.time_ns) * 1e9 : null, cost: known(a.gross_nj) && a.gross_nj > 0 ? (a.gross_nj * 1e-9) / a.bytes! : null,
	}));
}

function scatter(id: string, points: Point[], field: "rate" | "cost", unit: string, title: string): HTMLElement {
	const shown = points.filter((p) => p[field] !== null);
	return chart({
		id, label: title, height: 320,
		rows: () => [["operation", "kind", "mean_bytes", `${field}_${unit.replace("/", "_per_")}`, "count"], ...shown.map((p) => [p.label, p.kind, p.size, p[field], p.count])],
		option: () => ({
			grid: { left: 90, right: 44, top: 36, bottom: 50 }, legend: legend(),
			tooltip: { formatter: (p: { data: { point: Point } }) => `${escapeHtml(p.data.point.label)}<br>${exact(p.data.point.count)} copies, mean ${bytes(p.data.point.size)}<br>${si(p.data.point.rate, "B/s")}, ${si(p.data.point.cost, "J/B")}` },
			xAxis: { type: "log", name: "mean size of a copy", nameLocation: "middle", nameGap: 28, axisLabel: { color: color("muted"), hideOverlap: true, formatter: (v: number) => bytes(v) } },
			yAxis: { type: "log", name: unit, axisLabel: { color: color("muted"), formatter: (v: number) => si(v, unit, 1) }, splitLine: { lineStyle: { color: color("line") } } },
			series: [...new Set(shown.map((p) => p.kind))].map((kind) => ({
				type: "scatter", name: kind, symbol: SYMBOLS[kind] ?? "circle", symbolSize: 12, itemStyle: { color: color(KIND_COLORS[kind] ?? "host") },
				data: shown.filter((p) => p.kind === kind).map((p) => ({ value: [p.size, p[field]], point: p })),
			})),
		}),
	});
}

export function copies(report: Report): HTMLElement | null {
	const points = copyPoints(report);
	if (!points.length) return null;
	return section("copies", "Copies", "Each point is one kind and size class; both axes are logarithmic. Small copies pay latency: joules per byte rise to the left.",
		scatter("copy-rate", points, "rate", "B/s", "copies: size against rate"), points.some((p) => p.cost !== null) ? scatter("copy-cost", points, "cost", "J/B", "copies: size against joules per byte") : null);
}

/** Draws kernels as rectangles whose width is time and whose height is mean power, so that the area is energy. */
export function kernels(report: Report): HTMLElement | null {
	const rows = report.devices.flatMap((d) => d.accounts).filter((a) => !IDLE_CATEGORIES.includes(a.category) && known(a.mean_power_mw) && a.time_ns > 0)
		.sort((a, b) => b.mean_power_mw! - a.mean_power_mw!);
	if (!rows.length) return null;
	let at = 0;
	const data = rows.map((a) => ({ value: [at, (at += a.time_ns), a.mean_power_mw!], account: a }));
	return section("kernels", "Kernels and copies: time against power", "Width is device time, height is mean power, so area is energy.", chart({
		id: "kernel-chart", label: "kernels: time against power, area is energy", height: 340,
		rows: () => [["operation", "category", "time_ns", "mean_power_mw", "gross_nj"], ...rows.map((a) => [a.name, a.category, a.time_ns, a.mean_power_mw, a.gross_nj])],
		option: () => ({
			grid: { left: 80, right: 44, top: 20, bottom: 50 },
			tooltip: { formatter: (p: { data: { account: Account } }) => `${escapeHtml(shorten(p.data.account.name, 90))}<br>${time(p.data.account.time_ns)} at ${power(p.data.account.mean_power_mw)} = ${energy(p.data.account.gross_nj)} (${exact(p.data.account.gross_nj, "nJ")})` },
			xAxis: { type: "value", max: at, name: "device time, by falling power", nameLocation: "middle", nameGap: 28, axisLabel: { color: color("muted"), formatter: (v: number) => time(v) }, splitLine: { show: false } },
			yAxis: { type: "value", axisLabel: { color: color("muted"), formatter: (v: number) => power(v) }, splitLine: { lineStyle: { color: color("line") } } },
			series: [{
				type: "custom", data, encode: { x: [0, 1], y: 2 },
				renderItem: (params: { dataIndex: number }, api: { value: (i: number) => number; coord: (p: number[]) => number[] }) => {
					const [x0, y0] = api.coord([api.value(0), api.value(2)]) as [number, number];
					const [x1, y1] = api.coord([api.value(1), 0]) as [number, number];
					return { type: "rect", shape: { x: x0, y: y0, width: Math.max(x1 - x0, 0.5), height: y1 - y0 }, style: { fill: categoryColor(rows[params.dataIndex]!.category), stroke: color("ground"), lineWidth: x1 - x0 > 3 ? 1 : 0 } };
				},
			}],
		}),
	}));
}

export function steps(report: Report): HTMLElement | null {
	const rows = report.steps ?? [];
	if (rows.length < 2) return null;
	const joules = rows.some((r) => known(r.window_energy_nj));
	const loop = report.loop;
	const mean = loop ? ` A step takes ${time(loop.time_per_step_ns)}${known(loop.energy_per_step_nj) ? ` and ${energy(loop.energy_per_step_nj)}` : ""} with the work that it queues: from the first's start to the end of the last's work.` : "";
	return section("steps", "Per step", (joules ? "Energy of each step's window on the host, idle included." : "Busy share of each step's window on the host.") + mean, chart({
		id: "step-chart", label: "energy or busy share by step", height: 260,
		rows: () => [["step", "start_ns", "host_ns", "busy_ns", "window_energy_nj", "busy_ratio"], ...rows.map((r) => [r.name, r.start_ns ?? null, r.host_ns ?? null, r.busy_ns ?? null, r.window_energy_nj ?? null, r.busy_ratio ?? null])],
		option: () => ({
			grid: { left: 80, right: 44, top: 20, bottom: 70 }, dataZoom: [{ type: "slider", height: 18, bottom: 8 }],
			tooltip: { formatter: (p: { dataIndex: number }) => { const r = rows[p.dataIndex]!; return `${escapeHtml(r.name)}<br>${time(r.host_ns)}<br>${energy(r.window_energy_nj)} (${exact(r.window_energy_nj ?? null, "nJ")})`; } },
			xAxis: { type: "category", data: rows.map((_, i) => String(i)), name: "step", axisLabel: { color: color("muted") } },
			yAxis: { type: "value", axisLabel: { color: color("muted"), formatter: (v: number) => (joules ? energy(v) : `${(v * 100).toFixed(0)} %`) }, splitLine: { lineStyle: { color: color("line") } } },
			series: [{ type: "bar", itemStyle: { color: color("compute") }, data: rows.map((r) => (joules ? r.window_energy_nj : r.busy_ratio) ?? null) }],
		}),
	}));
}

/* Label of each row: "rank 3"; the device's name if the row has no rank, or if several devices have that rank. */
function rankLabels(report: Report, rows: NonNullable<Report["ranks"]>): string[] {
	const isAlone = (rank: number): boolean => rows.filter((r) => r.rank === rank).length === 1;
	return rows.map((r, i) => (known(r.rank) && isAlone(r.rank) ? `rank ${r.rank}` : known(r.device) ? deviceLabel(report.devices[r.device]!) : `rank ${r.rank ?? i}`));
}

export function ranks(report: Report): HTMLElement | null {
	const rows = report.ranks ?? [];
	if (rows.length < 2) return null;
	const labels = rankLabels(report, rows), what = rows.some((r) => known(r.rank)) ? "rank" : "device";
	const parts: [string, string, (r: (typeof rows)[number]) => number][] = [
		["compute", "compute", (r) => r.compute_ns ?? 0], ["exposed collective", "collective", (r) => r.collective_exposed_ns ?? 0],
		["other busy", "copy", (r) => Math.max(0, (r.busy_ns ?? 0) - (r.compute_ns ?? 0) - (r.collective_exposed_ns ?? 0))], ["idle", "idle", (r) => Math.max(0, (r.span_ns ?? 0) - (r.busy_ns ?? 0))],
	];
	return section("ranks", `${what === "rank" ? "Ranks" : "Devices"} side by side`, `Where each ${what}'s time went; a ${what} that computes less waits for the others.`, chart({
		id: "rank-chart", label: `time of each ${what} by category`, height: 120 + rows.length * 34,
		rows: () => [["rank", "device", "span_ns", "busy_ns", "compute_ns", "collective_exposed_ns", "energy_nj"], ...rows.map((r) => [r.rank, known(r.device) ? deviceLabel(report.devices[r.device]!) : null, r.span_ns, r.busy_ns, r.compute_ns, r.collective_exposed_ns ?? null, r.energy_nj])],
		option: () => ({
			grid: { left: 90, right: 44, top: 36, bottom: 40 }, legend: legend(),
			tooltip: { formatter: (p: { seriesName: string; value: number; dataIndex: number }) => `${labels[p.dataIndex]!}: ${escapeHtml(p.seriesName)} ${time(p.value)} (${exact(p.value, "ns")})<br>${energy(rows[p.dataIndex]!.energy_nj)}` },
			xAxis: { type: "value", axisLabel: { color: color("muted"), formatter: (v: number) => time(v) }, splitLine: { lineStyle: { color: color("line") } } },
			yAxis: { type: "category", inverse: true, data: labels, axisLabel: { color: color("text") } },
			series: parts.map(([name, tone, value]) => ({ type: "bar", stack: "time", name, itemStyle: { color: color(tone) }, data: rows.map(value) })),
		}),
	}));
}

export function memory(report: Report, timeline: TimelineData | null): HTMLElement | null {
	const headers = timeline?.header.memory ?? [];
	if (!timeline || !headers.length) return null;
	const curves = headers.flatMap((h, i) => {
		const m = timeline.memory(h);
		const label = deviceLabel(report.devices[h.device]!);
		return ([["allocated", m.allocated, "compute"], ["reserved", m.reserved, "copy"]] as const).flatMap(([name, values, tone]) => (values ? [{ label: `${label} ${name}`, time: m.time, values, tone, dash: DASHES[i % DASHES.length]! }] : []));
	});
	return section("memory", "Memory over time", "As the allocator or the profiler reported it.", chart({
		id: "memory-chart", label: "memory in use over time", height: 280,
		rows: () => [["series", "time_ns", "bytes"], ...curves.flatMap((c) => Array.from(c.values, (v, i): (string | number)[] => [c.label, c.time[i]!, v]))],
		option: () => ({
			grid: { left: 90, right: 44, top: 36, bottom: 60 }, legend: legend(), dataZoom: [{ type: "slider", height: 18, bottom: 6 }],
			tooltip: { trigger: "axis", valueFormatter: (v: number) => `${bytes(v)} (${exact(v, "B")})` },
			xAxis: { type: "value", max: timeline.span_ns, axisLabel: { color: color("muted"), formatter: (v: number) => time(v) }, splitLine: { show: false } },
			yAxis: { type: "value", axisLabel: { color: color("muted"), formatter: (v: number) => bytes(v) }, splitLine: { lineStyle: { color: color("line") } } },
			series: curves.map((c) => ({ type: "line", step: "end", showSymbol: false, sampling: "lttb", name: c.label, itemStyle: { color: color(c.tone) }, lineStyle: { type: c.dash }, data: Array.from(c.values, (v, i) => [c.time[i]!, v]) })),
		}),
	}));
}
