/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_IMPORT_POWER_LOG_H
#define KWHY_IMPORT_POWER_LOG_H

#include "base/names.h"
#include "import/power/dialects.h"
#include "import/power/stamp.h"

/* The readings of another tool's log, with what they are of as the log says it. */

/* Of which GPU a reading is, as far as the log tells. */
struct kwhy_power_key {
	const char *host, *uuid, *pci; /* NULL: not reported */
	int32_t gpu;		       /* number; -1: not reported */
};

struct kwhy_power_entry {
	int64_t time_ns;   /* of a window its end */
	int64_t length_ns; /* of a window; else 0 */
	int64_t value;	   /* milliwatts or microjoules */
	uint32_t key;
	uint32_t run;	/* of a window: name in `names`; 0: none */
	uint32_t place; /* its line, of JSON its number among the records; the last one counted where there
			   are more */
	uint8_t role;	/* enum kwhy_power_role, a reading's */
	bool is_local;	/* the time has no zone */
};

struct kwhy_power_log {
	const char *path;
	const struct kwhy_power_dialect *dialect; /* of the first reading's name; NULL: none was found */
	struct kwhy_names names;		  /* keys as text, and their parts */
	struct kwhy_power_key *keys;
	struct kwhy_power_entry *entries;
	size_t key_count, key_capacity, entry_count, entry_capacity;
	uint64_t rows;	/* that were to hold a reading */
	uint64_t empty; /* readings that the tool could not take: [N/A] */
	uint64_t unread;
	uint64_t first_unread; /* its line, of JSON its number among the records */
	char unread_words[224];
	bool is_lines;	  /* first_unread is a line */
	bool is_headless; /* a table whose first line is a row */
	bool ended_early;
};

KWHY_MUST_USE enum kwhy_status kwhy_power_log_init(
	struct kwhy_power_log *log, const char *path, struct kwhy_error *error);
void kwhy_power_log_done(struct kwhy_power_log *log);

/* What one row says; spans are empty where it says nothing. */
struct kwhy_power_row_text {
	struct kwhy_span parts[KWHY_POWER_ROLE_DRAW]; /* by role */
	int32_t gpu;				      /* in the name of a reading; -1: none */
};

struct kwhy_power_value {
	struct kwhy_power_meaning meaning;
	struct kwhy_span text;
};

/*
 * Takes a row with its readings. One that cannot be taken is counted, with words of the first; an error is
 * only want of memory, or more GPUs than KWHY_POWER_LOG_KEYS_MAX.
 */
#define KWHY_POWER_LOG_KEYS_MAX 16384
KWHY_MUST_USE enum kwhy_status kwhy_power_log_add(struct kwhy_power_log *log, uint64_t place,
	const struct kwhy_power_row_text *row, const struct kwhy_power_value *values, size_t count,
	struct kwhy_error *error);

/* Counts a row that says nothing here. `words` stand behind the text of it, "is no time", or alone if that is
 * empty. */
void kwhy_power_log_skip(
	struct kwhy_power_log *log, uint64_t place, struct kwhy_span text, const char *words);

#endif
