// SPDX-License-Identifier: Apache-2.0
// Elements that several views use.

import { el } from "../dom";

/* Makes a table. The first column is aligned as text; wraps: its cells may have several lines. minor: indexes of columns that are hidden on a narrow screen. */
export function table(head: string[], rows: (string | Node)[][], wraps = false, minor: number[] = []): HTMLElement {
	const first = wraps ? "text wrap" : "text", kind = (i: number): string => (minor.includes(i) ? "minor" : "");
	return el("div", { class: "scroll" }, el("table", {}, el("thead", {}, el("tr", {}, ...head.map((h, i) => el("th", { scope: "col", class: i ? kind(i) : "text" }, h)))),
		el("tbody", {}, ...rows.map((row) => el("tr", {}, ...row.map((cell, i) => el("td", { class: i ? kind(i) : first }, cell)))))));
}

export function tile(label: string, value: string, note = "", title = ""): HTMLElement {
	return el("div", { class: "tile", ...(title ? { title } : {}) }, el("span", { class: "muted small" }, label), el("b", {}, value), el("span", { class: "muted small" }, note));
}
