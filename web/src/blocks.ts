// SPDX-License-Identifier: Apache-2.0
// The data blocks of the page (docs/formats/page.md): base64 of gzip.

function decodeBase64(text: string): Uint8Array<ArrayBuffer> {
	const binary = atob(text.trim());
	const bytes = new Uint8Array(binary.length);
	for (let i = 0; i < binary.length; i++) bytes[i] = binary.charCodeAt(i);
	return bytes;
}

/**
 * Returns the decompressed bytes of the element `id`, which contains gzip data in base64, and empties the element to free its text. null: the page has no such element, or it is
 * empty.
 */
export async function block(id: string): Promise<ArrayBuffer | null> {
	const node = document.getElementById(id);
	const text = node?.textContent;
	if (!node || !text) return null;
	node.textContent = "";
	const stream = new Blob([decodeBase64(text)]).stream().pipeThrough(new DecompressionStream("gzip"));
	return new Response(stream).arrayBuffer();
}

export async function jsonBlock<T>(id: string): Promise<T | null> {
	const bytes = await block(id);
	return bytes ? (JSON.parse(new TextDecoder().decode(bytes)) as T) : null;
}
