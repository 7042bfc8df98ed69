// SPDX-License-Identifier: Apache-2.0
// Three questions in SQL over digests, answered by DuckDB, agree with kwhy report. Where DuckDB's sqlite extension cannot
// be loaded, sqlite3 hands it the tables as CSV.
// Usage: node job_duckdb.mjs KWHY WEB_FOLDER (whose node_modules may have @duckdb/node-api; else skipped)
import { execFileSync } from "node:child_process";
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import assert from "node:assert/strict";

const [kwhy, web] = process.argv.slice(2);
let duckdb;
try {
	duckdb = createRequire(join(web, "package.json"))("@duckdb/node-api");
} catch {
	console.log("skipped: @duckdb/node-api is not in web/node_modules; npm install --no-save @duckdb/node-api");
	process.exit(77);
}
const folder = mkdtempSync(join(tmpdir(), "kwhy-"));
const run = (program, ...words) => execFileSync(program, words, { encoding: "utf8", maxBuffer: 1 << 26 });

function trace(rank) {
	const rows = [`# clock other hand-made`, `# device 0 rank=${rank}`, "kind,name,device,stream,start_ns,end_ns"];
	for (let step = 0; step < 50; step++) {
		const at = step * 100000, late = rank === 3 ? 9000 : (rank * step * 37) % 900, leave = at + 60000 + 9000;
		rows.push(`kernel,work${step % 3},0,7,${at},${at + 50000 + late}`);
		rows.push(`collective,ncclDevKernel_AllReduce_Sum_f32_RING_LL,0,7,${at + 50000 + late},${leave}`);
	}
	return rows.join("\n") + "\n";
}

async function connect(digests) {
	const connection = await (await duckdb.DuckDBInstance.create(":memory:")).connect();
	let has = true;
	try {
		await connection.run("LOAD sqlite");
	} catch {
		has = false;
	}
	for (const table of ["digest", "category", "account", "collective"]) {
		const parts = digests.map((file, place) => {
			if (has) return `SELECT ${place} AS file, * FROM sqlite_scan('${file}', '${table}')`;
			const csv = join(folder, `${table}${place}.csv`);
			writeFileSync(csv, run("sqlite3", "-header", "-csv", file, `SELECT * FROM ${table}`));
			return `SELECT ${place} AS file, * FROM read_csv('${csv}', header = true)`;
		});
		await connection.run(`CREATE TABLE ${table} AS ${parts.join(" UNION ALL BY NAME ")}`);
	}
	console.log(has ? "by the sqlite extension" : "by CSV of sqlite3, as the sqlite extension is not installed");
	return connection;
}

try {
	const ranks = [0, 1, 2, 3, 4, 5, 6, 7];
	for (const rank of ranks) writeFileSync(join(folder, `rank${rank}.csv`), trace(rank));
	run(kwhy, "digest", "-q", "--assume-power", "compute=500,collective=200,idle=100", "-o", join(folder, "digests"),
		...ranks.map((rank) => join(folder, `rank${rank}.csv`)));
	const report = JSON.parse(run(kwhy, "report", "--json", join(folder, "digests")));
	const connection = await connect(readdirSync(join(folder, "digests")).sort().map((name) => join(folder, "digests", name)));
	const ask = async (sql) => (await connection.runAndReadAll(sql)).getRows().map((row) => row.map((v) => (typeof v === "bigint" ? Number(v) : v)));

	// Where did the joules go?
	const energies = await ask("SELECT category, sum(gross_nj)::BIGINT FROM category WHERE gross_nj IS NOT NULL GROUP BY 1 ORDER BY 1");
	assert.deepEqual(energies, report.categories.filter((c) => c.gross_nj !== null).map((c) => [c.category, c.gross_nj]).sort());
	// Which kernel takes the most time, on how many ranks?
	const kernels = await ask("SELECT name, count(DISTINCT file), sum(count)::BIGINT, sum(time_ns)::BIGINT FROM account WHERE category = 'compute' GROUP BY 1 ORDER BY 4 DESC LIMIT 1");
	const most = report.accounts.filter((a) => a.category === "compute").sort((a, b) => b.time_ns - a.time_ns)[0];
	assert.deepEqual(kernels, [[most.name, most.ranks, most.count, most.time_ns]]);
	// Whom did the others wait for? These ranks have one clock.
	const late = await ask(`WITH met AS (SELECT d.rank, c.sequence, c.enter_ns, max(c.enter_ns) OVER (PARTITION BY c.sequence) AS last_ns
		FROM collective c JOIN digest d USING (file))
		SELECT l.rank, count(DISTINCT l.sequence), sum(m.last_ns - m.enter_ns)::BIGINT FROM met m JOIN met l ON l.sequence = m.sequence AND l.enter_ns = l.last_ns
		GROUP BY 1 ORDER BY 3 DESC LIMIT 1`);
	const worst = report.late_ranks[0];
	assert.deepEqual(late, [[worst.rank, worst.late, worst.caused_ns]]);
} finally {
	rmSync(folder, { recursive: true, force: true });
}
