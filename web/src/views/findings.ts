// SPDX-License-Identifier: Apache-2.0
// Findings as cards; evidence jumps to its place in the timeline.

import { el } from "../dom";
import { energy, exact, known, time, visible, type Maybe } from "../format";
import { deviceLabel, hasActivity, type Evidence, type Finding, type Report, type Saving } from "../report_types";

export type Jump = (startNs: number, endNs: number) => void;

function range(value: Maybe, low: Maybe, high: Maybe): string {
	return known(low) && known(high) ? `${energy(value)} (${energy(low)} to ${energy(high)})` : energy(value);
}

/** Writes a saving as "1.90 s, 231 J (209 J to 238 J)", for the headline and the finding. */
export function saves(saving: Saving, and = ", "): string {
	return `${time(saving.time_ns)}${saving.frees_device ? " of the device" : ""}${known(saving.energy_nj) ? `${and}${range(saving.energy_nj, saving.low_nj, saving.high_nj)}` : ""}`;
}

function evidence(item: Evidence, jump: Jump | null): HTMLElement {
	if (!jump || !known(item.start_ns) || !known(item.end_ns)) return el("li", {}, visible(item.what));
	const link = el("button", { type: "button", class: "link", title: `show this place in the timeline: ${visible(item.what)}` }, visible(item.what));
	link.addEventListener("click", () => jump(item.start_ns!, item.end_ns!));
	return el("li", {}, link);
}

/* Title of a finding; if the report has several devices, preceded by the finding's device. */
export function titleOf(report: Report, finding: Finding): string {
	const where = report.devices.length > 1 && known(finding.device) ? `${deviceLabel(report.devices[finding.device]!)}: ` : "";
	return where + visible(finding.title);
}

/* Groups findings of one kind and cure on different devices, in the order of `findings` (largest saving first). A second finding of that kind on a device begins a new group. */
export function groupsOf(findings: Finding[]): Finding[][] {
	const groups: Finding[][] = [];
	for (const finding of findings) {
		const group = groups.find(([first, ...others]) => first!.id === finding.id && first!.cure === finding.cure && known(finding.device) && ![first!, ...others].some((f) => f.device === finding.device));
		if (group) group.push(finding);
		else groups.push([finding]);
	}
	return groups;
}

/* Row "also on" of a finding's card: the time and energy of the same finding on up to eight other devices. */
function others(report: Report, findings: Finding[]): [string, string] {
	const shown = findings.slice(0, 8), more = findings.length - shown.length;
	const list = shown.map((f) => `${deviceLabel(report.devices[f.device!]!)}: ${time(f.time_ns)}${known(f.energy_nj) ? `, ${energy(f.energy_nj)}` : ""}`);
	return ["also on", `${list.join("; ")}${more ? `; and ${exact(more)} more` : ""}`];
}

function card(report: Report, group: Finding[], jump: Jump | null): HTMLElement {
	const finding = group[0]!, title = titleOf(report, finding), saving = finding.projection;
	const rows: [string, string][] = [["costs now", `${time(finding.time_ns)}${known(finding.energy_nj) ? `, ${range(finding.energy_nj, finding.low_nj, finding.high_nj)}` : ""} in ${exact(finding.count)} ${finding.count === 1 ? "place" : "places"}`]];
	if (saving && !saving.credited_to) rows.push([saving.is_projected ? "saves, as projected" : "saves at most", saves(saving)]);
	if (saving?.assumption) rows.push([saving.credited_to ? "saving" : "if", saving.assumption]);
	const at = finding.file ? `${finding.file}${known(finding.line) ? `:${finding.line}` : ""}` : "";
	if (finding.in || at) rows.push(["mostly in", [finding.in, at && `(${at})`].filter(Boolean).join(" ")]);
	if (group.length > 1) rows.push(others(report, group.slice(1)));
	rows.push(["cure", finding.cure]);
	return el("article", { class: "card", id: `finding-${finding.id}` }, el("h3", {}, title),
		el("dl", {}, ...rows.flatMap(([term, text]) => [el("dt", {}, term), el("dd", {}, visible(text))])),
		finding.evidence.length ? el("ul", {}, ...finding.evidence.map((item) => evidence(item, jump))) : null);
}

/* The section with a card for each group of findings; null if no activity was recorded, since findings need activities. */
export function findings(report: Report, jump: Jump | null): HTMLElement | null {
	if (!hasActivity(report)) return null;
	return el("section", { id: "findings", "aria-labelledby": "h-findings" }, el("h2", { id: "h-findings" }, "Findings"),
		el("p", { class: "muted" }, report.findings.length ? "Largest possible saving first. Savings of different findings overlap: do not add them up." : "Nothing found above the threshold."),
		el("div", { class: "cards" }, ...groupsOf(report.findings).map((group) => card(report, group, jump))));
}
