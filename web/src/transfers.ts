// SPDX-License-Identifier: Apache-2.0
// The page of measured transfers (docs/formats/transfers.md): rate, time and joules against size, on logarithmic axes.

import { escapeHtml } from "./chart";
import { type Line, lines, size, table, tabs } from "./curves";
import { button, el, section } from "./dom";
import { exact, known, si, visible } from "./format";
import { isDark, setTheme } from "./theme";

type Maybe = number | null;

export interface TransferPoint {
	strategy: string; direction: string; clock: string; bytes: number; pieces: number; samples: number;
	median_s: Maybe; low_s: Maybe; high_s: Maybe; bytes_per_s: Maybe; verified: boolean; capped: boolean;
}
interface Energy { strategy: string; direction: string; bytes: number; pieces: number; gross_j: Maybe; gross_low_j: Maybe; gross_high_j: Maybe; net_j: Maybe }
interface Choice { direction: string; piece_bytes: number; pieces: number; strategy: string; median_s: number; second: string | null; second_s: Maybe; sure: boolean }
interface Comparison { question: string; direction: string; pieces: number; best_ratio: Maybe; best_bytes: number; stretches: { from_bytes: number; to_bytes: number }[] }
export interface Transfers {
	conditions: Record<string, string | number | null>; points: TransferPoint[]; energies?: Energy[]; choices: Choice[]; comparisons: Comparison[];
	absent?: { strategy: string; reason: string }[];
}

const WAYS: Record<string, string> = { h2d: "From host to device", d2h: "From device to host", both: "Both directions concurrently" };
const CLOCKS: Record<string, string> = { host: "host: until it is known to be done", "back-to-back": "back to back, in a full queue", isolated: "alone, between two events" };
function describe(point: TransferPoint): string {
	return [`${escapeHtml(point.strategy)}, ${size(point.bytes)}${point.pieces > 1 ? ` in ${exact(point.pieces)} pieces` : ""}`,
		`${si(point.median_s, "s")}${known(point.low_s) && known(point.high_s) ? ` (${si(point.low_s, "s")} to ${si(point.high_s, "s")})` : ""}, ${si(point.bytes_per_s, "B/s")}`,
		`${exact(point.samples)} samples${point.verified ? ", verified" : ""}${point.capped ? ", interval above 2 %" : ""}`].join("<br>");
}

function group(points: TransferPoint[], x: (p: TransferPoint) => number, y: (p: TransferPoint) => Maybe): Line[] {
	return [...new Set(points.map((p) => p.strategy))].map((name) => ({
		name,
		dots: points.filter((p) => p.strategy === name && known(y(p)) && y(p)! > 0).sort((a, b) => a.bytes - b.bytes).map((p) => ({ x: x(p), y: y(p)!, text: describe(p) })),
	})).filter((l) => l.dots.length > 0);
}

function singles(all: Transfers, direction: string): HTMLElement | null {
	const points = all.points.filter((p) => p.direction === direction && p.pieces === 1 && p.samples > 0);
	const make: Record<string, () => Node[]> = {};
	for (const clock of Object.keys(CLOCKS)) {
		const some = points.filter((p) => p.clock === clock);
		if (some.length) make[clock] = () => [
			lines(`rate-${direction}-${clock}`, `${WAYS[direction]}: rate against size`, "B/s", () => group(some, (p) => p.bytes, (p) => p.bytes_per_s)),
			lines(`time-${direction}-${clock}`, `${WAYS[direction]}: time against size`, "s", () => group(some, (p) => p.bytes, (p) => p.median_s)),
		];
	}
	return Object.keys(make).length ? section(`single-${direction}`, WAYS[direction] ?? direction, "Medians; both axes are logarithmic. Click a name to hide it.", tabs(`clocks-${direction}`, "clock", make, CLOCKS)) : null;
}

function pieces(all: Transfers): HTMLElement | null {
	const points = all.points.filter((p) => p.pieces > 1 && p.samples > 0);
	const make: Record<string, () => Node[]> = {}, titles: Record<string, string> = {};
	for (const direction of Object.keys(WAYS))
		for (const count of [...new Set(points.filter((p) => p.direction === direction).map((p) => p.pieces))].sort((a, b) => a - b)) {
			const some = points.filter((p) => p.pieces === count && p.direction === direction), key = `${direction}-${count}`;
			titles[key] = `${direction}, ${exact(count)}`;
			make[key] = () => [lines(`pieces-${key}`, `${exact(count)} pieces, ${direction}: time of all against size of one`, "s", () => group(some, (p) => p.bytes / p.pieces, (p) => p.median_s))];
		}
	return points.length ? section("pieces", "Many pieces", "Time of all of them by the host's clock, against the size of one.", tabs("counts", "direction and number of pieces", make, titles)) : null;
}

function joules(all: Transfers): HTMLElement | null {
	const some = (all.energies ?? []).filter((e) => e.pieces === 1 && known(e.gross_j) && e.gross_j > 0);
	if (!some.length) return null;
	const ways = [...new Set(some.map((e) => `${e.strategy} ${e.direction}`))];
	const get = (): Line[] => ways.map((name) => ({
		name,
		dots: some.filter((e) => `${e.strategy} ${e.direction}` === name).sort((a, b) => a.bytes - b.bytes).map((e) => {
			const moved = e.bytes * (e.direction === "both" ? 2 : 1);
			return { x: e.bytes, y: e.gross_j! / moved, text: `${escapeHtml(name)}, ${size(e.bytes)}<br>${si(e.gross_j! / moved, "J/B")}, above idle ${si(known(e.net_j) ? e.net_j / moved : null, "J/B")}<br>${si(e.gross_j, "J")} (${si(e.gross_low_j, "J")} to ${si(e.gross_high_j, "J")}) a transfer` };
		}),
	}));
	return section("joules", "Joules of a byte", "The GPU's, gross, from bursts of a second; of a point with its 95 % interval.", lines("joules-chart", "joules per byte against size", "J/B", get));
}

function fastest(all: Transfers): HTMLElement | null {
	const rows = all.choices.filter((c) => c.pieces > 1).map((c) => [c.direction, exact(c.pieces), size(c.piece_bytes), visible(c.strategy), si(c.median_s, "s"),
		c.second ? visible(c.second) : "", known(c.second_s) ? `${(c.second_s / c.median_s).toFixed(2)}x${c.sure ? "" : " (not sure)"}` : ""]);
	return rows.length ? section("fastest", "The fastest method for many pieces", "By the host's clock; not sure: the intervals of the two meet.", table(["", "pieces", "of", "fastest", "time", "next", "times as long"], rows)) : null;
}

function pays(all: Transfers): HTMLElement | null {
	const rows = all.comparisons.map((c) => [`${visible(c.question)}${c.pieces > 1 ? `, ${exact(c.pieces)} pieces` : ""}`, c.direction,
		c.stretches.map((s) => (s.from_bytes === s.to_bytes ? size(s.from_bytes) : `${size(s.from_bytes)} to ${size(s.to_bytes)}`)).join(", ") || "nowhere",
		known(c.best_ratio) ? `${c.best_ratio.toFixed(2)}x at ${size(c.best_bytes)}` : "n/a"]);
	return rows.length ? section("pays", "What pays, and from where on", "Sizes at which it is surely faster: the 95 % intervals do not meet.", table(["", "", "surely faster", "at best"], rows)) : null;
}

function absent(all: Transfers): HTMLElement | null {
	const rows = (all.absent ?? []).map((a) => [visible(a.strategy), visible(a.reason)]);
	return rows.length ? section("absent", "Not measured here", "", table(["strategy", "why"], rows)) : null;
}

function heading(all: Transfers): HTMLElement {
	const { device, backend, driver, measured_on, ended_early } = all.conditions, measured = all.points.filter((p) => p.samples > 0);
	return el("header", {}, el("div", { class: "topline" }, el("h1", {}, "kwhy bench transfer"), el("span", {}, visible(String(device ?? "a device of unknown name"))),
		el("span", { class: "muted small" }, visible(`${backend ?? ""}, driver ${driver ?? "unknown"}, ${measured_on ?? "no date"}; ${exact(measured.length)} transfers, ${exact(measured.filter((p) => p.verified).length)} verified`)),
		el("span", { class: "grow" }), button("light / dark", () => setTheme(!isDark()))), ended_early ? el("p", { class: "warn" }, visible(String(ended_early))) : null);
}

export function openTransfers(app: HTMLElement, all: Transfers): void {
	const sections = [...Object.keys(WAYS).map((d) => singles(all, d)), pieces(all), fastest(all), pays(all), joules(all), absent(all)].filter((s): s is HTMLElement => s !== null);
	const nav = el("nav", { "aria-label": "views" }, ...sections.map((s) => el("a", { href: `#${s.id}` }, s.querySelector("h2")?.textContent ?? s.id)));
	app.replaceChildren(heading(all), nav, el("main", {}, ...sections));
}
