// SPDX-License-Identifier: Apache-2.0
// What kwhy probe repeated, how much it made known, and what it left alone with the reason.

import { el } from "../dom";
import { energy, exact, percent, time, visible } from "../format";
import type { Probing, Report } from "../report_types";
import { table, tile } from "./parts";

const within = (probing: Probing): string => `within ${percent(probing.within_ratio, 0)}`;

function kernelTile(probing: Probing): HTMLElement {
	const { all, known, repeated, waiting } = probing;
	const work = waiting.kernels ? `; without the ${percent(waiting.time_ratio)} of kernels that only wait: ${percent(probing.known_of_work_ratio)}` : "";
	return tile("power known in bursts", `${exact(known.kernels)} of ${exact(all.kernels)}`,
		`${percent(known.time_ratio)} of the kernels' time ${within(probing)}, by the time of the repeats${work}; repeated: ${exact(repeated.kernels)}, ${percent(repeated.time_ratio)}`,
		"name, grid and block together are one kernel");
}

function energyTile(probing: Probing): HTMLElement {
	const { busy_nj, known_nj } = probing;
	return tile("energy known in the program", percent(busy_nj ? known_nj / busy_nj : null),
		busy_nj ? `${energy(known_nj)} of ${energy(busy_nj)} of kernels, copies and memsets: accounts whose 90 % interval is ${within(probing)}` : "the energy of kernels, copies and memsets was not metered");
}

function checks(probing: Probing): HTMLElement {
	if (probing.different)
		return el("p", { class: "warn" }, `After repeats of ${visible(probing.different_kernel ?? "a kernel")} memory was not what it had been: the results of this run are not to be trusted; --skip leaves that kernel alone.`);
	return el("p", { class: "muted" }, probing.checked ? `Device memory was the same after each of the ${exact(probing.checked)} bursts that were checked.` : "Memory was not checked after any burst.");
}

export function probingView(report: Report): HTMLElement | null {
	const { probing } = report;
	if (!probing) return null;
	const left = probing.not_repeated;
	return el("section", { id: "probing", "aria-labelledby": "h-probing" }, el("h2", { id: "h-probing" }, "Probing"),
		el("div", { class: "tiles" }, kernelTile(probing), energyTile(probing),
			tile("host time in bursts", time(probing.time_ns), `in ${exact(probing.bursts)} bursts of ${exact(probing.repeats)} repeats in all`)),
		probing.bursts ? checks(probing) : null,
		left.length ? el("h3", {}, "Not repeated, and why, with the share of the kernels' time") : null,
		left.length ? table(["reason", "kernels", "time", "share"],
			left.map((part) => [visible(part.reason ?? ""), exact(part.kernels), time(part.time_ns), percent(part.time_ratio)]), true) : null);
}
