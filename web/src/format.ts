// SPDX-License-Identifier: Apache-2.0
// Numbers as people read them: SI prefixes, exact values for tooltips. Unknown is null and prints "n/a".

export type Maybe = number | null | undefined;

const PREFIXES: [number, string][] = [
	[1e18, "E"], [1e15, "P"], [1e12, "T"], [1e9, "G"], [1e6, "M"], [1e3, "k"], [1, ""],
	[1e-3, "m"], [1e-6, "µ"], [1e-9, "n"], [1e-12, "p"], [1e-15, "f"],
];

export function known(value: Maybe): value is number {
	return value !== null && value !== undefined && Number.isFinite(value);
}

/* Largest of `least` and the values. Math.max(...values) would fail with very many values. */
export function largest(values: number[], least = -Infinity): number {
	return values.reduce((most, value) => Math.max(most, value), least);
}

/** Writes a value with 3 significant digits and the SI prefix that fits: "1.23 ms", "455 mJ". */
export function si(value: Maybe, unit: string, digits = 3): string {
	if (!known(value)) return "n/a";
	if (value === 0) return `0 ${unit}`;
	const rounded = Number(value.toPrecision(digits));
	const [factor, prefix] =
		PREFIXES.find(([f]) => Math.abs(rounded) >= f * (1 - 1e-9)) ?? PREFIXES[PREFIXES.length - 1]!;
	const scaled = rounded / factor;
	const whole = Math.abs(scaled) >= 100 ? 3 : Math.abs(scaled) >= 10 ? 2 : 1;
	return `${scaled.toFixed(Math.max(0, digits - whole))} ${prefix}${unit}`;
}

export const time = (ns: Maybe): string => si(known(ns) ? ns * 1e-9 : null, "s");
export const energy = (nj: Maybe): string => si(known(nj) ? nj * 1e-9 : null, "J");
export const power = (mw: Maybe): string => si(known(mw) ? mw * 1e-3 : null, "W");
export const bytes = (count: Maybe): string =>
	known(count) && count < 1000 ? `${count} B` : si(count, "B");

export function percent(ratio: Maybe, digits = 1): string {
	return known(ratio) ? `${(ratio * 100).toFixed(digits)} %` : "n/a";
}

/** Writes a value with all its digits, "1,234,567", for tooltips and counts. */
export function exact(value: Maybe, unit = ""): string {
	return known(value) ? `${value.toLocaleString("en-US")}${unit ? ` ${unit}` : ""}` : "n/a";
}

/* Removes the parameter list at the end of a demangled C++ name, since it repeats the template arguments. */
function withoutParameters(text: string): string {
	if (!text.endsWith(")")) return text;
	let depth = 0;
	for (let i = text.length - 1; i > 0; i--) {
		if (text[i] === ")") depth++;
		if (text[i] === "(" && --depth === 0) return text.slice(0, i);
	}
	return text;
}

/**
 * Shortens a kernel's name for a label: leaves out namespaces, then the parameter list, then the middle. Both ends stay, because names of similar kernels often differ at the end.
 */
export function cut(name: string, limit = 48): string {
	let text = visible(name).replace(/^void /, "").replace(/\(anonymous namespace\)::|at::native::|std::|c10::|\(int\)|\(bool\)/g, "");
	if (text.length > limit) text = withoutParameters(text);
	if (text.length <= limit) return text;
	const head = Math.ceil((limit - 1) * 0.55);
	return `${text.slice(0, head)}…${text.slice(text.length - (limit - 1 - head))}`;
}

/* For each shortened name that shorten() gave out, preceded by its `place`: the full name. */
const shown = new Map<string, string>();

function isFree(place: string, text: string, name: string): boolean {
	const owner = shown.get(place + text);
	if (owner === undefined) shown.set(place + text, name);
	return owner === undefined || owner === name;
}

/* Shortens a name to its first third and a part that begins six characters before the first difference from the name `other`. */
function fromDifference(name: string, other: string, limit: number): string {
	let at = 0;
	while (at < name.length && name[at] === other[at]) at++;
	const head = name.slice(0, Math.floor(limit / 3)), tail = name.slice(Math.max(head.length, at - 6)), room = limit - head.length - 1;
	return `${head}…${tail.length <= room ? tail : `${tail.slice(0, room - 1)}…`}`;
}

/**
 * Shortens a name to `limit` characters, such that different names get different texts within a `place` (part of the page); a number is appended if nothing else tells them from
 * each other.
 */
export function shorten(name: string, limit = 48, place = ""): string {
	const text = cut(name, limit);
	if (isFree(place, text, name)) return text;
	const apart = fromDifference(visible(name), visible(shown.get(place + text)!), limit);
	if (isFree(place, apart, name)) return apart;
	for (let n = 2; ; n++) {
		const numbered = `${cut(name, limit - 4)} ~${n}`;
		if (isFree(place, numbered, name)) return numbered;
	}
}

/** Makes control characters visible, such as bidirectional overrides. Names come from traces, so these must have no effect on the page. */
export function visible(name: string): string {
	return name.replace(/[\u0000-\u001f\u007f-\u009f\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff]/g, "\ufffd");
}
