/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_BENCH_ROWS_H
#define KWHY_BENCH_ROWS_H

#include "base/arena.h"
#include "base/status.h"
#include "base/text.h"

#include <stdbool.h>
#include <stdint.h>

/*
 * Parses a file of samples that `kwhy bench ... --save` wrote: lines of "# key: value", then rows of CSV.
 * Pure. Any error in the file gives KWHY_E_INPUT with a message that names the file and the line.
 */
enum {
	KWHY_BENCH_CELLS_MAX = 24,   /* maximum number of cells in a line; cells beyond it are ignored */
	KWHY_BENCH_LINE_BYTES = 1024 /* maximum length of a line in bytes, its NUL included */
};

struct kwhy_bench_rows {
	const char *path; /* path of the file, for messages */
	struct kwhy_error *error;
	size_t line; /* number of the current line, from 1; 0: no line was read yet */
	char text[KWHY_BENCH_LINE_BYTES];
	char *cells[KWHY_BENCH_CELLS_MAX]; /* cells of the line that was split last */
	size_t cell_count;
};

/*
 * Calls take() for each line, without its newline, until a call returns an error, which is returned. take()
 * may modify the line. KWHY_E_INPUT: a line is too long.
 */
KWHY_MUST_USE enum kwhy_status kwhy_bench_rows_walk(struct kwhy_bench_rows *rows,
	const struct kwhy_text *file, enum kwhy_status (*take)(void *context, char *line), void *context);

/* Splits a line at its commas, in place, into rows->cells. */
void kwhy_bench_rows_split(struct kwhy_bench_rows *rows, char *line);

/*
 * Fails with a message that says what is wrong with the current line. The function is inline, so that static
 * analysers see that it always fails.
 */
KWHY_MUST_USE static inline enum kwhy_status kwhy_bench_rows_wrong(
	const struct kwhy_bench_rows *rows, const char *words)
{
	return kwhy_fail(rows->error, KWHY_E_INPUT, "%s, line %zu: %s; name a folder that --save wrote",
		rows->path, rows->line, words);
}

/* Returns KWHY_E_INPUT with the message that the file is empty. */
KWHY_MUST_USE enum kwhy_status kwhy_bench_rows_empty(const struct kwhy_bench_rows *rows);

/*
 * Parses a line "# key: value" if its key is one of `settings`. *place of that setting becomes a copy of the
 * value in the arena; the value "unknown" leaves it unchanged. A line with another key is ignored.
 */
struct kwhy_bench_setting {
	const char *key; /* the line's beginning: "# key: " */
	const char **place;
};
KWHY_MUST_USE enum kwhy_status kwhy_bench_rows_setting(const struct kwhy_bench_rows *rows, const char *line,
	const struct kwhy_bench_setting *settings, size_t count, struct kwhy_arena *arena);

/*
 * Each function parses a cell: as an integer, as a real number (NAN if the cell is empty), or as one of
 * `count` names, whose index *out receives. false: the cell is something else.
 */
bool kwhy_bench_cell_whole(const char *cell, uint64_t *out);
bool kwhy_bench_cell_real(const char *cell, double *out);
bool kwhy_bench_cell_find(const char *cell, const char *(*name)(unsigned), unsigned count, unsigned *out);

#endif
