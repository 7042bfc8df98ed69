// SPDX-License-Identifier: Apache-2.0
// An excerpt (stretch) of the run, as it was and as it would be with the changes, on one scale of time.

import { el, tooltip, svg } from "../dom";
import { exact, shorten, time, visible } from "../format";
import { deviceLabel } from "../report_types";
import { CATEGORY } from "../timeline_data";
import type { Plan, Stretch, StretchItem } from "../whatif_types";

const WIDTH = 1240, LABEL = 170, LANE = 24, BAR = 16, HEAD = 22;
// calls of other kinds and ranges have the colour of host work
const TONES = ["compute", "collective", "copy", "memset", "launch", "sync", "alloc", "host", "range"];

const laneOf = (item: StretchItem): string => (item.device === null ? `host thread ${item.thread}` : `${deviceLabel({ index: item.device, rank: item.rank })} stream ${item.stream}`);

/** Largest number of lanes that are drawn for many ranks. */
const LANES = 16;

/**
 * The lanes to draw: threads above streams, each in alphabetical order. If there are more than LANES, those threads and those streams with the most items, half of LANES each.
 * left: number of lanes that are not drawn.
 */
function lanesOf(stretch: Stretch): { lanes: string[]; left: number } {
	const counts = new Map<string, number>();
	for (const item of stretch.items) counts.set(laneOf(item), (counts.get(laneOf(item)) ?? 0) + 1);
	const all = [...counts.keys()].sort((a, b) => counts.get(b)! - counts.get(a)!), isHost = (n: string): boolean => n.startsWith("host");
	const names = all.length <= LANES ? all : [...all.filter(isHost).slice(0, LANES / 2), ...all.filter((n) => !isHost(n)).slice(0, LANES / 2)];
	return { lanes: [...names.filter(isHost).sort(), ...names.filter((n) => !isHost(n)).sort()], left: all.length - names.length };
}

/* Distance of the axis' ticks for a length `span`: 1, 2 or 5 times a power of ten, such that there are at most eight. */
function tickStep(span: number): number {
	const unit = 10 ** Math.floor(Math.log10(Math.max(span, 1) / 8));
	return [1, 2, 5, 10].map((k) => k * unit).find((step) => span / step <= 8) ?? 10 * unit;
}

function bar(item: StretchItem, place: [number, number], y: number, scale: number, goes: boolean): SVGElement {
	const tone = TONES[item.category] ?? "host";
	return svg("rect", {
		x: LABEL + place[0] * scale, y, width: Math.max((place[1] - place[0]) * scale, 0.8), height: BAR, rx: 1.5,
		fill: `var(--${tone})`, ...(goes ? { "fill-opacity": 0.35 } : {}),
	});
}

function describe(item: StretchItem): string[] {
	const length = (place: [number, number]): string => `${time(place[1] - place[0])} (${exact(place[1] - place[0], "ns")})`;
	return [shorten(item.name, 90), `${CATEGORY[item.category] ?? "call"}, ${laneOf(item)}`, `as recorded: ${length(item.before_ns)}, from ${time(item.before_ns[0])} on`,
		item.after_ns ? `with the changes: ${length(item.after_ns)}, from ${time(item.after_ns[0])} on` : "with the changes: not there"];
}

interface Panel { title: string; length: number; rows: { item: StretchItem; place: [number, number]; goes: boolean }[] }

function panel(part: Panel, lanes: string[], span: number): SVGElement[] {
	const scale = (WIDTH - LABEL - 10) / span, bottom = HEAD + lanes.length * LANE, nodes: SVGElement[] = [];
	nodes.push(svg("text", { x: 0, y: 14, class: "title" }, part.title));
	for (let at = 0; at <= span; at += tickStep(span)) {
		nodes.push(svg("line", { x1: LABEL + at * scale, x2: LABEL + at * scale, y1: HEAD, y2: bottom, stroke: "var(--line)" }));
		nodes.push(svg("text", { x: LABEL + at * scale, y: bottom + 14, "text-anchor": "middle", class: "tick" }, at ? time(at) : "0"));
	}
	lanes.forEach((lane, i) => nodes.push(svg("text", { x: LABEL - 8, y: HEAD + i * LANE + 15, "text-anchor": "end", class: "tick" }, visible(lane))));
	for (const { item, place, goes } of part.rows) {
		const node = bar(item, place, HEAD + lanes.indexOf(laneOf(item)) * LANE + 4, scale, goes);
		node.addEventListener("mousemove", (event) => tooltip(describe(item), (event as MouseEvent).clientX, (event as MouseEvent).clientY));
		node.addEventListener("mouseleave", () => tooltip(null));
		nodes.push(node);
	}
	nodes.push(svg("line", { x1: LABEL + part.length * scale, x2: LABEL + part.length * scale, y1: HEAD - 6, y2: bottom, stroke: "var(--text)", "stroke-width": 1.5 }));
	return nodes;
}

function drawing(part: Panel, lanes: string[], span: number): SVGElement {
	const height = HEAD + lanes.length * LANE + 20;
	const root = svg("svg", { viewBox: `0 0 ${WIDTH} ${height}`, width: "100%", role: "img", "aria-label": `${part.title}: ${part.rows.length} activities and calls in ${time(part.length)}` });
	root.append(...panel(part, lanes, span));
	return root;
}

function legend(stretch: Stretch): HTMLElement {
	const used = [...new Set(stretch.items.map((i) => i.category))].sort((a, b) => a - b);
	return el("div", { class: "legend" }, ...used.map((c) => el("span", {}, el("span", { class: "swatch", style: `background:var(--${TONES[c] ?? "host"})` }), `${CATEGORY[c] ?? "call"}${c >= 4 && c <= 6 ? " call" : ""}`)),
		stretch.items.some((i) => !i.after_ns) ? el("span", {}, el("span", { class: "swatch", style: "background:var(--compute);opacity:.35" }), "pale: goes") : null);
}

export function stretchView(plan: Plan): HTMLElement | null {
	const stretch = plan.stretch;
	if (!stretch || !stretch.items.length) return null;
	const { lanes, left } = lanesOf(stretch), drawn = stretch.items.filter((item) => lanes.includes(laneOf(item))), span = Math.max(stretch.before_ns, stretch.after_ns, 1);
	const before: Panel = { title: `as recorded: ${time(stretch.before_ns)}`, length: stretch.before_ns, rows: drawn.map((item) => ({ item, place: item.before_ns, goes: item.after_ns === null })) };
	// If changes make work begin before the step to which it belongs, these few steps can last longer from their first to their last item although the whole run gets shorter;
	// the title then says so.
	const longer = stretch.after_ns > stretch.before_ns ? `, longer since work of this part now begins before it; the whole run takes ${time(plan.after.time_ns)} instead of ${time(plan.before.time_ns)}` : "";
	const after: Panel = { title: `with all changes: ${time(stretch.after_ns)}${longer}`, length: stretch.after_ns, rows: drawn.flatMap((item) => (item.after_ns ? [{ item, place: item.after_ns, goes: false }] : [])) };
	const [first, last] = [exact(stretch.first_step + 1), exact(stretch.end_step)];
	const where = stretch.step_count ? `${first === last ? `Step ${first}` : `Steps ${first} to ${last}`} of ${exact(stretch.step_count)}, around one of median length` : "The middle of the run (no steps are known)";
	const cut = stretch.left_out ? `; ${exact(stretch.left_out)} later activities and calls of it are not drawn` : "", hidden = left ? ` ${exact(left)} more streams and threads are not drawn.` : "";
	return el("section", { id: "stretch", "aria-labelledby": "h-stretch" }, el("h2", { id: "h-stretch" }, "Before and after"),
		el("p", { class: "muted" }, `${where}${cut}. Both on one scale; what is merged is drawn at the first of its parts, what is issued ahead before its step: a stretch may then be longer though steps come sooner.${hidden}`), legend(stretch),
		el("div", { class: "scroll stretch" }, drawing(before, lanes, span), drawing(after, lanes, span)));
}
