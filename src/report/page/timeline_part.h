/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_REPORT_PAGE_TIMELINE_PART_H
#define KWHY_REPORT_PAGE_TIMELINE_PART_H

#include "base/status.h"
#include "base/text.h"

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

/* Categories of rows in the timeline container (docs/formats/page.md). */
enum kwhy_timeline_category {
	KWHY_TIMELINE_COMPUTE,
	KWHY_TIMELINE_COLLECTIVE,
	KWHY_TIMELINE_COPY,
	KWHY_TIMELINE_MEMSET,
	KWHY_TIMELINE_LAUNCH,
	KWHY_TIMELINE_SYNC,
	KWHY_TIMELINE_ALLOC,
	KWHY_TIMELINE_CALL,
	KWHY_TIMELINE_RANGE,
};

/*
 * A column of integers, encoded as LEB128 varints. With `delta`, each integer is stored as the zigzag-encoded
 * difference from the one before it (`previous`).
 */
struct kwhy_timeline_column {
	struct kwhy_text bytes;
	int64_t previous;
	bool delta;
};

void kwhy_timeline_column_add(struct kwhy_timeline_column *column, int64_t value);

/*
 * Appends the column's bytes to `columns`, frees the column, and returns a JSON description of it; NULL:
 * out of memory.
 */
json_t *kwhy_timeline_column_finish(struct kwhy_timeline_column *column, struct kwhy_text *columns);

struct kwhy_timeline_row {
	int64_t start_ns, duration_ns; /* start after the recording's start, and duration */
	uint32_t name;
	enum kwhy_timeline_category category;
	uint64_t bytes; /* 0: this row has no bytes, or their number is unknown */
};

/* Rows of one track that overlap [from_ns, to_ns), in order of start. */
struct kwhy_timeline_part {
	/* bin_ns 0: each row is one activity; otherwise each row is a bin of that length */
	int64_t from_ns, to_ns, bin_ns;
	size_t count;
	struct kwhy_timeline_column start, duration, name, category, bytes;
};

void kwhy_timeline_part_init(struct kwhy_timeline_part *part, int64_t from_ns, int64_t to_ns, int64_t bin_ns);
void kwhy_timeline_part_add(struct kwhy_timeline_part *part, const struct kwhy_timeline_row *row);
json_t *kwhy_timeline_part_finish(struct kwhy_timeline_part *part, struct kwhy_text *columns);

/*
 * Number of equal bins into which the time of a track is divided. A bin states its busy time and its
 * longest activity.
 */
enum { KWHY_TIMELINE_BINS = 20000 };

struct kwhy_timeline_bins {
	struct kwhy_timeline_bin {
		int64_t busy_ns, longest_ns;
		uint32_t name;
		uint8_t category;
	} * items;
	int64_t bin_ns;
};

KWHY_MUST_USE enum kwhy_status kwhy_timeline_bins_init(
	struct kwhy_timeline_bins *bins, int64_t span_ns, struct kwhy_error *error);
void kwhy_timeline_bins_add(struct kwhy_timeline_bins *bins, const struct kwhy_timeline_row *row);
/* Returns the JSON description of the bins and frees them. */
json_t *kwhy_timeline_bins_finish(
	struct kwhy_timeline_bins *bins, int64_t span_ns, struct kwhy_text *columns);

#endif
