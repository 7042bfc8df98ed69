// SPDX-License-Identifier: Apache-2.0
// Light and dark, and the colours of the categories, read from the style sheet.

const listeners: (() => void)[] = [];

export function color(name: string): string {
	return getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim() || "#888";
}

/* Name of the style sheet's colour for an account's category; unknown categories have that of idle time. */
function categoryTone(category: string): string {
	return ["compute", "collective", "copy", "memset", "sync", "launch", "alloc", "host", "outside", "range"].includes(category) ? category : category === "unrecorded" || category === "probing" ? "outside" : "idle";
}

export function categoryColor(category: string): string {
	return color(categoryTone(category));
}

/** The colour of a category as a variable of the style sheet, which changes with the theme. */
export function categoryVariable(category: string): string {
	return `var(--${categoryTone(category)})`;
}

export function onTheme(listener: () => void): void {
	listeners.push(listener);
}

export function setTheme(dark: boolean): void {
	document.documentElement.dataset["theme"] = dark ? "dark" : "light";
	for (const listener of listeners) listener();
}

export function isDark(): boolean {
	return document.documentElement.dataset["theme"] === "dark";
}

export function initTheme(): void {
	const query = matchMedia("(prefers-color-scheme: dark)");
	setTheme(query.matches);
	query.addEventListener("change", (event) => setTheme(event.matches));
	let wasDark = false;
	addEventListener("beforeprint", () => {
		wasDark = isDark();
		setTheme(false); // printed pages use the light theme
	});
	addEventListener("afterprint", () => setTheme(wasDark));
}
