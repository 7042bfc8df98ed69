/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_IMPORT_POWER_LOG_H
#define KWHY_IMPORT_POWER_LOG_H

#include "base/names.h"
#include "import/power/dialects.h"
#include "import/power/stamp.h"

/*
 * This header declares the readings of a log that another tool wrote, with the GPUs and quantities that they
 * are about.
 */

/* A GPU as a log names it. */
struct kwhy_power_key {
	const char *host, *uuid, *pci; /* NULL: not stated */
	int32_t gpu;		       /* index of the GPU; -1: not stated */
};

struct kwhy_power_entry {
	int64_t time_ns;   /* time of a reading, or the end of a window; Unix time unless is_local */
	int64_t length_ns; /* duration of a window; 0: the entry is a reading */
	int64_t value;	   /* power in mW or energy in uJ */
	uint32_t key;
	uint32_t run;	/* the run that a window belongs to, an index in `names`; 0: not stated */
	uint32_t place; /* line number, or in JSON number of the record; UINT32_MAX: that or larger */
	uint8_t role;	/* enum kwhy_power_role of the reading */
	bool is_local;	/* the log states no time zone, so time_ns is local time */
};

struct kwhy_power_log {
	const char *path;
	const struct kwhy_power_dialect *dialect; /* the tool whose names of readings the log uses; NULL: no
						     name of a reading was found */
	struct kwhy_names names;		  /* owns the texts of the keys and the names of runs */
	struct kwhy_power_key *keys;
	struct kwhy_power_entry *entries;
	size_t key_count, key_capacity, entry_count, entry_capacity;
	uint64_t rows;	/* number of rows, also of those that could not be read */
	uint64_t empty; /* number of readings that the tool marked as missing, such as "[N/A]" */
	uint64_t unread;
	uint64_t first_unread; /* line of the first row that could not be read, or in JSON the number of its
				  record; unread_words says why */
	char unread_words[224];
	bool is_lines;	  /* first_unread is a line number */
	bool is_metrics;  /* the log is Prometheus text */
	bool is_headless; /* the log is a table without a header */
	bool ended_early;
};

KWHY_MUST_USE enum kwhy_status kwhy_power_log_init(
	struct kwhy_power_log *log, const char *path, struct kwhy_error *error);
void kwhy_power_log_done(struct kwhy_power_log *log);

/* Texts of one row of a log. A span with `bytes` NULL or length 0: the row has no such text. */
struct kwhy_power_row_text {
	struct kwhy_span parts[KWHY_POWER_ROLE_DRAW]; /* index: enum kwhy_power_role */
	int32_t gpu; /* GPU's index from the name of a reading; -1: not stated */
};

struct kwhy_power_value {
	struct kwhy_power_meaning meaning;
	struct kwhy_span text;
};

/*
 * Adds a row with its readings. A row that cannot be read is counted in `unread`, and the reason is kept for
 * the first such row. Fails if memory is exhausted or the log has more than KWHY_POWER_LOG_KEYS_MAX GPUs.
 */
#define KWHY_POWER_LOG_KEYS_MAX 16384
KWHY_MUST_USE enum kwhy_status kwhy_power_log_add(struct kwhy_power_log *log, uint64_t place,
	const struct kwhy_power_row_text *row, const struct kwhy_power_value *values, size_t count,
	struct kwhy_error *error);

/*
 * Counts a row that cannot be read. For the first such row the reason is kept: the quoted `text` and `words`,
 * such as "is not a time"; `words` alone if `text` is empty.
 */
void kwhy_power_log_skip(
	struct kwhy_power_log *log, uint64_t place, struct kwhy_span text, const char *words);

#endif
