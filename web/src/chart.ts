// SPDX-License-Identifier: Apache-2.0
// An ECharts chart with its three save buttons. Only the chart types of this page are bundled.

import { BarChart, CustomChart, HeatmapChart, LineChart, SankeyChart, ScatterChart } from "echarts/charts";
import { AriaComponent, DataZoomComponent, GridComponent, LegendComponent, TooltipComponent, VisualMapComponent } from "echarts/components";
import * as echarts from "echarts/core";
import { SVGRenderer } from "echarts/renderers";
import type { EChartsCoreOption } from "echarts/core";
import { button, csv, el, save } from "./dom";
import { color, onTheme } from "./theme";

echarts.use([BarChart, CustomChart, HeatmapChart, LineChart, SankeyChart, ScatterChart, AriaComponent, DataZoomComponent, GridComponent, LegendComponent, TooltipComponent, VisualMapComponent, SVGRenderer]);

export interface ChartSpec {
	id: string;
	label: string; // for screen readers
	height: number;
	option: (isNarrow: boolean) => EChartsCoreOption; // called at each drawing, such as after a change of the theme or when the width changes
	rows: () => (string | number | null)[][]; // the data as CSV, header first
	onClick?: (index: number) => void;
}

/* Charts narrower than this, in pixels, are drawn as for a phone. */
const NARROW = 600;
/** Sizes in a legend, pixels: gap between entries, width of an entry's symbol, and height of a line. */
const LEGEND_GAP = 12, LEGEND_SYMBOL = 30, LEGEND_HEIGHT = 20;

/* The legend of a chart, above its axes. */
export const legend = (): object => ({ top: 0, left: 0, type: "plain", itemGap: LEGEND_GAP, textStyle: { color: color("text"), lineHeight: LEGEND_HEIGHT } });

/** Name of the page's font. Text is measured on a canvas, which does not inherit the font. */
const fontFamily = (): string => getComputedStyle(document.body).fontFamily;

let ruler: CanvasRenderingContext2D | null = null;

function textWidth(text: string): number {
	ruler ??= el("canvas").getContext("2d")!;
	ruler.font = `12px ${fontFamily()}`;
	return ruler.measureText(text).width;
}

/* For each chart that was not drawn yet, the function that draws it, in the order of the page. */
const waiting = new Set<() => void>();

/** Draws all remaining charts, one in each task of the browser, so that screenshots and screen readers find them drawn. */
export function drawWaiting(): void {
	const next = waiting.values().next().value;
	if (!next) return;
	next();
	setTimeout(drawWaiting);
}

/* Number of lines that the legend needs in a chart of `width` pixels. */
function legendLines(option: EChartsCoreOption, width: number): number {
	const names = new Set((option["series"] as { name?: string }[]).map((s) => s.name ?? ""));
	let lines = 1, used = 0;
	for (const name of names) {
		const length = LEGEND_SYMBOL + textWidth(name);
		if (used && used + length + LEGEND_GAP > width) {
			lines++;
			used = 0;
		}
		used += length + LEGEND_GAP;
	}
	return lines;
}

/* Moves the axes below the legend, which may have several lines, and narrows the margins on a narrow screen. Returns by how many pixels the chart must be higher. */
function fit(option: EChartsCoreOption, width: number): number {
	const grid = option["grid"] as { left: number; right: number; top: number } | undefined;
	if (!grid) return 0;
	if (width < NARROW) Object.assign(grid, { left: Math.min(grid.left, 72), right: Math.min(grid.right, 18) });
	if (!option["legend"]) return 0;
	const top = legendLines(option, width) * (LEGEND_HEIGHT + LEGEND_GAP) + 28, more = Math.max(0, top - grid.top);
	grid.top = Math.max(top, Math.min(grid.top, 36));
	return more;
}

export function escapeHtml(text: string): string {
	return text.replace(/[&<>"']/g, (c) => `&#${c.charCodeAt(0)};`);
}

function themed(option: EChartsCoreOption): EChartsCoreOption {
	return {
		animation: false,
		textStyle: { color: color("text"), fontFamily: fontFamily() },
		aria: { enabled: true },
		...option,
	};
}

function savePng(name: string, svg: string, width: number, height: number): void {
	const image = new Image();
	image.onload = () => {
		const canvas = el("canvas", { width: String(width * 2), height: String(height * 2) });
		const context = canvas.getContext("2d")!;
		context.fillStyle = color("ground");
		context.fillRect(0, 0, canvas.width, canvas.height);
		context.drawImage(image, 0, 0, canvas.width, canvas.height);
		canvas.toBlob((blob) => blob && save(name, blob));
	};
	image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(svg)}`;
}

export function chart(spec: ChartSpec): HTMLElement {
	const canvas = el("div", { class: "canvas", style: `height:${spec.height}px`, role: "img", "aria-label": spec.label });
	const tools = el("div", { class: "tools" }, el("span", { class: "grow" }));
	const node = el("div", { class: "chart", id: spec.id }, canvas, tools);
	let instance: echarts.ECharts | null = null, drawn = 0;

	const draw = (): void => {
		waiting.delete(draw);
		drawn = canvas.clientWidth;
		if (!drawn) return; // the chart is no longer on the page
		if (!instance) {
			instance = echarts.init(canvas, null, { renderer: "svg", height: spec.height });
			if (spec.onClick) instance.on("click", (event) => spec.onClick!(event.dataIndex));
			new ResizeObserver(() => canvas.clientWidth !== drawn && draw()).observe(canvas);
		}
		const option = spec.option(drawn < NARROW), height = spec.height + fit(option, drawn);
		canvas.style.height = `${height}px`;
		instance.resize({ width: drawn, height });
		instance.setOption(themed(option), true);
		canvas.querySelector("svg")?.setAttribute("viewBox", `0 0 ${drawn} ${height}`); // lets a printed chart shrink to the width of the paper
	};
	waiting.add(draw);
	const svg = (): string => {
		draw();
		return instance!.renderToSVGString();
	};
	tools.append(
		button("SVG", () => save(`${spec.id}.svg`, new Blob([svg()], { type: "image/svg+xml" })), "save this chart as SVG"),
		button("PNG", () => savePng(`${spec.id}.png`, svg(), canvas.clientWidth, canvas.clientHeight), "save this chart as PNG"),
		button("CSV", () => save(`${spec.id}.csv`, csv(spec.rows())), "save the data of this chart"),
	);
	// charts below the visible part of the page are drawn last, or when they come into view or are printed
	new IntersectionObserver((entries, observer) => {
		if (!entries.some((entry) => entry.isIntersecting)) return;
		observer.disconnect();
		draw();
	}, { rootMargin: "300px" }).observe(canvas);
	addEventListener("beforeprint", () => instance || draw());
	onTheme(() => instance && draw());
	return node;
}
