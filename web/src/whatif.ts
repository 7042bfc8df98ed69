// SPDX-License-Identifier: Apache-2.0
// The page of kwhy whatif: what changes would bring, and an excerpt of the run before and after.

import { button, el } from "./dom";
import { visible } from "./format";
import { isDark, setTheme } from "./theme";
import { planView } from "./views/plan";
import { stretchView } from "./views/stretch";
import type { Plan } from "./whatif_types";

function heading(plan: Plan): HTMLElement {
	return el("header", {}, el("div", { class: "topline" }, el("h1", {}, "kwhy whatif"), el("span", {}, visible(plan.sources.join(", "))),
		el("span", { class: "grow" }), button("light / dark", () => setTheme(!isDark()))),
	el("p", { class: "muted small" }, "Projected by playing the recording again as it would be with the changes; nothing here was measured. Time is from the first start to the last end of device work, energy is of the devices."));
}

export function openPlan(app: HTMLElement, plan: Plan): void {
	const sections = [planView(plan), stretchView(plan)].filter((s): s is HTMLElement => s !== null);
	const nav = el("nav", { "aria-label": "views" }, ...sections.map((s) => el("a", { href: `#${s.id}` }, s.querySelector("h2")?.textContent ?? s.id)));
	app.replaceChildren(heading(plan), nav, el("main", {}, ...sections));
}
