/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests the first screen of a report: its size, its rows, and what it says about figures that would
 * surprise a reader.
 */
#include "cmocka_all.h"
#include "nouns.h"

#include <string.h>

static struct kwhy_error error;

static size_t lines_of(const char *text)
{
	size_t lines = 0;

	for (; *text; text++)
		lines += *text == '\n';
	return lines;
}

/*
 * Sets each account's estimate for the whole run to ten times its recorded figures, as if random windows with
 * a tenth of the run had been recorded.
 */
static void estimate_the_whole(struct nouns *nouns)
{
	for (size_t i = 0; i < 4; i++) {
		struct kwhy_account *account = &nouns->accounts[i];

		account->has_whole = true;
		account->whole_ns = 10 * account->time_ns;
		account->whole_nj = 10 * account->gross_nj;
		account->whole_low_nj = 10 * account->low_nj;
		account->whole_high_nj = 10 * account->high_nj;
		account->whole_error_ratio = 0.1;
	}
}

/* Checks that the first screen shows the largest account. fits: it must also have at most 23 lines. */
static void assert_first_screen(const struct nouns *nouns, size_t columns, bool fits)
{
	struct kwhy_text out = nouns_text(nouns, columns, false);
	const char *where = strstr(out.data, "Where the energy went");

	if (!where || !strstr(where, "1.50 mJ"))
		fail_msg("%zu columns without an account: %s", columns, out.data);
	if (fits && lines_of(out.data) > 23)
		fail_msg("%zu columns, %zu lines: %s", columns, lines_of(out.data), out.data);
	kwhy_text_done(&out);
}

/*
 * A finding's headline and advice of 1 to 300 words, which need many lines, must not push the largest
 * accounts off the first screen.
 */
static void the_first_screen_always_shows_the_largest_accounts(void **state)
{
	char cure[2000];
	struct nouns nouns;

	(void)state;
	for (size_t words = 1; words < 300; words += 7) {
		nouns_init(&nouns, "k");
		nouns_energy(&nouns);
		estimate_the_whole(&nouns);
		nouns.finding.saving.energy_nj = 100000;
		for (size_t i = 0; i < words; i++)
			memcpy(cure + 6 * i, "words ", 7);
		nouns.finding.cure = nouns.finding.headline = cure;
		for (size_t columns = 40; columns <= 120; columns += 8)
			assert_first_screen(&nouns, columns, columns >= 80);
		nouns_done(&nouns);
	}
}

/* A recording that kwhy made must not be advised to record with kwhy in order to get source lines. */
static void a_recording_of_kwhy_is_not_told_to_record(void **state)
{
	struct nouns nouns;
	struct kwhy_text out;

	(void)state;
	nouns_init(&nouns, "k");
	nouns_energy(&nouns);
	nouns.finding.saving.energy_nj = 100000;
	out = nouns_text(&nouns, 80, true);
	assert_non_null(strstr(out.data, "no source lines (kwhy record adds them)"));
	kwhy_text_done(&out);
	nouns.recording->sources[0].format = KWHY_FORMAT_KWHY;
	out = nouns_text(&nouns, 80, true);
	assert_non_null(strstr(out.data, "no source lines: no call stack with lines was recorded"));
	assert_null(strstr(out.data, "kwhy record adds them"));
	kwhy_text_done(&out);
	nouns_done(&nouns);
}

/*
 * If kernels run concurrently, the sum of accounts' times (32.0 us) exceeds the run (1.1 us). Shares must
 * then be of this sum, and the heading must say so.
 */
static void shares_of_concurrent_kernels_are_of_their_sum(void **state)
{
	struct kwhy_text out, brief = {0};
	struct nouns nouns;

	(void)state;
	nouns_init(&nouns, "k");
	nouns.accounts[0].time_ns = 31400;
	out = nouns_text(&nouns, 80, false);
	assert_non_null(strstr(out.data,
		"Where the time went  time, count, share of their sum 32.0 \xC2\xB5s (streams overlap)\n"));
	assert_non_null(strstr(out.data, " 98.1 %\n"));
	kwhy_text_done(&out);
	assert_int_equal(kwhy_report_brief(&nouns.report, &brief, &error), KWHY_OK);
	assert_non_null(strstr(brief.data, "\"share\": 0.98"));
	kwhy_text_done(&brief);
	nouns_done(&nouns);
	nouns_init(&nouns, "k");
	out = nouns_text(&nouns, 80, false);
	assert_non_null(strstr(out.data, "Where the time went  time, count, share\n"));
	assert_non_null(strstr(out.data, " 45.5 %\n"));
	kwhy_text_done(&out);
	nouns_done(&nouns);
}

/* If a saving is larger than the waste of its finding, the text must give the reason. */
static void a_saving_above_the_waste_is_explained(void **state)
{
	struct nouns nouns;
	struct kwhy_text out;

	(void)state;
	nouns_init(&nouns, "k");
	out = nouns_text(&nouns, 80, false);
	assert_null(strstr(out.data, "shortens more"));
	kwhy_text_done(&out);
	nouns.finding.saving.time_ns = 300; /* the finding's waste is 200 ns */
	out = nouns_text(&nouns, 80, false);
	assert_non_null(
		strstr(out.data, "To save up to 300 ns (the change shortens more than this waste), k."));
	kwhy_text_done(&out);
	nouns_done(&nouns);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_first_screen_always_shows_the_largest_accounts),
		cmocka_unit_test(a_recording_of_kwhy_is_not_told_to_record),
		cmocka_unit_test(shares_of_concurrent_kernels_are_of_their_sum),
		cmocka_unit_test(a_saving_above_the_waste_is_explained),
	};

	return kwhy_test_main(tests, NULL, NULL);
}
