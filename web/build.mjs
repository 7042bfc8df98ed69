// SPDX-License-Identifier: Apache-2.0
// Bundles the front end into one HTML template: node build.mjs OUT.html
import { build } from "esbuild";
import { createHash } from "node:crypto";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { dirname, resolve } from "node:path";
import { fileURLToPath } from "node:url";

const here = dirname(fileURLToPath(import.meta.url));
const out = resolve(process.argv[2] ?? `${here}/dist/page.html`);

async function bundle(entry, loader) {
	const result = await build({
		absWorkingDir: here,
		entryPoints: [entry],
		bundle: true,
		minify: true,
		write: false,
		target: "es2022",
		format: loader === "js" ? "iife" : undefined,
		legalComments: "none",
		charset: "utf8",
	});
	return result.outputFiles[0].text;
}

const script = (await bundle("src/main.ts", "js")).replaceAll("</script", "<\\/script");
const style = await bundle("src/page.css", "css");
const template = await readFile(`${here}/src/page.html`, "utf8");
// The page allows its own script and style by their hashes, and no other.
const hash = (text) => `'sha256-${createHash("sha256").update(text).digest("base64")}'`;
const page = template
	.replace("KWHY-STYLE-HASH", () => hash(style))
	.replace("KWHY-SCRIPT-HASH", () => hash(script))
	.replace("/*KWHY-STYLE*/", () => style)
	.replace("/*KWHY-SCRIPT*/", () => script);
await mkdir(dirname(out), { recursive: true });
await writeFile(out, page);
