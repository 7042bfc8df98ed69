// SPDX-License-Identifier: Apache-2.0
// Many ranks as a map: a row for each rank, a column for each category of its time. Strong colours are large shares of the column.

import { button, csv, el, save, tooltip, svg } from "../dom";
import { energy, exact, known, percent, time, visible } from "../format";
import { deviceEnergy, deviceLabel, type Device as WholeDevice, type Report } from "../report_types";

type Device = Pick<WholeDevice, "index" | "rank" | "time" | "energy">;
/* The devices of a heat map; indexes of the two that are always named, the worst and the median one; and a sentence on how these are chosen. */
export interface MapOf { devices: Device[]; opened: { worst: number; median: number }; note: string }

const CATEGORIES: [string, string, string][] = [
	["compute_ns", "compute", "compute"], ["overlap_ns", "overlap", "range"], ["collective_ns", "collective", "collective"], ["copy_ns", "copy", "copy"], ["memset_ns", "memset", "memset"],
	["sync_ns", "sync", "sync"], ["launch_ns", "launch", "launch"], ["alloc_ns", "alloc", "alloc"], ["host_ns", "host", "host"], ["idle_ns", "idle", "idle"],
];
const LEVELS = 12;
/* Least range of the shares of time over which a column's colours spread, so that smaller differences get almost one colour. */
const LEAST_SPREAD = 0.01;
const HEIGHT = 640;
const PHONE = 600;
const TALLEST_ROW = 16;
/** Sizes of a map in pixels: whole width, width of the row names, height of the column names. They differ between wide screens and phones. */
interface Room { width: number; label: number; head: number; isNarrow: boolean }
const WIDE: Room = { width: 900, label: 96, head: 62, isNarrow: false };
const NARROW: Room = { width: 370, label: 80, head: 96, isNarrow: true };

interface Column { key: string; title: string; tone: string; low: number; high: number }

const share = (device: Device, key: string): number | null => {
	const value = device.time[key], span = device.time["span_ns"];
	return known(value) && known(span) && span > 0 ? value / span : null;
};

/* Columns of the map: categories in which a device has time. `idle` is only used if no device's idle time is divided by what the host did (sync, launch, alloc, host). */
function columnsOf(devices: Device[]): Column[] {
	const divided = devices.some((d) => known(d.time["sync_ns"]));
	return CATEGORIES.filter(([key]) => key !== "idle_ns" || !divided).flatMap(([key, title, tone]) => {
		const shares = devices.map((d) => share(d, key)).filter(known);
		const [low, high] = shares.reduce(([a, b], s) => [Math.min(a, s), Math.max(b, s)], [Infinity, -Infinity]);
		return high > 0 ? [{ key, title, tone, low, high }] : [];
	});
}

/* Draws a column of the map with one SVG path for each of LEVELS colours, not with an element for each device. */
function paintColumn(column: Column, devices: Device[], x: number, width: number, row: number, head: number): SVGElement[] {
	const paths = new Map<number, string>(), spread = Math.max(column.high - column.low, LEAST_SPREAD);
	devices.forEach((device, i) => {
		const value = share(device, column.key);
		if (value === null) return;
		const level = Math.round(((value - column.low) / spread) * (LEVELS - 1));
		paths.set(level, `${paths.get(level) ?? ""}M${x} ${(head + i * row).toFixed(2)}h${width}v${row.toFixed(2)}h${-width}z`);
	});
	return [...paths].map(([level, d]) => svg("path", { d, fill: `var(--${column.tone})`, "fill-opacity": (0.12 + (0.88 * level) / (LEVELS - 1)).toFixed(2), "shape-rendering": "crispEdges" }));
}

function nameColumns(columns: Column[], width: number, room: Room): SVGElement[] {
	return columns.flatMap((column, i) => {
		const x = room.label + i * width + width / 2, digits = column.high - column.low < 0.02 ? 2 : 1, y = room.head;
		if (room.isNarrow) return [svg("text", { x: x - 4, y: y - 34, transform: `rotate(-45 ${x - 4} ${y - 34})`, class: "tick" }, column.title), ...[column.low, column.high].map((v, at) => svg("text", { x, y: y - 20 + at * 13, "text-anchor": "middle", class: "tick" }, `${(v * 100).toFixed(0)} %`))];
		return [svg("text", { x, y: 18, "text-anchor": "middle", class: "title" }, column.title), svg("text", { x, y: 36, "text-anchor": "middle", class: "tick" }, percent(column.low, digits)), svg("text", { x, y: 52, "text-anchor": "middle", class: "tick" }, `to ${percent(column.high, digits)}`)];
	});
}

/* Writes the names of as many rows as fit, always including the worst and the median device. */
function nameRows(report: MapOf, order: number[], row: number, room: Room): SVGElement[] {
	const step = Math.max(1, Math.ceil(14 / row)), opened = [report.opened.worst, report.opened.median];
	return order.flatMap((index, i) => {
		const role = index === opened[0] ? "worst" : index === opened[1] ? "median" : "", device = report.devices[index]!;
		if (!role && (i % step || opened.some((o) => Math.abs(order.indexOf(o) - i) * row < 14))) return [];
		const label = known(device.rank) ? `rank ${device.rank}` : deviceLabel(device), y = room.head + i * row + Math.min(row / 2 + 4, 12);
		const text = svg("text", { x: room.label - 8, y, "text-anchor": "end", class: role ? "title" : "tick" }, role ? `${role}: ${label.replace("rank ", "")}` : label);
		return role ? [text, svg("line", { x1: room.label - 6, x2: room.label - 1, y1: room.head + (i + 0.5) * row, y2: room.head + (i + 0.5) * row, stroke: "var(--text)", "stroke-width": 2 })] : [text];
	});
}

function describe(device: Device, columns: Column[]): string[] {
	return [deviceLabel(device), ...columns.map((c) => `${c.title}: ${time(device.time[c.key])} (${percent(share(device, c.key), 2)})`), `span: ${time(device.time["span_ns"])}`, ...(known(deviceEnergy(device)) ? [`energy: ${energy(deviceEnergy(device))}`] : [])];
}

function drawing(report: MapOf, devices: Device[], order: number[], columns: Column[]): SVGElement {
	const room = innerWidth < PHONE ? NARROW : WIDE, row = Math.min(TALLEST_ROW, HEIGHT / order.length), width = (room.width - room.label) / columns.length, sorted = order.map((i) => report.devices[i]!);
	const root = svg("svg", { viewBox: `0 0 ${room.width} ${room.head + row * order.length + 4}`, width: "100%", role: "img", "aria-label": `shares of time by category of ${devices.length} ranks` });
	root.append(...nameColumns(columns, width, room), ...columns.flatMap((column, i) => paintColumn(column, sorted, room.label + i * width, width - 2, row, room.head)), ...nameRows(report, order, row, room));
	root.addEventListener("mousemove", (event) => {
		const box = root.getBoundingClientRect(), place = Math.floor((((event.clientY - box.top) / box.width) * room.width - room.head) / row), device = sorted[place];
		tooltip(device ? describe(device, columns) : null, event.clientX, event.clientY);
	});
	root.addEventListener("mouseleave", () => tooltip(null));
	return root;
}

function rowsOf(devices: Device[]): (string | number | null)[][] {
	return [["rank", "device", "span_ns", ...CATEGORIES.map(([key]) => key), "energy_nj"], ...devices.map((d) => [d.rank, d.index, d.time["span_ns"] ?? null, ...CATEGORIES.map(([key]) => d.time[key] ?? null), deviceEnergy(d)])];
}

export function heatmapView(report: Report): HTMLElement | null {
	if (!report.opened) return null;
	const [worst, median] = [report.devices[report.opened.worst]!, report.devices[report.opened.median]!];
	return mapView({ devices: report.devices, opened: report.opened, note: `The page shows ${deviceLabel(worst)} (the worst: the first advice names it, or it is the least busy) and ${deviceLabel(median)} (the median of the busy shares) in full; kwhy report on the trace of another rank shows that one.` });
}

export function mapView(report: MapOf): HTMLElement | null {
	const active = report.devices.flatMap((d, i) => ((d.time["span_ns"] ?? 0) > 0 ? [i] : [])), devices = active.map((i) => report.devices[i]!), columns = columnsOf(devices);
	if (!columns.length) return null;
	const place = el("div", { class: "heatmap" });
	const orders = el("select", { title: "order of the rows" }, el("option", { value: "" }, "rank"), ...columns.map((c) => el("option", { value: c.key }, `share of ${c.title}`)));
	const draw = (): void => {
		const key = orders.value, by = (i: number): number => share(report.devices[i]!, key) ?? -1;
		place.replaceChildren(drawing(report, devices, key ? [...active].sort((a, b) => by(b) - by(a)) : active, columns));
	};
	orders.addEventListener("change", draw);
	matchMedia(`(max-width: ${PHONE - 1}px)`).addEventListener("change", draw);
	draw();
	return el("section", { id: "map", "aria-labelledby": "h-map" }, el("h2", { id: "h-map" }, `${exact(devices.length)} ranks by category`),
		el("p", { class: "muted" }, `Shares of each rank's time. Each column goes from its smallest share (pale) to its largest (strong). ${visible(report.note)}`),
		el("div", { class: "tools" }, el("label", {}, "order by ", orders), el("span", { class: "grow" }), button("CSV", () => save("ranks.csv", csv(rowsOf(devices))), "save times and energies of all ranks")), place);
}
