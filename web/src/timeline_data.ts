// SPDX-License-Identifier: Apache-2.0
// The timeline container (docs/formats/page.md), decoded part by part when first drawn.

import { deviceLabel } from "./report_types";

export interface Column { at: number; bytes: number; form: "delta" | "plain" }
interface PartHeader {
	from_ns: number; to_ns: number; bin_ns: number; count: number;
	start: Column; duration: Column; name: Column; category: Column; bytes: Column | null;
}
/* A track. device: index into TimelineHeader.devices; null: a track of the host. label: of a stream without the device's name, which trackLabel() puts before it. */
export interface TrackHeader { kind: "stream" | "calls" | "ranges" | "waits"; device: number | null; label: string; parts: PartHeader[] }
export interface PowerHeader {
	device: number; source: string; kind: "power" | "counter"; count: number; time: Column; value_mw: Column;
}
interface ModelHeader { device: number; count: number; time: Column; value_mw: Column }
export interface MemoryHeader {
	device: number; count: number; time: Column; allocated_bytes: Column | null; reserved_bytes: Column | null;
}
export interface TimelineHeader {
	origin_unix_ns: string; start_ns: number; end_ns: number; names: string[]; exact: boolean;
	devices: { index: number; rank: number | null; name: string | null }[];
	tracks: TrackHeader[]; power: PowerHeader[]; model: ModelHeader[]; memory: MemoryHeader[];
}

/* Names of categories; the column `category` has indexes into this array. */
export const CATEGORY = ["compute", "collective", "copy", "memset", "launch", "sync", "alloc", "call", "range"] as const;

export interface Part {
	from_ns: number; to_ns: number; bin_ns: number; count: number;
	start: Float64Array; duration: Float64Array; name: Uint32Array; category: Uint8Array; bytes: Float64Array | null;
	/* [i]: sum of the durations of rows 0 to i - 1, so that a difference of two is the busy time between rows */
	busy: Float64Array;
	/* [i]: largest end of rows 0 to i, for the search in firstRunning() */
	end_max: Float64Array;
	/* lane: depth of each row within rows that enclose it in time; lanes: largest depth plus 1 */
	lane: Uint8Array; lanes: number;
}

export interface Series { time: Float64Array; value: Float64Array }

const MAGIC = "KWHYTL1\n";
const MAX_LANES = 4;

export class TimelineData {
	readonly header: TimelineHeader;
	private readonly columns: Uint8Array;
	private readonly parts = new Map<PartHeader, Part>();

	constructor(buffer: ArrayBuffer) {
		const magic = new TextDecoder().decode(new Uint8Array(buffer, 0, 8));
		if (magic !== MAGIC) throw new Error("the timeline block is damaged");
		const length = new DataView(buffer).getUint32(8, true);
		this.header = JSON.parse(new TextDecoder().decode(new Uint8Array(buffer, 12, length))) as TimelineHeader;
		this.columns = new Uint8Array(buffer, 12 + length);
	}

	/* Length of the window, ns. All times of tracks and curves are relative to the start of the window. */
	get span_ns(): number {
		return this.header.end_ns - this.header.start_ns;
	}

	deviceLabel(place: number): string {
		return deviceLabel(this.header.devices[place]!);
	}

	trackLabel(track: TrackHeader): string {
		return `${track.device === null ? "" : `${this.deviceLabel(track.device)} `}${track.label}`;
	}

	/* Returns the part of a track with the shortest bins among those that cover all of [from, to), ns; null: none does. */
	partFor(track: TrackHeader, from: number, to: number): Part | null {
		let best: PartHeader | null = null;
		for (const part of track.parts) {
			const covers = part.from_ns <= Math.max(from, 0) && part.to_ns >= Math.min(to, this.span_ns);
			if (covers && (!best || part.bin_ns < best.bin_ns || (part.bin_ns === best.bin_ns && part.count < best.count))) best = part;
		}
		return best ? this.part(best) : null;
	}

	series(header: { count: number; time: Column; value_mw: Column }): Series {
		return { time: this.numbers(header.time, header.count), value: this.numbers(header.value_mw, header.count) };
	}

	memory(header: MemoryHeader): { time: Float64Array; allocated: Float64Array | null; reserved: Float64Array | null } {
		const column = (c: Column | null) => (c ? this.numbers(c, header.count) : null);
		return { time: this.numbers(header.time, header.count), allocated: column(header.allocated_bytes), reserved: column(header.reserved_bytes) };
	}

	private part(header: PartHeader): Part {
		let part = this.parts.get(header);
		if (!part) {
			part = this.decode(header);
			this.parts.set(header, part);
		}
		return part;
	}

	private decode(header: PartHeader): Part {
		const { count } = header;
		const start = this.numbers(header.start, count);
		const duration = this.numbers(header.duration, count);
		const busy = new Float64Array(count + 1);
		const end_max = new Float64Array(count);
		let latest = -Infinity;
		for (let i = 0; i < count; i++) {
			busy[i + 1] = busy[i]! + duration[i]!;
			latest = Math.max(latest, start[i]! + duration[i]!);
			end_max[i] = latest;
		}
		const lanes = assignLanes(start, duration, header.bin_ns > 0);
		return {
			from_ns: header.from_ns, to_ns: header.to_ns, bin_ns: header.bin_ns, count, start, duration,
			name: Uint32Array.from(this.numbers(header.name, count)),
			category: Uint8Array.from(this.numbers(header.category, count)),
			bytes: header.bytes ? this.numbers(header.bytes, count) : null,
			busy, end_max, ...lanes,
		};
	}

	private numbers(column: Column, count: number): Float64Array {
		const out = new Float64Array(count);
		const data = this.columns;
		let at = column.at;
		let previous = 0;
		for (let i = 0; i < count; i++) {
			let value = 0;
			let scale = 1;
			let byte = data[at++]!;
			while (byte & 0x80) {
				value += (byte & 0x7f) * scale;
				scale *= 128;
				byte = data[at++]!;
			}
			value += byte * scale;
			if (column.form === "delta") {
				previous += value % 2 === 0 ? value / 2 : -(value + 1) / 2;
				out[i] = previous;
			} else {
				out[i] = value;
			}
		}
		return out;
	}
}

function assignLanes(start: Float64Array, duration: Float64Array, flat: boolean): { lane: Uint8Array; lanes: number } {
	const lane = new Uint8Array(start.length);
	const ends: number[] = [];
	let lanes = 1;
	for (let i = 0; !flat && i < start.length; i++) {
		let depth = 0;
		while (depth < MAX_LANES - 1 && (ends[depth] ?? -Infinity) > start[i]!) depth++;
		ends[depth] = start[i]! + duration[i]!;
		lane[i] = depth;
		lanes = Math.max(lanes, depth + 1);
	}
	return { lane, lanes };
}

/* Index of the first value that is not below `x` in an ascending array; its length if there is none. */
export function lowerBound(values: Float64Array, x: number): number {
	let low = 0;
	let high = values.length;
	while (low < high) {
		const middle = (low + high) >> 1;
		if (values[middle]! < x) low = middle + 1;
		else high = middle;
	}
	return low;
}

/* Index of the first row that ends after the time `x`; the number of rows if there is none. */
export function firstRunning(part: Part, x: number): number {
	let low = 0;
	let high = part.count;
	while (low < high) {
		const middle = (low + high) >> 1;
		if (part.end_max[middle]! <= x) low = middle + 1;
		else high = middle;
	}
	return low;
}
