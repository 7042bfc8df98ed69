/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests `kwhy model audit` on the figures of five documents (examples/claims) and on rows that the tests
 * write.
 */
#include "spawned_checks.h"

#include <unistd.h>

static struct kwhy_error error;
static char folder[] = "kwhy-model-audit-XXXXXX";

static const char *given(const char *text)
{
	return text_file_in(folder, "in.csv", text);
}

static int begin(void **state)
{
	(void)state;
	return mkdtemp(folder) ? 0 : -1;
}

static int end(void **state)
{
	(void)state;
	unlink(place_in(folder, "in.csv"));
	return rmdir(folder);
}

#define CLAIMS KWHY_SOURCE_DIR "/examples/claims/"

static bool is_found(const json_t *answer, const char *claim)
{
	size_t i;
	json_t *finding;

	json_array_foreach(json_object_get(answer, "findings"), i,
		finding) if (strcmp(json_string_value(json_object_get(finding, "claim")), claim) ==
		0) return true;
	return false;
}

/*
 * The last column of the file states the known error of a row; it is empty in correct rows. Checks that the
 * audit's findings name exactly the claims of the rows with an error. Returns the number of these rows.
 */
static size_t compare_rows(const char *path, const json_t *answer)
{
	struct kwhy_text text = {0};
	size_t wrong = 0, row = 0;

	assert_int_equal(kwhy_file_read(path, 1 << 20, &text, &error), KWHY_OK);
	for (char *line = strtok(text.data, "\n"); line; line = strtok(NULL, "\n"), row++) {
		bool is_wrong = strrchr(line, ',')[1] != '\0';

		if (!row)
			continue;
		*strchr(line, ',') = '\0';
		if (is_found(answer, line) != is_wrong)
			fail_msg("%s: '%s' is %s", path, line, is_wrong ? "not found" : "right, and found");
		wrong += is_wrong;
	}
	kwhy_text_done(&text);
	return wrong;
}

static void every_error_of_the_five_documents_that_figures_show_is_found_and_nothing_right(void **state)
{
	static const struct {
		const char *name;
		size_t wrong;
	} files[] = {{"0-transfer-energy", 70}, {"1-gpu-utilisation", 6}, {"2-transfer-optimisation", 1},
		{"3-llm-energy-models", 1}, {"4-point-to-point", 7}};
	static const char *const right[] = {"'e_of_rate' says 1.292 mJ", "'t_of_rate' says 22.87 µs",
		"'e_of_16us' says 890.0 µJ", "'run_of_16us' says 1.030 J", "0.255 g, rests on wrong",
		"93 kg, rests on wrong", "150 miles, rests on wrong"};
	char path[512];

	(void)state;
	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
		json_t *answer;

		snprintf(path, sizeof(path), CLAIMS "%s.csv", files[i].name);
		answer = json_of(SPAWN("model", "audit", "--json", path));
		assert_int_equal(compare_rows(path, answer), files[i].wrong);
		json_decref(answer);
	}
	assert_says(SPAWN("model", "audit", path), "arithmetic: 1142");
	for (size_t i = 0; i < sizeof(right) / sizeof(right[0]); i++)
		assert_says(SPAWN("model", "audit", CLAIMS "0-transfer-energy.csv"), right[i]);
	assert_says(SPAWN("model", "audit", CLAIMS "1-gpu-utilisation.csv"), "1.324 % to 2.125 %");
	assert_fails(SPAWN("model", "audit"), 2, "takes one CSV");
}

static void a_figure_below_zero_is_off_in_size_and_not_in_height(void **state)
{
	static const char rows[] =
		"claim,value,unit,from\na,10,J,\nb,3,J,\nkilo,-7,kJ,b - a\nsign,7,J,b - a\n";

	(void)state;
	assert_says(SPAWN("model", "audit", given(rows)), "follows; 1000 times too large");
	assert_says(SPAWN("model", "audit", place_in(folder, "in.csv")),
		"7 J, arithmetic: -8.000 J to -6.000 J follows\n");
}

/*
 * Claim `a` in line 4 is computed from claim `b` in line 5, so `b` is evaluated first. Each row of
 * `bad` puts an error into `b`, so the message must name line 5. Only where `b` is in turn computed
 * from `a` must it name line 4.
 */
static void a_claim_that_cannot_be_read_is_told_with_file_line_and_cure(void **state)
{
	static const struct {
		const char *row, *says, *cure;
	} bad[] = {
		{"b,1,zz,", "in.csv, line 5: claim 'b': unit 'zz' is not known", "; write"},
		{"b,x,J,", "in.csv, line 5: claim 'b': 'x' is not a figure", "; write"},
		{"b,1,J,c", "in.csv, line 5: claim 'b': no claim is called 'c'", "; give"},
		{"b,1,J,1 +", "in.csv, line 5: claim 'b': '1 +' at byte 4: ", "; write"},
		{"b,1,J,(1", "in.csv, line 5: claim 'b': '(1' at byte 3: ", "; close"},
		{"b,1,J,1[zz]", "in.csv, line 5: claim 'b': '1[zz]' at byte 2: ", "; write"},
		{"b,1,J,1/0", "in.csv, line 5: claim 'b': '1/0' at byte 4: ", "; divide"},
		{"b,1,J,1e999", "in.csv, line 5: claim 'b': '1e999' at byte 1: ", "; write"},
		{"b,1,J,sqrt(0)", "in.csv, line 5: claim 'b': 'sqrt(0)' at byte 8: ", "; give"},
		{"b,1,J,1 2", "in.csv, line 5: claim 'b': '1 2' at byte 3: ", "; put"},
		{"b,1,J,1e300*1e300", "in.csv, line 5: claim 'b': '1e300*1e300' at byte 12: ", "; write"},
		{"b,1,J,a", "in.csv, line 4: claim 'a' is made of itself", "; give"},
		{"b,1,J,d\nd,1,J,\nd,2,J,", "in.csv, line 5: claim 'b': two claims are called 'd'", "; give"},
	};
	char rows[160];

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		snprintf(rows, sizeof(rows), "# of a paper\n\nclaim,value,unit,from\na,1,J,b\n%s\n",
			bad[i].row);
		assert_fails(SPAWN("model", "audit", given(rows)), 1, bad[i].says);
		assert_fails(SPAWN("model", "audit", place_in(folder, "in.csv")), 1, bad[i].cure);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
			every_error_of_the_five_documents_that_figures_show_is_found_and_nothing_right),
		cmocka_unit_test(a_figure_below_zero_is_off_in_size_and_not_in_height),
		cmocka_unit_test(a_claim_that_cannot_be_read_is_told_with_file_line_and_cure),
	};

	return kwhy_test_main(tests, begin, end);
}
