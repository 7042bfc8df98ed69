// SPDX-License-Identifier: Apache-2.0
// Decodes the data blocks and puts the views on the page, the answer first.

import { block, jsonBlock } from "./blocks";
import { drawWaiting } from "./chart";
import type { Brief } from "./brief_types";
import type { Comparison } from "./compare_types";
import { button, el } from "./dom";
import { exact, known, time, visible } from "./format";
import { completed, hasActivity, type Report } from "./report_types";
import { initTheme, isDark, setTheme } from "./theme";
import { Timeline } from "./timeline";
import { TimelineData } from "./timeline_data";
import { openTransfers } from "./transfers";
import { openLlm } from "./llm";
import { openPairs } from "./pairs";
import { openLab, openOperations } from "./results";
import { openJob } from "./job";
import { openPlan } from "./whatif";
import type { Plan } from "./whatif_types";
import { copies, kernels, memory, ranks, steps } from "./views/charts";
import { compareView } from "./views/compare";
import { findings } from "./views/findings";
import { headline } from "./views/headline";
import { ledger } from "./views/ledger";
import { heatmapView } from "./views/heatmap";
import { categoriesView, operationsView, rankingView, splitView } from "./views/operations";
import { rangesView } from "./views/ranges";
import { apiView, quality, timeView, waitsView } from "./views/quality";
import { planView } from "./views/plan";
import { probingView } from "./views/probing";
import { sankey } from "./views/sankey";
import { stretchView } from "./views/stretch";

const TITLES: Record<string, string> = {
	overview: "overview", findings: "findings", plan: "plan", stretch: "before and after", flow: "joules", timeline: "timeline", ledger: "ledger", time: "time", waits: "host in", kernels: "kernels", copies: "copies",
	steps: "steps", map: "ranks", categories: "categories", operations: "memory operations", split: "a transfer", ranking: "a byte", ranks: "ranks", ranges: "ranges", memory: "memory", api: "API", probing: "probing", quality: "trust", compare: "compare",
};

/** Largest number of traces that the heading names. */
const TRACES = 3;

/* Text of how long activities were recorded or, if there are none, how long the energy was metered. */
function recorded(report: Report): string {
	const { start_ns, end_ns } = report.window;
	if (hasActivity(report) || !known(report.run?.seconds)) return `${time(end_ns - start_ns)} recorded`;
	return `${time(report.run.seconds * 1e9)} metered`;
}

function heading(report: Report): HTMLElement {
	const { clock, origin_unix_ns, start_ns } = report.window;
	const began = new Date(Number(BigInt(origin_unix_ns) / 1000000n) + start_ns / 1e6);
	const date = clock === "unix" ? `${began.toISOString().slice(0, 19).replace("T", " ")} UTC, ` : "";
	const paths = report.source.traces?.map((t) => t.path) ?? [];
	const traces = paths.slice(0, TRACES).join(", ") + (paths.length > TRACES ? ` and ${exact(paths.length - TRACES)} more` : "");
	const theme = button("light / dark", () => setTheme(!isDark()));
	return el("header", {}, el("div", { class: "topline" }, el("h1", {}, "kwhy"), el("span", {}, visible(traces)),
		el("span", { class: "muted small" }, `${date}${recorded(report)}`), el("span", { class: "grow" }), theme));
}

function navigation(sections: HTMLElement[]): HTMLElement {
	return el("nav", { "aria-label": "views" }, ...sections.map((s) => el("a", { href: `#${s.id}` }, TITLES[s.id] ?? s.id)));
}

/* Parses the fragment #timeline=FROM-TO of the page's address, which is a link to one view of the timeline: nanoseconds from the start of the window. null: there is none. */
function parseView(): [number, number] | null {
	const match = /^#timeline=(\d+)-(\d+)$/.exec(location.hash);
	return match ? [Number(match[1]), Number(match[2])] : null;
}

function timelineSection(data: TimelineData, hasActivities: boolean): { node: HTMLElement; timeline: Timeline } {
	const link = (from: number, to: number): void => history.replaceState(null, "", `#timeline=${Math.round(from)}-${Math.round(to)}`);
	const timeline = new Timeline(data, link);
	const note = !hasActivities ? "Power as the meters saw it." : data.header.exact ? "Every activity is here, exact." : "Too many activities to carry them all: the whole run is shown as bins; the places around the evidence of each finding, the first and last 10 ms and the middle of the run are exact.";
	const node = el("section", { id: "timeline", "aria-labelledby": "h-timeline" }, el("h2", { id: "h-timeline" }, "Timeline"),
		el("p", { class: "muted" }, note, el("span", { class: "hint" }, " Wheel or + and − zoom, drag or arrow keys pan, 0 shows all.")), timeline.node);
	return { node, timeline };
}

function openReport(app: HTMLElement, report: Report, brief: Brief | null, plan: Plan | null, container: ArrayBuffer | null): void {
	const data = container ? new TimelineData(container) : null;
	const shown = data ? timelineSection(data, hasActivity(report)) : null;
	const jump = shown ? (from: number, to: number): void => shown.timeline.jump(from - data!.header.start_ns, to - data!.header.start_ns) : null;
	const sections = [
		headline(report, brief), heatmapView(report), findings(report, jump), plan ? planView(plan) : null, plan ? stretchView(plan) : null, sankey(report), shown?.node ?? null, categoriesView(report), ledger(report), timeView(report), waitsView(report), rangesView(report), operationsView(report), splitView(report), rankingView(report), kernels(report), copies(report),
		steps(report), report.opened ? null : ranks(report), memory(report, data), apiView(report), probingView(report), quality(report),
	].filter((s): s is HTMLElement => s !== null);
	app.replaceChildren(heading(report), navigation(sections), el("main", {}, ...sections));
	const view = parseView();
	if (view && shown) {
		shown.timeline.show(...view);
		shown.node.scrollIntoView();
	} else if (location.hash) {
		document.getElementById(location.hash.slice(1))?.scrollIntoView();
	}
	if (shown) Object.assign(window, { kwhyTimeline: shown.timeline });
}

function openComparison(app: HTMLElement, comparison: Comparison, a: Report, b: Report): void {
	const part = (title: string, report: Report): HTMLElement => el("section", {}, el("h2", {}, title), headline(report));
	app.replaceChildren(heading(a), el("main", {}, compareView(comparison), part("Before", a), part("After", b)));
}

/* For pages with a single block of JSON: the id of the block, and the function that shows its data. */
const PAGES: Record<string, (app: HTMLElement, data: never) => void> = {
	"kwhy-transfers": openTransfers, "kwhy-pairs": openPairs, "kwhy-llm": openLlm, "kwhy-ops": openOperations, "kwhy-lab": openLab, "kwhy-job": openJob,
};

async function open(app: HTMLElement): Promise<void> {
	const comparison = await jsonBlock<Comparison>("kwhy-compare");
	const [a, b] = [await jsonBlock<Report>("kwhy-report-a"), await jsonBlock<Report>("kwhy-report-b")];
	if (comparison && a && b) return openComparison(app, comparison, a, b);
	for (const [id, draw] of Object.entries(PAGES)) {
		const data = await jsonBlock(id);
		if (data) return draw(app, data as never);
	}
	const plan = await jsonBlock<Plan>("kwhy-plan"), report = await jsonBlock<Report>("kwhy-report");
	if (plan && !report) return openPlan(app, plan);
	if (!report) throw new Error("the page carries no report");
	openReport(app, completed(report), await jsonBlock<Brief>("kwhy-brief"), plan, await block("kwhy-timeline"));
}

async function main(): Promise<void> {
	const app = document.getElementById("app")!;
	initTheme();
	try {
		await open(app);
		document.documentElement.dataset["ready"] = String(Math.round(performance.now()));
		setTimeout(drawWaiting);
	} catch (error) {
		app.replaceChildren(el("p", { class: "warn" }, `This page could not be drawn: ${error instanceof Error ? error.message : String(error)}`));
		throw error;
	}
}

void main();
