/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests --powers FILE: kernel powers learnt from another recording are prior knowledge in the ledger of this
 * one.
 */
#include "../golden/schema_check.h"
#include "spawned_checks.h"

#include <unistd.h>

#define EXAMPLES KWHY_SOURCE_DIR "/examples/"
#define TRAIN EXAMPLES "recordings/train.kwhy"
#define PLAIN KWHY_SOURCE_DIR "/examples/recordings/mix.kwhy"
#define PROBED KWHY_SOURCE_DIR "/examples/recordings/mix-probed.kwhy"

static char folder[] = "kwhy-powers-XXXXXX";
static struct kwhy_error error;

static const char *place(const char *name)
{
	return place_in(folder, name);
}

static int begin(void **state)
{
	(void)state;
	return mkdtemp(folder) ? 0 : -1;
}

static int end(void **state)
{
	(void)state;
	unlink(place("x.powers.json"));
	unlink(place("copy.kwhy"));
	return rmdir(folder);
}

static void write_powers(const char *device, const char *unit)
{
	struct kwhy_text text = {0};

	kwhy_text_addf(&text,
		"{\"schema\":\"kwhy.powers/1\",\"device\":\"%s\",\"powers\":[{\"name\":\"no such kernel\","
		"\"above_idle_w\":{\"value\":300,\"spread\":3,\"unit\":\"%s\"}}]}",
		device, unit);
	assert_int_equal(kwhy_file_write(place("x.powers.json"), text.data, text.length, &error), KWHY_OK);
	kwhy_text_done(&text);
}

/* Returns the text of the report's note with this id, or NULL if there is none. */
static const char *note_of(const json_t *report, const char *id)
{
	const json_t *note;
	size_t i;

	json_array_foreach(json_object_get(report, "warnings"), i,
		note) if (!strcmp(json_string_value(json_object_get(note, "id")),
				  id)) return json_string_value(json_object_get(note, "text"));
	return NULL;
}

static size_t count_of_basis(const json_t *report, const char *basis)
{
	const json_t *account,
		*accounts = json_object_get(
			json_array_get(json_object_get(report, "devices"), 0), "accounts");
	size_t i, count = 0;

	json_array_foreach(accounts, i, account)
		count += !strcmp(json_string_value(json_object_get(account, "basis")), basis);
	return count;
}

/* Only a recording of `kwhy probe` has a section on repeated kernels; one of `kwhy record` has none. */
static void a_report_says_what_was_repeated(void **state)
{
	json_t *probed = json_of(SPAWN("report", "-q", "--json", PROBED)),
	       *plain = json_of(SPAWN("report", "-q", "--json", PLAIN));
	const json_t *probing = json_object_get(probed, "probing");
	const json_t *all = json_object_get(probing, "all"), *known = json_object_get(probing, "known");
	json_int_t kernels = json_integer_value(
		json_object_get(json_object_get(probing, "repeated"), "kernels"));
	const json_t *part;
	size_t i;

	(void)state;
	assert_keeps_to_schema("report", probed);
	assert_null(json_object_get(plain, "probing"));
	assert_int_equal(json_integer_value(json_object_get(probing, "bursts")), 2);
	assert_int_equal(json_integer_value(json_object_get(probing, "repeats")), 810);
	json_array_foreach(json_object_get(probing, "not_repeated"), i, part)
		kernels += json_integer_value(json_object_get(part, "kernels"));
	assert_int_equal(kernels, json_integer_value(json_object_get(all, "kernels")));
	assert_true(json_integer_value(json_object_get(known, "time_ns")) <=
		json_integer_value(json_object_get(all, "time_ns")));
	assert_true(json_integer_value(json_object_get(probing, "busy_nj")) > 0);
	assert_true(json_integer_value(json_object_get(probing, "known_nj")) <=
		json_integer_value(json_object_get(probing, "busy_nj")));
	/*
	 * The 810 repeats were launched by kwhy, not by a runtime call of the program. They must not count as
	 * activities whose call is missing.
	 */
	assert_true(json_integer_value(
			    json_object_get(json_object_get(probed, "lost"), "unlinked_activities")) < 810);
	json_decref(probed);
	json_decref(plain);
	assert_says(SPAWN("report", "-v", "-q", PROBED), "2 bursts of 810 repeats");
	assert_says(SPAWN("report", "-v", "-q", PROBED), "energy in the program known within 5 %: ");
	assert_says(SPAWN("report", "-v", "-q", PROBED), "(kwhy recording, kwhy probe)");
	assert_says(SPAWN("report", "-v", "-q", PLAIN), "(kwhy recording, kwhy record)");
}

static void powers_go_through_a_file_or_come_from_the_recording_itself(void **state)
{
	json_t *by_file, *by_recording, *powers;

	(void)state;
	assert_says(SPAWN("export", "-q", PLAIN, "-o", place("x.powers.json")), "");
	powers = json_load_file(place("x.powers.json"), 0, NULL);
	assert_string_equal(json_string_value(json_object_get(powers, "schema")), "kwhy.powers/1");
	assert_keeps_to_schema("powers", powers);
	by_file = json_of(SPAWN("report", "-q", "--json", PROBED, "--powers", place("x.powers.json")));
	by_recording = json_of(SPAWN("report", "-q", "--json", PROBED, "--powers", PLAIN));
	assert_non_null(note_of(by_file, "powers-learnt"));
	assert_string_equal(note_of(by_file, "powers-learnt"), note_of(by_recording, "powers-learnt"));
	assert_null(note_of(by_file, "powers-overruled"));
	assert_int_equal(count_of_basis(by_file, "learnt"), count_of_basis(by_recording, "learnt"));
	json_decref(by_recording);
	json_decref(by_file);
	json_decref(powers);
}

static void a_copy_of_the_run_does_not_teach_it(void **state)
{
	char command[1024];

	(void)state;
	snprintf(command, sizeof(command), "cp %s %s", PROBED, place("copy.kwhy"));
	assert_int_equal(system(command), 0); /* NOLINT(cert-env33-c) */
	assert_fails(SPAWN("report", "-q", PROBED, "--powers", place("copy.kwhy")), 2,
		"holds a recording of the run itself");
	assert_fails(SPAWN("report", "-q", PROBED, "--powers", PROBED), 2, "is the run itself");
}

static void what_cannot_be_used_is_refused_in_a_sentence(void **state)
{
	(void)state;
	write_powers("NVIDIA H100 80GB HBM3", "W");
	assert_fails(SPAWN("report", "-q", TRAIN, "--powers", place("x.powers.json")), 1,
		"holds powers of NVIDIA H100 80GB HBM3, and the run is of NVIDIA H200");
	write_powers("NVIDIA H200", "mW");
	assert_fails(SPAWN("whatif", "-q", "--graph", TRAIN, "--powers", place("x.powers.json")), 1,
		"above_idle_w has not the unit \"W\"");
	assert_fails(SPAWN("stat", "--powers", place("x.powers.json"), "--", "true"), 1,
		"above_idle_w has not the unit \"W\"");
	assert_fails(SPAWN("compare", "-q", TRAIN, TRAIN, "--powers", place("none.json")), 1, "none.json");
	assert_fails(SPAWN("report", "-q", TRAIN, "--powers", KWHY_SOURCE_DIR "/tests/golden/tiny.csv"), 1,
		"teaches no power");
	assert_fails(
		SPAWN("export", "-q", KWHY_SOURCE_DIR "/tests/golden/tiny.csv", "-o", place("x.powers.json")),
		1, "teaches no power");
	assert_fails(SPAWN("export", "-q", TRAIN, "-o", place("x.powers.json.gz")), 2,
		"leave .gz out of the name");
	assert_fails(SPAWN("report", "-q", PLAIN, "--powers", PLAIN), 2, "is the run itself");
	assert_fails(SPAWN("report", "-q", PLAIN, "--powers", PROBED, "--powers", PROBED), 2, "twice");
	assert_fails(SPAWN("compare", "-q", PLAIN, PROBED), 1, "is a recording of kwhy probe");
}

/*
 * The file has powers of kernels that this recording does not have, so every figure of the report must be the
 * same with and without it.
 */
static void powers_of_other_kernels_change_nothing(void **state)
{
	json_t *with, *without;

	(void)state;
	write_powers("NVIDIA-H200", "W");
	with = json_of(SPAWN("report", "-q", "--json", TRAIN, "--powers", place("x.powers.json")));
	without = json_of(SPAWN("report", "-q", "--json", TRAIN));
	assert_true(json_equal(json_object_get(with, "devices"), json_object_get(without, "devices")));
	assert_non_null(strstr(note_of(with, "powers-learnt"), "0 of the "));
	json_decref(without);
	json_decref(with);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_report_says_what_was_repeated),
		cmocka_unit_test(powers_go_through_a_file_or_come_from_the_recording_itself),
		cmocka_unit_test(a_copy_of_the_run_does_not_teach_it),
		cmocka_unit_test(what_cannot_be_used_is_refused_in_a_sentence),
		cmocka_unit_test(powers_of_other_kernels_change_nothing),
	};

	return kwhy_test_main(tests, begin, end);
}
