/* SPDX-License-Identifier: Apache-2.0 */
#include "../cli/spawn.h"
#include "base/file.h"
#include "cmocka_all.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/*
 * Compares kwhy's output for small traces with the stored texts (*.golden), byte by byte. With
 * KWHY_UPDATE_GOLDEN=1 the stored texts are replaced; read the difference before you commit it.
 */

#define FOLDER KWHY_SOURCE_DIR "/tests/golden"

static struct kwhy_error error;

/*
 * Replaces the value of "own_seconds", the time that kwhy itself took, by 0. No other figure differs from one
 * run to the next.
 */
static void mask_own_seconds(struct kwhy_text *text)
{
	char *value = strstr(text->data, "\"own_seconds\": ");
	char *end = value ? strchr(value, '\n') : NULL;

	if (!end)
		return;
	value += strlen("\"own_seconds\": ");
	memmove(value + 1, end, strlen(end) + 1);
	*value = '0';
	text->length = strlen(text->data);
}

static void show_difference(const char *name, const char *expected, const char *got)
{
	size_t line = 1, i = 0;

	for (; expected[i] && expected[i] == got[i]; i++)
		line += expected[i] == '\n';
	fail_msg("%s differs in line %zu: '%.60s' became '%.60s'; KWHY_UPDATE_GOLDEN=1 accepts it", name,
		line, expected + i, got + i);
}

static void assert_golden(const char *name, const char *const *words)
{
	struct spawned spawned = spawn_run(&(struct spawn){.words = words, .folder = FOLDER});
	struct kwhy_text expected = {0};
	const char *update = getenv("KWHY_UPDATE_GOLDEN");
	char path[512];

	snprintf(path, sizeof(path), "%s/%s.golden", FOLDER, name);
	assert_string_equal(spawned.err.data, "");
	assert_int_equal(spawned.exit, 0);
	mask_own_seconds(&spawned.out);
	if (update && *update == '1')
		assert_int_equal(
			kwhy_file_write(path, spawned.out.data, spawned.out.length, &error), KWHY_OK);
	if (kwhy_file_read(path, 1 << 24, &expected, &error))
		fail_msg("%s", error.text);
	if (strcmp(expected.data, spawned.out.data) != 0)
		show_difference(name, expected.data, spawned.out.data);
	kwhy_text_done(&expected);
	spawned_done(&spawned);
}

#define GOLDEN(name, ...) assert_golden((name), (const char *const[]){__VA_ARGS__, NULL})

static void the_text_of_times_alone_is_as_before(void **state)
{
	(void)state;
	GOLDEN("time.txt", "report", "tiny.csv");
}

static void the_text_of_modelled_energy_is_as_before(void **state)
{
	(void)state;
	GOLDEN("modelled.txt", "report", "tiny.csv", "--assume-power",
		"compute=300,collective=200,idle=100,h2d=150,d2h=140,memset=130", "--price", "0.30EUR",
		"--intensity", "400", "-v");
}

static void the_json_of_times_alone_is_as_before(void **state)
{
	(void)state;
	GOLDEN("time.json", "report", "tiny.csv", "--json");
}

static void the_json_of_modelled_energy_is_as_before(void **state)
{
	(void)state;
	GOLDEN("modelled.json", "report", "tiny.csv", "--json", "--assume-power",
		"compute=300,collective=200,idle=100,h2d=150,d2h=140,memset=130", "--price", "0.30EUR",
		"--intensity", "400");
}

static void the_csv_is_as_before(void **state)
{
	(void)state;
	GOLDEN("accounts.csv", "report", "tiny.csv", "--csv", "accounts", "--assume-power", "100");
	GOLDEN("findings.csv", "report", "tiny.csv", "--csv", "findings", "--assume-power", "100");
}

static void the_text_and_json_of_a_run_known_in_random_windows_are_as_before(void **state)
{
	(void)state;
	GOLDEN("windows.txt", "report", "windows.csv");
	GOLDEN("windows-all.txt", "report", "windows.csv", "-v");
	GOLDEN("windows.json", "report", "windows.csv", "--json");
}

#define WITH_PEAKS                                                                                           \
	"tiny.csv", "--machine-profile", "peaks.json", "--work", "flop_bf16=2e9", "--work", "flop_fp32=4e8", \
		"--work", "bytes=1.4e8"

static void the_share_of_the_roofline_is_as_before(void **state)
{
	(void)state;
	GOLDEN("roofline.txt", "report", "-v", WITH_PEAKS);
	GOLDEN("roofline.json", "report", "--json", WITH_PEAKS);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_text_of_times_alone_is_as_before),
		cmocka_unit_test(the_text_of_modelled_energy_is_as_before),
		cmocka_unit_test(the_json_of_times_alone_is_as_before),
		cmocka_unit_test(the_json_of_modelled_energy_is_as_before),
		cmocka_unit_test(the_csv_is_as_before),
		cmocka_unit_test(the_share_of_the_roofline_is_as_before),
		cmocka_unit_test(the_text_and_json_of_a_run_known_in_random_windows_are_as_before),
	};

	return kwhy_test_main(tests, NULL, NULL);
}
