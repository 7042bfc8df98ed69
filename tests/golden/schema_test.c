/* SPDX-License-Identifier: Apache-2.0 */
#include "../cli/spawn.h"
#include "cmocka_all.h"
#include "schema_check.h"
#include "traces.h"

#include <string.h>

static json_t *load_schema(void)
{
	json_error_t where;
	json_t *schema = json_load_file(KWHY_SOURCE_DIR "/docs/formats/report.schema.json", 0, &where);

	if (!schema)
		fail_msg("report.schema.json line %d: %s", where.line, where.text);
	return schema;
}

/*
 * Runs kwhy with these words, checks the report that it prints against the schema and returns it. The
 * caller owns the report.
 */
static json_t *keeps(const char *const *words)
{
	struct spawned spawned = spawn_run(&(struct spawn){.words = words});
	json_error_t where;
	json_t *report;

	assert_int_equal(spawned.exit, 0);
	report = json_loadb(spawned.out.data, spawned.out.length, 0, &where);
	if (!report)
		fail_msg("line %d: %s", where.line, where.text);
	assert_keeps_to_schema("report", report);
	spawned_done(&spawned);
	return report;
}

#define KEEPS(...) keeps((const char *const[]){"report", "--json", __VA_ARGS__, NULL})

static json_int_t sum_of(const json_t *rows, const char *key)
{
	json_int_t sum = 0;
	size_t i;
	json_t *row;

	json_array_foreach(rows, i, row) sum += json_integer_value(json_object_get(row, key));
	return sum;
}

/*
 * Checks for each device that the gross energies of its accounts add up to the attributed energy, and that
 * this equals the measured energy unless the energy is modelled.
 */
static void assert_balance(const json_t *report)
{
	size_t i;
	json_t *device;

	json_array_foreach(json_object_get(report, "devices"), i, device)
	{
		const json_t *energy = json_object_get(device, "energy");
		json_int_t attributed = json_integer_value(json_object_get(energy, "attributed_nj"));

		if (!json_is_object(energy))
			continue;
		assert_true(sum_of(json_object_get(device, "accounts"), "gross_nj") == attributed);
		if (!json_is_true(json_object_get(energy, "modelled")))
			assert_true(json_integer_value(json_object_get(energy, "measured_nj")) == attributed);
	}
}

static void assert_time_sums(const json_t *report)
{
	static const char *const busy[] = {
		"compute_ns", "collective_ns", "copy_ns", "memset_ns", "overlap_ns"};
	size_t i;
	json_t *device;

	json_array_foreach(json_object_get(report, "devices"), i, device)
	{
		const json_t *time = json_object_get(device, "time");
		json_int_t sum = 0;

		for (size_t j = 0; j < 5; j++)
			sum += json_integer_value(json_object_get(time, busy[j]));
		assert_true(sum == json_integer_value(json_object_get(time, "busy_ns")));
		assert_true(sum + json_integer_value(json_object_get(time, "idle_ns")) +
				json_integer_value(json_object_get(time, "unrecorded_ns")) +
				json_integer_value(json_object_get(time, "probing_ns")) ==
			json_integer_value(json_object_get(time, "span_ns")));
	}
}

static void a_hand_made_trace_gives_what_the_schema_says(void **state)
{
	json_t *report = KEEPS(KWHY_SOURCE_DIR "/tests/golden/tiny.csv");

	(void)state;
	assert_time_sums(report);
	json_decref(report);
	report = KEEPS(KWHY_SOURCE_DIR "/tests/golden/windows.csv");
	assert_time_sums(report);
	json_decref(report);
	report = KEEPS(KWHY_SOURCE_DIR "/tests/golden/tiny.csv", "--assume-power", "150", "--price", "0.3");
	assert_balance(report);
	json_decref(report);
	report = KEEPS(KWHY_SOURCE_DIR "/tests/golden/tiny.csv", "--work", "bytes=1e8", "--machine-profile",
		KWHY_SOURCE_DIR "/tests/golden/peaks.json");
	assert_true(json_is_object(json_object_get(report, "roofline")));
	json_decref(report);
}

static void measured_runs_give_what_the_schema_says_and_balance(void **state)
{
	static const char *const runs[][2] = {{"h200-decode/trace.json.zst", "h200-decode/power.csv"},
		{"h200-train/trace.json.zst", "h200-train/power.csv"},
		{"h200-mix-burst/activities.csv", "h200-mix-burst/power.csv"}};

	(void)state;
	for (size_t i = 0; i < 3; i++) {
		char trace[512], power[512];
		json_t *report;

		snprintf(trace, sizeof(trace), EXAMPLES "%s", runs[i][0]);
		snprintf(power, sizeof(power), EXAMPLES "%s", runs[i][1]);
		report = KEEPS(trace, "--power", power, "--intensity", "400");
		assert_balance(report);
		assert_time_sums(report);
		json_decref(report);
	}
}

/*
 * Writes the trace of a rank with 40 collectives, in which all ranks wait for one another. Rank 2 enters them
 * later than the others.
 */
static void write_rank(const char *folder, int rank)
{
	char path[300];
	FILE *file;

	snprintf(path, sizeof(path), "%s/%d.csv", folder, rank);
	file = fopen(path, "w");
	assert_non_null(file);
	fprintf(file,
		"# clock other hand-made\n# device 0 rank=%d\nkind,name,device,stream,start_ns,end_ns\n",
		rank);
	for (long step = 0, at = 0; step < 40; step++, at += 2000000) {
		const long end = at + 1000000 + 1000 * ((rank + step) % 3) + (rank == 2 ? 300000 : 0);

		fprintf(file, "kernel,k,0,7,%ld,%ld\ncollective,ncclAllReduce,0,7,%ld,%ld\n", at, end, end,
			at + 1500000);
	}
	fclose(file);
}

static void digests_give_what_their_schema_says(void **state)
{
	static const char *const lists[] = {
		"categories", "distributions", "late_ranks", "collectives", "accounts", "problems"};
	char folder[] = "kwhy-schema-XXXXXX", command[600];
	struct spawned spawned;
	json_error_t where;
	json_t *report;

	(void)state;
	assert_non_null(mkdtemp(folder));
	for (int rank = 0; rank < 4; rank++)
		write_rank(folder, rank);
	snprintf(command, sizeof(command),
		KWHY_PROGRAM
		" digest -q --assume-power 300 -o %s/digests %s/*.csv && : > %s/digests/no.sqlite",
		folder, folder, folder);
	assert_int_equal(system(command), 0);
	snprintf(command, sizeof(command), "%s/digests", folder);
	spawned = SPAWN("report", "--json", command);
	report = json_loadb(spawned.out.data, spawned.out.length, 0, &where);
	if (!report)
		fail_msg("line %d: %s", where.line, where.text);
	assert_keeps_to_schema("job", report);
	for (size_t i = 0; i < sizeof(lists) / sizeof(lists[0]); i++)
		assert_true(json_array_size(json_object_get(report, lists[i])) > 0);
	json_decref(report);
	spawned_done(&spawned);
	snprintf(command, sizeof(command), "rm -r %s", folder);
	assert_int_equal(system(command), 0);
}

static void real_traces_give_what_the_schema_says(void **state)
{
	static const char *const traces[] = {"kineto-a100-nccl.json.gz", "kineto-bare-list.json.gz",
		"kineto-mi300-resnet.json.gz", "kineto-v100-2021-format.json.gz", "nsys-2xh100-before.sqlite",
		"nsys-a100-cloverleaf.sqlite", "nsys-gtx1060-concurrent.sqlite"};

	(void)state;
	need_traces();
	for (size_t i = 0; i < sizeof(traces) / sizeof(traces[0]); i++) {
		char trace[512];
		json_t *report;

		snprintf(trace, sizeof(trace), TRACES "%s", traces[i]);
		report = KEEPS(trace);
		assert_time_sums(report);
		json_decref(report);
	}
}

static void the_check_itself_finds_what_breaks_the_schema(void **state)
{
	static const char *const breaks[] = {"{\"schema\":\"kwhy.report/2\"}", "{\"schema\":null}", "[]",
		"{\"window\":{\"origin_unix_ns\":5}}", "{\"window\":{\"origin_unix_ns\":\"x\"}}",
		"{\"devices\":[{\"accounts\":[{\"count\":-1}]}]}"};
	json_t *report = KEEPS(KWHY_SOURCE_DIR "/tests/golden/tiny.csv"), *schema = load_schema();
	char why[600];

	(void)state;
	for (size_t i = 0; i < sizeof(breaks) / sizeof(breaks[0]); i++) {
		json_t *broken = json_loads(breaks[i], 0, NULL), *copy = json_deep_copy(report);

		if (json_is_object(broken))
			json_object_update(copy, broken);
		assert_false(schema_check(
			schema, schema, json_is_object(broken) ? copy : broken, why, sizeof(why)));
		json_decref(broken);
		json_decref(copy);
	}
	json_object_del(report, "steps");
	assert_false(schema_check(schema, schema, report, why, sizeof(why)));
	assert_non_null(strstr(why, "steps"));
	json_decref(report);
	json_decref(schema);
}

/*
 * Checks all parts of the schema, also those of objects that no report of the tests has, as no other test
 * would find a mistake there.
 */
static void assert_required_are_names(const json_t *part)
{
	const char *key;
	size_t i;
	json_t *below, *name;

	json_array_foreach(part, i, below) assert_required_are_names(below);
	json_object_foreach((json_t *)part, key, below)
	{
		if (!strcmp(key, "required") && json_is_array(below))
			json_array_foreach(below, i, name) assert_true(json_is_string(name));
		assert_required_are_names(below);
	}
}

static void what_objects_must_have_is_told_by_names(void **state)
{
	json_t *schema = load_schema();

	(void)state;
	assert_required_are_names(schema);
	json_decref(schema);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_hand_made_trace_gives_what_the_schema_says),
		cmocka_unit_test(measured_runs_give_what_the_schema_says_and_balance),
		cmocka_unit_test(real_traces_give_what_the_schema_says),
		cmocka_unit_test(digests_give_what_their_schema_says),
		cmocka_unit_test(the_check_itself_finds_what_breaks_the_schema),
		cmocka_unit_test(what_objects_must_have_is_told_by_names),
	};

	return kwhy_test_main(tests, NULL, NULL);
}
