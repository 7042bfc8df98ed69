// SPDX-License-Identifier: Apache-2.0
// Parts that the pages of measured transfers and of measured pairs share: curves against size, tabs, tables.

import { chart, legend } from "./chart";
import { button, el } from "./dom";
import { si } from "./format";
import { color } from "./theme";

const COLORS = ["compute", "copy", "range", "collective", "sync", "memset", "alloc", "launch", "host"];
const SYMBOLS = ["circle", "rect", "triangle", "diamond", "roundRect", "pin", "arrow"];
const LINES = ["solid", "dashed", "dotted"];

/** Writes a size as "64 KiB" if it is a whole number of that unit. */
export function size(bytes: number): string {
	const units = ["B", "KiB", "MiB", "GiB"];
	let unit = 0;
	while (unit < 3 && bytes >= 1024 && bytes % 1024 === 0) {
		bytes /= 1024;
		unit++;
	}
	return `${bytes} ${units[unit]}`;
}

export interface Line { name: string; dots: { x: number; y: number; text: string }[] }

/** Draws curves against size on logarithmic axes. Lines differ in colour, symbol and dashes, so that no reader depends on colours alone. */
export function lines(id: string, label: string, unit: string, get: () => Line[]): HTMLElement {
	return chart({
		id, label, height: 460,
		rows: () => [["what", "bytes", unit], ...get().flatMap((l) => l.dots.map((d) => [l.name, d.x, d.y]))],
		option: () => ({
			grid: { left: 90, right: 30, top: 36, bottom: 50 },
			legend: legend(),
			tooltip: { formatter: (p: { data: { text: string } }) => p.data.text },
			xAxis: { type: "log", logBase: 2, min: "dataMin", max: "dataMax", name: "bytes", nameLocation: "middle", nameGap: 28, axisLabel: { color: color("muted"), formatter: (v: number) => size(v), hideOverlap: true, showMinLabel: true, showMaxLabel: true }, splitLine: { show: false } },
			yAxis: { type: "log", name: unit, axisLabel: { color: color("muted"), formatter: (v: number) => si(v, unit, 1) }, splitLine: { lineStyle: { color: color("line") } } },
			series: get().map((l, i) => ({
				type: "line", name: l.name, symbol: SYMBOLS[i % SYMBOLS.length], symbolSize: 6, itemStyle: { color: color(COLORS[i % COLORS.length]!) },
				lineStyle: { type: LINES[Math.floor(i / COLORS.length) % LINES.length], width: 1.5 },
				data: l.dots.map((d) => ({ value: [d.x, d.y], text: d.text })),
			})),
		}),
	});
}

/* Makes a bar of buttons, one for each key of `make`, and below it the nodes that the function of the pressed button makes. At first the first button is pressed. */
export function tabs(id: string, label: string, make: Record<string, () => Node[]>, titles: Record<string, string>): HTMLElement {
	const place = el("div", {}), bar = el("div", { class: "tools", role: "group", "aria-label": label });
	const show = (key: string): void => {
		for (const b of bar.children) b.setAttribute("aria-pressed", String((b as HTMLElement).dataset["key"] === key));
		place.replaceChildren(...make[key]!());
	};
	for (const key of Object.keys(make)) {
		const b = button(titles[key] ?? key, () => show(key));
		b.dataset["key"] = key;
		bar.append(b);
	}
	const first = Object.keys(make)[0];
	if (first) show(first);
	return el("div", { id }, bar, place);
}

export function table(head: string[], rows: string[][]): HTMLElement {
	return el("div", { class: "scroll" }, el("table", {}, el("thead", {}, el("tr", {}, ...head.map((h) => el("th", { class: "text" }, h)))),
		el("tbody", {}, ...rows.map((r) => el("tr", {}, ...r.map((c) => el("td", { class: "text" }, c)))))));
}
