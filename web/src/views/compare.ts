// SPDX-License-Identifier: Apache-2.0
// Before and after, side by side.

import type { Comparison, Figure, Pair } from "../compare_types";
import { el } from "../dom";
import { energy, exact, known, percent, shorten, si, time, visible, type Maybe } from "../format";

const SHOWN = 300;

function change(before: Maybe, after: Maybe): string {
	return known(before) && known(after) && before !== 0 ? `${after >= before ? "+" : ""}${percent(after / before - 1)}` : "n/a";
}

function verdict(pair: Pair): string {
	if (!pair.a || !pair.b) return pair.a ? "gone" : "new";
	if (pair.significant === null || !known(pair.change_nj)) return "cannot tell";
	return !pair.significant ? "within the interval" : pair.change_nj > 0 ? "more" : "less";
}

function row(pair: Pair): HTMLElement {
	const { a, b } = pair;
	return el("tr", {},
		el("td", { class: "text" }, pair.category), el("td", { class: "name", title: visible(pair.name) }, shorten(pair.name, 60)),
		...[energy(a?.gross_nj), energy(b?.gross_nj), change(a?.gross_nj, b?.gross_nj), exact(a?.count ?? 0), exact(b?.count ?? 0), time(a?.time_ns), time(b?.time_ns), change(a?.time_ns, b?.time_ns), verdict(pair)].map((text) => el("td", {}, text)));
}

/* Text of the throughput and the time of a step before and after, which can be compared even if one run was longer; what is unknown is left out. */
function rates({ figures, throughput_of: counted }: Comparison): string {
	const of = (name: string): Figure => figures.find((figure) => figure.name === name) ?? { name, a: null, b: null };
	const throughput = of("throughput"), step = of("step");
	const what = counted.kind === "launches" ? `launches of ${shorten(visible(counted.name ?? ""), 60)}` : visible(counted.name ?? "");
	return (known(throughput.a) && known(throughput.b) ? `Throughput in ${what} ${si(throughput.a, "/s")} → ${si(throughput.b, "/s")} (${change(throughput.a, throughput.b)}). ` : "") +
		(known(step.a) && known(step.b) ? `A step ${time(step.a * 1e9)} → ${time(step.b * 1e9)} (${change(step.a, step.b)}). ` : "");
}

export function compareView(all: Comparison): HTMLElement {
	const { a, b, findings_gone: gone, findings_new: fresh } = all;
	const titles = (list: { title: string }[]): string => list.map((f) => visible(f.title)).join("; ");
	return el("section", { id: "compare" }, el("h2", {}, "Before and after"),
		el("p", { class: "answer" }, `${rates(all)}Energy of the run ${energy(a.run_nj)} → ${energy(b.run_nj)} (${change(a.run_nj, b.run_nj)}), metered ${energy(a.energy_nj)} → ${energy(b.energy_nj)} (${change(a.energy_nj, b.energy_nj)}), time ${time(a.span_ns)} → ${time(b.span_ns)} (${change(a.span_ns, b.span_ns)}).`),
		el("p", {}, gone.length ? `Findings gone: ${titles(gone)}.` : "No finding is gone."), el("p", {}, fresh.length ? `New findings: ${titles(fresh)}.` : "No new finding."),
		el("p", { class: "muted" }, "Accounts are sums over devices. More or less: the change lies beyond its 90 % interval, in which the half-widths of both sides add in squares."),
		el("div", { class: "scroll" }, el("table", {}, el("thead", {}, el("tr", {}, ...["category", "operation", "before", "after", "change", "count before", "after", "time before", "after", "change", "energy differs"].map((h, i) => el("th", { scope: "col", class: i < 2 ? "text" : "" }, h)))), el("tbody", {}, ...all.accounts.slice(0, SHOWN).map(row)))));
}
