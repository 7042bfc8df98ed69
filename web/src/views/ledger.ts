// SPDX-License-Identifier: Apache-2.0
// The ledger: every account, sortable and filterable, with its 90 % interval.

import { ACCOUNT_COLUMNS } from "../columns";
import { button, csv, el, save } from "../dom";
import { bytes, energy, exact, known, largest, percent, power, shorten, time, visible, type Maybe } from "../format";
import { deviceEnergy, deviceLabel, type Account, type Device, type Report } from "../report_types";
import { categoryVariable } from "../theme";

const PAGE = 200;

interface Row { device: Device; account: Account; share: number | null; reach: number }
interface Column { key: string; title: string; text?: boolean; value: (row: Row) => number | string | null; cell: (row: Row) => Node | string; hint?: string; energy?: boolean; minor?: boolean }

/* Mean energy of one activity of the account, nJ: mean power times mean duration. Gross energy divided by the count would be too low if some activities are unmetered. */
const each = ({ account: a }: Row): number | null => known(a.gross_nj) && known(a.mean_power_mw) && a.count ? (a.mean_power_mw * 1e-3 * a.time_ns) / a.count : null;

const CELLS: Record<string, (value: Maybe) => string> = { nJ: energy, ns: time, mW: power, B: bytes, "": exact };

/* Makes a column for a member of the accounts in report.json. Title and unit are those that the text report has; `more`: members of the column that differ. */
function column(key: keyof typeof ACCOUNT_COLUMNS, more: Partial<Column> = {}): Column {
	const { title, unit } = ACCOUNT_COLUMNS[key];
	return { key, title, energy: unit === "nJ" || unit === "mW", value: (r) => r.account[key] ?? null, cell: (r) => CELLS[unit]!(r.account[key] as Maybe), ...more };
}

const COLUMNS: Column[] = [
	{ key: "device", title: "device", text: true, value: (r) => deviceLabel(r.device), cell: (r) => deviceLabel(r.device) },
	column("category", { text: true, cell: (r) => el("span", {}, el("span", { class: "swatch", style: `background:${categoryVariable(r.account.category)}` }), r.account.category) }),
	column("name", { title: "operation", text: true, cell: (r) => el("bdi", { title: visible(r.account.name) }, shorten(r.account.name, 64)) }),
	column("count", { minor: true }),
	column("time_ns"),
	column("gross_nj", { hint: "all that the meter saw while it ran, idle level included" }),
	{ key: "share", energy: true, title: "share", value: (r) => r.share, cell: (r) => percent(r.share) },
	{ key: "interval", energy: true, minor: true, title: "90 % interval", value: (r) => known(r.account.high_nj) && known(r.account.low_nj) ? r.account.high_nj - r.account.low_nj : null, cell: interval },
	column("idle_nj", { minor: true, hint: "what the device would have drawn in that time with only its context alive" }),
	column("net_nj", { minor: true, hint: "gross less idle: what the work itself added" }),
	{ key: "each", energy: true, minor: true, title: "each", value: each, cell: (r) => energy(each(r)), hint: "mean power over the time of one, metered or not" },
	column("mean_power_mw", { minor: true, hint: "gross over what of the time was metered" }),
	column("bytes", { minor: true, cell: (r) => (r.account.bytes ? bytes(r.account.bytes) : "") }),
	column("basis", { minor: true, energy: true, text: true, cell: (r) => r.account.basis, hint: "data: the readings decide; learnt: another recording taught it (--powers), and the readings hardly moved it; prior: they hardly do; joint: only the sum of a group is known; modelled: assumed powers; none: no energy known" }),
];

function interval(row: Row): Node | string {
	const { account: a, reach } = row;
	if (!known(a.low_nj) || !known(a.high_nj) || !known(a.gross_nj) || reach <= 0) return "n/a";
	const x = (nj: number): string => `${Math.max(0, Math.min(100, (nj / reach) * 100))}%`;
	return el("span", { class: "interval", title: `${energy(a.low_nj)} to ${energy(a.high_nj)} (${exact(a.low_nj)} to ${exact(a.high_nj, "nJ")})` },
		el("i", { style: `left:0;width:${x(a.gross_nj)};background:${categoryVariable(a.category)}` }),
		el("s", { style: `left:${x(a.low_nj)};width:max(2px,calc(${x(a.high_nj)} - ${x(a.low_nj)}))` }));
}

function rowsOf(report: Report): Row[] {
	const reach = largest(report.devices.flatMap((d) => d.accounts.map((a) => a.high_nj ?? a.gross_nj ?? 0)), 0);
	return report.devices.flatMap((device) => {
		const total = deviceEnergy(device);
		return device.accounts.map((account) => ({ device, account, reach, share: known(total) && total > 0 && known(account.gross_nj) ? account.gross_nj / total : null }));
	});
}

function order(column: Column, down: boolean): (a: Row, b: Row) => number {
	return (a, b) => {
		const [x, y] = [column.value(a), column.value(b)];
		if (x === null || y === null) return x === y ? 0 : x === null ? 1 : -1;
		const less = typeof x === "string" ? x.localeCompare(String(y), "en", { numeric: true }) : x - Number(y);
		return down ? -less : less;
	};
}

const classOf = (column: Column): string => [column.text ? "text" : "", column.minor ? "minor" : ""].filter(Boolean).join(" ");

export function ledger(report: Report): HTMLElement {
	const all = rowsOf(report);
	const priced = all.some((r) => r.account.gross_nj !== null);
	const named = { device: report.devices.length > 1, bytes: all.some((r) => r.account.bytes) } as Record<string, boolean>;
	const columns = COLUMNS.filter((c) => (priced || !c.energy) && (named[c.key] ?? true));
	const state = { key: priced ? "gross_nj" : "time_ns", down: true, filter: "", limit: PAGE };
	const body = el("tbody");
	const count = el("span", { class: "muted small", "aria-live": "polite" });
	const headers = columns.map((column) => {
		const sort = el("button", { type: "button", ...(column.hint ? { title: column.hint } : {}) }, column.title);
		const header = el("th", { scope: "col", class: classOf(column) }, sort);
		sort.addEventListener("click", () => {
			state.down = state.key === column.key ? !state.down : !column.text;
			state.key = column.key;
			draw();
		});
		return header;
	});
	const matching = (): Row[] => {
		const wanted = state.filter.toLowerCase();
		return all.filter((r) => `${r.account.category} ${r.account.name} ${r.account.basis}`.toLowerCase().includes(wanted))
			.sort(order(columns.find((c) => c.key === state.key)!, state.down));
	};
	const draw = (): void => {
		const rows = matching();
		columns.forEach((c, i) => headers[i]!.setAttribute("aria-sort", c.key !== state.key ? "none" : state.down ? "descending" : "ascending"));
		body.replaceChildren();
		for (const row of rows.slice(0, state.limit)) body.append(el("tr", {}, ...columns.map((c) => el("td", { class: c.key === "name" ? "name" : classOf(c) }, c.cell(row)))));
		count.textContent = `${Math.min(rows.length, state.limit)} of ${rows.length} accounts`;
		more.hidden = rows.length <= state.limit;
	};
	const more = button("show more", () => {
		state.limit *= 5;
		draw();
	});
	const filter = el("input", { type: "search", title: "part of a name, category or basis" });
	filter.addEventListener("input", () => {
		state.filter = filter.value;
		draw();
	});
	draw();
	const exportCsv = button("CSV", () => save("accounts.csv", csv([columns.map((c) => c.title), ...matching().map((r) => columns.map((c) => c.value(r)))])), "save the accounts shown; times in ns, energies in nJ");
	return el("section", { id: "ledger", "aria-labelledby": "h-ledger" }, el("h2", { id: "h-ledger" }, "Ledger"),
		el("p", { class: "muted" }, priced ? "Every joule the meter saw is in exactly one row. gross = idle + net." : "Time only: no energy is known."),
		el("div", { class: "tools" }, el("label", {}, "filter ", filter), count, el("span", { class: "grow" }), exportCsv),
		el("div", { class: "scroll" }, el("table", {}, el("thead", {}, el("tr", {}, ...headers)), body)), more);
}
