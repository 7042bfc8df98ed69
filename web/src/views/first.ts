// SPDX-License-Identifier: Apache-2.0
// The first screen, as in a terminal: where it went, the three things to do with their places, what is not known.

import type { Brief, BriefAdvice, BriefRow } from "../brief_types";
import { el } from "../dom";
import { exact, known, percent, shorten, si, visible } from "../format";
import { categoryVariable } from "../theme";

/* Number of pieces of advice on the first screen, as many as in the text report. */
const ADVICE = 3;
const UNKNOWN = 3;
const NAME = 60;

function bar(row: BriefRow): HTMLElement {
	const width = known(row.share) ? Math.min(100, Math.max(0.5, row.share * 100)) : 0;
	return el("span", { class: "bar" }, el("i", { style: `width:${width}%;background:${categoryVariable(row.category)}` }));
}

function whereRow(row: BriefRow, energy: boolean): HTMLElement {
	const interval = known(row.energy_low_j) && known(row.energy_high_j) ? `${si(row.energy_low_j, "J")} to ${si(row.energy_high_j, "J")}` : "";
	const cells = energy ? [si(row.energy_j, "J"), interval] : [si(row.seconds, "s"), exact(row.count)];
	return el("tr", {}, el("td", { class: "name", title: visible(row.name) }, shorten(row.name, NAME, "first ")), el("td", { class: "barred" }, bar(row)), el("td", {}, percent(row.share)), el("td", {}, cells[0]!), el("td", { class: "minor" }, cells[1]!));
}

function where(brief: Brief): HTMLElement | null {
	if (!brief.where.length) return null;
	const energy = known(brief.where_j);
	const head = ["", "", "share", energy ? "energy" : "time", energy ? "90 % interval" : "count"];
	const left = brief.where_left_out ? el("p", { class: "muted small" }, `${exact(brief.where_left_out)} more: `, el("a", { href: "#ledger" }, "ledger")) : null;
	return el("div", { class: "half" }, el("h3", {}, energy ? `Where the energy went: shares of ${si(brief.where_j, "J")}` : "Where the time went"),
		el("table", { class: "where" }, el("thead", {}, el("tr", {}, ...head.map((h, i) => el("th", { scope: "col", class: i === 4 ? "minor" : "" }, h)))), el("tbody", {}, ...brief.where.map((row) => whereRow(row, energy)))), left);
}

/** Writes a saving as "about 148 J (52.5 %) and 1.24 s". */
function saving({ saves }: BriefAdvice): string {
	const joules = known(saves.energy_j) && saves.energy_j > 0 ? `${si(saves.energy_j, "J")}${known(saves.share) ? ` (${percent(saves.share)})` : ""}` : "";
	const time = known(saves.seconds) && saves.seconds > 0 ? `${si(saves.seconds, "s")}${saves.frees_device ? " of the device" : ""}` : "";
	return `${saves.is_projected ? "about" : "up to"} ${[joules, time].filter(Boolean).join(" and ")}`;
}

function place({ in: words, file, line }: BriefAdvice): (Node | string)[] {
	if (!words && !file) return [];
	const at = file ? el("code", {}, `${visible(file)}${known(line) ? `:${line}` : ""}`) : null;
	return [words ? `, mostly in ${visible(words)}` : "", ...(at ? [words ? " (" : ", mostly at ", at, words ? ")" : ""] : [])];
}

function advice(item: BriefAdvice, opened: Set<string>): HTMLElement {
	const what = el("b", {}, visible(item.what));
	return el("li", {}, opened.has(item.id) ? el("a", { href: `#finding-${item.id}` }, what) : what, ...place(item), el("div", {}, `To save ${saving(item)}, ${visible(item.cure)}.`));
}

function todo(brief: Brief, opened: Set<string>, hasActivity: boolean): HTMLElement {
	const shown = brief.do.slice(0, ADVICE), more = brief.do.length - shown.length + brief.do_left_out;
	const note = more > 0 ? `The best ${shown.length} of ${shown.length + more}; their savings overlap.` : shown.length > 1 ? "Their savings overlap." : "";
	return el("div", { class: "half" }, el("h3", {}, "What to do"), shown.length ? el("ol", { class: "todo" }, ...shown.map((item) => advice(item, opened))) : el("p", {}, hasActivity ? "Nothing found that would save enough to be worth it." : "Unknown, as nothing was recorded of what ran on the devices."), note ? el("p", { class: "muted small" }, note) : null);
}

function unknown(brief: Brief): HTMLElement | null {
	if (!brief.unknown.length) return null;
	const item = (text: string): HTMLElement => el("li", {}, visible(text));
	const rest = brief.unknown.slice(UNKNOWN), left = brief.unknown_left_out ? item(`and ${exact(brief.unknown_left_out)} more: kwhy report --section unknown`) : null;
	return el("div", { class: "unknown" }, el("h3", {}, "Not known"), el("ul", { class: "notes" }, ...brief.unknown.slice(0, UNKNOWN).map(item)),
		rest.length ? el("details", {}, el("summary", {}, `${exact(rest.length + brief.unknown_left_out)} more`), el("ul", { class: "notes" }, ...rest.map(item), left)) : null);
}

/**
 * Makes the first screen: where energy or time went, what to do, and what is not known. opened: ids of findings that have a card on the page, to which advice links. hasActivity:
 * without recorded activities, no advice is possible.
 */
export function firstScreen(brief: Brief, opened: Set<string>, hasActivity: boolean): HTMLElement {
	return el("div", {}, el("div", { class: "halves" }, where(brief), todo(brief, opened, hasActivity)), unknown(brief));
}
