// SPDX-License-Identifier: Apache-2.0
// Before and after, side by side.

import { el } from "../dom";
import { energy, known, percent, shorten, time, visible, type Maybe } from "../format";
import { deviceEnergy, sum, type Account, type Report } from "../report_types";

interface Pair { category: string; name: string; before: Account | null; after: Account | null }

function pairs(a: Report, b: Report): Pair[] {
	const found = new Map<string, Pair>();
	const put = (side: "before" | "after") => (account: Account): void => {
		const key = `${account.category}\u0000${account.name}`;
		const pair = found.get(key) ?? { category: account.category, name: account.name, before: null, after: null };
		pair[side] ??= account;
		found.set(key, pair);
	};
	a.devices.flatMap((d) => d.accounts).forEach(put("before"));
	b.devices.flatMap((d) => d.accounts).forEach(put("after"));
	return [...found.values()];
}

function change(before: Maybe, after: Maybe): string {
	return known(before) && known(after) && before !== 0 ? `${after >= before ? "+" : ""}${percent(after / before - 1)}` : "n/a";
}

/** Apart only when the 90 % intervals do not touch. */
function verdict(pair: Pair): string {
	const { before: x, after: y } = pair;
	if (!x || !y) return x ? "gone" : "new";
	if (!known(x.low_nj) || !known(x.high_nj) || !known(y.low_nj) || !known(y.high_nj)) return "cannot tell";
	return x.high_nj < y.low_nj ? "more" : y.high_nj < x.low_nj ? "less" : "within the intervals";
}

export function compareView(a: Report, b: Report): HTMLElement {
	const total = (r: Report): Maybe => sum(r.devices.map(deviceEnergy));
	const span = (r: Report): number => Math.max(...r.devices.map((d) => d.time["span_ns"] ?? 0), 0);
	const rows = pairs(a, b).sort((p, q) => Math.abs((q.after?.gross_nj ?? 0) - (q.before?.gross_nj ?? 0)) - Math.abs((p.after?.gross_nj ?? 0) - (p.before?.gross_nj ?? 0)) || Math.abs((q.after?.time_ns ?? 0) - (q.before?.time_ns ?? 0)) - Math.abs((p.after?.time_ns ?? 0) - (p.before?.time_ns ?? 0)));
	const body = rows.slice(0, 300).map((p) => el("tr", {},
		el("td", { class: "text" }, p.category), el("td", { class: "name", title: visible(p.name) }, shorten(p.name, 60)),
		...[energy(p.before?.gross_nj), energy(p.after?.gross_nj), change(p.before?.gross_nj, p.after?.gross_nj), time(p.before?.time_ns), time(p.after?.time_ns), change(p.before?.time_ns, p.after?.time_ns), verdict(p)].map((text) => el("td", {}, text))));
	const ids = (r: Report): Set<string> => new Set(r.findings.map((f) => f.id));
	const gone = a.findings.filter((f) => !ids(b).has(f.id)).map((f) => f.title);
	const fresh = b.findings.filter((f) => !ids(a).has(f.id)).map((f) => f.title);
	return el("section", { id: "compare" }, el("h2", {}, "Before and after"),
		el("p", { class: "answer" }, `Energy ${energy(total(a))} → ${energy(total(b))} (${change(total(a), total(b))}), time ${time(span(a))} → ${time(span(b))} (${change(span(a), span(b))}).`),
		el("p", {}, gone.length ? `Findings gone: ${gone.map(visible).join("; ")}.` : "No finding is gone."), el("p", {}, fresh.length ? `New findings: ${fresh.map(visible).join("; ")}.` : "No new finding."),
		el("div", { class: "scroll" }, el("table", {}, el("thead", {}, el("tr", {}, ...["category", "operation", "before", "after", "change", "time before", "after", "change", "energy differs"].map((h, i) => el("th", { scope: "col", class: i < 2 ? "text" : "" }, h)))), el("tbody", {}, ...body))));
}
