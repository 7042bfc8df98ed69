// SPDX-License-Identifier: Apache-2.0
// The report page in a real browser: node page_test.mjs KWHY TRACE POWER FOLDER
// Exit 0 passed, 1 failed, 77 skipped (no browser here).
import assert from "node:assert/strict";
import { execFile, execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, rmSync, statSync, appendFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join, resolve } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { promisify } from "node:util";
import { changeBlock, crowded, llmServer, madeReport, runText, twoDevices } from "./made.mjs";

const [kwhy, trace, power, folder] = process.argv.slice(2);
const CHROMIUM = process.env.KWHY_CHROMIUM ?? "/usr/bin/chromium";
const require = createRequire(resolve(process.env.KWHY_WEB ?? "web", "package.json"));

function skip(why) {
	console.log(`skipped: ${why}`);
	process.exit(77);
}

let chromium;
try {
	({ chromium } = require("playwright-core"));
} catch {
	skip("playwright-core is not installed (run scripts/setup)");
}
if (!existsSync(CHROMIUM)) skip(`no browser at ${CHROMIUM}`);
mkdirSync(folder, { recursive: true });

const FLAGS = ["--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync"];
const browser = await chromium.launch({ executablePath: CHROMIUM, args: FLAGS, timeout: 0 });
const problems = [];

/** Opens a page made from a trace; every console error and every request but the file itself is a problem. */
async function open(html, hash = "") {
	const page = await browser.newPage({ viewport: { width: 1280, height: 900 } });
	page.setDefaultTimeout(0); // a busy machine takes as long as it takes
	page.on("console", (message) => message.type() === "error" && problems.push(`console: ${message.text()}`));
	page.on("pageerror", (error) => problems.push(`error: ${error.message}`));
	page.on("request", (request) => /^(file|data|blob):/.test(request.url()) || problems.push(`request: ${request.url()}`));
	await page.goto(`${pathToFileURL(html)}${hash}`);
	await page.waitForSelector("main section, #app > .warn"); // the page, or why there is none
	return page;
}

function report(args, name) {
	const html = join(folder, `${name}.html`);
	execFileSync(kwhy, ["report", ...args, "-o", html], { stdio: "pipe" });
	return html;
}

const spawnText = promisify(execFile);

/** On a phone, no text of the page's charts lies over another. */
async function fitsPhone(html) {
	const page = await open(html);
	await page.setViewportSize({ width: 390, height: 900 });
	await page.waitForFunction(() => [...document.querySelectorAll(".chart")].every((c) => c.querySelector("svg") && Math.abs(c.querySelector("svg").getBoundingClientRect().width - c.clientWidth) <= 1));
	assert.deepEqual(await crowded(page), []);
	await page.close();
}

const tests = {
	"every view opens and the first one is drawn quickly": async () => {
		const html = report([trace, "--power", power, "--price", "0.30EUR", "--intensity", "350"], "decode");
		assert.ok(statSync(html).size < 2.5e6, `page has ${statSync(html).size} bytes`);
		const page = await open(html);
		for (const id of ["overview", "findings", "plan", "stretch", "flow", "timeline", "categories", "ledger", "time", "operations", "split", "ranking", "kernels", "copies", "api", "quality"])
			assert.equal(await page.locator(`section#${id}`).count(), 1, `view ${id}`);
		console.log(`  ready after ${await page.evaluate(() => document.documentElement.dataset.ready)} ms, ${statSync(html).size} bytes`);
		await page.screenshot({ path: join(folder, "overview.png") });
		await page.evaluate(() => document.querySelector("#timeline").scrollIntoView());
		await page.waitForTimeout(200);
		await page.screenshot({ path: join(folder, "timeline.png") });
		await page.screenshot({ path: join(folder, "whole.png"), fullPage: true });
		await page.close();
	},
	"a recording of power alone shows the power, and nothing as measured that is unknown": async () => {
		const page = await open(report([join(trace, "..", "..", "h200-power", "other.kwhy")], "power"));
		assert.equal(await page.locator("#findings, #time").count(), 0);
		const overview = await page.locator("#overview").innerText(), header = await page.locator("header").innerText();
		assert.ok(overview.includes("Unknown, as nothing was recorded") && !overview.includes("Nothing found") && !overview.includes("utilisation"), overview);
		assert.ok(header.includes("31.1 s metered"), header);
		assert.ok((await page.locator("#timeline").innerText()).includes("33.8 s shown"), "the timeline does not span the readings");
		await page.close();
	},

	"the numbers on the page are those of report.json": async () => {
		const json = JSON.parse(execFileSync(kwhy, ["report", trace, "--power", power, "--json"], { maxBuffer: 1 << 28, stdio: ["ignore", "pipe", "ignore"] }));
		const page = await open(join(folder, "decode.html"));
		const measured = json.devices[0].energy.measured_nj;
		const first = page.locator("#overview .tile").first();
		assert.ok((await first.getAttribute("title")).startsWith(`${measured.toLocaleString("en-US")} nJ`));
		assert.match(await first.innerText(), new RegExp(`${Math.round(json.run.energy_nj / 1e9)} J[^]*${Math.round(json.run.low_nj / 1e9)} J to ${Math.round(json.run.high_nj / 1e9)} J`));
		assert.match(await page.locator("#plan .tile", { hasText: "energy of the run" }).innerText(), new RegExp(`${Math.round(json.run.energy_nj / 1e9)} J →`));
		assert.ok((await page.locator("#quality").innerText()).includes("exact, to the nanojoule"));
		const rows = await page.locator("#ledger tbody tr").count();
		assert.equal(rows, Math.min(200, json.devices.reduce((n, d) => n + d.accounts.length, 0)));
		assert.equal(await page.locator("#findings .card").count(), json.findings.length);
		await page.close();
	},
	"the ledger sorts by any column and filters": async () => {
		const page = await open(join(folder, "decode.html"));
		const column = (await page.locator("#ledger th").allInnerTexts()).indexOf("count") + 1;
		const counts = async () => (await page.locator(`#ledger tbody tr td:nth-child(${column})`).allInnerTexts()).map((t) => Number(t.replaceAll(",", "")));
		await page.locator("#ledger th button", { hasText: "count" }).click();
		const down = await counts();
		assert.deepEqual(down, [...down].sort((a, b) => b - a));
		await page.locator("#ledger th button", { hasText: "count" }).click();
		const up = await counts();
		assert.deepEqual(up, [...up].sort((a, b) => a - b));
		await page.locator("#ledger input").fill("copy");
		const rows = await page.locator("#ledger tbody tr").evaluateAll((list) => list.map((r) => `${r.innerText} ${r.querySelector("bdi").title}`));
		assert.ok(rows.length > 0);
		for (const row of rows) assert.match(row.toLowerCase(), /copy/);
		await page.close();
	},
	"all columns of the ledger are in sight, and energy that is unmetered is not 0": async () => {
		const page = await open(report([join(trace, "..", "..", "recordings", "train.kwhy")], "train"));
		const sight = await page.locator("#ledger .scroll").evaluate((e) => [e.scrollWidth, e.clientWidth]);
		assert.ok(sight[0] <= sight[1], `the ledger needs ${sight[0]} of ${sight[1]} pixels`);
		const took = await page.locator("#quality").innerText();
		assert.ok(took.includes("processor, writing what was recorded") && !/device.idle,|launcher/.test(took));
		await page.close();
		const args = twoDevices("late", [0.5, 0.5]); // readings end long before the last kernel
		appendFileSync(args[0], "kernel,late,4,7,1700000002000000000,1700000002020000000,,132,256\n");
		const late = await open(report(args, "late"));
		await late.locator("#ledger input").fill("late");
		const row = await late.locator("#ledger tbody tr").innerText();
		assert.match(row, /20\.0 ms/);
		assert.match(row, /n\/a/);
		assert.doesNotMatch(row, /\b0 J/);
		await late.close();
	},
	"the timeline zooms from the whole run to a microsecond, and evidence jumps there": async () => {
		const page = await open(join(folder, "decode.html"));
		const canvas = page.locator(".timeline canvas");
		await canvas.focus();
		for (let i = 0; i < 25; i++) await page.keyboard.press("+");
		// location.hash is read in the page, because the driver's copy of the address may be older
		const view = async () => (await page.evaluate(() => location.hash)).match(/timeline=(\d+)-(\d+)/).slice(1).map(Number);
		const [from, to] = await view();
		assert.ok(to - from <= 1000, `zoomed to ${to - from} ns`);
		await page.keyboard.press("0");
		const link = page.locator("#findings .card li button").first();
		await link.click();
		const [a, b] = await view();
		assert.ok(b - a < 3e9 && b > a);
		await page.screenshot({ path: join(folder, "evidence.png") });
		const again = await open(join(folder, "decode.html"), `#timeline=${a}-${b}`);
		assert.equal(await again.evaluate(() => location.hash), `#timeline=${a}-${b}`);
		await again.close();
		await page.close();
	},
	"a run that was probed says what is known, what that took, and what was left alone with the reason": async () => {
		const probed = [join(trace, "..", "..", "recordings", "mix-probed.kwhy"), "-q"], page = await open(report(probed, "probed"));
		const { probing } = JSON.parse(runText("report", ...probed, "--json")), text = await page.locator("#probing").innerText();
		assert.ok(text.includes(`${probing.known.kernels} of ${probing.all.kernels}`), text);
		assert.ok(text.includes(`${(100 * probing.known_nj / probing.busy_nj).toFixed(1)} %`), text);
		assert.ok(text.includes(`in ${probing.bursts} bursts of ${probing.repeats} repeats`), text);
		assert.equal(await page.locator("#probing tbody tr").count(), probing.not_repeated.length);
		for (const part of probing.not_repeated) assert.ok(text.includes(part.reason), part.reason);
		for (const width of [390, 800, 1400]) {
			await page.setViewportSize({ width, height: 900 });
			const sight = await page.locator("#probing").evaluate((e) => [e.getBoundingClientRect().right, innerWidth, ...[...e.querySelectorAll(".scroll")].map((s) => s.scrollWidth - s.clientWidth)]);
			assert.ok(sight[0] <= sight[1] && sight.slice(2).every((over) => over <= 0), `at ${width}: ${sight}`);
			await page.locator("#probing").screenshot({ path: join(folder, `probing-${width}.png`) });
		}
		await page.close();
		const plain = await open(join(folder, "decode.html"));
		assert.equal(await plain.locator("#probing").count(), 0);
		await plain.close();
	},
	"light and dark both draw": async () => {
		const page = await open(join(folder, "decode.html"));
		await page.locator("header button").click();
		const theme = await page.evaluate(() => document.documentElement.dataset.theme);
		await page.screenshot({ path: join(folder, `${theme}.png`) });
		assert.equal(theme, "dark");
		await page.close();
	},
	"the mean power is the energy of the run over its time": async () => {
		const args = twoDevices("windows", [2, 1], [400, 350]);
		assert.match(runText("report", ...args), /1\.52 kJ (\(.*\) )?in 2\.00 s on 2 devices, 760 W on average/);
		const page = await open(report(args, "windows"));
		const tile = page.locator("#overview .tile", { hasText: "mean power" });
		assert.match(await tile.innerText(), /760 W\s+of the run, over 2\.00 s/);
		const one = await open(report(twoDevices("window"), "window"));
		assert.match(await one.locator("#overview .tile", { hasText: "mean power" }).innerText(), /756 W\s+of the run, over 2\.00 s/);
		await one.close();
		await page.close();
	},
	"the first screen says what the terminal's does: where it went, what to do, what is not known": async () => {
		const pages = [[[trace, "--power", power], "decode"], [twoDevices("numbers"), "headline"], [[join(trace, "..", "..", "recordings", "transfer.kwhy")], "lines"]];
		for (const [args, name] of pages) {
			const page = await open(report(args, name)), text = runText("report", ...args, "--no-color").replaceAll(/\s+/g, " ");
			const same = (what) => assert.ok(text.includes(what.replaceAll(/\s+/g, " ")), `${what}\n${text}`);
			const advice = await page.locator("#overview .todo li").allInnerTexts();
			assert.equal(advice.length, Math.min(3, (text.match(/ [1-3]\. /g) ?? []).length));
			for (const [i, words] of advice.entries()) {
				const [title, saves] = words.split("\n").filter(Boolean);
				same(`${i + 1}. ${title.split(", mostly")[0]}`);
				same(saves.split(",")[0]);
			}
			const shares = await page.locator("#overview .where tbody tr").first().locator("td").allInnerTexts();
			same(shares[3]);
			same(shares[2]);
			const unknown = await page.locator("#overview .unknown > ul li").first().innerText();
			if (text.includes("Not known ")) same(unknown.split(/[.;]/)[0].slice(1)); // the terminal begins with a capital letter
			await page.close();
		}
	},
	"energy of idle time that is unknown is no 0 in what did work": async () => {
		const html = report([trace, "--power", power], "decode"), tile = (page) => page.locator("#overview .tile", { hasText: "did work" });
		const page = await open(changeBlock(html, "kwhy-brief", (brief) => ({ ...brief, what: { ...brief.what, idle_j: null } }), join(folder, "no-idle.html")));
		assert.match(await tile(page).innerText(), /n\/a/);
		await page.close();
		const made = JSON.parse(readFileSync(join(folder, "a.json"), "utf8")), file = join(folder, "no-idle.json"), pair = join(folder, "no-idle-pair.html");
		for (const device of made.devices)
			for (const account of device.accounts) if (["sync", "launch", "alloc", "host", "idle"].includes(account.category)) account.gross_nj = null;
		writeFileSync(file, JSON.stringify(made));
		execFileSync(kwhy, ["compare", join(folder, "a.json"), file, "-o", pair], { stdio: "pipe" });
		const both = await open(pair);
		assert.match(await both.locator(".tile", { hasText: "did work" }).nth(0).innerText(), /[0-9.]+ %/);
		assert.match(await both.locator(".tile", { hasText: "did work" }).nth(1).innerText(), /n\/a/);
		await both.close();
	},
	"document 0's tables have shares that add up, and rows of unlike units are compared with themselves alone": async () => {
		const page = await open(report([trace, "--power", power, "--work", "flop=1e12"], "tables"));
		const { memory_operations: [{ rows }], categories } = JSON.parse(runText("report", trace, "--power", power, "--json"));
		const cells = await page.locator("#operations tbody tr").evaluateAll((list) => list.map((row) => [...row.cells].map((cell) => cell.innerText)));
		assert.deepEqual(cells.map(([name]) => name), rows.map((row) => row.operation));
		const shares = cells.slice(0, -1).map((row) => parseFloat(row.at(-3))), sum = shares.reduce((a, b) => a + b, 0);
		assert.ok(Math.abs(sum - 100) < 0.03, `${shares}`);
		assert.deepEqual(await page.locator("#categories tbody tr td:first-child").allInnerTexts(), categories.map((c) => c.category));
		assert.deepEqual(await page.locator("#categories tbody tr td:last-child").allInnerTexts(), categories.map((c) => c.potential));
		const parts = await page.locator("#split .bar").first().locator("i").evaluateAll((list) => list.map((part) => parseFloat(part.style.width)));
		assert.ok(Math.abs(parts.reduce((a, b) => a + b, 0) - 100) < 0.01, `${parts}`);
		const ranking = await page.locator("#ranking tbody tr").evaluateAll((list) => list.map((row) => [...row.cells].map((cell) => cell.innerText)));
		assert.equal(ranking[0][2], "1.00 x");
		const [kernels, idle] = [ranking.find(([name]) => name === "kernels"), ranking.find(([name]) => name === "idle")];
		assert.match(kernels[1], /J\/FLOP$/);
		assert.equal(kernels[2] + idle[2], "");
		await page.close();
	},
	"every chart is drawn without scrolling, fits a phone, and is on paper in light colours": async () => {
		const browserPage = await browser.newPage({ viewport: { width: 390, height: 800 }, colorScheme: "dark" });
		browserPage.setDefaultTimeout(0);
		browserPage.on("pageerror", (error) => problems.push(`error: ${error.message}`));
		await browserPage.goto(pathToFileURL(join(folder, "decode.html")).href);
		await browserPage.waitForFunction(() => document.querySelectorAll(".chart").length > 0 && [...document.querySelectorAll(".chart")].every((chart) => chart.querySelector("svg")));
		for (const width of [390, 800, 1400]) {
			await browserPage.setViewportSize({ width, height: 800 });
			await browserPage.waitForFunction(() => [...document.querySelectorAll(".chart")].every((chart) => Math.abs(chart.querySelector("svg").getBoundingClientRect().width - chart.clientWidth) <= 1));
			const wide = await browserPage.evaluate(() => [document.documentElement.scrollWidth, innerWidth]);
			assert.ok(wide[0] <= wide[1], `${wide} at ${width}`);
			assert.deepEqual(await crowded(browserPage), [], `at ${width}`);
		}
		const ground = () => browserPage.evaluate(() => getComputedStyle(document.body).backgroundColor);
		assert.notEqual(await ground(), "rgb(255, 255, 255)");
		await browserPage.evaluate(() => dispatchEvent(new Event("beforeprint")));
		assert.equal(await ground(), "rgb(255, 255, 255)");
		await browserPage.evaluate(() => dispatchEvent(new Event("afterprint")));
		assert.notEqual(await ground(), "rgb(255, 255, 255)");
		await browserPage.pdf({ path: join(folder, "decode.pdf"), format: "A4" });
		await browserPage.close();
	},
	"styles that are set by script are not blocked": async () => {
		const page = await open(join(folder, "decode.html"));
		const colours = await page.locator(".timeline ~ .legend .swatch, .bar i").evaluateAll((list) => list.map((item) => getComputedStyle(item).backgroundColor));
		assert.ok(colours.length > 9 && colours.every((colour) => colour !== "rgba(0, 0, 0, 0)"), `${colours}`);
		const painted = await page.evaluate(() => { kwhyTimeline.draw(); const c = document.querySelector(".timeline canvas"); return new Set(new Uint32Array(c.getContext("2d").getImageData(0, 0, c.width, c.height).data.buffer)).size; });
		assert.ok(painted > 5, `${painted} colours in the timeline`);
		await page.close();
	},
	"many ranks are a map, with the worst and the median in full": async () => {
		const event = (rank, ms, slow) => ({ ph: "X", cat: "kernel", name: "gemm", pid: 0, tid: 7, ts: 17e14 + ms * 1000, dur: rank === slow ? 300 : 500 + rank, args: { device: 0, stream: 7, correlation: ms, grid: [132, 1, 1], block: [256, 1, 1] } });
		const files = Array.from({ length: 40 }, (_, rank) => {
			const file = join(folder, `many${rank}.json`);
			writeFileSync(file, JSON.stringify({ schemaVersion: 1, distributedInfo: { rank, world_size: 40 }, deviceProperties: [{ id: 0, name: "H200", numSms: 132 }], traceEvents: Array.from({ length: 20 }, (_, ms) => event(rank, ms, 23)) }));
			return file;
		});
		const page = await open(report(files, "map"));
		assert.ok(statSync(join(folder, "map.html")).size < 3e6);
		const labels = await page.locator("#map svg text").allTextContents();
		assert.ok(labels.some((label) => label.startsWith("worst: ")) && labels.some((label) => label.startsWith("median: ")), labels.join(" | "));
		assert.ok(labels.includes("compute"));
		assert.equal(await page.locator("#time thead th").count(), 3);
		assert.equal(await page.evaluate(() => new Set(kwhyTimeline.data.header.tracks.map((track) => track.device)).size), 2);
		assert.equal(await page.locator("#ranks").count(), 0);
		const marks = await page.evaluate(() => document.querySelectorAll("#map svg *").length);
		assert.ok(marks < 200, `${marks} elements`);
		await page.locator("#map select").selectOption("compute_ns");
		await page.locator("#map svg").hover({ position: { x: 300, y: 100 }, force: true });
		assert.match(await page.locator(".tooltip").innerText(), /GPU 0 of rank \d+\s+compute: /);
		await page.screenshot({ path: join(folder, "map.png"), fullPage: true });
		await page.close();
	},
	"a finding names the GPU by its number": async () => {
		const page = await open(report(twoDevices("numbers"), "numbers"));
		const titles = await page.locator("#findings h3").allInnerTexts();
		assert.ok(titles.some((title) => title.startsWith("GPU 5: ")), titles.join(" | "));
		assert.ok(!titles.some((title) => /^GPU [01]: /.test(title)), titles.join(" | "));
		await page.close();
	},
	"equal findings of several devices are one card, and different kernels have different labels": async () => {
		const [file] = twoDevices("equal"), rows = readFileSync(file, "utf8").split("\n"), long = "x".repeat(90);
		const page = await open(report([file], "equal"));
		const ids = await page.locator("#findings .card").evaluateAll((cards) => cards.map((card) => card.id));
		assert.equal(new Set(ids).size, ids.length, ids.join(" "));
		await page.close();
		writeFileSync(file, rows.map((row, i) => row.replace("gemm", `${long}${i % 3}${long}`)).join("\n"));
		const kernels = await open(report([file], "labels"));
		const labels = await kernels.locator("#ledger tbody bdi").evaluateAll((list) => list.map((item) => [item.title, item.textContent]));
		assert.equal(new Set(labels.map(([, shown]) => shown)).size, new Set(labels.map(([name]) => name)).size, `${labels}`);
		await kernels.close();
	},
	"two ranks that call their GPU by one number are distinguished": async () => {
		const event = (rank, ms) => [
			{ ph: "X", cat: "kernel", name: "k", pid: 0, tid: 7, ts: 17e14 + ms * 1000, dur: 500 + 200 * rank, args: { device: 0, stream: 7, context: 1, grid: [132, 1, 1], block: [256, 1, 1] } },
			{ ph: "i", s: "t", name: "[memory]", cat: "cpu_instant_event", pid: 100, tid: 1, ts: 17e14 + ms * 1000 + 1, args: { "Total Allocated": (ms + 1) * 1e6, "Total Reserved": (ms + 1) * 2e6, "Device Id": 0, "Device Type": 1, Bytes: 1000, Addr: 1 } },
		];
		const files = [0, 1].map((rank) => {
			const file = join(folder, `rank${rank}.json`);
			writeFileSync(file, JSON.stringify({ schemaVersion: 1, distributedInfo: { rank, world_size: 2 }, deviceProperties: [{ id: 0, name: "H200", numSms: 132 }], traceEvents: Array.from({ length: 20 }, (_, ms) => event(rank, ms)).flat() }));
			return file;
		});
		const page = await open(report(files, "ranks"));
		const both = ["GPU 0 of rank 0", "GPU 0 of rank 1"];
		const includes = (what, text) => both.forEach((label) => assert.ok(text.includes(label), `${what}: ${text}`));
		includes("tiles", await page.locator("#overview .tiles").innerText());
		assert.equal(await page.locator("#stretch svg text", { hasText: "stream 7" }).first().textContent(), `${both[0]} stream 7`);
		includes("ledger", await page.locator("#ledger tbody").innerText());
		assert.deepEqual(await page.evaluate(() => kwhyTimeline.data.header.tracks.map((track) => track.device)), [0, 1]);
		assert.deepEqual(await page.evaluate(() => kwhyTimeline.rows.map((row) => row.label)), both.map((label) => `${label} stream 7`));
		await page.locator("#memory").scrollIntoViewIfNeeded();
		await page.waitForSelector("#memory-chart svg");
		includes("memory", await page.locator("#memory-chart svg").innerHTML());
		await page.screenshot({ path: join(folder, "ranks.png"), fullPage: true });
		await page.close();
	},
	"GPUs without ranks stand side by side under their own numbers": async () => {
		const page = await open(report(twoDevices("sides"), "sides"));
		await page.locator("#ranks").scrollIntoViewIfNeeded();
		await page.waitForSelector("#rank-chart svg");
		const labels = await page.locator("#rank-chart svg text").allTextContents();
		assert.ok(labels.includes("GPU 4") && labels.includes("GPU 5"), labels.join(" | "));
		await page.close();
	},
	"the timeline says of which GPU a curve of power is": async () => {
		const page = await open(report(twoDevices("curves"), "curves"));
		const labels = await page.evaluate(() => kwhyTimeline.curves.map((curve) => curve.label));
		for (const label of ["GPU 4 nvml.energy_mj", "GPU 5 nvml.energy_mj"]) assert.ok(labels.includes(label), labels.join(" | "));
		await page.evaluate(() => document.querySelector("#timeline").scrollIntoView());
		await page.screenshot({ path: join(folder, "curves.png") });
		await page.close();
	},
	"hostile names are text": async () => {
		const names = ["<img src=x onerror=alert(1)>", "</script><script>alert(2)</script>", "a\"b'c&amp;", "\u202egnp.exe", "k".repeat(60000)];
		const csv = join(folder, "hostile.csv");
		const quote = (text) => `"${text.replaceAll('"', '""')}"`;
		writeFileSync(csv, ["# device 0 name=<b>x</b> sms=132", "kind,name,device,stream,start_ns,end_ns,bytes,blocks,threads_per_block",
			...names.map((n, i) => `kernel,${quote(n)},0,7,${1700000000000000000n + BigInt(i) * 1000000n},${1700000000000500000n + BigInt(i) * 1000000n},,132,256`)].join("\n") + "\n");
		const page = await open(report([csv], "hostile"));
		page.on("dialog", () => problems.push("a name ran as script"));
		assert.equal(await page.locator("#app img").count(), 0);
		assert.ok((await page.locator("#ledger").innerText()).includes("<img src=x"));
		await page.screenshot({ path: join(folder, "hostile.png") });
		await page.close();
	},
	"a ledger of very many accounts is drawn": async () => {
		const csv = join(folder, "many.csv"), count = 150000;
		writeFileSync(csv, ["kind,name,device,stream,start_ns,end_ns", ...Array.from({ length: count }, (_, i) => `kernel,k${i},0,7,${1700000000000000000n + BigInt(i) * 1000n},${1700000000000000500n + BigInt(i) * 1000n}`)].join("\n") + "\n");
		const page = await open(report([csv], "many"));
		assert.equal(await page.locator("#ledger tbody tr").count(), 200);
		assert.ok((await page.locator("#ledger").innerText()).includes(`200 of ${count + 1} accounts`));
		await page.close();
	},
	"a date is shown where the trace's clock tells it": async () => {
		const rows = ["kind,name,device,stream,start_ns,end_ns", "kernel,k,0,1,500000000000000,500000001000000"], csv = join(folder, "clock.csv");
		writeFileSync(csv, ["# clock other boot", ...rows].join("\n") + "\n");
		const page = await open(report([csv], "clock"));
		assert.equal(await page.locator("header .small").innerText(), "1.00 ms recorded");
		const unix = await open(report(twoDevices("unix"), "unix"));
		assert.match(await unix.locator("header .small").innerText(), /^2023-11-14 22:13:20 UTC, 2\.00 s recorded$/);
		await unix.close();
		await page.close();
	},
	"measured transfers show rates, times and what pays": async () => {
		const html = join(folder, "transfers.html");
		execFileSync(kwhy, ["bench", "transfer", "--backend", "host", "--quick", "--max-size", "64KiB", "--time", "5", "-q", "-o", html], { stdio: "pipe" });
		const page = await open(html);
		for (const id of ["single-h2d", "single-d2h", "single-both", "pieces", "fastest", "pays"])
			assert.equal(await page.locator(`section#${id}`).count(), 1, `view ${id}`);
		await page.waitForSelector("#rate-h2d-host svg");
		await page.locator("#clocks-h2d button", { hasText: "back to back" }).click();
		await page.waitForSelector("#time-h2d-back-to-back svg");
		assert.ok((await page.locator("#pays").innerText()).includes("aligned addresses"));
		await fitsPhone(html);
		await page.screenshot({ path: join(folder, "transfers.png"), fullPage: true });
		await page.close();
	},
	"measured pairs show links, a matrix, curves and their regimes, and criteria": async () => {
		const html = join(folder, "pairs.html");
		execFileSync(kwhy, ["bench", "pairs", "--backend", "host", "--engine", "write,exchange,put", "--min-size", "1KiB", "--max-size", "64KiB", "--time", "30", "-q", "-o", html], { stdio: "pipe" });
		const page = await open(html);
		for (const id of ["links", "criteria", "matrix", "curves", "regimes", "loggp", "contention"])
			assert.equal(await page.locator(`section#${id}`).count(), 1, `view ${id}`);
		await page.locator("#matrix").scrollIntoViewIfNeeded();
		await page.waitForSelector("#matrix-write-rate svg");
		assert.ok((await page.locator("#matrix-write-rate svg").innerHTML()).includes("B/s"));
		await page.locator("#curves").scrollIntoViewIfNeeded();
		await page.waitForSelector("#rate-back-to-back svg");
		await page.locator("#curves select").selectOption("1");
		await page.locator("#curve-clocks button", { hasText: "calls alone" }).click();
		await page.waitForSelector("#time-call svg");
		await page.locator("#regimes").scrollIntoViewIfNeeded();
		await page.waitForSelector("#regime-chart svg");
		assert.ok((await page.locator("#criteria").innerText()).includes("the topology shows"));
		assert.ok((await page.locator("#links").innerText()).includes("Limits are not available"));
		await fitsPhone(html);
		await page.screenshot({ path: join(folder, "pairs.png"), fullPage: true });
		await page.close();
	},
	"results of single operations and of the lab are shown, and damaged ones are refused": async () => {
		const root = fileURLToPath(new URL("../../", import.meta.url)), twin = join(root, "lab", "results", "twin", "twin.json");
		const ops = await open(report([join(root, "profiles", "nvidia-h200.json")], "operations"));
		for (const id of ["efficiency", "class-compute", "class-memory", "balance", "absent"]) assert.equal(await ops.locator(`section#${id}`).count(), 1, id);
		assert.match(await ops.locator("#class-compute tbody").innerText(), /fp32 multiply-add\s+63\.9 TFLOP\/s\s+607 W\s+9\.50 pJ ± 0\.3 %/);
		assert.match(await ops.locator("header").innerText(), /± is half of a 95 % interval/);
		await ops.waitForSelector("#joules-FLOP svg");
		await ops.close();
		const lab = await open(report([twin], "lab")), { rows } = JSON.parse(readFileSync(twin, "utf8"));
		assert.equal(await lab.locator("#variants tbody tr").count(), rows.filter((row) => !row.missing).length);
		assert.match(await lab.locator("header").innerText(), /± is half of a 95 % interval/);
		await lab.waitForSelector("#joules-chart svg");
		await lab.close();
		for (const text of [readFileSync(twin, "utf8").slice(0, 2000), JSON.stringify({ schema: "kwhy.twin/1", rows: [] })]) {
			const file = join(folder, "damaged.json"), page = join(folder, "damaged.html");
			writeFileSync(file, text);
			rmSync(page, { force: true });
			assert.throws(() => execFileSync(kwhy, ["report", file, "-o", page], { stdio: "pipe" }), (error) => error.status === 1 && /damaged\.json/.test(error.stderr.toString()));
			assert.ok(!existsSync(page));
		}
	},
	"loads on a server show tokens, times, joules and failures": async () => {
		const html = join(folder, "llm.html"), json = join(folder, "llm.json");
		const server = await llmServer("half_bad");
		try {
			const run = (place, ...more) => spawnText(kwhy, ["llm", "--url", server.url, "-c", "1,8", "--rate", "40", "--seconds", "1", "--ramp", "0.1", "-q", "-o", place, ...more]);
			await run(html, "--no-energy");
			await run(json, "--no-energy");
		} finally {
			server.stop();
		}
		const page = await open(html);
		for (const id of ["throughput", "times", "energy", "failures"]) assert.equal(await page.locator(`section#${id}`).count(), 1, `view ${id}`);
		for (const id of ["tokens-closed", "tokens-open", "first-closed", "token-closed", "answer-open", "failures-closed"]) {
			await page.locator(`#${id}`).scrollIntoViewIfNeeded();
			await page.waitForSelector(`#${id} svg`);
		}
		assert.equal(await page.locator("#joules-closed").count(), 0);
		assert.ok((await page.locator("#energy").innerText()).includes("Not available: --no-energy"));
		assert.equal(await page.locator("#failures tbody tr").count(), JSON.parse(readFileSync(json, "utf8")).loads.length);
		assert.ok((await page.locator("#failures").innerText()).includes("HTTP 500"));
		await page.screenshot({ path: join(folder, "llm.png"), fullPage: true });
		await page.close();
	},
	"loads that an interrupt left out are missed": async () => {
		const html = changeBlock(join(folder, "llm.html"), "kwhy-llm", (llm) => ({ ...llm, ended: "it was interrupted" }), join(folder, "llm-ended.html"));
		const page = await open(html);
		assert.match(await page.locator("p.warn").first().innerText(), /^The run ended early: it was interrupted\. Loads behind the last one here were not put on\.$/);
		await page.screenshot({ path: join(folder, "llm-ended.png") });
		const whole = await open(join(folder, "llm.html"));
		assert.equal(await whole.locator("p.warn", { hasText: "ended early" }).count(), 0);
		await whole.close();
		await page.close();
	},
	"a plan without energy says why": async () => {
		const args = twoDevices("unseen", [2, 0.5]), tile = (page) => page.locator("#plan .tile", { hasText: "energy of the run" });
		const page = await open(report(args, "unseen"));
		assert.match(await tile(page).innerText(), /n\/a\s+powers of part of the run, or of idling, are not known/);
		execFileSync(kwhy, ["whatif", ...args, "--plan", "-o", join(folder, "unseen-plan.html")], { stdio: "pipe" });
		const plan = await open(join(folder, "unseen-plan.html"));
		assert.match(await tile(plan).innerText(), /n\/a\s+powers of part of the run, or of idling, are not known/);
		const time = await open(report(args.slice(0, 1), "unmetered"));
		assert.match(await tile(time).innerText(), /n\/a\s+no power readings; give --power FILE/);
		for (const p of [page, plan, time]) await p.close();
	},
	"a wall meter stands beside the figures, with its window and mean power": async () => {
		const wall = join(folder, "wall.csv");
		writeFileSync(wall, ["time_ns,source,value", ...[0, 1, 2].map((s) => `170000000${s}000000000,meter_mw,800000`)].join("\n") + "\n");
		const page = await open(report([...twoDevices("walled"), "--power", wall], "walled"));
		const row = page.locator("#quality tr", { hasText: "meter_mw" });
		assert.deepEqual(await row.locator("td").allInnerTexts(), ["meter_mw", "2.00 s", "1.60 kJ", "800 W"]);
		await page.close();
	},
	"a plan of a recording that has lost rows says so": async () => {
		const args = twoDevices("lost"), html = join(folder, "lost-plan.html");
		appendFileSync(args[0], "kernel,gemm,4,7,x,y,,132,256\n");
		execFileSync(kwhy, ["whatif", ...args, "--partial", "--plan", "-o", html], { stdio: "pipe" });
		const page = await open(html);
		assert.match(await page.locator("#plan p.warn").innerText(), /^Rows are lost, and what ran in them counts as idle here: no more than this is saved\.$/);
		await page.close();
	},
	"a plan shows what each change brings, and a stretch before and after": async () => {
		const html = join(folder, "whatif.html");
		execFileSync(kwhy, ["whatif", trace, "--power", power, "--plan", "--numerics", "--price", "0.30EUR", "--intensity", "350", "-o", html], { stdio: "pipe" });
		const plan = JSON.parse(execFileSync(kwhy, ["whatif", trace, "--power", power, "--plan", "--numerics", "--json"], { stdio: ["ignore", "pipe", "ignore"] }));
		const page = await open(html);
		await page.waitForSelector("#waterfall-time svg");
		await page.waitForSelector("#waterfall-energy svg");
		assert.equal(await page.locator("#plan tbody tr.under").count(), plan.changes.length);
		assert.equal(await page.locator("#plan details li").count(), plan.left_out.length);
		for (const change of plan.changes) assert.ok((await page.locator("#plan tbody").innerText()).includes(`--${change.id}`));
		for (const title of ["cost then", "CO2e then"]) assert.ok((await page.locator("#plan thead").innerText()).includes(title));
		assert.equal((await page.locator("#plan .tiles").innerText()).includes("≤"), plan.bound === "upper");
		assert.equal(await page.locator("#stretch svg").count(), 2);
		const [before, after] = await page.locator("#stretch svg").evaluateAll((list) => list.map((svg) => svg.querySelectorAll("rect").length));
		assert.ok(before > 0 && after > 0 && after <= before, `${before} bars before, ${after} after`);
		await page.locator("#stretch rect").first().hover({ force: true });
		assert.ok((await page.locator(".tooltip").innerText()).includes("with the changes"));
		await page.screenshot({ path: join(folder, "whatif.png"), fullPage: true });
		await page.close();
	},
	"a job of many ranks: who was late, a map of all, and no wider than the screen": async () => {
		const ranks = 24, late = 7, traces = Array.from({ length: ranks }, (_, rank) => {
			const rows = Array.from({ length: 40 }, (_, step) => {
				const at = step * 2e6, end = at + 1e6 + 1000 * ((rank * 7 + step) % 5) + (rank === late ? 300000 : 0);
				return `kernel,a_kernel_${step % 9},0,7,${at},${end}\ncollective,ncclDevKernel_AllReduce_Sum_f32_RING_LL,0,7,${end},${at + 1.5e6}`;
			});
			const file = join(folder, `job-${rank}.csv`);
			writeFileSync(file, `# clock other hand-made\n# device 0 rank=${rank}\nkind,name,device,stream,start_ns,end_ns\n${rows.join("\n")}\n`);
			return file;
		});
		rmSync(join(folder, "digests"), { recursive: true, force: true });
		execFileSync(kwhy, ["digest", "-q", "--assume-power", "compute=500,collective=200,idle=100", "-o", join(folder, "digests"), ...traces], { stdio: "pipe" });
		const html = report([join(folder, "digests")], "job"), job = JSON.parse(runText("report", "--json", join(folder, "digests")));
		assert.ok(statSync(html).size < 3e6, `${statSync(html).size} bytes`);
		const page = await open(html), text = (where) => page.locator(where).innerText();
		assert.ok((await text("header")).includes(`${ranks} ranks on 1 host`));
		assert.match(await text("#overview"), /rank 7 is a straggler/);
		assert.ok((await text("#overview .tiles")).includes(`${(job.sums.measured_nj * 1e-9).toPrecision(3)} J`), await text("#overview .tiles"));
		assert.match(await text("#map"), /worst: 7/);
		assert.equal((await text("#pair thead")).includes("worst: rank 7"), true);
		assert.equal(await page.locator("#late tbody tr").count(), job.late_ranks.filter((r) => r.caused_ns > 0).length);
		assert.equal(await page.locator("#spread svg").count(), job.categories.filter((c) => c.span_ns > 0).length + job.distributions.filter((d) => d.ranks).length);
		await page.selectOption("#map select", "compute_ns");
		for (const width of [390, 800, 1400]) {
			await page.setViewportSize({ width, height: 900 });
			assert.equal(await page.evaluate(() => document.documentElement.scrollWidth - innerWidth), 0, `wider than ${width}`);
		}
		await page.screenshot({ path: join(folder, "job.png"), fullPage: true });
		await page.close();
	},
	"a comparison shows both": async () => {
		const html = join(folder, "compare.html");
		execFileSync(kwhy, ["compare", join(folder, "a.json"), join(folder, "a.json"), "-o", html], { stdio: "pipe" });
		const page = await open(html);
		assert.ok((await page.locator("#compare").innerText()).includes("Before and after"));
		await page.close();
	},
	"a comparison adds devices up, and tells a change from chance, as the text does": async () => {
		// "turned" rises on the first device, but falls from 5 to 4 kJ in sum. "beyond" changes by 17 J: more than the 14.1 J of the difference's interval, although both accounts' intervals overlap.
		const a = madeReport("before", [["turned", [2000, 60], [3000, 60]], ["beyond", [50, 10], [50, 0]], ["within", [50, 10], [50, 0]]]);
		const b = madeReport("after", [["turned", [2400, 60], [1600, 60]], ["beyond", [67, 10], [50, 0]], ["within", [63, 10], [50, 0]]]);
		const text = runText("compare", a, b);
		assert.match(text, /turned +A .* 5\.00 kJ\n +B .* 4\.00 kJ\n.*\* -20\.0 %\n/);
		execFileSync(kwhy, ["compare", a, b, "-o", join(folder, "devices.html")], { stdio: "pipe" });
		const page = await open(join(folder, "devices.html"));
		const rows = await page.locator("#compare tbody tr").evaluateAll((list) => list.map((row) => [...row.cells].map((cell) => cell.innerText)));
		const row = (name) => rows.find((cells) => cells[1] === name);
		assert.deepEqual([...row("turned").slice(2, 5), row("turned").at(-1)], ["5.00 kJ", "4.00 kJ", "-20.0 %", "less"]);
		assert.equal(row("beyond").at(-1), "more");
		assert.equal(row("within").at(-1), "within the interval");
		assert.match(text, /beyond +A .*\n.*\n.*\* \+17\.0 %\n/);
		assert.match(text, /within +A .*\n.*\n[^*\n]*%\n/);
		await page.screenshot({ path: join(folder, "devices.png") });
		await page.close();
	},
};

writeFileSync(join(folder, "a.json"), execFileSync(kwhy, ["report", trace, "--power", power, "--json"], { maxBuffer: 1 << 28, stdio: ["ignore", "pipe", "ignore"] }));
let failed = 0;
for (const [name, run] of Object.entries(tests)) {
	problems.length = 0;
	try {
		await run();
		assert.deepEqual(problems, []);
		console.log(`ok      ${name}`);
	} catch (error) {
		failed++;
		console.log(`FAILED  ${name}\n${error.message}`);
	}
}
await browser.close();
process.exit(failed ? 1 : 0);
