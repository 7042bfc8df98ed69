/* SPDX-License-Identifier: Apache-2.0 */
#include "import/sqlite/export_tables.h"

/* clang-format off */
#define INT(name) {name, KWHY_COLUMN_INTEGER, NULL, NULL}
#define REAL(name) {name, KWHY_COLUMN_REAL, NULL, NULL}
#define TEXT(name) {name, KWHY_COLUMN_TEXT, NULL, NULL}
#define KEY(name) {name, KWHY_COLUMN_INTEGER, " PRIMARY KEY", NULL}
#define TEXT_KEY(name) {name, KWHY_COLUMN_TEXT, " PRIMARY KEY", NULL}
/* A column with the id of a row of the table `table`. */
#define REFERS(name, table) {name, KWHY_COLUMN_INTEGER, " REFERENCES " table, NULL}
#define TABLE(name, tail) {#name, name##_columns, sizeof(name##_columns) / sizeof(name##_columns[0]), tail}
/* clang-format on */

static const struct kwhy_export_column meta_columns[] = {TEXT_KEY("key"), TEXT("value")};
static const struct kwhy_export_column machine_columns[] = {KEY("id"), TEXT("name")};
static const struct kwhy_export_column process_columns[] = {
	KEY("id"), REFERS("machine_id", "machine"), INT("pid"), INT("rank"), INT("world_size"), TEXT("host")};
static const struct kwhy_export_column device_columns[] = {KEY("id"), INT("device_index"), INT("rank"),
	TEXT("name"), INT("sm_count"), INT("limit_mw"), REFERS("machine_id", "machine"), TEXT("uuid"),
	TEXT("pci"), INT("threads_per_sm"), INT("registers_per_sm"), INT("shared_bytes_per_sm"),
	INT("memory_bytes"), REAL("memory_bytes_per_s"), INT("compute_major"), INT("compute_minor"),
	INT("context_idle_mw"), INT("clean_idle_mw")};
static const struct kwhy_export_column stream_columns[] = {KEY("id"), REFERS("device_id", "device"),
	INT("pid"), INT("context"), INT("stream"), REFERS("process_id", "process")};
static const struct kwhy_export_column name_columns[] = {KEY("id"), TEXT("text")};
static const struct kwhy_export_column activity_columns[] = {KEY("id"), TEXT("kind"),
	REFERS("name_id", "name"), REFERS("device_id", "device"), REFERS("stream_id", "stream"),
	INT("start_ns"), INT("end_ns"), INT("bytes"), INT("blocks"), INT("threads_per_block"), INT("call_id"),
	INT("account_id"), REAL("energy_nj"), TEXT("copy_kind"), TEXT("src_memory"), TEXT("dst_memory"),
	INT("peer"), INT("registers"), INT("shared_bytes"), INT("graph_node")};
static const struct kwhy_export_column call_columns[] = {KEY("id"), REFERS("name_id", "name"), INT("pid"),
	INT("tid"), INT("start_ns"), INT("end_ns"), REFERS("process_id", "process"), TEXT("class")};
static const struct kwhy_export_column range_columns[] = {KEY("id"), TEXT("kind"), REFERS("name_id", "name"),
	INT("tid"), INT("start_ns"), INT("end_ns"), REFERS("process_id", "process")};
static const struct kwhy_export_column host_range_columns[] = {KEY("id"), TEXT("kind"),
	REFERS("name_id", "name"), REFERS("file_id", "name"), INT("line"), REFERS("inputs_id", "name"),
	INT("tid"), INT("start_ns"), INT("end_ns"), REFERS("process_id", "process")};
static const struct kwhy_export_column power_columns[] = {INT("device_id"), TEXT("source"), INT("time_ns"),
	INT("value"), REFERS("machine_id", "machine"), INT("wrap")};
static const struct kwhy_export_column work_columns[] = {TEXT_KEY("unit"), REAL("count")};
static const struct kwhy_export_column coverage_columns[] = {
	INT("device_id"), INT("start_ns"), INT("end_ns")};
static const struct kwhy_export_column account_columns[] = {KEY("id"), REFERS("device_id", "device"),
	TEXT("category"), TEXT("name"), INT("count"), INT("time_ns"), INT("gross_nj"), INT("idle_nj"),
	INT("net_nj"), INT("low_nj"), INT("high_nj"), INT("mean_power_mw"), TEXT("basis")};
static const struct kwhy_export_column finding_columns[] = {{"id", KWHY_COLUMN_TEXT, NULL, "finding_id"},
	TEXT("title"), INT("device_id"), INT("count"), INT("time_ns"), INT("energy_nj"),
	INT("saving_time_ns"), INT("saving_energy_nj"), TEXT("cure")};
static const struct kwhy_export_column host_wait_columns[] = {REFERS("device_id", "device"), TEXT("reason"),
	TEXT("kind"), TEXT("name"), TEXT("file"), INT("line"), INT("time_ns"), INT("gap_count"),
	INT("longest_ns")};

const struct kwhy_export_table kwhy_export_tables[KWHY_TABLE_COUNT] = {
	[KWHY_TABLE_META] = TABLE(meta, " WITHOUT ROWID"),
	[KWHY_TABLE_MACHINE] = TABLE(machine, NULL),
	[KWHY_TABLE_PROCESS] = TABLE(process, NULL),
	[KWHY_TABLE_DEVICE] = TABLE(device, NULL),
	[KWHY_TABLE_STREAM] = TABLE(stream, NULL),
	[KWHY_TABLE_NAME] = TABLE(name, NULL),
	[KWHY_TABLE_ACTIVITY] = TABLE(activity, NULL),
	[KWHY_TABLE_CALL] = TABLE(call, NULL),
	[KWHY_TABLE_RANGE] = TABLE(range, NULL),
	[KWHY_TABLE_HOST_RANGE] = TABLE(host_range, NULL),
	[KWHY_TABLE_POWER] = TABLE(power, NULL),
	[KWHY_TABLE_WORK] = TABLE(work, " WITHOUT ROWID"),
	[KWHY_TABLE_COVERAGE] = TABLE(coverage, NULL),
	[KWHY_TABLE_ACCOUNT] = TABLE(account, NULL),
	[KWHY_TABLE_FINDING] = TABLE(finding, NULL),
	[KWHY_TABLE_HOST_WAIT] = TABLE(host_wait, NULL),
};
