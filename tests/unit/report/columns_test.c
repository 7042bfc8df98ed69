/* SPDX-License-Identifier: Apache-2.0 */
#include "base/file.h"
#include "cmocka_all.h"
#include "model/ledger.h"
#include "report/account_columns.h"
#include "report/pairs/columns.h"
#include "report/stat/columns.h"
#include "report/transfers/columns.h"
#include "text_file.h"

#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/*
 * Tests that JSON and CSV outputs have exactly the columns that the schemas and pages in docs/formats
 * describe, and that the web page has their titles.
 */

#define FORMATS KWHY_SOURCE_DIR "/docs/formats/"

/*
 * A table of columns. schema, place: file in docs/formats, without .schema.json, and path in it (separated by
 * spaces) to the description of its rows.
 */
struct table {
	const char *schema, *place;
	const struct kwhy_columns *columns;
	const char *others; /* further members of a row, which are no columns, separated by spaces */
};

static const struct table tables[] = {
	{"stat", "properties time", &kwhy_stat_time_columns, ""},
	{"stat", "$defs domain", &kwhy_stat_domain_columns, "idle"},
	{"stat", "$defs domain properties idle", &kwhy_stat_idle_columns, ""},
	{"stat", "$defs work", &kwhy_stat_work_columns, "domains"},
	{"stat", "$defs work properties domains items", &kwhy_stat_work_domain_columns, ""},
	{"stat", "$defs run", &kwhy_stat_run_columns, "domains work"},
	{"stat", "$defs run properties domains items", &kwhy_stat_run_domain_columns, ""},
	{"stat", "$defs cost", &kwhy_stat_cost_columns, ""},
	{"report", "$defs account", &kwhy_account_columns, "whole_run"},
	{"report", "$defs account properties whole_run", &kwhy_account_whole_columns, ""},
	{"transfers", "$defs point", &kwhy_transfer_point_columns, "throttled"},
	{"transfers", "$defs energy", &kwhy_transfer_energy_columns, ""},
	{"transfers", "$defs curve", &kwhy_transfer_curve_columns, "segments"},
	{"transfers", "$defs choice", &kwhy_transfer_choice_columns, ""},
	{"transfers", "$defs comparison", &kwhy_transfer_baseline_columns, "stretches"},
	{"transfers", "$defs page_locking", &kwhy_transfer_pinning_columns, ""},
	{"transfers", "properties compression", &kwhy_transfer_compression_columns, ""},
	{"transfers", "$defs absence", &kwhy_transfer_absence_columns, ""},
	{"pairs", "$defs loggp", &kwhy_pair_loggp_columns, ""},
	{"pairs", "$defs energy", &kwhy_pair_energy_columns, ""},
	{"pairs", "$defs pinning", &kwhy_pair_pinning_columns, ""},
	{"pairs", "$defs held_out", &kwhy_pair_held_out_columns, ""},
	{"pairs", "$defs relation", &kwhy_pair_relation_columns, ""},
	{"pairs", "$defs flag", &kwhy_pair_flag_columns, ""},
	{"pairs", "$defs criterion", &kwhy_pair_criterion_columns, ""},
	{"pairs", "$defs absence", &kwhy_pair_absence_columns, ""},
};

enum { TABLE_COUNT = sizeof(tables) / sizeof(*tables) };

static json_t *load(const char *name)
{
	char path[512];
	json_error_t where;
	json_t *schema;

	snprintf(path, sizeof(path), FORMATS "%s.schema.json", name);
	schema = json_load_file(path, 0, &where);
	if (!schema)
		fail_msg("%s line %d: %s", path, where.line, where.text);
	return schema;
}

static const json_t *find(const json_t *schema, const char *place)
{
	char words[128], *rest = words;

	snprintf(words, sizeof(words), "%s", place);
	for (char *word = strsep(&rest, " "); word; word = strsep(&rest, " "))
		schema = json_object_get(schema, word);
	return schema;
}

static bool is_column(const struct kwhy_columns *columns, const char *key, unsigned output)
{
	for (size_t i = 0; i < columns->count; i++)
		if (columns->items[i].outputs & output && strcmp(columns->items[i].key, key) == 0)
			return true;
	return false;
}

static bool is_required(const json_t *rows, const char *key)
{
	size_t i;
	json_t *name;

	json_array_foreach(json_object_get(rows, "required"), i, name)
	{
		if (strcmp(json_string_value(name), key) == 0)
			return true;
	}
	return false;
}

static void assert_describes(const json_t *rows, const struct table *table, const struct kwhy_column *column)
{
	if (!json_object_get(json_object_get(rows, "properties"), column->key))
		fail_msg("%s.schema.json, %s: has no '%s'", table->schema, table->place, column->key);
	/* schemas other than stat and report require only members that are always known */
	if ((strcmp(table->schema, "stat") == 0 || strcmp(table->schema, "report") == 0) &&
		!is_required(rows, column->key))
		fail_msg("%s.schema.json, %s: does not require '%s'", table->schema, table->place,
			column->key);
}

static void each_column_of_the_json_is_in_its_schema(void **state)
{
	(void)state;
	for (size_t t = 0; t < TABLE_COUNT; t++) {
		json_t *schema = load(tables[t].schema);
		const json_t *rows = find(schema, tables[t].place);
		const struct kwhy_columns *columns = tables[t].columns;

		for (size_t i = 0; i < columns->count; i++)
			if (columns->items[i].outputs & KWHY_IN_JSON)
				assert_describes(rows, &tables[t], &columns->items[i]);
		json_decref(schema);
	}
}

static void each_member_of_a_schema_is_a_column(void **state)
{
	(void)state;
	for (size_t t = 0; t < TABLE_COUNT; t++) {
		json_t *schema = load(tables[t].schema), *property;
		const char *key;

		json_object_foreach(
			json_object_get(find(schema, tables[t].place), "properties"), key, property)
		{
			if (!is_column(tables[t].columns, key, KWHY_IN_JSON) &&
				!strstr(tables[t].others, key))
				fail_msg("%s.schema.json, %s: no output has '%s'", tables[t].schema,
					tables[t].place, key);
		}
		json_decref(schema);
	}
}

/*
 * Checks that the page of docs/formats has the header line of the CSV or, failing that, names each column as
 * `key` or `UNIT_key`.
 */
static void assert_documents(const struct kwhy_text *page, const struct table *table)
{
	const struct kwhy_columns *columns = table->columns;
	struct kwhy_text head = {0};
	char plain[64], of_work[64];

	kwhy_columns_csv_head(columns, &head);
	head.data[head.length - 1] = '`';
	for (size_t i = 0; !strstr(page->data, head.data) && i < columns->count; i++) {
		if (!(columns->items[i].outputs & KWHY_IN_CSV))
			continue;
		snprintf(plain, sizeof(plain), "`%s`", columns->items[i].key);
		snprintf(of_work, sizeof(of_work), "`UNIT_%s`", columns->items[i].key);
		if (!strstr(page->data, plain) && !strstr(page->data, of_work))
			fail_msg("%s.md does not name %s", table->schema, plain);
	}
	kwhy_text_done(&head);
}

static void each_column_of_the_csv_is_documented(void **state)
{
	(void)state;
	for (size_t t = 0; t < TABLE_COUNT; t++) {
		struct kwhy_text page = {0};
		struct kwhy_error error;
		char path[512];

		snprintf(path, sizeof(path), FORMATS "%s.md", tables[t].schema);
		assert_int_equal(kwhy_file_read(path, 1 << 20, &page, &error), KWHY_OK);
		assert_documents(&page, &tables[t]);
		kwhy_text_done(&page);
	}
}

/*
 * Checks that web/src/columns.ts is up to date; with KWHY_UPDATE_GOLDEN=1 writes it. It has the titles and
 * units of the accounts' columns for the web page.
 */
static void the_page_has_the_titles_and_units_of_the_columns(void **state)
{
	static const char path[] = KWHY_SOURCE_DIR "/web/src/columns.ts";
	const struct kwhy_columns *columns = &kwhy_account_columns;
	struct kwhy_text expected = {0}, found = {0};
	struct kwhy_error error;

	(void)state;
	kwhy_text_add(&expected,
		"// SPDX-License-Identifier: Apache-2.0\n"
		"// The columns of accounts in report.json, of src/report/account_columns.c: "
		"KWHY_UPDATE_GOLDEN=1 ctest -R unit_report_columns\n\n"
		"export const ACCOUNT_COLUMNS = {\n");
	for (size_t i = 0; i < columns->count; i++)
		if (columns->items[i].outputs & KWHY_IN_JSON && columns->items[i].title)
			kwhy_text_addf(&expected, "\t%s: { title: \"%s\", unit: \"%s\" },\n",
				columns->items[i].key, columns->items[i].title,
				kwhy_column_unit_name(columns->items[i].unit));
	kwhy_text_add(&expected, "} as const;\n");
	if (getenv("KWHY_UPDATE_GOLDEN"))
		text_file_write(path, expected.data);
	assert_int_equal(kwhy_file_read(path, 1 << 20, &found, &error), KWHY_OK);
	assert_string_equal(found.data, expected.data);
	kwhy_text_done(&expected);
	kwhy_text_done(&found);
}

struct example {
	const char *name;
	int64_t energy_nj;
	uint64_t bytes;
	double share;
	bool sure;
};

enum { SHOWN = KWHY_IN_TEXT | KWHY_IN_JSON };
static const struct kwhy_column example_items[] = {
	{"name", "", KWHY_UNIT_WORDS, SHOWN, KWHY_AT(struct example, name)},
	{"energy_nj", "energy", KWHY_UNIT_NJ, SHOWN, KWHY_AT(struct example, energy_nj)},
	{"bytes", "bytes", KWHY_UNIT_B, SHOWN, KWHY_AT(struct example, bytes)},
	{NULL, "share", KWHY_UNIT_RATIO, KWHY_IN_TEXT, KWHY_AT(struct example, share)},
	{"sure", NULL, KWHY_UNIT_WORDS, KWHY_IN_JSON, KWHY_AT(struct example, sure)},
};

static void a_value_has_its_unit_and_an_unknown_one_is_marked(void **state)
{
	static const struct example known = {"x", 2500000, 12, 0.5, true},
				    unknown = {NULL, KWHY_UNKNOWN_NJ, KWHY_UNKNOWN_BYTES, NAN, false};
	const struct kwhy_columns columns = {KWHY_COLUMNS(example_items)};
	const struct kwhy_text_style style = {.columns = 80};
	struct kwhy_text_table table = {.parts = {&columns}};
	struct kwhy_text out = {0};
	struct kwhy_json json;

	(void)state;
	kwhy_text_table_add(&table, &known);
	kwhy_text_table_add(&table, &unknown);
	kwhy_table_write(&table.table, &style, &out);
	assert_string_equal(out.data,
		"        energy  bytes   share\n"
		"  x    2.50 mJ   12 B  50.0 %\n"
		"  n/a      n/a    n/a     n/a\n");
	kwhy_text_clear(&out);
	kwhy_json_init(&json, &out);
	kwhy_json_row(&json, NULL);
	kwhy_columns_json(&columns, &json, &known);
	kwhy_json_object_end(&json);
	kwhy_json_row(&json, NULL);
	kwhy_columns_json(&columns, &json, &unknown);
	kwhy_json_object_end(&json);
	assert_string_equal(out.data,
		"{\"name\": \"x\", \"energy_nj\": 2500000, \"bytes\": 12, \"sure\": true}\n"
		",{\"name\": null, \"energy_nj\": null, \"bytes\": null, \"sure\": false}\n");
	kwhy_text_done(&out);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_value_has_its_unit_and_an_unknown_one_is_marked),
		cmocka_unit_test(each_column_of_the_json_is_in_its_schema),
		cmocka_unit_test(each_member_of_a_schema_is_a_column),
		cmocka_unit_test(each_column_of_the_csv_is_documented),
		cmocka_unit_test(the_page_has_the_titles_and_units_of_the_columns),
	};

	return kwhy_test_main(tests, NULL, NULL);
}
