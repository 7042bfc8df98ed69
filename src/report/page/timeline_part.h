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
 * A column of integers, encoded as LEB128 varints. With `delta`, each integer is stored as its difference
 * from the one before (`previous`; 0 at first), zigzag-encoded.
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
	/* start relative to the timeline's start; for a bin, duration_ns is its busy time */
	int64_t start_ns, duration_ns;
	uint32_t name;
	enum kwhy_timeline_category category;
	uint64_t bytes; /* bytes that a copy or memset moves; 0: other rows, or unknown */
};

/* Rows of one track that lie in [from_ns, to_ns) or overlap it, in order of start. */
struct kwhy_timeline_part {
	/*
	 * bin_ns: 0 if each row is one activity, call or range; otherwise each row is a bin of this length in
	 * ns
	 */
	int64_t from_ns, to_ns, bin_ns;
	size_t count;
	struct kwhy_timeline_column start, duration, name, category, bytes;
};

void kwhy_timeline_part_init(struct kwhy_timeline_part *part, int64_t from_ns, int64_t to_ns, int64_t bin_ns);
void kwhy_timeline_part_add(struct kwhy_timeline_part *part, const struct kwhy_timeline_row *row);
json_t *kwhy_timeline_part_finish(struct kwhy_timeline_part *part, struct kwhy_text *columns);

/*
 * Number of equal bins into which a track's time is divided. A bin states its busy time (the sum of the parts
 * of rows that lie in it), and name and category of the row with the longest part in it.
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
/*
 * Appends the bins that have busy time to `columns`, frees all bins, and returns their JSON description;
 * NULL: out of memory.
 */
json_t *kwhy_timeline_bins_finish(
	struct kwhy_timeline_bins *bins, int64_t span_ns, struct kwhy_text *columns);

#endif
