/* SPDX-License-Identifier: Apache-2.0 */
#include "report/transfers.h"

#include <inttypes.h>

/*
 * Adds text to a comment in the generated C header, without '*', '/', '\' and line ends, which could end the
 * comment or change its meaning.
 */
static void add_words(struct kwhy_text *out, const char *words)
{
	for (; words && *words; words++)
		if (*words != '*' && *words != '/' && *words != '\\' && *words != '\n')
			kwhy_text_add_bytes(out, words, 1);
}

static void add_choices(const struct kwhy_transfers *transfers, struct kwhy_text *out)
{
	for (size_t i = 0; i < transfers->choice_count; i++) {
		const struct kwhy_transfer_choice *choice = &transfers->choices[i];

		kwhy_text_addf(out, "\t{\"%s\", %" PRIu64 ", %" PRIu32 ", \"%s\", %.6g, ",
			kwhy_transfer_direction_name(choice->direction), choice->piece_bytes, choice->pieces,
			choice->strategy, choice->median_s);
		if (choice->second)
			kwhy_text_addf(out, "\"%s\", %.6g},\n", choice->second, choice->second_s);
		else
			kwhy_text_add(out, "0, 0},\n");
	}
}

/*
 * Adds a macro with the measured limits as an initialiser of struct kwhy_transfer_limits in kwhy/transfer.h,
 * where a limit of 0 means the default. The last limit, inline_bytes, is not measured and is written as 0.
 */
static void add_limits(const struct kwhy_transfer_crossover *crossover, struct kwhy_text *out)
{
	kwhy_text_addf(out,
		"\n/* For struct kwhy_transfer_options of kwhy/transfer.h: .limits = "
		"KWHY_TRANSFER_MEASURED_LIMITS */\n"
		"#define KWHY_TRANSFER_MEASURED_LIMITS {%" PRIu64 ", %" PRIu64 ", %" PRIu64 ", 0}\n",
		crossover->put_packed_bytes, crossover->get_packed_bytes, crossover->batch_bytes);
}

enum kwhy_status kwhy_report_transfers_header(
	const struct kwhy_transfers *transfers, struct kwhy_text *out, struct kwhy_error *error)
{
	if (transfers->choice_count == 0)
		return kwhy_fail(error, KWHY_E_USAGE,
			"no transfer was timed by the host's clock, so there is no table of the fastest; "
			"measure pinned, copies, batch or packed");
	kwhy_text_add(out,
		"/* The fastest method for a number of pieces of a given size, measured by kwhy bench "
		"transfer\n * on ");
	add_words(out, transfers->device_name ? transfers->device_name : "a machine of unknown name");
	kwhy_text_add(out, ", driver ");
	add_words(out, transfers->driver ? transfers->driver : "unknown");
	kwhy_text_add(out, ", ");
	add_words(out, transfers->measured_on ? transfers->measured_on : "date unknown");
	kwhy_text_add(out,
		".\n * Seconds are medians from the call until the bytes are there. */\n"
		"#ifndef KWHY_TRANSFER_CHOICES_H\n#define KWHY_TRANSFER_CHOICES_H\n\n"
		"struct kwhy_transfer_measured_choice {\n"
		"\tconst char *direction;\n"
		"\tunsigned long long piece_bytes;\n"
		"\tunsigned pieces;\n"
		"\tconst char *fastest;\n"
		"\tdouble fastest_s;\n"
		"\tconst char *second; /* 0: there was no other */\n"
		"\tdouble second_s;\n"
		"};\n\n"
		"static const struct kwhy_transfer_measured_choice kwhy_transfer_measured_choices[] = {\n");
	add_choices(transfers, out);
	kwhy_text_add(out, "};\n");
	add_limits(&transfers->crossover, out);
	kwhy_text_add(out, "\n#endif\n");
	return kwhy_text_check(out, error);
}
