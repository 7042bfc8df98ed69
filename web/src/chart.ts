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
	label: string; // for readers that do not see it
	height: number;
	option: () => EChartsCoreOption; // called again when the theme changes
	rows: () => (string | number | null)[][]; // the data as CSV, header first
	onClick?: (index: number) => void;
}

export function escapeHtml(text: string): string {
	return text.replace(/[&<>"']/g, (c) => `&#${c.charCodeAt(0)};`);
}

function themed(option: EChartsCoreOption): EChartsCoreOption {
	return {
		animation: false,
		textStyle: { color: color("text"), fontFamily: "inherit" },
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
	let instance: echarts.ECharts | null = null;

	const draw = (): void => {
		if (!instance) {
			instance = echarts.init(canvas, null, { renderer: "svg", height: spec.height });
			if (spec.onClick) instance.on("click", (event) => spec.onClick!(event.dataIndex));
			new ResizeObserver(() => instance!.resize()).observe(canvas);
		}
		instance.setOption(themed(spec.option()), true);
	};
	const svg = (): string => {
		draw();
		return instance!.renderToSVGString();
	};
	tools.append(
		button("SVG", () => save(`${spec.id}.svg`, new Blob([svg()], { type: "image/svg+xml" })), "save this chart as SVG"),
		button("PNG", () => savePng(`${spec.id}.png`, svg(), canvas.clientWidth, spec.height), "save this chart as PNG"),
		button("CSV", () => save(`${spec.id}.csv`, csv(spec.rows())), "save the data of this chart"),
	);
	// charts below the fold cost nothing until somebody scrolls to them or prints
	new IntersectionObserver((entries, observer) => {
		if (!entries.some((entry) => entry.isIntersecting)) return;
		observer.disconnect();
		draw();
	}, { rootMargin: "300px" }).observe(canvas);
	addEventListener("beforeprint", draw);
	onTheme(() => instance && draw());
	return node;
}
