/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_CLI_RECORDINGS_CHANGE_OPTIONS_H
#define KWHY_CLI_RECORDINGS_CHANGE_OPTIONS_H

#include "cli/options.h"
#include "whatif/whatif.h"

#include <stdbool.h>
#include <stddef.h>

/* Command-line options for changes to a program, one row for each of kwhy_whatif_changes. */

/* Number of kwhy_whatif_changes, which a test compares. */
enum { KWHY_CHANGE_OPTIONS = 17 };

struct kwhy_change_options {
	bool flags[KWHY_CHANGE_OPTIONS];       /* requested changes that take no argument */
	uint64_t numbers[KWHY_CHANGE_OPTIONS]; /* arguments of changes that take one */
};

/* Requests no change. */
void kwhy_change_options_init(struct kwhy_change_options *options);

/*
 * Lists the requested changes in the order of the table; KWHY_E_USAGE for a number that a change does not
 * accept.
 */
KWHY_MUST_USE enum kwhy_status kwhy_change_options_list(const struct kwhy_change_options *options,
	struct kwhy_whatif_request change_requests[KWHY_CHANGE_OPTIONS], size_t *out_count,
	struct kwhy_error *error);

#define KWHY_OPTION_ROW_CHANGE_FLAG(type, member, place, id, help)                          \
	{                                                                                   \
		id, 0, NULL, help, KWHY_OPTION_FLAG, offsetof(type, member.flags) + (place) \
	}
#define KWHY_OPTION_ROW_CHANGE(type, member, place, id, argument, help)             \
	{                                                                           \
		id, 0, argument, help, KWHY_OPTION_COUNT,                           \
			offsetof(type, member.numbers) + (place) * sizeof(uint64_t) \
	}
#define KWHY_OPTION_ROW_CHANGE_NUMBER(type, member, place, id, help) \
	KWHY_OPTION_ROW_CHANGE(type, member, place, id, "N", help)

/* Rows of an option table for the struct kwhy_change_options `member` of `type`, in the order of
 * kwhy_whatif_changes. */
#define KWHY_OPTION_ROWS_CHANGES(type, member)                                                               \
	KWHY_OPTION_ROW_CHANGE_NUMBER(type, member, 0, "keep-on-device",                                     \
		"no copies to the host and back; of the last N (0: all) stay"),                              \
		KWHY_OPTION_ROW_CHANGE_FLAG(                                                                 \
			type, member, 1, "pack-h2d", "one copy to the device for several in a row"),         \
		KWHY_OPTION_ROW_CHANGE_FLAG(                                                                 \
			type, member, 2, "pack-d2h", "one read-back for several in a row"),                  \
		KWHY_OPTION_ROW_CHANGE_NUMBER(                                                               \
			type, member, 3, "thin-collectives", "collectives every Nth time"),                  \
		KWHY_OPTION_ROW_CHANGE_NUMBER(type, member, 4, "bigger-batch", "a batch N times as large"),  \
		KWHY_OPTION_ROW_CHANGE_NUMBER(                                                               \
			type, member, 5, "batch", "up to N equal launches in a row as one"),                 \
		KWHY_OPTION_ROW_CHANGE_FLAG(type, member, 6, "fuse", "one kernel for a chain of tiny ones"), \
		KWHY_OPTION_ROW_CHANGE_FLAG(type, member, 7, "pool", "a pool instead of malloc and free"),   \
		KWHY_OPTION_ROW_CHANGE_FLAG(                                                                 \
			type, member, 8, "drop-waits", "no waits with nothing to wait for"),                 \
		KWHY_OPTION_ROW_CHANGE_FLAG(                                                                 \
			type, member, 9, "event-waits", "events where the host reads no result"),            \
		KWHY_OPTION_ROW_CHANGE_FLAG(                                                                 \
			type, member, 10, "join-waits", "one wait for read-backs in a row"),                 \
		KWHY_OPTION_ROW_CHANGE_FLAG(                                                                 \
			type, member, 11, "pinned", "page-locked host memory for copies"),                   \
		KWHY_OPTION_ROW_CHANGE_NUMBER(type, member, 12, "overlap-copies",                            \
			"copies overlapped with compute, with N buffers"),                                   \
		KWHY_OPTION_ROW_CHANGE_FLAG(                                                                 \
			type, member, 13, "overlap-collectives", "collectives overlapped with compute"),     \
		KWHY_OPTION_ROW_CHANGE_FLAG(                                                                 \
			type, member, 14, "prefetch", "no long pauses of the host between calls"),           \
		KWHY_OPTION_ROW_CHANGE(type, member, 15, "graph", "[N]",                                     \
			"repeated sequences of launches as graphs, of N steps each"),                        \
		KWHY_OPTION_ROW_CHANGE_NUMBER(                                                               \
			type, member, 16, "host-speed", "a host N percent as fast, 200: twice")

#endif
