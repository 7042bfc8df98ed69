/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_IMPORT_POWER_LOG_H
#define KWHY_IMPORT_POWER_LOG_H

#include "base/names.h"
#include "import/power/dialects.h"
#include "import/power/stamp.h"

/* The readings of another tool's log, with the GPUs and quantities that the log names. */

/* The GPU that a reading is of, as far as the log states it. */
struct kwhy_power_key {
	const char *host, *uuid, *pci; /* NULL: not reported */
	int32_t gpu;		       /* index; -1: not reported */
};

struct kwhy_power_entry {
	int64_t time_ns;   /* of a window: its end */
	int64_t length_ns; /* duration of a window; 0: a reading */
	int64_t value;	   /* mW or uJ */
	uint32_t key;
	uint32_t run;	/* run of a window, a name in `names`; 0: not stated */
	uint32_t place; /* its line, in JSON its number among the records; UINT32_MAX beyond that */
	uint8_t role;	/* enum kwhy_power_role of a reading */
	bool is_local;	/* the time has no zone */
};

struct kwhy_power_log {
	const char *path;
	const struct kwhy_power_dialect
		*dialect;	 /* dialect of the first reading's name; NULL: no reading was recognised */
	struct kwhy_names names; /* texts of the keys and of their parts */
	struct kwhy_power_key *keys;
	struct kwhy_power_entry *entries;
	size_t key_count, key_capacity, entry_count, entry_capacity;
	uint64_t rows;	/* rows that should hold a reading */
	uint64_t empty; /* readings that the tool could not take, "[N/A]" */
	uint64_t unread;
	uint64_t first_unread; /* line of the first, in JSON its number among the records */
	char unread_words[224];
	bool is_lines;	  /* first_unread is a line */
	bool is_headless; /* a table whose first line is a row */
	bool ended_early;
};

KWHY_MUST_USE enum kwhy_status kwhy_power_log_init(
	struct kwhy_power_log *log, const char *path, struct kwhy_error *error);
void kwhy_power_log_done(struct kwhy_power_log *log);

/* The texts of one row; spans are empty where the row has no such text. */
struct kwhy_power_row_text {
	struct kwhy_span parts[KWHY_POWER_ROLE_DRAW]; /* by role */
	int32_t gpu; /* GPU's index in the name of a reading; -1: not stated */
};

struct kwhy_power_value {
	struct kwhy_power_meaning meaning;
	struct kwhy_span text;
};

/*
 * Adds a row with its readings. A row that cannot be used is counted, with a message for the first one. An
 * error means that memory is exhausted or that the log has more than KWHY_POWER_LOG_KEYS_MAX GPUs.
 */
#define KWHY_POWER_LOG_KEYS_MAX 16384
KWHY_MUST_USE enum kwhy_status kwhy_power_log_add(struct kwhy_power_log *log, uint64_t place,
	const struct kwhy_power_row_text *row, const struct kwhy_power_value *values, size_t count,
	struct kwhy_error *error);

/*
 * Counts a row that cannot be used. The message is `text` followed by `words`, "is no time", or `words` alone
 * where `text` is empty.
 */
void kwhy_power_log_skip(
	struct kwhy_power_log *log, uint64_t place, struct kwhy_span text, const char *words);

#endif
