// SPDX-License-Identifier: Apache-2.0
// From meter to category to operation.

import { chart, escapeHtml } from "../chart";
import { el } from "../dom";
import { energy, exact, known, shorten, visible } from "../format";
import { deviceLabel, IDLE_CATEGORIES, type Account, type Report } from "../report_types";
import { categoryColor, color } from "../theme";

/*
 * Nodes with less than this share of all energy would be too thin to be seen. Categories below it are added up in one node, and so are the accounts below it within each category.
 */
const VISIBLE = 0.006;
const TOP = 9;

interface Link { source: string; target: string; value: number }
interface Flow { nodes: { name: string; label: string; category: string }[]; links: Link[] }

function flows(report: Report): Flow {
	const nodes = new Map<string, { name: string; label: string; category: string }>();
	const links: Link[] = [];
	const node = (name: string, label: string, category: string): string => {
		nodes.set(name, { name, label, category });
		return name;
	};
	for (const device of report.devices) {
		const paid = device.accounts.filter((a): a is Account & { gross_nj: number } => known(a.gross_nj) && a.gross_nj > 0);
		if (!paid.length) continue;
		const total = paid.reduce((sum, a) => sum + a.gross_nj, 0);
		const meter = node(`meter ${deviceLabel(device)}`, `${device.energy?.source ?? "meter"}, ${deviceLabel(device)}`, "");
		let folded = 0;
		for (const category of new Set(paid.map((a) => a.category))) {
			const members = paid.filter((a) => a.category === category).sort((a, b) => b.gross_nj - a.gross_nj);
			const sum = members.reduce((s, a) => s + a.gross_nj, 0);
			if (sum < VISIBLE * total) {
				folded += sum;
				continue;
			}
			const idle = IDLE_CATEGORIES.includes(category);
			const name = node(`${deviceLabel(device)} ${category}`, idle ? members[0]!.name : category, category);
			links.push({ source: meter, target: name, value: sum });
			if (idle) continue;
			const shown = members.slice(0, TOP).filter((a) => a.gross_nj >= VISIBLE * total);
			shown.forEach((a, i) => links.push({ source: name, target: node(`${name} ${i} ${a.name}`, shorten(a.name, 34), category), value: a.gross_nj }));
			const rest = sum - shown.reduce((s, a) => s + a.gross_nj, 0);
			if (rest > 0 && members.length > shown.length) links.push({ source: name, target: node(`${name} rest`, `${members.length - shown.length} smaller`, category), value: rest });
		}
		if (folded > 0) links.push({ source: meter, target: node(`${deviceLabel(device)} folded`, "everything smaller", ""), value: folded });
	}
	return { nodes: [...nodes.values()], links };
}

export function sankey(report: Report): HTMLElement | null {
	const flow = flows(report);
	if (!flow.links.length) return null;
	const label = new Map(flow.nodes.map((n) => [n.name, n.label]));
	const view = chart({
		id: "flow-chart", label: "Sankey diagram of energy from meter to category to operation", height: Math.min(720, 200 + flow.nodes.length * 18),
		rows: () => [["from", "to", "energy_nj"], ...flow.links.map((l) => [label.get(l.source)!, visible(label.get(l.target)!), l.value])],
		option: (isNarrow) => ({
			tooltip: { formatter: (p: { data: Partial<Link> & { name?: string }; value: number }) => p.data.source ? `${escapeHtml(label.get(p.data.source)!)} → ${escapeHtml(label.get(p.data.target!)!)}<br>${energy(p.data.value!)} (${exact(p.data.value!, "nJ")})` : `${escapeHtml(label.get(p.data.name!)!)}<br>${energy(p.value)} (${exact(p.value, "nJ")})` },
			series: [{
				type: "sankey", nodeAlign: "left", left: 4, right: isNarrow ? 120 : 260, top: 8, bottom: 8, nodeGap: 10, draggable: false, emphasis: { focus: "adjacency" },
				data: flow.nodes.map((n) => ({ name: n.name, itemStyle: { color: n.category ? categoryColor(n.category) : color("accent") } })),
				links: flow.links, lineStyle: { color: "target", opacity: 0.35 },
				label: { color: color("text"), ...(isNarrow ? { fontSize: 10, width: 112, overflow: "truncate" } : {}), formatter: (p: { name: string; value?: number }) => `${label.get(p.name)!}` },
			}],
		}),
	});
	return el("section", { id: "flow", "aria-labelledby": "h-flow" }, el("h2", { id: "h-flow" }, "Where the joules went"),
		el("p", { class: "muted" }, "From the meter through the category to the operation; widths are joules and add up on every level."), view);
}
