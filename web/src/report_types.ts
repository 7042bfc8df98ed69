// SPDX-License-Identifier: Apache-2.0
// report.json, version 1 (docs/formats/report.md), as far as the page reads it. null is "unknown".

type N = number | null;

export interface Account {
	category: string; name: string; count: number; bytes?: N; time_ns: number; gross_nj: N; idle_nj: N; net_nj: N;
	low_nj: N; high_nj: N; mean_power_mw: N; basis: string; group: N;
}
export interface Copy { kind: string; src_memory: string; dst_memory: string; count: number; bytes: N; total_ns: number }
export interface CopyClass extends Copy { size_class: number; energy_nj?: N }
export interface Device {
	index: number; rank: N; name: string | null; pid_count: N;
	time: Record<string, N>;
	host_waits?: { reason: string; kind: string | null; name: string | null; file: string | null; line: N; time_ns: number; gap_count: number; longest_ns: number }[];
	utilisation?: { busy_ratio: N; sm_weighted_ratio: N; roofline_ratio: N };
	kernels: { count: number; total_ns: number; union_ns: number };
	copies: Copy[]; copy_classes?: CopyClass[];
	energy: null | (Record<string, N> & { source: string | null; basis?: string });
	groups: { id: number; members: (string | number)[]; gross_nj: N; low_nj: N; high_nj: N }[];
	accounts: Account[];
	/* true: the page has only the times and the energy of this device; its lists, such as accounts and copies, are empty */
	is_closed?: boolean;
	coverage?: { choice: string; known_ns: number; start_ns: number; end_ns: number; window_count: number; drawn_count: number; drawn_ns: number; drawn_of_ns: number; sampling_error_ratio: N };
}
export interface Evidence { start_ns: N; end_ns: N; what: string }
export interface Saving { time_ns: N; energy_nj: N; low_nj: N; high_nj: N; assumption: string | null; is_projected?: boolean; frees_device?: boolean; credited_to?: string | null }
export interface Finding {
	id: string; title: string; in?: string | null; file?: string | null; line?: N; device: N; count: number; time_ns: N; energy_nj: N; low_nj: N; high_nj: N;
	evidence: Evidence[]; cure: string;
	projection: Saving | null;
}
export interface RangeSum {
	name: string; kind?: string; count?: number; start_ns?: N; host_ns?: N; device_ns?: N; busy_ns?: N; energy_nj?: N; window_energy_nj?: N;
	busy_ratio?: N; sm_weighted_ratio?: N; activity_count?: N;
}
/**
 * A group of kernels: their number, and the time of the program's own launches of them, without repeats by kwhy probe. Launches with the same name, grid and block size are one
 * kernel.
 */
export interface ProbedPart { reason?: string; kernels: number; time_ns: number; time_ratio: number }
export interface Probing {
	bursts: number; repeats: number; time_ns: number; within_ratio: number; busy_nj: number; known_nj: number;
	all: ProbedPart; repeated: ProbedPart; known: ProbedPart; waiting: ProbedPart; known_of_work_ratio: number; not_repeated: ProbedPart[];
	checked: number; different: number; different_kernel: string | null;
}
export interface Operation {
	operation: string; count: number; time_ns: number; known_count: number; metered_ns: N; gross_nj: N; low_nj: N; high_nj: N; each_nj: N; each_flop: N;
}
export interface Split { device: number; kind: string; count: number; priced_count: number; dma_ns: number; wait_ns: number; rest_ns: number; rest_median_ns?: number; rest_longest_ns?: number; dma_nj: N; wait_nj: N; rest_nj: N }
export interface RankedCost {
	device: number; account: number; bytes: number; rate_bytes_per_s: N; peak_bytes_per_s: N; gross_nj_per_byte: N; net_nj_per_byte: N; ratio_to_best: N;
}
export interface CategorySum { category: string; account_count: number; count: number; time_ns: number; gross_nj: N; idle_nj: N; net_nj: N; share_ratio: N; potential: string }
export interface Report {
	schema: string;
	/* indexes of the devices with the worst and the median rank, the only two that the page shows in full; missing: it shows all in full */
	opened?: { worst: number; median: number };
	memory_operations?: { device: number; rows: Operation[] }[]; transfer_split?: Split[] | null; transfer_efficiency?: RankedCost[]; categories?: CategorySum[];
	work?: { unit: string; count: N; energy_per_unit_nj: N }[] | null;
	source: Record<string, unknown> & { traces?: { path: string; format: string; version?: string | null; producer?: string | null }[]; meters?: { source: string }[]; command?: string | null };
	window: { origin_unix_ns: string; start_ns: number; end_ns: number; clock: string };
	devices: Device[];
	api: { name: string; count: number; total_ns: number }[];
	findings: Finding[];
	run?: null | { seconds: N; energy_nj: N; low_nj: N; high_nj: N; unmetered_nj: N; modelled: boolean };
	ranges: RangeSum[] | null; steps: RangeSum[] | null;
	loop?: null | { step_count: number; time_per_step_ns: number; energy_per_step_nj: N };
	ranks: { rank: N; device: N; span_ns: N; busy_ns: N; compute_ns: N; collective_exposed_ns?: N; energy_nj: N }[] | null;
	memory: { device: number; peak_allocated_bytes: N; peak_reserved_bytes: N; device_bytes: N; unused_bytes: N }[] | null;
	overhead?: { kind: string; device: N; count: number; time_ns: number; energy_nj: N }[];
	hosts: HostEnergy[] | null;
	probing?: Probing;
	cost: null | { amount?: N; currency?: string | null; price_per_kwh?: N; energy_kwh?: number; unmetered_kwh?: number };
	carbon: null | { g_co2e?: N; intensity_g_per_kwh?: N; energy_kwh?: number; unmetered_kwh?: number };
	lost: Record<string, unknown>;
	warnings: (string | { id: string; kind?: string; text: string })[];
}

export interface HostEnergy { source: string; host?: string; start_ns: number; end_ns: number; measured_nj: N }

/* Whether any activity of a device was recorded. If not, only powers and energies are known. */
export function hasActivity(report: Report): boolean {
	return report.devices.some((d) => (d.time["span_ns"] ?? 0) > 0);
}

/** Categories of accounts that are not part of the program's run: time before and after it, repeats by kwhy probe, and unrecorded time. */
export const BEYOND_CATEGORIES = ["outside", "probing", "unrecorded"];

export const IDLE_CATEGORIES = ["sync", "launch", "alloc", "host", "idle", "outside"];

export function sum(values: N[]): N {
	const known = values.filter((v): v is number => v !== null && v !== undefined);
	return known.length ? known.reduce((a, b) => a + b, 0) : null;
}

/** Energy of a device: the metered energy or, without a meter, the modelled one. */
export function deviceEnergy(device: Pick<Device, "energy">): N {
	return device.energy ? (device.energy["measured_nj"] ?? device.energy["attributed_nj"] ?? null) : null;
}

export const isOpened = (device: Device): boolean => !device.is_closed;

/* Adds empty lists to devices for which report.json has none, since the page does not show them in full. */
export function completed(report: Report): Report {
	const lists = { copies: [], groups: [], accounts: [], kernels: { count: 0, total_ns: 0, union_ns: 0 }, is_closed: true };
	return { ...report, devices: report.devices.map((device) => (device.accounts ? device : { ...lists, ...device })) };
}

export function isModelled(report: Report): boolean {
	return report.devices.some((device) => device.energy?.source === "modelled");
}

/** Label of a device, with its rank, because devices of several ranks may have the same number. */
export function deviceLabel(device: { index: number; rank?: N }): string {
	return `GPU ${device.index}${device.rank === null || device.rank === undefined ? "" : ` of rank ${device.rank}`}`;
}
