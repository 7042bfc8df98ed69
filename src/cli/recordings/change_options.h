/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_CLI_RECORDINGS_CHANGE_OPTIONS_H
#define KWHY_CLI_RECORDINGS_CHANGE_OPTIONS_H

#include "cli/options.h"
#include "whatif/whatif.h"

#include <stdbool.h>
#include <stddef.h>

/*
 * Command-line options for changes to a program: one option for each of kwhy_whatif_changes, at the same
 * index.
 */

enum { KWHY_CHANGE_OPTIONS = KWHY_WHATIF_CHANGES };

struct kwhy_change_options {
	bool flags[KWHY_CHANGE_OPTIONS];       /* for a change without an argument: whether it is requested */
	uint64_t numbers[KWHY_CHANGE_OPTIONS]; /* for a change with an argument: the argument */
};

/* Sets all options such that no change is requested. */
void kwhy_change_options_init(struct kwhy_change_options *options);

/*
 * Writes the requested changes to change_requests[], in the order of kwhy_whatif_changes, and their number to
 * *out_count. KWHY_E_USAGE: an argument is out of the range that its change allows.
 */
KWHY_MUST_USE enum kwhy_status kwhy_change_options_list(const struct kwhy_change_options *options,
	struct kwhy_whatif_request change_requests[KWHY_CHANGE_OPTIONS], size_t *out_count,
	struct kwhy_error *error);

/*
 * Row of an option table for one change of whatif/changes.def; there is one macro for each kind of argument.
 * The option sets element `place` of the member `member`, a struct kwhy_change_options, of the options struct
 * `type`. To get the rows of all changes, a table defines X() by means of these macros and includes
 * whatif/changes.def.
 */
#define KWHY_OPTION_ROW_CHANGE_NONE(type, member, place, id, help)                          \
	{                                                                                   \
		id, 0, NULL, help, KWHY_OPTION_FLAG, offsetof(type, member.flags) + (place) \
	}
#define KWHY_OPTION_ROW_CHANGE_COUNT(type, member, place, id, argument, help)       \
	{                                                                           \
		id, 0, argument, help, KWHY_OPTION_COUNT,                           \
			offsetof(type, member.numbers) + (place) * sizeof(uint64_t) \
	}
#define KWHY_OPTION_ROW_CHANGE_N(type, member, place, id, help) \
	KWHY_OPTION_ROW_CHANGE_COUNT(type, member, place, id, "N", help)
#define KWHY_OPTION_ROW_CHANGE_OPTIONAL_N(type, member, place, id, help) \
	KWHY_OPTION_ROW_CHANGE_COUNT(type, member, place, id, "[N]", help)

#endif
