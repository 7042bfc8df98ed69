// SPDX-License-Identifier: Apache-2.0
// The page of loads on a server of language models (docs/llm.md): tokens, times, failures and joules against load.

import { chart, escapeHtml, legend } from "./chart";
import { table } from "./curves";
import { button, el, section } from "./dom";
import { exact, known, percent, si, visible } from "./format";
import { color, isDark, setTheme } from "./theme";

type Maybe = number | null;
interface Spread { count: number; mean: Maybe; p50: Maybe; p95: Maybe; p99: Maybe }
interface Figure { value: Maybe; low: Maybe; high: Maybe }
interface Energy {
	missing: string | null; basis: string | null; gross_j: Figure; j_a_token: Figure; above_idle_j_a_token: Figure; j_a_request: Figure; above_idle_j_a_request: Figure; tokens_a_j: Figure;
}
interface Load {
	name: string | null; good_per_s: Maybe; loop: "open" | "closed"; rate_per_s: Maybe; concurrency: Maybe; steady_s: number; requests: number; outcomes: Record<string, number>; first_failed_status: Maybe;
	answers_without_usage: number; answers_of_fewer_tokens_than_pieces: number; usage_tokens: number; usage_pieces: number; tokens: number; tokens_per_s: Maybe;
	first_s: Spread; token_s: Spread; answer_s: Spread; late_s: number; energy: Energy;
}
interface Coefficient { value: Maybe; low: Maybe; high: Maybe; is_known: boolean; amount: number }
interface LengthGroup { tokens_from: number; tokens_to: Maybe; requests: number; mean_prompt_tokens: number; mean_output_tokens: number; mean_prefill_j: number; mean_decode_j: number }
/**
 * Joules of a prompt token, an output token and a decode step, and mean joules of requests by their length. missing: why they are unknown; null: they are known, and all other
 * members exist.
 */
interface RequestsEnergy {
	missing: string | null; j_a_prompt_token?: Coefficient; j_a_cached_prompt_token?: Coefficient; j_a_prompt_batch?: Coefficient; j_a_prompt_token_with_batches?: Coefficient; j_an_output_token?: Coefficient; j_a_step?: Coefficient; j_a_context_token?: Coefficient; j_an_output_token_with_steps?: Coefficient; by_length?: LengthGroup[];
}
export interface Llm {
	url: string; model: string; endpoint: string; prompt_words: number | string | null; max_tokens: number | string; slo: string | null; requests_energy: RequestsEnergy; seed: number; meters: string | null; idle_w: Maybe; ended: string | null; loads: Load[];
}
/* The value of a curve for one load, with the ends of its interval if they are known; text: for the tooltip. */
interface Dot { y: Maybe; low?: Maybe; high?: Maybe; text: string }
interface Curve { name: string; of: (load: Load) => Dot }

const COLORS = ["compute", "copy", "sync", "range", "collective", "memset", "alloc", "launch", "host"];
const SYMBOLS = ["circle", "rect", "triangle", "diamond", "roundRect", "pin", "arrow"];

const loadName = (l: Load): string => l.name ?? (l.loop === "open" ? `${Number(l.rate_per_s!.toPrecision(4))} /s` : `${l.concurrency} at once`);
const failed = (l: Load): number => l.requests - (l.outcomes["done"] ?? 0);
const number = (value: Maybe): string => (known(value) ? (value >= 1000 ? exact(Math.round(value)) : String(Number(value.toPrecision(3)))) : "n/a");
const watts = (l: Load): Maybe => (known(l.energy.gross_j.value) ? l.energy.gross_j.value / l.steady_s : null);

function interval(f: Figure, show: (v: Maybe) => string): string {
	if (!known(f.value)) return "n/a";
	return known(f.low) && known(f.high) ? `${show(f.value)} (${show(f.low)} to ${show(f.high)})` : show(f.value);
}

/* "1.23 J ± 3 %", where ± is half of the interval; "< 1.2 J" with the upper end if the interval includes 0. */
function joules(f: Figure): string {
	if (!known(f.value)) return "n/a";
	if (known(f.low) && known(f.high)) return f.low <= 0 ? `< ${si(Math.max(f.high, 0), "J", 2)}` : `${si(f.value, "J")} ± ${percent((f.high - f.low) / 2 / f.value)}`;
	return si(f.value, "J");
}

/* Draws curves whose horizontal axis has the loads in the order in which they ran. The value axis begins at 0, or is logarithmic (`isLog`). */
function against(id: string, label: string, unit: string, loads: Load[], curves: Curve[], isLog = false): HTMLElement {
	const show = (v: Maybe): string => (unit === "s" ? si(v, "s") : number(v));
	const shown = curves.filter((c) => loads.some((l) => known(c.of(l).y)));
	return el("div", {}, el("h3", {}, label), chart({
		id, label, height: 300,
		rows: () => [["load", ...shown.map((c) => `${c.name} ${unit}`)], ...loads.map((l) => [loadName(l), ...shown.map((c) => c.of(l).y)])],
		option: () => ({
			grid: { left: 90, right: 30, top: 50, bottom: 40 },
			legend: legend(),
			tooltip: { formatter: (p: { data: { text?: string } }) => p.data.text ?? "" },
			xAxis: { type: "category", data: loads.map(loadName), axisLabel: { color: color("muted"), hideOverlap: true } },
			yAxis: { type: isLog ? "log" : "value", name: unit === "s" ? "" : unit, axisLabel: { color: color("muted"), formatter: show }, splitLine: { lineStyle: { color: color("line") } } },
			series: shown.flatMap((c, i) => {
				const dots = loads.map((l, at) => ({ at, ...c.of(l) })).filter((d) => known(d.y) && (!isLog || d.y > 0));
				const bars = dots.filter((d) => known(d.low) && known(d.high));
				const paint = color(COLORS[i % COLORS.length]!);
				return [
					{ type: "line", name: c.name, symbol: SYMBOLS[i % SYMBOLS.length], symbolSize: 8, itemStyle: { color: paint }, lineStyle: { width: 1.5 }, data: dots.map((d) => ({ value: [d.at, d.y!], text: d.text })) },
					...bars.map((d) => ({ type: "line", name: c.name, symbol: "none", silent: true, lineStyle: { color: paint, width: 1.5 }, itemStyle: { color: paint }, data: [[d.at, d.low!], [d.at, d.high!]].map((value) => ({ value })) })),
				];
			}),
		}),
	}));
}

/** Arranges charts in two columns if the screen is wide enough. */
function sideBySide(charts: HTMLElement[]): HTMLElement {
	for (const c of charts) c.style.minWidth = "0";
	return el("div", { style: "display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 520px), 1fr)); gap: 12px 28px" }, ...charts);
}

/**
 * Divides the loads into closed loops (a fixed number of concurrent requests) and open loops (arrivals at a mean rate). These cannot be compared, so each kind has its own charts.
 */
function kinds(all: Llm): { id: string; title: string; short: string; loads: Load[] }[] {
	return [
		{ id: "closed", title: "Concurrent requests", short: "Concurrency", loads: all.loads.filter((l) => l.loop === "closed") },
		{ id: "open", title: "Requests at random times, at a mean rate", short: "At random times", loads: all.loads.filter((l) => l.loop === "open") },
	].filter((k) => k.loads.length > 0);
}

function quantiles(title: string, get: (l: Load) => Spread): Curve[] {
	return (["p50", "p95", "p99"] as const).map((q) => ({
		name: q === "p50" ? "median" : `${q.slice(1)}th percentile`,
		of: (l) => ({ y: get(l)[q], text: `${title}, ${escapeHtml(loadName(l))}<br>${q === "p50" ? "median" : `${q.slice(1)}th percentile`} ${si(get(l)[q], "s")}<br>${exact(get(l).count)} values, mean ${si(get(l).mean, "s")}` }),
	}));
}

function throughput(all: Llm): HTMLElement {
	const charts = kinds(all).flatMap((k) => [
		against(`tokens-${k.id}`, `${k.title}: tokens per second`, "tokens/s", k.loads, [{ name: "tokens/s", of: (l) => ({ y: l.tokens_per_s, text: `${escapeHtml(loadName(l))}<br>${number(l.tokens_per_s)} tokens/s<br>${exact(l.requests)} requests, ${exact(failed(l))} failed` }) }]),
		...(k.loads.some((l) => known(l.energy.tokens_a_j.value)) ? [against(`joules-${k.id}`, `${k.title}: tokens per joule`, "tokens/J", k.loads, [{
			name: "tokens/J", of: (l) => ({ y: l.energy.tokens_a_j.value, low: l.energy.tokens_a_j.low, high: l.energy.tokens_a_j.high, text: `${escapeHtml(loadName(l))}<br>${interval(l.energy.tokens_a_j, number)} tokens/J<br>${joules(l.energy.j_a_token)} a token` }),
		}])] : []),
		...(k.loads.some((l) => known(l.good_per_s)) ? [against(`good-${k.id}`, `${k.title}: good answers a second`, "answers/s", k.loads, [{
			name: "good answers/s", of: (l) => ({ y: l.good_per_s, text: `${escapeHtml(loadName(l))}<br>${number(l.good_per_s)} answers/s within ${escapeHtml(all.slo ?? "")}` })
		}])] : []),
	]);
	return section("throughput", "Tokens against load", "Of the steady window; for tokens per joule, bars show the interval.", sideBySide(charts));
}

function times(all: Llm): HTMLElement {
	const kindsOfTime: [string, string, (l: Load) => Spread][] = [["first", "time to the first piece of text", (l) => l.first_s], ["token", "time a token after it", (l) => l.token_s], ["answer", "time of a whole answer", (l) => l.answer_s]];
	const charts = kinds(all).flatMap((k) => kindsOfTime.filter(([, , get]) => k.loads.some((l) => known(get(l).p50)))
		.map(([id, title, get]) => against(`${id}-${k.id}`, `${k.short}: ${title}`, "s", k.loads, quantiles(title, get), true)));
	return section("times", "Times against load", charts.length ? "Of requests answered in full; the time axis is logarithmic. A percentile is given where a value lies beyond it." : "No request was answered in full.", sideBySide(charts));
}

function failures(all: Llm): HTMLElement {
	const names = [...new Set(all.loads.flatMap((l) => Object.keys(l.outcomes)))].filter((n) => n !== "done" && all.loads.some((l) => l.outcomes[n]));
	const rows = all.loads.map((l) => [loadName(l), exact(l.requests), exact(l.outcomes["done"] ?? 0), ...names.map((n) => exact(l.outcomes[n] ?? 0)), percent(l.requests ? failed(l) / l.requests : null), known(l.first_failed_status) ? `HTTP ${l.first_failed_status}` : ""]);
	const charts = names.length ? kinds(all).filter((k) => k.loads.some((l) => failed(l))).map((k) => against(`failures-${k.id}`, `${k.title}: requests that failed`, "requests", k.loads,
		names.map((n) => ({ name: n, of: (l) => ({ y: l.outcomes[n] ?? 0, text: `${escapeHtml(loadName(l))}<br>${exact(l.outcomes[n] ?? 0)} of ${exact(l.requests)} ${escapeHtml(n)}` }) })))) : [];
	return section("failures", "Failures", names.length ? "Of all requests that were due in the steady window." : "No request failed.", sideBySide(charts),
		table(["load", "requests", "answered", ...names.map(visible), "failed", names.length ? "first status" : ""], rows));
}

function energy(all: Llm): HTMLElement {
	const reasons = [...new Set(all.loads.map((l) => l.energy.missing).filter((m): m is string => m !== null))];
	const notes = reasons.map((r) => el("p", { class: "warn" }, `Not available${all.loads.every((l) => l.energy.missing) ? "" : " of all loads"}: ${visible(r)}`));
	const rows = all.loads.filter((l) => !l.energy.missing).map((l) => [loadName(l), si(watts(l), "W"), number(l.energy.tokens_a_j.value), joules(l.energy.j_a_token), joules(l.energy.above_idle_j_a_token), joules(l.energy.j_a_request), joules(l.energy.above_idle_j_a_request)]);
	const where = all.meters ? `The GPUs of the kwhy serve at ${visible(all.meters)}. Intervals, half of which is ±, cover when its readings were made, not errors of its meters.` : "The GPUs of the host that put the load on. ± is half of a 95 % interval, of the meters alone.";
	return section("energy", "Joules", `${where} Prompts are in it. ${known(all.idle_w) ? `Idle, the server up and no request: ${si(all.idle_w, "W")}.` : ""}`, ...notes,
		...(rows.length ? [table(["load", "power", "tokens/J", "J per token", "above idle", "J per request", "above idle"], rows)] : []));
}

/* Section on the joules of prefill and of decoding: by kind of work, and by the length of requests. */
function requests(all: Llm): HTMLElement {
	const energies = all.requests_energy;
	if (energies.missing !== null) return section("requests", "Joules of requests", `Not available: ${visible(energies.missing)}`);
	const kinds: [string, Coefficient | undefined][] = [["a prompt token with its share of batches", energies.j_a_prompt_token_with_batches], ["a prompt token", energies.j_a_prompt_token], ["a prompt token in the prefix cache", energies.j_a_cached_prompt_token],
		["a batch of prompts, besides their tokens", energies.j_a_prompt_batch], ["an output token with its share of steps and its context", energies.j_an_output_token_with_steps], ["an output token", energies.j_an_output_token],
		["a step, which the answers under way share", energies.j_a_step], ["a token of context that an output token reads", energies.j_a_context_token]];
	const rows = kinds.filter((k): k is [string, Coefficient] => k[1] !== undefined && k[1].amount > 0)
		.map(([name, c]) => [name, c.is_known ? interval(c, (v) => si(v, "J")) : "not known: the loads do not determine it"]);
	const groups = (energies.by_length ?? []).map((g) => [g.tokens_to === null ? `${exact(g.tokens_from)} and more` : `${exact(g.tokens_from)} to ${exact(g.tokens_to - 1)}`, exact(g.requests),
		number(g.mean_prompt_tokens), number(g.mean_output_tokens), si(g.mean_prefill_j, "J"), si(g.mean_decode_j, "J")]);
	return section("requests", "Joules of requests", "Above idle. Each second's energy is divided among the requests in flight; intervals are 90 %.",
		table(["work", "joules"], rows), table(["tokens of a request", "requests", "prompt", "output", "prefill", "decoding"], groups));
}

function counts(all: Llm): HTMLElement | null {
	const sum = (get: (l: Load) => number): number => all.loads.reduce((s, l) => s + get(l), 0);
	const without = sum((l) => l.answers_without_usage), fewer = sum((l) => l.answers_of_fewer_tokens_than_pieces), late = Math.max(...all.loads.map((l) => l.late_s));
	const notes = [
		without ? `${exact(without)} answers came without usage: there a piece of text counts as one token.` : null,
		fewer ? `${exact(fewer)} answers claim fewer tokens than pieces of text came: counts and text do not agree.` : null,
		late > 0.01 ? `Requests were sent up to ${si(late, "s")} after they were due; their times count from when they were due.` : null,
	].filter((n): n is string => n !== null);
	return notes.length ? section("counts", "What to know of these figures", "", ...notes.map((n) => el("p", { class: "warn" }, n))) : null;
}

function tiles(all: Llm): HTMLElement {
	const best = (get: (l: Load) => Maybe): Load | undefined => all.loads.filter((l) => known(get(l))).sort((a, b) => get(b)! - get(a)!)[0];
	const tile = (value: string, what: string): HTMLElement => el("div", { class: "tile" }, el("b", {}, value), el("span", { class: "muted" }, what));
	const most = best((l) => l.tokens_per_s), thrifty = best((l) => l.energy.tokens_a_j.value), quickest = best((l) => (known(l.first_s.p50) ? -l.first_s.p50 : null));
	const requests = all.loads.reduce((s, l) => s + l.requests, 0), lost = all.loads.reduce((s, l) => s + failed(l), 0);
	return el("div", { class: "tiles" },
		tile(`${number(most?.tokens_per_s ?? null)} tokens/s`, most ? `at most, ${loadName(most)}` : "not measured"),
		tile(thrifty ? `${number(thrifty.energy.tokens_a_j.value)} tokens/J` : "n/a", thrifty ? `at best, ${loadName(thrifty)}: ${interval(thrifty.energy.tokens_a_j, number)}` : "energy: not available"),
		tile(si(quickest?.first_s.p50 ?? null, "s"), quickest ? `shortest median to the first text, ${loadName(quickest)}` : "no answer in full"),
		tile(exact(lost), `failed of ${exact(requests)} requests`));
}

/* Warning that the run ended early, so that loads are missing; null if it did not. */
function ending(all: Llm): HTMLElement | null {
	return all.ended ? el("p", { class: "warn" }, `The run ended early: ${visible(all.ended)}. Loads behind the last one here were not put on.`) : null;
}

function heading(all: Llm): HTMLElement {
	const length = (value: number | string): string => (typeof value === "number" ? exact(value) : value);
	const prompts = all.prompt_words === null ? "prompts of a file" : `prompts of ${length(all.prompt_words)} words`;
	return el("header", {}, el("div", { class: "topline" }, el("h1", {}, "kwhy llm"), el("span", {}, visible(all.model)),
		el("span", { class: "muted small" }, visible(`${all.url}, ${all.endpoint}; ${prompts}, answers up to ${length(all.max_tokens)} tokens`)),
		el("span", { class: "grow" }), button("light / dark", () => setTheme(!isDark()))), ending(all), tiles(all));
}

export function openLlm(app: HTMLElement, all: Llm): void {
	const sections = [throughput(all), times(all), energy(all), requests(all), failures(all), counts(all)].filter((s): s is HTMLElement => s !== null);
	const nav = el("nav", { "aria-label": "views" }, ...sections.map((s) => el("a", { href: `#${s.id}` }, s.querySelector("h2")?.textContent ?? s.id)));
	app.replaceChildren(heading(all), nav, el("main", {}, ...sections));
}
