// SPDX-License-Identifier: Apache-2.0
// Elements by name. Text is always set as text: nothing from a trace is ever parsed as markup.

type Child = Node | string | null | undefined;

export function el<K extends keyof HTMLElementTagNameMap>(
	tag: K, attributes: Record<string, string> = {}, ...children: Child[]
): HTMLElementTagNameMap[K] {
	const node = document.createElement(tag);
	for (const [name, value] of Object.entries(attributes))
		if (name === "style") node.style.cssText = value; // the page's content security policy forbids the style attribute, but not this
		else node.setAttribute(name, value);
	for (const child of children) if (child !== null && child !== undefined) node.append(child);
	return node;
}

/* A section with a heading, a sentence (`note`) on what it shows, and its nodes. */
export function section(id: string, title: string, note: string, ...nodes: (Node | null)[]): HTMLElement {
	return el("section", { id, "aria-labelledby": `h-${id}` }, el("h2", { id: `h-${id}` }, title), el("p", { class: "muted" }, note), ...nodes);
}

/* Makes an SVG element. */
export function svg(tag: string, attributes: Record<string, string | number>, text?: string): SVGElement {
	const node = document.createElementNS("http://www.w3.org/2000/svg", tag);
	for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, String(value));
	if (text !== undefined) node.textContent = text;
	return node;
}

export function button(label: string, action: () => void, title = ""): HTMLButtonElement {
	const node = el("button", { type: "button", ...(title ? { title } : {}) }, label);
	node.addEventListener("click", action);
	return node;
}

/** Saves a file that the page made, as a download. */
export function save(name: string, content: Blob): void {
	const url = URL.createObjectURL(content);
	const link = el("a", { href: url, download: name });
	link.click();
	setTimeout(() => URL.revokeObjectURL(url), 1000);
}

/** Writes rows as CSV (RFC 4180). A text that a spreadsheet would take for a formula gets a leading apostrophe. */
export function csv(rows: (string | number | null)[][]): Blob {
	const cell = (value: string | number | null): string => {
		if (value === null) return "";
		if (typeof value === "number") return String(value);
		const text = /^[=+\-@\t\r]/.test(value) ? `'${value}` : value;
		return /[",\n\r]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
	};
	return new Blob([rows.map((row) => row.map(cell).join(",")).join("\r\n") + "\r\n"], { type: "text/csv" });
}

let tip: HTMLDivElement | null = null;

/** Shows the page's only tooltip with these lines of text; null hides it. */
export function tooltip(lines: string[] | null, x = 0, y = 0): void {
	tip?.remove();
	tip = null;
	if (!lines) return;
	tip = el("div", { class: "tooltip", role: "tooltip" }, ...lines.map((line, i) => el("div", i ? { class: "muted" } : {}, line)));
	document.body.append(tip);
	const box = tip.getBoundingClientRect();
	tip.style.left = `${Math.max(4, Math.min(x + 14, innerWidth - box.width - 8))}px`;
	tip.style.top = `${y + 18 + box.height > innerHeight ? y - box.height - 10 : y + 18}px`;
}
