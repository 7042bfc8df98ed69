// SPDX-License-Identifier: Apache-2.0
// The page of a job of many ranks (docs/scale.md): no list has a row for each rank, except the heat map.

import { button, el, section, svg } from "./dom";
import { energy, exact, known, largest, percent, shorten, si, time, visible, type Maybe } from "./format";
import { categoryVariable, isDark, setTheme } from "./theme";
import { mapView } from "./views/heatmap";
import { table, tile } from "./views/parts";

interface Spread { ranks: number; least: Maybe; p10: Maybe; median: Maybe; p90: Maybe; most: Maybe; most_rank: Maybe }
interface Late { rank: Maybe; device: Maybe; host: string | null; straggler: boolean; late: number; compared: number; caused_ns: number; caused_nj: Maybe; compute_ns: Maybe; sm_clock_hz: Maybe; clock_offset_ns: Maybe; clock_drift_ppm: Maybe }
interface JobMap {
	worst: Maybe; median: Maybe; rank: Maybe[]; host: number[]; hosts: (string | null)[]; device: number[]; span_ns: Maybe[]; busy_ns: Maybe[]; waiting_ns: Maybe[]; caused_ns: Maybe[];
	energy_nj: Maybe[]; sm_clock_hz: Maybe[]; categories: Record<string, Maybe[]>;
}
export interface Job {
	files: number; digests: number; ranks: number; unused_devices: number; running: number; hosts: number; world_size: Maybe;
	sums: { span_ns: number; busy_ns: number; longest_ns: number; measured_nj: Maybe; hosts_nj: Maybe; ranks_with_energy: number; ranks_with_modelled_energy: number };
	categories: { category: string; span_ns: Maybe; gross_nj: Maybe; ratio: Spread }[];
	distributions: ({ of: string; unit: string } & Spread)[];
	collective_sums: { of_ranks: number; in_digests: number; apart: number; compared: number; skew_ns: Maybe; transfer_ns: Maybe; waiting_ns: Maybe; waiting_nj: Maybe; all_waiting_ns: Maybe; all_waiting_nj: Maybe; all_waiting_error_ns: Maybe; clock_error_ns: Maybe };
	late_ranks: Late[];
	collectives: { communicator: string | null; sequence: number; operation: string | null; ranks: Maybe; start_ns: number; skew_ns: number; transfer_ns: number; waiting_ns: number; waiting_nj: Maybe; late_rank: Maybe }[];
	slow_links: { communicator: string | null; ranks: string | null; size: Maybe; operation: string | null; collectives: number; median_ns: Maybe; others_ns: Maybe }[];
	throttled_hosts: { host: string | null; ranks: number; sm_clock_hz: Maybe; reason: string | null; ratio: Maybe; caused_ns: number }[];
	findings: { id: string; ranks: number; count: number; time_ns: number; energy_nj: Maybe; saved_ns: Maybe; saved_nj: Maybe; worst_rank: Maybe; worst: string | null; place: string | null; cure: string | null }[];
	account_count: number; accounts: { category: string; name: string | null; ranks: number; count: number; time_ns: number; gross_nj: Maybe }[];
	problem_count: number; problems: { kind: string; rank: Maybe; path: string | null; text: string }[];
	map: JobMap;
}

/* Largest number of rows: of the category table on the first screen, of the late ranks there, and of each table below. */
const FIRST = 6, LATE = 3, SHOWN = 50;
const TITLES: Record<string, string> = {
	span: "span", busy: "busy", compute: "computing", collective_exposed: "exposed collectives", waiting: "waited for others", caused: "others waited for it",
	energy: "energy", waiting_energy: "energy of waiting", caused_energy: "energy of the others' waiting", clock_offset: "clock offset",
};

const rankName = (rank: Maybe, host: string | null = null): string => `${known(rank) ? `rank ${rank}` : "a device without a rank"}${host ? ` on ${visible(host)}` : ""}`;
const joules = (nj: Maybe): string => (known(nj) ? `, ${energy(nj)}` : "");
const words = (text: string | null): HTMLElement => el("span", { class: "words" }, visible(text ?? ""));

function heading(job: Job): HTMLElement {
	const of = known(job.world_size) && job.world_size !== job.ranks ? ` of ${exact(job.world_size)}` : "";
	const notes = [
		job.running ? `${exact(job.running)} of ${exact(job.digests)} digests were written while the ranks ran` : "", job.unused_devices ? `no rank used ${exact(job.unused_devices)} further devices` : "",
	].filter(Boolean).join("; ");
	return el("header", {}, el("div", { class: "topline" }, el("h1", {}, "kwhy"), el("span", {}, `${exact(job.ranks)}${of} ranks on ${exact(job.hosts)} ${job.hosts === 1 ? "host" : "hosts"}`),
		el("span", { class: "muted small" }, `${time(job.sums.longest_ns)} recorded${notes ? `; ${notes}` : ""}`), el("span", { class: "grow" }), button("light / dark", () => setTheme(!isDark()))),
		job.problem_count ? el("p", { class: "warn" }, "Some of the job is missing, cut or left out: ", el("a", { href: "#problems" }, `${exact(job.problem_count)} remarks`), ".") : null);
}

/* Table of the time of all ranks by category, the longest first. */
function where(job: Job): HTMLElement {
	const all = job.sums.span_ns, rows = job.categories.filter((c) => (c.span_ns ?? 0) > 0).sort((a, b) => b.span_ns! - a.span_ns!), rest = rows.slice(FIRST);
	const row = (category: string, ns: number, nj: Maybe): HTMLElement => el("tr", {}, el("td", { class: "name" }, category),
		el("td", { class: "barred" }, el("span", { class: "bar" }, el("i", { style: `width:${Math.max(0.5, (100 * ns) / all)}%;background:${categoryVariable(category)}` }))), el("td", {}, percent(ns / all)), el("td", {}, time(ns)), el("td", { class: "minor" }, energy(nj)));
	return el("div", { class: "half" }, el("h3", {}, "Where the time of all ranks went"), el("table", { class: "where" },
		el("thead", {}, el("tr", {}, ...["", "", "share", "time", "energy"].map((h, i) => el("th", { scope: "col", class: i === 4 ? "minor" : "" }, h)))),
		el("tbody", {}, ...rows.slice(0, FIRST).map((c) => row(c.category, c.span_ns!, c.gross_nj)))), rest.length ? el("p", { class: "muted small" }, `${exact(rest.length)} more: `, el("a", { href: "#spread" }, "distributions")) : null);
}

/* List of what to look at first: ranks for which others wait, the slowest link, the host with the lowest clocks, and the most wasteful finding. */
function first(job: Job): HTMLElement {
	const waited = job.collective_sums.waiting_ns ?? 0, link = job.slow_links[0], host = job.throttled_hosts[0], waste = job.findings[0];
	const items = job.late_ranks.filter((r) => r.caused_ns > 0).slice(0, LATE).map((r) => el("li", {}, el("b", {}, rankName(r.rank, r.host)), r.straggler ? " is a straggler" : "",
		el("div", {}, `The others waited ${time(r.caused_ns)}${joules(r.caused_nj)} for it, ${percent(waited ? r.caused_ns / waited : null)} of all waiting; it entered last in ${exact(r.late)} of ${exact(r.compared)} collectives.`)));
	if (link) items.push(el("li", {}, el("b", {}, `A slow link: communicator ${visible(link.communicator ?? "unknown")}`), el("div", {}, `Its transfers take ${time(link.median_ns)}, those of the others of its size ${time(link.others_ns)}.`)));
	if (host) items.push(el("li", {}, el("b", {}, `${visible(host.host ?? "A host without a name")} has low clocks`), el("div", {}, `Median ${si(host.sm_clock_hz, "Hz")}${host.reason ? `; ${visible(host.reason)} in ${percent(host.ratio)} of its readings` : ""}.`)));
	if (waste) items.push(el("li", {}, el("b", {}, `${visible(waste.id)} on ${exact(waste.ranks)} ranks`), `, ${time(waste.time_ns)}${joules(waste.energy_nj)}; worst on ${rankName(waste.worst_rank)}`, waste.cure ? el("div", {}, visible(waste.cure)) : null));
	return el("div", { class: "half" }, el("h3", {}, "What to look at"), items.length ? el("ol", { class: "todo" }, ...items) : el("p", {}, "No rank made others wait, and nothing was found that wastes much."));
}

function overview(job: Job): HTMLElement {
	const { sums, collective_sums: c } = job;
	return el("section", { id: "overview", "aria-labelledby": "h-overview" }, el("h2", { id: "h-overview" }, "What it cost"), el("div", { class: "tiles" },
		tile("energy", energy(sums.measured_nj), known(sums.measured_nj) ? `${sums.ranks_with_modelled_energy ? "modelled; " : ""}of ${exact(sums.ranks_with_energy)} devices` : "no readings", exact(sums.measured_nj, "nJ")),
		tile("time", time(sums.longest_ns), `the longest span; ${time(sums.span_ns)} of all ranks`, exact(sums.longest_ns, "ns")),
		tile("busy", percent(sums.span_ns ? sums.busy_ns / sums.span_ns : null), "share of all ranks' time in which something ran"),
		tile("waiting", time(c.waiting_ns), known(c.waiting_ns) ? `in collectives, for ranks that were late${joules(c.waiting_nj)}` : "no collectives are compared", exact(c.waiting_ns, "ns")),
		tile("skew", time(c.skew_ns), `of ${exact(c.compared)} collectives, from the first rank in to the last`), tile("transfer", time(c.transfer_ns), "from the last rank in to the last out")),
	el("div", { class: "halves" }, where(job), first(job)), c.in_digests < c.of_ranks ? el("p", { class: "muted small" }, `Digests keep a random ${percent(c.in_digests / c.of_ranks)} of the collectives.${known(c.all_waiting_ns) ? ` In all of them, the ranks waited about ${time(c.all_waiting_ns)}${joules(c.all_waiting_nj)} (estimated, standard error ${time(c.all_waiting_error_ns)}).` : ""}`) : null);
}

function map(job: Job): HTMLElement | null {
	const { map: m } = job, categories = Object.entries(m.categories);
	if (!known(m.worst) || !known(m.median)) return null;
	const devices = m.rank.map((rank, i) => ({
		index: m.device[i]!, rank: rank ?? null, energy: { source: null, measured_nj: m.energy_nj[i] ?? null },
		time: { span_ns: m.span_ns[i] ?? null, ...Object.fromEntries(categories.map(([name, values]) => [`${name}_ns`, values[i] ?? null])) },
	}));
	return mapView({ devices, opened: { worst: m.worst, median: m.median }, note: "The worst is the rank for which the others waited longest, or else the least busy one; the median is that of the busy shares." });
}

/* Table of the times, energy and clock of the worst rank next to the median rank; if the job has two ranks, next to the other rank. */
function pair(job: Job): HTMLElement | null {
	const { map: m } = job, at = [m.worst, m.median];
	if (!at.every(known)) return null;
	const areTwo = m.rank.length === 2, worst = at[0]!, median = areTwo ? 1 - worst : at[1]!, share = (values: Maybe[], i: number): string => (known(values[i]) ? `${time(values[i])} (${percent(values[i]! / (m.span_ns[i] || 1))})` : "0 s");
	const rows: [string, Maybe[], (values: Maybe[], i: number) => string][] = [
		...Object.entries(m.categories).map(([name, values]): [string, Maybe[], typeof share] => [name, values, share]), ["waited for others", m.waiting_ns, (v, i) => time(v[i])], ["others waited for it", m.caused_ns, (v, i) => time(v[i])],
		["energy", m.energy_nj, (v, i) => energy(v[i])], ["median clock", m.sm_clock_hz, (v, i) => si(v[i], "Hz")],
	];
	const name = (i: number): string => `${rankName(m.rank[i] ?? null)}${m.hosts[m.host[i]!] ? ` on ${visible(m.hosts[m.host[i]!]!)}` : ""}`;
	return section("pair", areTwo ? "Both ranks" : "The worst rank and the median", "Time and its share of the rank's span.", table(["", `worst: ${name(worst)}`, `${areTwo ? "the other" : "median"}: ${name(median)}`],
		rows.map(([title, values, text]) => [title, text(values, worst), text(values, median)])));
}

/* Draws a distribution: a line from the least to the largest value, a box from the 10 % to the 90 % quantile, and a mark at the median. low, high: ends of the axis. */
function box(spread: Spread, low: number, high: number): Node {
	const at = (value: Maybe): number => ((value! - low) / (high - low || 1)) * 156 + 2, root = svg("svg", { viewBox: "0 0 160 14", width: 160, height: 14, role: "img", "aria-label": "quantiles" });
	if (known(spread.least) && known(spread.most)) root.append(svg("line", { x1: at(spread.least), x2: at(spread.most), y1: 7, y2: 7, stroke: "var(--muted)", "stroke-width": 2 }),
		svg("rect", { x: at(spread.p10), y: 2, width: Math.max(1, at(spread.p90) - at(spread.p10)), height: 10, fill: "var(--compute)" }), svg("line", { x1: at(spread.median), x2: at(spread.median), y1: 0, y2: 14, stroke: "var(--text)", "stroke-width": 2 }));
	return root;
}

const SPREAD = ["least", "10 %", "median", "90 %", "most", "rank"];

function spreads(job: Job): HTMLElement {
	const cells = (s: Spread, text: (v: Maybe) => string): string[] => [text(s.least), text(s.p10), text(s.median), text(s.p90), text(s.most), known(s.most_rank) ? String(s.most_rank) : ""];
	const top = largest(job.categories.map((c) => c.ratio.most ?? 0), 0), shares = job.categories.filter((c) => (c.span_ns ?? 0) > 0);
	const others = job.distributions.filter((d) => d.ranks);
	return section("spread", "Distribution over the ranks", "The line goes from the least to the most, the box from the 10 % to the 90 % quantile, the mark is the median.",
		el("h3", {}, "Shares of a rank's time"), table(["category", "", ...SPREAD], shares.map((c) => [c.category, box(c.ratio, 0, top), ...cells(c.ratio, (v) => percent(v, 2))]), false, [1, 3, 5]),
		el("h3", {}, "Times and energies"), table(["", "", ...SPREAD], others.map((d) => [TITLES[d.of] ?? d.of, box(d, Math.min(0, d.least ?? 0), d.most ?? 0), ...cells(d, d.unit === "nj" ? energy : time)]), false, [1, 3, 5]));
}

function late(job: Job): HTMLElement | null {
	const rows = job.late_ranks.filter((r) => r.caused_ns > 0).slice(0, SHOWN), all = job.collective_sums.waiting_ns ?? 0;
	return rows.length ? section("late", "Late ranks", "The rank that entered a collective last causes all waiting in it.", table(["rank", "last in", "others waited", "energy", "share", "computes", "clock", "clock offset", "drift"], rows.map((r) => [
		el("span", {}, rankName(r.rank, r.host), r.straggler ? el("b", {}, " straggler") : null), `${exact(r.late)} of ${exact(r.compared)}`, time(r.caused_ns), energy(r.caused_nj), percent(all ? r.caused_ns / all : null), time(r.compute_ns), si(r.sm_clock_hz, "Hz"),
		time(r.clock_offset_ns), known(r.clock_drift_ppm) ? `${r.clock_drift_ppm.toFixed(2)} ppm` : "n/a"]), false, [6, 7, 8])) : null;
}

function collectives(job: Job): HTMLElement | null {
	const rows = job.collectives.filter((c) => c.waiting_ns > 0).slice(0, SHOWN);
	return rows.length ? section("collectives", "Collectives with the most waiting", "Skew: from the first rank in to the last. Transfer: from then to the last out.", table(["collective", "communicator", "number", "ranks", "skew", "transfer", "waiting", "energy", "last"], rows.map((c) => [
		words(c.operation), el("span", { class: "words" }, visible(c.communicator ?? "n/a")), exact(c.sequence), exact(c.ranks), time(c.skew_ns), time(c.transfer_ns), time(c.waiting_ns), energy(c.waiting_nj), rankName(c.late_rank)]), false, [1, 2, 3])) : null;
}

function links(job: Job): HTMLElement | null {
	return job.slow_links.length ? section("links", "Slow links", "Communicators whose median transfer takes 1.25 times as long as those of others of their size in the same operation.", table(["communicator", "operation", "ranks", "collectives", "transfer", "the others"],
		job.slow_links.slice(0, SHOWN).map((l) => [words(l.communicator ?? "n/a"), words(l.operation), words(l.ranks ?? exact(l.size)), exact(l.collectives), time(l.median_ns), time(l.others_ns)]))) : null;
}

function hosts(job: Job): HTMLElement | null {
	return job.throttled_hosts.length ? section("hosts", "Hosts with low clocks", "Their median clock is below 97 % of the job's, or they state a reason for low clocks in more than 5 % of their readings.", table(["host", "ranks", "median clock", "reason", "of readings", "others waited"],
		job.throttled_hosts.slice(0, SHOWN).map((h) => [visible(h.host ?? "without a name"), exact(h.ranks), si(h.sm_clock_hz, "Hz"), words(h.reason), percent(h.ratio), time(h.caused_ns)]))) : null;
}

function waste(job: Job): HTMLElement | null {
	return job.findings.length ? section("findings", "Waste on the ranks", "Each kind over all ranks, and where it costs most.", table(["kind", "ranks", "times", "time", "energy", "to save", "worst rank", "there", "cure"], job.findings.slice(0, SHOWN).map((f) => [
		visible(f.id), exact(f.ranks), exact(f.count), time(f.time_ns), energy(f.energy_nj), `${time(f.saved_ns)}${joules(f.saved_nj)}`, rankName(f.worst_rank), words([f.worst, f.place].filter(Boolean).join(", in ")), words(f.cure)]), false, [2, 7, 8])) : null;
}

function accounts(job: Job): HTMLElement {
	const rows = job.accounts.slice(0, SHOWN);
	return section("accounts", "Operations", `The ${exact(rows.length)} largest of ${exact(job.account_count)}, over all ranks.`, table(["operation", "category", "ranks", "count", "time", "energy"],
		rows.map((a) => [el("span", { class: "words", title: visible(a.name ?? "") }, a.name === null ? "others, which digests have no rows of" : shorten(a.name, 90)), a.category, exact(a.ranks), exact(a.count), time(a.time_ns), energy(a.gross_nj)]), false, [1, 2]));
}

function problems(job: Job): HTMLElement | null {
	return job.problem_count ? section("problems", "Missing, cut and left out", job.problem_count > job.problems.length ? `The first ${exact(job.problems.length)} of ${exact(job.problem_count)}.` : "", table(["", "rank", "why", "digest"],
		job.problems.map((p) => [p.kind, known(p.rank) ? String(p.rank) : "", words(p.text), words(p.path)]))) : null;
}

export function openJob(app: HTMLElement, job: Job): void {
	const sections = [overview(job), map(job), pair(job), spreads(job), late(job), collectives(job), links(job), hosts(job), waste(job), accounts(job), problems(job)].filter((s): s is HTMLElement => s !== null);
	const nav = el("nav", { "aria-label": "views" }, ...sections.map((s) => el("a", { href: `#${s.id}` }, s.id === "map" ? "ranks" : (s.querySelector("h2")?.textContent ?? s.id))));
	app.replaceChildren(heading(job), nav, el("main", {}, ...sections));
}
