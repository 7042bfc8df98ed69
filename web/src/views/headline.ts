// SPDX-License-Identifier: Apache-2.0
// What it cost, the largest waste and its cure: readable in a minute.

import type { Brief } from "../brief_types";
import { el } from "../dom";
import { energy, exact, known, largest, percent, power, si, time, type Maybe } from "../format";
import { BEYOND_CATEGORIES, deviceEnergy, deviceLabel, hasActivity, isOpened, IDLE_CATEGORIES, isModelled, sum, type Device, type Report } from "../report_types";
import { saves, titleOf } from "./findings";
import { firstScreen } from "./first";
import { tile } from "./parts";

/* If the longest metered window of a device is longer than the shortest by more than this share, both lengths are shown, as in the text report. */
const WINDOWS_APART = 0.01;

/* Share of the run's metered energy that was drawn while an activity ran. Energy from before and after the run, of repeats by kwhy probe, and of unrecorded time is left out. */
function useful(devices: Device[], brief: Brief | null): Maybe {
	if (brief) return known(brief.what.metered_j) && brief.what.metered_j > 0 && known(brief.what.idle_j) ? 1 - brief.what.idle_j / brief.what.metered_j : null;
	const rows = devices.filter((d) => known(deviceEnergy(d))).flatMap((d) => d.accounts).filter((a) => !BEYOND_CATEGORIES.includes(a.category));
	const total = sum(rows.map((a) => a.gross_nj));
	const idles = rows.filter((a) => IDLE_CATEGORIES.includes(a.category)), idle = idles.length ? sum(idles.map((a) => a.gross_nj)) : 0;
	return known(total) && total > 0 && known(idle) ? 1 - idle / total : null;
}

/** The 90 % interval of the run's energy. */
function interval({ run }: Report): string {
	return known(run?.low_nj) && known(run?.high_nj) ? ` · ${energy(run.low_nj)} to ${energy(run.high_nj)} (90 %)` : "";
}

/* Tile with the run's energy or, if that is unknown, the sum of the devices' metered or modelled energies. */
function energyTile(report: Report, total: number): HTMLElement {
	const run = report.run?.energy_nj;
	if (isModelled(report) || !known(run)) return tile(isModelled(report) ? "energy, modelled" : "energy, metered", energy(total), si(total / 3.6e12, "Wh"), exact(total, "nJ"));
	return tile("energy of the run", energy(run), si(run / 3.6e12, "Wh") + interval(report), `${exact(total, "nJ")} metered in all; of the run: from the first start to the last end of its devices' work`);
}

/* Tile with the mean power of all devices together: over the run or, if the run's energy is unknown, the sum of the devices' mean powers in their metered windows. */
function powerTile(report: Report): HTMLElement | null {
	const run = report.run;
	if (!isModelled(report) && known(run?.energy_nj) && known(run?.seconds) && run.seconds > 0)
		return tile("mean power", power(run.energy_nj / run.seconds / 1e6), `of the run, over ${time(run.seconds * 1e9)}`);
	const devices = report.devices.filter((d) => known(deviceEnergy(d)));
	const windows = devices.map((d) => d.energy!["metered_ns"] ?? (d.energy!["end_ns"] ?? 0) - (d.energy!["start_ns"] ?? 0));
	if (!windows.every((length) => length > 0)) return null;
	const milliwatts = devices.reduce((all, d, i) => all + (deviceEnergy(d)! / windows[i]!) * 1000, 0);
	const [least, longest] = [windows.reduce((a, b) => Math.min(a, b)), largest(windows)];
	const differ = longest - least > WINDOWS_APART * longest;
	return tile("mean power", power(milliwatts), `over ${differ ? `windows of ${time(least)} to ` : ""}${time(longest)}`);
}

/* Text of the energy from which cost and carbon are computed, and how much of it is unmetered. */
function paidFor(of: { energy_kwh?: number; unmetered_kwh?: number }, isOfRun: boolean): string {
	const unmetered = of.unmetered_kwh ? `, ${si(of.unmetered_kwh * 1000, "Wh")} of it not metered` : "";
	return known(of.energy_kwh) ? `of ${isOfRun ? "the run's " : ""}${si(of.energy_kwh * 1000, "Wh")}${isOfRun ? "" : " that were metered"}${unmetered}` : "";
}

function energyTiles(report: Report, brief: Brief | null): HTMLElement[] {
	const total = sum(report.devices.map(deviceEnergy));
	if (!known(total)) return [tile("energy", "n/a", report.source.meters?.length ? "no meter reports what the devices drew" : "no power readings; give --power FILE")];
	const { cost, carbon } = report;
	const tiles = [energyTile(report, total)];
	if (hasActivity(report)) tiles.push(tile("did work", percent(useful(report.devices, brief)), "share of the run's metered joules that was drawn while a kernel, copy or memset ran"));
	const mean = powerTile(report);
	if (mean) tiles.splice(1, 0, mean);
	if (known(cost?.amount)) tiles.push(tile("cost", si(cost.amount, cost.currency ?? ""), paidFor(cost, known(report.run?.energy_nj))));
	if (known(carbon?.g_co2e)) tiles.push(tile("CO2e", si(carbon.g_co2e, "g"), `${paidFor(carbon, known(report.run?.energy_nj))} · grid intensity as given`));
	return tiles;
}

const roofline = (ratio: number | null | undefined): string => known(ratio) ? ` · roofline ${percent(ratio, ratio < 0.01 ? 3 : 1)}` : "";

function utilisationTiles(report: Report): HTMLElement[] {
	return report.devices.filter(isOpened).map((d) =>
		tile(`utilisation, ${deviceLabel(d)}`, percent(d.utilisation?.busy_ratio ?? (d.time["busy_ns"] ?? 0) / (d.time["span_ns"] || 1)),
			`busy · SM-weighted ${percent(d.utilisation?.sm_weighted_ratio)}${roofline(d.utilisation?.roofline_ratio)}`,
			"busy: something ran; SM-weighted: share of the multiprocessors' room that was taken; roofline, where work in flop_bf16 or the like or in bytes is stated: what it takes at the peaks of the machine profile, of the run"));
}

/* Tiles for devices that were recorded only in windows: the windows' share of the time, and the sampling error. */
function coverageTiles(report: Report): HTMLElement[] {
	return report.devices.filter((d) => isOpened(d) && d.coverage).map((d) => {
		const c = d.coverage!;
		const drawn = c.choice === "duty";
		return tile(`recorded, ${deviceLabel(d)}`, percent(drawn ? c.drawn_ns / (c.drawn_of_ns || 1) : c.known_ns / (c.end_ns - c.start_ns || 1)),
			`of the time, in ${drawn ? c.drawn_count : c.window_count} windows` + (drawn && known(c.sampling_error_ratio) ? `; shares of the whole run within ${percent(c.sampling_error_ratio)} (90 %)` : ""),
			"accounts, findings and times are of the windows; what was metered between them has an account of its own");
	});
}

/* Tile with the mean busy share of all devices, if the page does not show all of them in full. */
function busyTile(report: Report, brief: Brief | null): HTMLElement[] {
	if (!brief || report.devices.every(isOpened)) return [];
	return [tile("busy", percent(brief.what.busy_ratio), `share of the time in which something ran, mean of ${exact(report.devices.length)} devices`)];
}

function answer(report: Report): HTMLElement {
	const top = report.findings[0];
	const saving = top?.projection ? saves(top.projection, " and ") : "";
	return top
		? el("p", { class: "answer" }, "Largest waste: ", el("b", {}, titleOf(report, top)), ". ",
			top.projection ? `Curing it saves ${top.projection.is_projected ? `${saving}, as projected` : `at most ${saving}`}. ` : "", `Cure: ${top.cure}`)
		: el("p", { class: "answer" }, "No finding would save more than the threshold (1 % of the window unless set otherwise).");
}

export function headline(report: Report, brief: Brief | null = null): HTMLElement {
	const span = largest(report.devices.map((d) => d.time["span_ns"] ?? 0), 0);
	const times = hasActivity(report) ? [tile("time", time(span), "first start to last end on the device", exact(span, "ns")), ...busyTile(report, brief), ...utilisationTiles(report), ...coverageTiles(report)] : [];
	// the first screen, which has the advice, comes before all other sections
	return el("section", { id: "overview", "aria-labelledby": "h-overview" }, el("h2", { id: "h-overview" }, "What it cost"),
		el("div", { class: "tiles" }, ...energyTiles(report, brief), ...times),
		brief ? firstScreen(brief, new Set(report.findings.map((finding) => finding.id)), hasActivity(report)) : answer(report));
}
