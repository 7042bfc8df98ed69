// SPDX-License-Identifier: Apache-2.0
// The columns of accounts in report.json, of src/report/account_columns.c: KWHY_UPDATE_GOLDEN=1 ctest -R unit_report_columns

export const ACCOUNT_COLUMNS = {
	category: { title: "category", unit: "" },
	name: { title: "account", unit: "" },
	count: { title: "count", unit: "" },
	bytes: { title: "bytes", unit: "B" },
	time_ns: { title: "time", unit: "ns" },
	gross_nj: { title: "gross", unit: "nJ" },
	idle_nj: { title: "idle", unit: "nJ" },
	net_nj: { title: "net", unit: "nJ" },
	mean_power_mw: { title: "power", unit: "mW" },
	basis: { title: "basis", unit: "" },
} as const;
