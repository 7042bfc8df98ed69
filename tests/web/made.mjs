// SPDX-License-Identifier: Apache-2.0
// Makes the inputs of the page's tests: traces, reports, changed pages, and a server of made-up answers.
// The arguments are those of page_test.mjs.
import { execFileSync, spawn } from "node:child_process";
import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { gunzipSync, gzipSync } from "node:zlib";

const [kwhy, , , folder] = process.argv.slice(2);

export const runText = (...args) => execFileSync(kwhy, args, { maxBuffer: 1 << 28, stdio: ["ignore", "pipe", "ignore"] }).toString();

/** A trace of GPUs 4 and 5, both of which run one kernel again and again, GPU 5 in grids of only 4 blocks; and readings that show the given watts. */
export function twoDevices(name, seconds = [2, 2], watts = [400, 350]) {
	const origin = 1_700_000_000_000_000_000n, at = (ns) => String(origin + BigInt(ns));
	const rows = [4, 5].flatMap((device, d) => Array.from({ length: 200 }, (_, i) =>
		`kernel,gemm,${device},7,${at(i * 1e7)},${at(i * 1e7 + (d ? 4e6 : 8e6))},,${d ? 4 : 132},256`));
	const readings = [4, 5].flatMap((device, d) => Array.from({ length: seconds[d] * 50 + 1 }, (_, i) => `${at(i * 2e7)},${device},nvml.energy_mj,${i * 20 * watts[d]}`));
	const trace = join(folder, `${name}.csv`), power = join(folder, `${name}.power.csv`);
	writeFileSync(trace, ["# device 4 name=X sms=132 context_idle_w=100", "# device 5 name=X sms=132 context_idle_w=100", "kind,name,device,stream,start_ns,end_ns,bytes,blocks,threads_per_block", ...rows].join("\n") + "\n");
	writeFileSync(power, ["time_ns,device,source,value", ...readings].join("\n") + "\n");
	return [trace, "--power", power];
}

/** A report.json of two devices with the given accounts: [[name, [joules, half-width] of each device], ...] */
export function madeReport(name, accounts) {
	const report = JSON.parse(runText("report", ...twoDevices("made"), "--json"));
	report.devices.forEach((device, d) => {
		device.accounts = accounts.map(([account, ...each]) => ({ ...device.accounts[0], category: "compute", name: account, gross_nj: each[d][0] * 1e9, low_nj: (each[d][0] - each[d][1]) * 1e9, high_nj: (each[d][0] + each[d][1]) * 1e9 }));
	});
	const file = join(folder, `${name}.json`);
	writeFileSync(file, JSON.stringify(report));
	return file;
}

/** Writes the page `html` to `place`, with its data block `id` changed by `change`. */
export function changeBlock(html, id, change, place) {
	const text = readFileSync(html, "utf8"), found = new RegExp(`(<script id="${id}"[^>]*>)([^<]*)`).exec(text);
	const block = gzipSync(JSON.stringify(change(JSON.parse(gunzipSync(Buffer.from(found[2], "base64"))))));
	writeFileSync(place, text.replace(found[0], () => found[1] + block.toString("base64")));
	return place;
}

/** A server of made-up answers (tests/fakes/llm); `behaviour` says what it does wrong, if anything. */
export async function llmServer(behaviour) {
	const port = join(folder, "llm.port");
	rmSync(port, { force: true });
	const child = spawn("python3", [fileURLToPath(new URL("../fakes/llm/server.py", import.meta.url)), behaviour, port], { stdio: "inherit" });
	while (!existsSync(port) && child.exitCode === null) await new Promise((wake) => setTimeout(wake, 20));
	return { url: `http://127.0.0.1:${readFileSync(port, "utf8").trim()}/v1`, stop: () => child.kill("SIGKILL") };
}

/** The texts in charts that overlap another text of the same chart or reach beyond the chart. */
export function crowded(page) {
	return page.evaluate(() => [...document.querySelectorAll(".chart svg")].flatMap((svg) => {
		const all = svg.getBoundingClientRect();
		const texts = [...svg.querySelectorAll("text")].filter((t) => t.textContent.trim()).map((t) => [t.textContent, t.getBoundingClientRect()]);
		const outside = texts.filter(([, a]) => a.left < all.left - 2 || a.right > all.right + 2 || a.top < all.top - 2 || a.bottom > all.bottom + 2);
		const over = texts.flatMap(([name, a], i) => texts.slice(i + 1).filter(([, b]) => Math.min(a.right, b.right) - Math.max(a.left, b.left) > 2 && Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top) > 4).map(([other]) => `'${name}' and '${other}'`));
		return [...outside.map(([name]) => `'${name}' leaves ${svg.closest("section").id}`), ...over.map((pair) => `${pair} in ${svg.closest("section").id}`)];
	}));
}
