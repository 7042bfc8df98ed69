// SPDX-License-Identifier: Apache-2.0
// The timeline: power above, tracks below, on one axis; wheel and keys zoom from the whole run to a microsecond.

import { button, csv, el, save, tooltip } from "./dom";
import { bytes, cut, exact, power, time, visible } from "./format";
import { color, onTheme } from "./theme";
import { CATEGORY, firstRunning, lowerBound, type Part, type Series, type TimelineData, type TrackHeader } from "./timeline_data";

const ROW = 18;
const GAP = 6;
const AXIS = 24;
const POWER = 120;
const FONT = "12px system-ui, sans-serif";
const LEAST_LABELS = 120;
const MOST_LABELS = 220;
/* Largest number of power curves whose names are all drawn; of more curves, the first four are named and the others counted. */
const CURVE_LABELS = 5;
const MIN_SPAN_NS = 200;
const PALETTE = ["compute", "collective", "copy", "memset", "launch", "sync", "alloc", "host", "range"];

interface Row { track: TrackHeader; label: string; top: number; height: number }
interface Curve { label: string; series: Series; color: string; step: boolean; isModel: boolean }

export class Timeline {
	readonly node: HTMLElement;
	private readonly canvas = el("canvas", { tabindex: "0", role: "application", "aria-label": "timeline; arrow keys pan, plus and minus zoom, 0 shows everything" });
	private readonly state = el("span", { class: "muted small", "aria-live": "polite" });
	private rows: Row[] = [];
	private curves: Curve[] = [];
	private from = 0;
	private to: number;
	private mark: [number, number] | null = null;
	private drag: { x: number; from: number; to: number } | null = null;
	private queued = false;
	/* labels: width that the track labels on the left need, pixels; left: width that they get, which is less on a narrow screen */
	private readonly labels: number;
	private left: number;

	constructor(private readonly data: TimelineData, private readonly onView: (from: number, to: number) => void) {
		this.to = data.span_ns;
		const tools = el("div", { class: "tools" },
			button("whole run", () => this.show(0, data.span_ns)),
			button("zoom in", () => this.zoom(0.5)), button("zoom out", () => this.zoom(2)),
			this.state, el("span", { class: "grow" }),
			button("PNG", () => this.canvas.toBlob((blob) => blob && save("timeline.png", blob)), "save what is shown"),
			button("CSV", () => save("timeline.csv", csv(this.visibleRows())), "save the activities shown"));
		this.node = el("div", {}, tools, el("div", { class: "timeline" }, this.canvas), this.legend());
		this.listen();
		onTheme(() => this.recolor());
		this.recolor();
		this.labels = this.labelWidth();
		this.left = this.labels;
		addEventListener("beforeprint", () => this.draw());
		new ResizeObserver(() => this.redraw()).observe(this.canvas);
	}

	/** Shows [from, to), nanoseconds from the start of the window. */
	show(from: number, to: number, mark: [number, number] | null = this.mark): void {
		const length = Math.min(Math.max(to - from, MIN_SPAN_NS), this.data.span_ns);
		this.from = Math.max(0, Math.min(from, this.data.span_ns - length));
		this.to = this.from + length;
		this.mark = mark;
		this.onView(this.from, this.to);
		this.redraw();
	}

	/* Scrolls to the timeline and shows the interval of a finding's evidence, marked, with a margin on both sides. start, end: nanoseconds from the start of the window. */
	jump(start: number, end: number): void {
		const room = Math.max((end - start) * 1.5, 2000);
		this.show(start - room, end + room, [start, end]);
		this.node.scrollIntoView({ block: "center" });
		this.canvas.focus({ preventScroll: true });
	}

	private legend(): HTMLElement {
		const names = ["kernel", "collective", "copy", "memset", "launch call", "synchronise", "allocate", "other call", "range"];
		return el("div", { class: "legend" },
			...names.map((name, i) => el("span", {}, el("span", { class: "swatch", style: `background:var(--${PALETTE[i]!})` }), name)));
	}

	/** Sets the colours of curves. Modelled power is drawn below metered power, so that the latter stays readable. */
	private recolor(): void {
		const styles = ["accent", "copy", "collective", "memset", "range"];
		const label = (device: number, name: string): string => (this.data.header.devices.length > 1 ? `${this.data.deviceLabel(device)} ${name}` : name);
		this.curves = this.data.header.model.map((header) => ({ label: label(header.device, "model"), series: this.data.series(header), color: color("idle"), step: true, isModel: true }));
		this.data.header.power.forEach((header, i) => this.curves.push({
			label: label(header.device, header.source), series: this.data.series(header), color: color(styles[i % styles.length]!), step: header.kind === "counter", isModel: false,
		}));
		this.redraw();
	}

	private redraw(): void {
		if (this.queued) return;
		this.queued = true;
		requestAnimationFrame(() => {
			this.queued = false;
			this.draw();
		});
	}

	/** Draws immediately and returns the time that it took, ms, for tests. */
	draw(): number {
		const begun = performance.now();
		const width = this.canvas.clientWidth;
		const ratio = devicePixelRatio || 1;
		this.left = Math.min(this.labels, Math.max(width * 0.3, 80));
		const height = this.layout();
		if (width === 0) return 0;
		this.canvas.width = width * ratio;
		this.canvas.height = height * ratio;
		this.canvas.style.height = `${height}px`;
		const context = this.canvas.getContext("2d")!;
		context.scale(ratio, ratio);
		context.fillStyle = color("ground");
		context.fillRect(0, 0, width, height);
		context.font = FONT;
		let exactView = true;
		this.drawAxis(context, width, height);
		if (this.curves.length) this.drawPower(context, width);
		for (const row of this.rows) exactView = this.drawRow(context, row, width) && exactView;
		this.drawMark(context, width, height);
		this.state.textContent = `${time(this.to - this.from)} shown from ${time(this.from)}${exactView ? "" : " — summed per bin: zoom in or open a finding's evidence for single activities"}`;
		return performance.now() - begun;
	}

	private layout(): number {
		let top = AXIS + (this.curves.length ? POWER + GAP : 0);
		this.rows = [];
		for (const track of this.data.header.tracks) {
			const part = this.data.partFor(track, this.from, this.to);
			const height = (part?.lanes ?? 1) * ROW;
			this.rows.push({ track, label: this.data.trackLabel(track), top, height });
			top += height + GAP;
		}
		return top;
	}

	/** Width of the longest label, within bounds. */
	private labelWidth(): number {
		const context = this.canvas.getContext("2d")!;
		context.font = FONT;
		const labels = [...this.data.header.tracks.map((track) => this.data.trackLabel(track)), ...this.curves.map((curve) => curve.label)];
		const width = labels.reduce((widest, label) => Math.max(widest, context.measureText(visible(label)).width), 0);
		return Math.min(Math.max(Math.ceil(width) + 16, LEAST_LABELS), MOST_LABELS);
	}

	private x(timeNs: number, width: number): number {
		return this.left + ((timeNs - this.from) / (this.to - this.from)) * (width - this.left);
	}

	private timeAt(x: number): number {
		const width = this.canvas.clientWidth;
		return this.from + ((x - this.left) / (width - this.left)) * (this.to - this.from);
	}

	private drawAxis(context: CanvasRenderingContext2D, width: number, height: number): void {
		const step = niceStep((this.to - this.from) / Math.max(2, (width - this.left) / 130));
		context.strokeStyle = color("line");
		context.fillStyle = color("muted");
		for (let t = Math.ceil(this.from / step) * step; t <= this.to; t += step) {
			const x = Math.round(this.x(t, width)) + 0.5;
			context.beginPath();
			context.moveTo(x, AXIS - 6);
			context.lineTo(x, height);
			context.stroke();
			context.fillText(axisLabel(t, step), x + 3, 13);
		}
	}

	private drawPower(context: CanvasRenderingContext2D, width: number): void {
		const top = AXIS;
		let highest = 1;
		for (const curve of this.curves) for (const value of curve.series.value) highest = Math.max(highest, value);
		const y = (value: number): number => top + POWER - (value / highest) * (POWER - 8);
		context.fillStyle = color("muted");
		context.fillText(power(highest), 6, top + 14);
		context.fillText("0 W", 6, top + POWER);
		context.save();
		context.beginPath();
		context.rect(this.left, top, width - this.left, POWER);
		context.clip();
		this.curves.forEach((curve) => {
			context.strokeStyle = curve.color;
			context.lineWidth = curve.isModel ? 1 : 1.4;
			tracePath(context, curve, this.from, this.to, (t) => this.x(t, width), y);
			context.stroke();
		});
		context.restore();
		context.lineWidth = 1;
		this.nameCurves(context, top);
	}

	private nameCurves(context: CanvasRenderingContext2D, top: number): void {
		const all = this.curves.length <= CURVE_LABELS, shown = this.curves.slice(0, all ? CURVE_LABELS : CURVE_LABELS - 1);
		shown.forEach((curve, i) => {
			context.fillStyle = curve.color;
			context.fillText(curve.label, 6, top + 34 + i * 15, this.left - 12);
		});
		if (all) return;
		context.fillStyle = color("muted");
		context.fillText(`and ${this.curves.length - shown.length} more`, 6, top + 34 + shown.length * 15);
	}

	private drawRow(context: CanvasRenderingContext2D, row: Row, width: number): boolean {
		const part = this.data.partFor(row.track, this.from, this.to);
		context.fillStyle = color("muted");
		context.fillText(visible(row.label), 6, row.top + 13, this.left - 12);
		if (!part) return false;
		const first = firstRunning(part, this.from);
		const last = lowerBound(part.start, this.to);
		const colors = PALETTE.map(color);
		if (last - first <= 4 * (width - this.left)) this.drawSingles(context, row, part, first, last, width, colors);
		else this.drawShares(context, row, part, width, colors);
		return part.bin_ns === 0;
	}

	private drawSingles(context: CanvasRenderingContext2D, row: Row, part: Part, first: number, last: number, width: number, colors: string[]): void {
		for (let i = first; i < last; i++) {
			const from = Math.max(this.left, this.x(part.start[i]!, width));
			const to = Math.min(width, this.x(part.start[i]! + part.duration[i]!, width));
			const top = row.top + part.lane[i]! * ROW;
			if (to < this.left) continue;
			context.fillStyle = colors[part.category[i]!]!;
			context.fillRect(from, top, Math.max(to - from - (to - from > 3 ? 0.5 : 0), 0.7), ROW - 1);
			if (to - from > 46) {
				context.fillStyle = color("ground");
				const room = Math.floor((to - from - 6) / 6.4);
				context.fillText(cut(this.data.header.names[part.name[i]!] ?? "", Math.max(room, 4)).slice(0, room), from + 3, top + 13);
			}
		}
	}

	/**
	 * Draws an interval in which a track has more rows than there are pixels. For each pixel, the height is the busy share of its time, and the colour is the category with the
	 * most time.
	 */
	private drawShares(context: CanvasRenderingContext2D, row: Row, part: Part, width: number, colors: string[]): void {
		let low = firstRunning(part, this.from);
		for (let x = this.left; x < width; x++) {
			const end = this.timeAt(x + 1);
			const high = lowerBound(part.start, end);
			const share = Math.min(1, (part.busy[high]! - part.busy[low]!) / (end - this.timeAt(x)));
			if (high > low && share > 0) {
				context.fillStyle = colors[longestCategory(part, low, high)]!;
				context.fillRect(x, row.top + (ROW - 1) * (1 - Math.max(share, 0.12)), 1, (ROW - 1) * Math.max(share, 0.12));
			}
			low = Math.max(low, high);
		}
	}

	private drawMark(context: CanvasRenderingContext2D, width: number, height: number): void {
		if (!this.mark) return;
		const from = this.x(this.mark[0], width);
		const to = Math.max(this.x(this.mark[1], width), from + 2);
		context.strokeStyle = color("focus");
		context.lineWidth = 2;
		context.strokeRect(from - 1, AXIS - 4, to - from + 2, height - AXIS);
		context.lineWidth = 1;
	}

	private zoom(factor: number, around = (this.from + this.to) / 2): void {
		this.show(around - (around - this.from) * factor, around + (this.to - around) * factor);
	}

	private listen(): void {
		this.canvas.addEventListener("wheel", (event) => {
			event.preventDefault();
			this.zoom(Math.exp(Math.sign(event.deltaY) * 0.25), this.timeAt(Math.max(this.left, event.offsetX)));
		}, { passive: false });
		this.canvas.addEventListener("pointerdown", (event) => {
			this.drag = { x: event.offsetX, from: this.from, to: this.to };
			this.canvas.setPointerCapture(event.pointerId);
		});
		this.canvas.addEventListener("pointerup", () => (this.drag = null));
		this.canvas.addEventListener("pointermove", (event) => (this.drag ? this.pan(event) : this.hover(event)));
		this.canvas.addEventListener("pointerleave", () => tooltip(null));
		this.canvas.addEventListener("keydown", (event) => this.key(event));
	}

	private pan(event: PointerEvent): void {
		const { x, from, to } = this.drag!;
		const shift = ((x - event.offsetX) / (this.canvas.clientWidth - this.left)) * (to - from);
		this.show(from + shift, to + shift);
	}

	private key(event: KeyboardEvent): void {
		const step = (this.to - this.from) / 8;
		const actions: Record<string, () => void> = {
			ArrowLeft: () => this.show(this.from - step, this.to - step),
			ArrowRight: () => this.show(this.from + step, this.to + step),
			"+": () => this.zoom(0.5), "=": () => this.zoom(0.5), "-": () => this.zoom(2),
			"0": () => this.show(0, this.data.span_ns, null), Escape: () => this.show(this.from, this.to, null),
		};
		const action = actions[event.key];
		if (!action) return;
		event.preventDefault();
		action();
	}

	private hover(event: PointerEvent): void {
		const lines = event.offsetX < this.left ? null : this.describe(this.timeAt(event.offsetX), event.offsetY);
		tooltip(lines, event.clientX, event.clientY);
	}

	private describe(at: number, y: number): string[] | null {
		const row = this.rows.find((r) => y >= r.top && y < r.top + r.height);
		if (!row) return this.describePower(at, y);
		const part = this.data.partFor(row.track, this.from, this.to);
		const index = part ? rowAt(part, at, Math.floor((y - row.top) / ROW), (this.to - this.from) / this.canvas.clientWidth) : -1;
		if (!part || index < 0) return null;
		const name = visible(this.data.header.names[part.name[index]!] ?? "");
		const size = part.bytes ? part.bytes[index]! : 0;
		return [
			part.bin_ns ? `mostly ${name}` : name,
			`${CATEGORY[part.category[index]!]!}, ${row.label}`,
			`start ${exact(part.start[index]!, "ns")}, ${part.bin_ns ? "busy" : "length"} ${exact(part.duration[index]!, "ns")} (${time(part.duration[index]!)})`,
			...(size > 0 ? [`${exact(size, "B")} (${bytes(size)}), ${part.duration[index]! > 0 ? `${(size / part.duration[index]!).toPrecision(3)} GB/s` : "no time"}`] : []),
		];
	}

	private describePower(at: number, y: number): string[] | null {
		if (y < AXIS || y > AXIS + POWER) return null;
		const lines = this.curves.flatMap((curve) => {
			const i = lowerBound(curve.series.time, at) - (curve.step ? 1 : 0);
			const value = curve.series.value[i];
			return value === undefined ? [] : [`${curve.label} ${power(value)} (${exact(value, "mW")}) at ${exact(curve.series.time[i]!, "ns")}`];
		});
		return lines.length ? [`power at ${time(at)}`, ...lines] : null;
	}

	private visibleRows(): (string | number | null)[][] {
		const out: (string | number | null)[][] = [["track", "category", "name", "start_ns", "duration_ns", "bytes"]];
		for (const { track, label } of this.rows) {
			const part = this.data.partFor(track, this.from, this.to);
			if (!part) continue;
			const last = lowerBound(part.start, this.to);
			for (let i = firstRunning(part, this.from); i < last; i++)
				out.push([label, CATEGORY[part.category[i]!]!, this.data.header.names[part.name[i]!] ?? "", part.start[i]!, part.duration[i]!, part.bytes?.[i] ?? null]);
		}
		return out;
	}
}

function rowAt(part: Part, at: number, lane: number, slack: number): number {
	const last = lowerBound(part.start, at + slack);
	for (let i = last - 1; i >= 0 && i > last - 2000; i--)
		if (part.lane[i] === lane && part.start[i]! - slack <= at && part.start[i]! + Math.max(part.duration[i]!, slack) >= at) return i;
	return -1;
}

function longestCategory(part: Part, low: number, high: number): number {
	const stride = Math.max(1, Math.floor((high - low) / 24));
	let best = low;
	for (let i = low; i < high; i += stride) if (part.duration[i]! > part.duration[best]!) best = i;
	return part.category[best]!;
}

function tracePath(context: CanvasRenderingContext2D, curve: Curve, from: number, to: number, x: (t: number) => number, y: (v: number) => number): void {
	const { time: times, value } = curve.series;
	const last = Math.min(times.length, lowerBound(times, to) + 2);
	context.beginPath();
	for (let i = Math.max(0, lowerBound(times, from) - 1); i < last; i++) {
		const [before, now] = [i > 0 ? value[i - 1]! : -1, value[i]!];
		if (curve.step && before >= 0) context.lineTo(x(times[i]!), y(before));
		// a value below 0 stands for an unknown power: the curve has a gap
		if (now < 0) continue;
		if (before >= 0 || i === 0) context.lineTo(x(times[i]!), y(now));
		else context.moveTo(x(times[i]!), y(now));
	}
}

function niceStep(target: number): number {
	const power10 = 10 ** Math.floor(Math.log10(Math.max(target, 1)));
	return [1, 2, 5, 10].map((m) => m * power10).find((step) => step >= target) ?? 10 * power10;
}

function axisLabel(timeNs: number, step: number): string {
	const [factor, unit] = step >= 1e8 ? [1e9, "s"] : step >= 1e5 ? [1e6, "ms"] : step >= 100 ? [1e3, "µs"] : [1, "ns"];
	const digits = Math.max(0, Math.ceil(Math.log10(factor as number / step) - 1e-9));
	return `${(timeNs / (factor as number)).toFixed(digits)} ${unit}`;
}
