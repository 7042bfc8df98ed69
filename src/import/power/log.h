/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_IMPORT_POWER_LOG_H
#define KWHY_IMPORT_POWER_LOG_H

#include "base/names.h"
#include "import/power/dialects.h"
#include "import/power/stamp.h"

/* Readings of another tool's log, and the GPUs and quantities that they are about. */

/* What a log states about the GPU that a reading is about. */
struct kwhy_power_key {
	const char *host, *uuid, *pci; /* NULL: not stated */
	int32_t gpu;		       /* index of the GPU; -1: not stated */
};

struct kwhy_power_entry {
	int64_t time_ns;   /* time of a reading, or the end of a window; Unix time unless is_local */
	int64_t length_ns; /* duration of a window; 0: the entry is a reading */
	int64_t value;	   /* power in mW or energy in uJ */
	uint32_t key;
	uint32_t run;	/* name of the run that a window belongs to, in `names`; 0: not stated */
	uint32_t place; /* line number, or in JSON the number of the record; UINT32_MAX also stands for all
			   larger numbers */
	uint8_t role;	/* enum kwhy_power_role of the reading */
	bool is_local;	/* the log states no time zone for the entry's time */
};

struct kwhy_power_log {
	const char *path;
	const struct kwhy_power_dialect *dialect; /* the tool whose names of readings the log uses; NULL: no
						     name of a reading was found */
	struct kwhy_names names;		  /* texts that the keys refer to */
	struct kwhy_power_key *keys;
	struct kwhy_power_entry *entries;
	size_t key_count, key_capacity, entry_count, entry_capacity;
	uint64_t rows;	/* number of rows in which a reading is expected */
	uint64_t empty; /* number of readings that the tool marked as missing, such as "[N/A]" */
	uint64_t unread;
	uint64_t first_unread; /* line of the first row that could not be used, or in JSON the number of its
				  record */
	char unread_words[224];
	bool is_lines;	  /* first_unread is a line number */
	bool is_metrics;  /* the log is Prometheus text */
	bool is_headless; /* the log is a table without a header */
	bool ended_early;
};

KWHY_MUST_USE enum kwhy_status kwhy_power_log_init(
	struct kwhy_power_log *log, const char *path, struct kwhy_error *error);
void kwhy_power_log_done(struct kwhy_power_log *log);

/* Texts of one row. A span is empty if the row has no such text. */
struct kwhy_power_row_text {
	struct kwhy_span parts[KWHY_POWER_ROLE_DRAW]; /* by enum kwhy_power_role */
	int32_t gpu; /* GPU's index from the name of a reading; -1: not stated */
};

struct kwhy_power_value {
	struct kwhy_power_meaning meaning;
	struct kwhy_span text;
};

/*
 * Adds a row with its readings. A row that cannot be used is counted, and the message for the first such row
 * is kept. Fails if memory is exhausted or the log has more than KWHY_POWER_LOG_KEYS_MAX GPUs.
 */
#define KWHY_POWER_LOG_KEYS_MAX 16384
KWHY_MUST_USE enum kwhy_status kwhy_power_log_add(struct kwhy_power_log *log, uint64_t place,
	const struct kwhy_power_row_text *row, const struct kwhy_power_value *values, size_t count,
	struct kwhy_error *error);

/*
 * Counts a row that cannot be used. The message consists of the quoted `text` and of `words`, such as "is not
 * a time"; if `text` is empty, it consists of `words` alone.
 */
void kwhy_power_log_skip(
	struct kwhy_power_log *log, uint64_t place, struct kwhy_span text, const char *words);

#endif
