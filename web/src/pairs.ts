// SPDX-License-Identifier: Apache-2.0
// The page of measured pairs of GPUs (docs/formats/pairs.md): what the links reach, a heat map of all pairs, curves and their regimes, joules, criteria.

import { chart, escapeHtml } from "./chart";
import { type Line, lines, size, table, tabs } from "./curves";
import { button, el, section } from "./dom";
import { exact, known, largest, percent, si, visible } from "./format";
import { color, isDark, setTheme } from "./theme";

type Maybe = number | null;
type Figure = [Maybe, Maybe, Maybe];

interface Key { engine: string; load: string; clock: string; src: number; dst: number }
interface Config extends Key {
	size: number; samples: number; median_s: Maybe; low_s: Maybe; high_s: Maybe; deviation_s: Maybe; mean_s: Maybe; bytes_per_s: Maybe; bus_bytes_per_s?: Maybe; verified: boolean; capped: boolean;
}
interface Segment { from_bytes: number; to_bytes: number; alpha_s: number; beta_s_per_byte: number }
interface Curve extends Key { segments: Segment[]; held_out_median_ratio: Maybe; held_out_worst_ratio: Maybe }
interface Reached { engine: string | null; size: Maybe; bytes_per_s: Maybe; of_limit: Maybe }
interface Route { src: number; dst: number; way: string; text: string; direct: boolean | null; limit_bytes_per_s: Maybe; limit_source: string | null; one_way: Reached; both_ways: Reached }
interface Loggp { src: number; dst: number; o_send_s: Figure; g_s: Figure; G_s_per_byte: Figure; L_s: Figure }
interface Energy {
	engine: string; src: number; dst: number; size: number; transfers: number; src_net_j: Figure; dst_net_j: Figure; gross_j_per_byte: Figure; net_j_per_byte: Figure;
}
interface Relation { gpu: number; gauge: string; unit: string; readings: number; least: Maybe; most: Maybe; r: Figure; slope_ratio_per_unit: Maybe; missing: string | null }
export interface Pairs {
	conditions: { backend: string | null; driver: string | null; cuda: string | null; measured_on: string | null; time_pass_s: Maybe; ended_early: string | null; gpus: { name: string | null }[]; notes: string[] };
	configs: Config[]; curves: Curve[]; routes: Route[]; route_missing: string | null; loggp: Loggp[]; energies: Energy[]; energy_missing: string | null; relations: Relation[];
	pinning: (Key & { size: number; near_node: number; far_node: number; free_s: Figure; near_s: Figure; far_s: Figure })[]; pinning_missing: string | null;
	held_out: { what: string; model: string; flows: number; count: number; median_ratio: Maybe; worst_ratio: Maybe }[];
	flags: { src: number; dst: number; what: string; likely_cause: string | null }[];
	criteria: { name: string; verdict: string; why: string }[]; absent: { engine: string; reason: string }[];
}

const CLOCKS: Record<string, string> = {
	"back-to-back": "back to back, in a full queue", isolated: "alone, between two events", host: "host: until it is known to be done", call: "host: the calls alone",
};
const MARKS: Record<string, string> = { pass: "✓ pass", fail: "✗ fail", unknown: "? unknown" };
const ROUND_TRIPS = ["put", "ping-pong"];

const pairName = (p: { src: number; dst: number }): string => `${p.src} → ${p.dst}`;
const unique = <T>(items: T[]): T[] => [...new Set(items)];
const isCollective = (c: Config): boolean => c.bus_bytes_per_s !== undefined;
const alone = (all: Pairs): Config[] => all.configs.filter((c) => c.load === "alone" && c.samples > 0 && !isCollective(c));
/* The way of timing (a key of CLOCKS) by which an engine's results are compared: the first by which the engine was timed. */
const mainClock = (all: Pairs, engine: string): string => Object.keys(CLOCKS).find((clock) => alone(all).some((c) => c.engine === engine && c.clock === clock)) ?? "";

/* A figure as "1.23 us ± 3 %", where ± is half of its 95 % interval; "< 1.2 us" with the upper end if the interval includes 0. */
function figure(f: Figure, unit: string): string {
	const [value, low, high] = f;
	if (!known(value)) return "n/a";
	if (known(low) && known(high) && low <= 0) return `< ${si(high, unit)}`;
	return known(low) && known(high) ? `${si(value, unit)} ± ${percent((high - low) / 2 / value)}` : si(value, unit);
}

function tiles(all: Pairs): HTMLElement {
	const best = (get: (r: Route) => Reached): Reached | undefined => all.routes.map(get).filter((r) => known(r.bytes_per_s)).sort((a, b) => b.bytes_per_s! - a.bytes_per_s!)[0];
	const tile = (value: string, what: string): HTMLElement => el("div", { class: "tile" }, el("b", {}, value), el("span", { class: "muted" }, what));
	const one = best((r) => r.one_way), both = best((r) => r.both_ways), quickest = alone(all).filter((c) => ROUND_TRIPS.includes(c.engine) && known(c.median_s)).sort((a, b) => a.median_s! - b.median_s!)[0];
	const verdicts = unique(all.criteria.map((c) => c.verdict)).map((v) => `${all.criteria.filter((c) => c.verdict === v).length} ${v}`).join(", ");
	return el("div", { class: "tiles" },
		tile(si(one?.bytes_per_s, "B/s"), one ? `one way at best, ${one.engine}${known(one.of_limit) ? `, ${percent(one.of_limit)} of the link` : ""}` : "one direction: not measured"),
		tile(si(both?.bytes_per_s, "B/s"), both ? `both ways at best, ${both.engine}${known(both.of_limit) ? `, ${percent(both.of_limit)} of the link` : ""}` : "both directions: not measured"),
		tile(si(quickest?.median_s, "s"), quickest ? `shortest time one way, ${quickest.engine} of ${size(quickest.size)}` : "latency: not measured"),
		tile(verdicts || "n/a", "criteria"));
}

function links(all: Pairs): HTMLElement {
	const reached = (r: Reached): string[] => [known(r.bytes_per_s) ? `${si(r.bytes_per_s, "B/s")} (${r.engine})` : "n/a", percent(r.of_limit)];
	const rows = all.routes.map((r) => [pairName(r), visible(r.text) + (r.direct === false ? ", no peer access" : ""), si(r.limit_bytes_per_s, "B/s"), ...reached(r.one_way), ...reached(r.both_ways)]);
	const sources = unique(all.routes.map((r) => r.limit_source).filter((s): s is string => s !== null));
	const note = all.route_missing ? `Limits are not available: ${all.route_missing}` : `Limit: ${sources.join("; ")}.`;
	return section("links", "Links", `The fastest engine of each pair against its link. ${visible(note)}`, tiles(all), table(["pair", "over", "limit in one direction", "one direction", "of it", "both directions", "of it"], rows));
}

/* Draws the rate or time of every pair of GPUs for one engine and size, as a heat map with numbers. */
function matrix(all: Pairs, engine: string, bytes: number, isRate: boolean): HTMLElement {
	const count = all.conditions.gpus.length, names = Array.from({ length: count }, (_, i) => `GPU ${i}`);
	const clock = mainClock(all, engine), some = alone(all).filter((c) => c.engine === engine && c.clock === clock && c.size === bytes);
	const value = (c: Config): Maybe => (isRate ? c.bytes_per_s : c.median_s), unit = isRate ? "B/s" : "s", values = some.map(value).filter(known);
	const label = `${engine}, ${size(bytes)}: ${isRate ? "rate" : "time"} of every pair`;
	return el("div", { style: `max-width: ${170 + 150 * count}px` }, el("h3", {}, label), chart({
		id: `matrix-${engine}-${isRate ? "rate" : "time"}`, label, height: Math.min(560, 130 + 46 * count),
		rows: () => [["from", "to", unit], ...some.map((c) => [c.src, c.dst, value(c)])],
		option: () => ({
			grid: { left: 90, right: 30, top: 44, bottom: 30 },
			tooltip: { formatter: (p: { data: { text: string } }) => p.data.text },
			xAxis: { type: "category", data: names, position: "top", name: "to", axisLabel: { color: color("muted") }, splitArea: { show: false } },
			yAxis: { type: "category", data: names, inverse: true, name: "from", nameLocation: "start", axisLabel: { color: color("muted") } },
			visualMap: { show: false, min: 0, max: largest(values), dimension: 2, inRange: { color: [color("raised"), color("memset")] } },
			series: [{
				type: "heatmap", label: { show: true, color: color("text"), formatter: (p: { data: { value: number[] } }) => si(p.data.value[2], unit) }, itemStyle: { borderColor: color("line"), borderWidth: 1 },
				data: some.filter((c) => known(value(c))).map((c) => ({
					value: [c.dst, c.src, value(c)!], text: `${pairName(c)}, ${escapeHtml(engine)}, ${size(bytes)}<br>${si(c.median_s, "s")}, ${si(c.bytes_per_s, "B/s")}<br>${exact(c.samples)} samples`,
				})),
			}],
		}),
	}));
}

function heat(all: Pairs): HTMLElement | null {
	const make: Record<string, () => Node[]> = {};
	for (const engine of unique(alone(all).map((c) => c.engine))) {
		const sizes = alone(all).filter((c) => c.engine === engine && c.clock === mainClock(all, engine)).map((c) => c.size);
		if (!sizes.length) continue;
		make[engine] = () => [matrix(all, engine, Math.max(...sizes), true), ...(Math.min(...sizes) < Math.max(...sizes) ? [matrix(all, engine, Math.min(...sizes), false)] : [])];
	}
	return Object.keys(make).length ? section("matrix", "From each to each", "Rates of the largest size, times of the smallest one; rows send, columns receive.", tabs("matrix-engines", "engine", make, {})) : null;
}

/* Makes a drop-down list; the nodes that `redraw` returns for the chosen entry are shown below it. */
function choice(label: string, options: string[], redraw: (index: number) => Node[]): HTMLElement {
	const place = el("div", {}), select = el("select", { "aria-label": label }, ...options.map((o, i) => el("option", { value: String(i) }, o)));
	const show = (): void => place.replaceChildren(...redraw(Number(select.value)));
	select.addEventListener("change", show);
	show();
	return el("div", {}, el("div", { class: "tools" }, el("label", {}, `${label} `, select)), place);
}

function describe(c: Config): string {
	return [`${escapeHtml(c.engine)}, ${pairName(c)}, ${size(c.size)}`,
		`${si(c.median_s, "s")}${known(c.low_s) && known(c.high_s) ? ` (${si(c.low_s, "s")} to ${si(c.high_s, "s")})` : ""}, ${si(c.bytes_per_s, "B/s")}`,
		`${exact(c.samples)} samples${c.verified ? ", verified" : ""}${c.capped ? ", interval above 2 %" : ""}`].join("<br>");
}

function engineLines(configs: Config[], y: (c: Config) => Maybe): Line[] {
	return unique(configs.map((c) => c.engine)).map((name) => ({
		name, dots: configs.filter((c) => c.engine === name && known(y(c)) && y(c)! > 0).sort((a, b) => a.size - b.size).map((c) => ({ x: c.size, y: y(c)!, text: describe(c) })),
	})).filter((l) => l.dots.length > 0);
}

function curvesOf(all: Pairs, pair: { src: number; dst: number }): Node[] {
	const some = alone(all).filter((c) => c.src === pair.src && c.dst === pair.dst), make: Record<string, () => Node[]> = {};
	for (const clock of Object.keys(CLOCKS)) {
		const timed = some.filter((c) => c.clock === clock);
		if (!timed.length) continue;
		make[clock] = () => [
			...(clock === "call" ? [] : [lines(`rate-${clock}`, `${pairName(pair)}: rate against size`, "B/s", () => engineLines(timed.filter((c) => c.engine !== "put"), (c) => c.bytes_per_s))]),
			lines(`time-${clock}`, `${pairName(pair)}: time against size`, "s", () => engineLines(timed, (c) => c.median_s)),
		];
	}
	return [tabs("curve-clocks", "clock", make, CLOCKS)];
}

function curves(all: Pairs): HTMLElement | null {
	const pairs = all.routes.filter((r) => alone(all).some((c) => c.src === r.src && c.dst === r.dst));
	return pairs.length ? section("curves", "Curves", "Medians of one transfer in one direction; an exchange's rate is of both directions together. Both axes are logarithmic. Click a name to hide it.",
		choice("pair", pairs.map(pairName), (i) => curvesOf(all, pairs[i]!))) : null;
}

function collectives(all: Pairs): HTMLElement | null {
	const some = all.configs.filter((c) => isCollective(c) && c.load === "alone" && c.samples > 0);
	const make = (id: string, label: string, unit: string, y: (c: Config) => Maybe) => (): Node[] => [lines(id, label, unit, () => engineLines(some, y))];
	return some.length ? section("collectives", "Collectives", "Of all GPUs together; sizes as nccl-tests counts them.", tabs("collective-kinds", "what", {
		bus: make("collective-bus", "what each link of a ring carries, against size", "B/s", (c) => c.bus_bytes_per_s ?? null),
		rate: make("collective-rate", "bytes over time, against size", "B/s", (c) => c.bytes_per_s),
		time: make("collective-time", "time against size", "s", (c) => c.median_s),
	}, { bus: "bus bandwidth", rate: "algorithm bandwidth", time: "time" })) : null;
}

/* Draws the lines alpha + beta * bytes that were fitted to ranges of sizes, the measured medians, and a table of the lines. */
function fitted(all: Pairs, curve: Curve): Node[] {
	const measured = all.configs.filter((c) => c.engine === curve.engine && c.load === curve.load && c.clock === curve.clock && c.src === curve.src && c.dst === curve.dst && known(c.median_s));
	const piece = (s: Segment): Line => ({
		name: `${size(Math.round(s.from_bytes))} on`,
		dots: Array.from({ length: 17 }, (_, i) => s.from_bytes * (s.to_bytes / s.from_bytes) ** (i / 16)).map((x) => ({ x, y: s.alpha_s + s.beta_s_per_byte * x, text: `${si(s.alpha_s, "s")} + bytes / ${si(1 / s.beta_s_per_byte, "B/s")}` })).filter((d) => d.y > 0),
	});
	const get = (): Line[] => [{ name: "measured", dots: measured.sort((a, b) => a.size - b.size).map((c) => ({ x: c.size, y: c.median_s!, text: describe(c) })) }, ...curve.segments.map(piece)];
	const rows = curve.segments.map((s) => [`${size(Math.round(s.from_bytes))} to ${size(Math.round(s.to_bytes))}`, si(s.alpha_s, "s"), si(1 / s.beta_s_per_byte, "B/s")]);
	return [lines("regime-chart", `${curve.engine}, ${pairName(curve)}: regimes`, "s", get), table(["sizes", "alpha", "rate"], rows),
		el("p", { class: "muted" }, `Sizes that the fit did not see: median error ${percent(curve.held_out_median_ratio)}, worst ${percent(curve.held_out_worst_ratio)}.`)];
}

function regimes(all: Pairs): HTMLElement | null {
	const some = all.curves.filter((c) => c.load === "alone" && c.segments.length > 0);
	return some.length ? section("regimes", "Regimes", "Time = alpha + bytes / rate, in straight pieces; their knots are where a protocol or an engine changes its ways.",
		choice("curve", some.map((c) => `${c.engine}, ${pairName(c)}, ${c.clock}`), (i) => fitted(all, some[i]!))) : null;
}

function loggp(all: Pairs): HTMLElement | null {
	const rows = all.loggp.map((l) => [pairName(l), figure(l.o_send_s, "s"), figure(l.g_s, "s"), figure(l.G_s_per_byte, "s/B"), figure(l.L_s, "s")]);
	return rows.length ? section("loggp", "LogGP", "With half of the 95 % intervals. o_recv is not available: the target of a copy does nothing.", table(["pair", "o_send", "g", "G", "L"], rows)) : null;
}

function contention(all: Pairs): HTMLElement | null {
	const rows = all.configs.filter((c) => !["alone", "reference"].includes(c.load) && c.samples > 0).map((c) => {
		const single = alone(all).find((a) => a.engine === c.engine && a.clock === c.clock && a.src === c.src && a.dst === c.dst && a.size === c.size);
		return [c.load, pairName(c), size(c.size), si(c.bytes_per_s, "B/s"), percent(single && known(single.median_s) && known(c.median_s) ? single.median_s / c.median_s : null)];
	});
	return rows.length ? section("contention", "Contention", "Copies while others go on, against the same alone.", table(["meanwhile", "pair", "size", "rate", "of alone"], rows)) : null;
}

function heldOut(all: Pairs): HTMLElement | null {
	const rows = all.held_out.map((h) => [h.what, `${h.flows > 1 ? `${h.flows} ` : ""}${h.model}`, exact(h.count), percent(h.median_ratio), percent(h.worst_ratio)]);
	return rows.length ? section("held-out", "Held out of the fits", "What is known of each pair alone against what took no part in it: predicted over measured, less 1.", table(["held out", "predicted by", "of", "median", "worst"], rows)) : null;
}

function joules(all: Pairs): HTMLElement | null {
	const some = all.energies.filter((e) => known(e.gross_j_per_byte[0]));
	const names = unique(some.map((e) => `${e.engine}, ${pairName(e)}`));
	const get = (): Line[] => names.map((name) => ({
		name, dots: some.filter((e) => `${e.engine}, ${pairName(e)}` === name && e.gross_j_per_byte[0]! > 0).sort((a, b) => a.size - b.size).map((e) => ({
			x: e.size, y: e.gross_j_per_byte[0]!, text: `${escapeHtml(name)}, ${size(e.size)}<br>${figure(e.gross_j_per_byte, "J/B")}, above idle ${figure(e.net_j_per_byte, "J/B")}<br>${exact(e.transfers)} transfers`,
		})),
	}));
	const each = (f: Figure, e: Energy): string => figure(f.map((v) => (known(v) ? v / (e.size * (e.engine.includes("exchange") ? 2 : 1)) : null)) as Figure, "J");
	const rows = all.energies.map((e) => [e.engine, pairName(e), size(e.size), figure(e.gross_j_per_byte, "J"), figure(e.net_j_per_byte, "J"), each(e.src_net_j, e), each(e.dst_net_j, e)]);
	if (!rows.length && !all.energy_missing) return null;
	const missing = all.energy_missing ? el("p", { class: "warn" }, `The GPUs' energy is not available: ${visible(all.energy_missing)}`) : el("span", {});
	return section("joules", "Joules of a byte", "Of both GPUs, from bursts, one pair of each kind of link; above the level of idle GPUs with contexts: both, source, target. ± is half of a 95 % interval.",
		missing, ...(some.length ? [lines("joules-chart", "joules per byte against size, gross", "J/B", get)] : []), ...(rows.length ? [table(["engine", "pair", "size", "a byte", "above idle", "source", "target"], rows)] : []));
}

function pinning(all: Pairs): HTMLElement | null {
	const rows = all.pinning.map((p) => [`${p.engine}, ${p.clock}`, pairName(p), size(p.size), figure(p.free_s, "s"), figure(p.near_s, "s"), figure(p.far_s, "s"),
		percent(known(p.far_s[0]) && known(p.near_s[0]) ? p.far_s[0] / p.near_s[0] - 1 : null)]);
	return rows.length ? section("pinning", "By the NUMA node of the host's thread", "Where the system puts it, on the node of the GPU that sends, on another one. ± is half of a 95 % interval.", table(["", "pair", "size", "free", "near", "far", "far over near"], rows)) : null;
}

function relations(all: Pairs): HTMLElement | null {
	const rows = all.relations.map((r) => {
		const unit = r.gauge === "clock" ? 100e6 : 1, r2 = r.r.map((v) => (known(v) ? v.toFixed(2) : "n/a"));
		return [`GPU ${r.gpu}`, r.gauge, `${si(r.least, r.unit === "Hz" ? "Hz" : "°C")} to ${si(r.most, r.unit === "Hz" ? "Hz" : "°C")}`, r.missing ? `not available: ${visible(r.missing)}` : `${r2[0]} (${r2[1]} to ${r2[2]})`,
			known(r.slope_ratio_per_unit) ? `${(r.slope_ratio_per_unit * unit * 100).toPrecision(2)} % ${r.gauge === "clock" ? "a 100 MHz" : "a degree"}` : "n/a", exact(r.readings)];
	});
	return rows.length ? section("relations", "Times against temperature and clock", "Correlation of the distance from the medians with what the GPU that sends showed, 95 % intervals.", table(["", "gauge", "from, to", "r", "a time changes by", "readings"], rows)) : null;
}

function verdicts(all: Pairs): HTMLElement {
	const flags = all.flags.map((f) => [pairName(f), visible(f.what), f.likely_cause ? visible(f.likely_cause) : ""]);
	return section("criteria", "Criteria", "Whether this run is a success; unknown where something was not measured.",
		table(["", "criterion", "why"], all.criteria.map((c) => [MARKS[c.verdict] ?? c.verdict, visible(c.name), visible(c.why)])),
		...(flags.length ? [el("h3", {}, "Worth a look"), table(["pair", "what", "likely"], flags)] : []));
}

function absent(all: Pairs): HTMLElement | null {
	const rows = all.absent.map((a) => [visible(a.engine), visible(a.reason)]);
	return rows.length ? section("absent", "Not measured here", "", table(["engine", "why"], rows)) : null;
}

function heading(all: Pairs): HTMLElement {
	const { gpus, backend, driver, measured_on, ended_early, notes, time_pass_s } = all.conditions, measured = all.configs.filter((c) => c.samples > 0);
	return el("header", {}, el("div", { class: "topline" }, el("h1", {}, "kwhy bench pairs"), el("span", {}, visible(`${gpus.length} × ${gpus[0]?.name ?? "a GPU of unknown name"}`)),
		el("span", { class: "muted small" }, visible(`${backend ?? ""}, driver ${driver ?? "unknown"}, ${measured_on ?? "no date"}; ${exact(measured.length)} configurations, ${exact(measured.filter((c) => c.verified).length)} verified${known(time_pass_s) ? `, ${time_pass_s.toFixed(1)} s` : ""}`)),
		el("span", { class: "grow" }), button("light / dark", () => setTheme(!isDark()))),
	...[ended_early, ...notes].filter((t): t is string => !!t).map((t) => el("p", { class: "warn" }, visible(t))));
}

export function openPairs(app: HTMLElement, all: Pairs): void {
	const sections = [links(all), verdicts(all), heat(all), curves(all), collectives(all), regimes(all), loggp(all), contention(all), heldOut(all), joules(all), pinning(all), relations(all), absent(all)].filter((s): s is HTMLElement => s !== null);
	const nav = el("nav", { "aria-label": "views" }, ...sections.map((s) => el("a", { href: `#${s.id}` }, s.querySelector("h2")?.textContent ?? s.id)));
	app.replaceChildren(heading(all), nav, el("main", {}, ...sections));
}
