/* SPDX-License-Identifier: Apache-2.0 */
#include "cmocka_all.h"
#include "report/transfers.h"

#include <string.h>

/*
 * The table must fit into 80 columns even if the second-fastest strategy took 122 times as long as the
 * fastest, as was measured on a busy machine.
 */
static void the_fastest_ways_have_eighty_columns_however_far_the_next_is(void **state)
{
	struct kwhy_transfer_choice choice = {.piece_bytes = 65536,
		.pieces = 4096,
		.strategy = "graph-of-copies",
		.median_s = 1.23e-3,
		.second = "write-combined",
		.second_s = 1.5e-1};
	const struct kwhy_transfers transfers = {.backend = "host", .choices = &choice, .choice_count = 1};
	const struct kwhy_text_style style = {.columns = 80};
	struct kwhy_text text = {0};
	struct kwhy_error error;
	char *rest, *line;

	(void)state;
	assert_int_equal(kwhy_report_transfers_text(&transfers, &style, &text, &error), KWHY_OK);
	assert_non_null(strstr(text.data, "graph-of-copies"));
	assert_non_null(strstr(text.data, "121.95 (not sure)"));
	for (rest = text.data; (line = strsep(&rest, "\n"));)
		if (kwhy_text_columns(line) > 80)
			fail_msg("%zu columns: %s", kwhy_text_columns(line), line);
	kwhy_text_done(&text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_fastest_ways_have_eighty_columns_however_far_the_next_is),
	};

	return kwhy_test_main(tests, NULL, NULL);
}
