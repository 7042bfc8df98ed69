/* SPDX-License-Identifier: Apache-2.0 */
/* Tests `kwhy doctor` on the machine that runs the tests, with GPUs of the fake NVML. */
#include "../golden/schema_check.h"
#include "cmocka_all.h"
#include "spawned_checks.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#define SCENARIOS KWHY_SOURCE_DIR "/tests/fakes/nvml/scenarios/"

static struct spawned run(const char *scenario, const char *const *words)
{
	setenv("KWHY_FAKE_NVML", scenario, 1);
	return spawn_run(&(struct spawn){.words = words});
}

#define RUN(scenario, ...) run(SCENARIOS scenario, (const char *const[]){"doctor", __VA_ARGS__, NULL})

static json_t *load(const struct spawned *spawned)
{
	json_t *document = json_in(spawned);

	assert_keeps_to_schema("doctor", document);
	return document;
}

static json_int_t number(const json_t *object, const char *key)
{
	return json_integer_value(json_object_get(object, key));
}

static void the_exit_status_says_whether_there_is_advice(void **state)
{
	static const char *const scenarios[] = {
		SCENARIOS "h200_idle.txt", SCENARIOS "h200_constant_300w.txt", SCENARIOS "no_gpu.txt"};
	static const char *const words[] = {"doctor", "--json", NULL};

	(void)state;
	for (size_t i = 0; i < 3; i++) {
		struct spawned spawned = run(scenarios[i], words);
		json_t *report = load(&spawned);

		assert_int_equal(spawned.err.length, 0);
		assert_int_equal(spawned.exit, number(report, "advice_count") > 0 ? 3 : 0);
		json_decref(report);
		spawned_done(&spawned);
	}
}

static void assert_counted_alike(const char *text, const json_t *report)
{
	char head[96];
	json_int_t advice = number(report, "advice_count");

	snprintf(head, sizeof(head), "%d thing%s to change, %d good, %d not known\n", (int)advice,
		advice == 1 ? "" : "s", (int)number(report, "good_count"),
		(int)number(report, "unknown_count"));
	if (strncmp(text, head, strlen(head)) != 0)
		fail_msg("not '%s' but '%s'", head, text);
	assert_int_equal(json_array_size(json_object_get(report, "checks")),
		advice + number(report, "good_count") + number(report, "unknown_count"));
}

static void a_busy_gpu_is_advice_in_text_and_json(void **state)
{
	struct spawned text = RUN("h200_constant_300w.txt", "--no-color");
	struct spawned json = RUN("h200_constant_300w.txt", "--json");
	json_t *report = load(&json);

	(void)state;
	assert_int_equal(text.exit, 3);
	assert_non_null(strstr(text.out.data, "GPU 0: NVIDIA H200, 0000:19:00.0"));
	assert_non_null(strstr(text.out.data, "shared or busy: 1 process has a context, 100 % busy"));
	assert_int_equal(json_array_size(json_object_get(report, "gpus")), 1);
	assert_counted_alike(text.out.data, report);
	json_decref(report);
	spawned_done(&text);
	spawned_done(&json);
}

static void without_a_gpu_the_machine_is_still_looked_at(void **state)
{
	struct spawned spawned = RUN("no_gpu.txt", "--no-color");

	(void)state;
	assert_non_null(strstr(spawned.out.data, "GPUs: the NVIDIA driver runs but shows no GPU"));
	assert_non_null(strstr(spawned.out.data, "host memory"));
	spawned_done(&spawned);
}

static void wrong_usage_is_a_sentence_and_status_2(void **state)
{
	static const struct {
		const char *words[5], *says;
	} rows[] = {
		{{"doctor", "--device", "7", NULL}, "there is no GPU 7; this machine has 1"},
		{{"doctor", "--device", "x", NULL}, "takes the number of a GPU"},
		{{"doctor", "what", NULL}, "doctor takes options alone, not 'what'"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct spawned spawned = run(SCENARIOS "h200_idle.txt", rows[i].words);

		assert_int_equal(spawned.exit, 2);
		assert_int_equal(spawned.out.length, 0);
		assert_non_null(strstr(spawned.err.data, rows[i].says));
		spawned_done(&spawned);
	}
}

/* A shell starts kwhy here, because spawn_run() would set KWHY_PROFILES to the folder of the profiles. */
static void a_program_without_its_profiles_says_so_with_the_cure(void **state)
{
	char said[16384] = "";
	FILE *out = popen("KWHY_PROFILES=/nowhere " KWHY_PROGRAM " doctor --no-color", "r");

	(void)state;
	assert_non_null(out);
	assert_true(fread(said, 1, sizeof(said) - 1, out) > 0);
	assert_int_equal(WEXITSTATUS(pclose(out)), 3);
	assert_non_null(strstr(said, "\nThis installation"));
	assert_non_null(strstr(said, "machine profiles: none, not in /nowhere either"));
	assert_non_null(strstr(said, "Cure: copy the whole folder of kwhy"));
}

static void the_version_in_detail_names_build_libraries_and_driver(void **state)
{
	static const char *const words[] = {"version", "--verbose", NULL};
	static const char *const parts[] = {"kwhy " KWHY_VERSION "\n", "\ncommit: ", "\nbuild: by ",
		"libraries: SQLite 3.", "\nNVIDIA driver: ", "GPU 0: NVIDIA H200",
		"\nmachine profiles: ", "\ninjected library: "};
	struct spawned spawned = run(SCENARIOS "h200_idle.txt", words);

	(void)state;
	assert_int_equal(spawned.exit, 0);
	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
		if (!strstr(spawned.out.data, parts[i]))
			fail_msg("no '%s' in %s", parts[i], spawned.out.data);
	spawned_done(&spawned);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_exit_status_says_whether_there_is_advice),
		cmocka_unit_test(a_busy_gpu_is_advice_in_text_and_json),
		cmocka_unit_test(without_a_gpu_the_machine_is_still_looked_at),
		cmocka_unit_test(wrong_usage_is_a_sentence_and_status_2),
		cmocka_unit_test(a_program_without_its_profiles_says_so_with_the_cure),
		cmocka_unit_test(the_version_in_detail_names_build_libraries_and_driver),
	};

	return kwhy_test_main(tests, NULL, NULL);
}
