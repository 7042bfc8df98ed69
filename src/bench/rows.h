/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_BENCH_ROWS_H
#define KWHY_BENCH_ROWS_H

#include "base/arena.h"
#include "base/status.h"
#include "base/text.h"

#include <stdbool.h>
#include <stdint.h>

/*
 * Samples that --save wrote, rows of CSV below lines of "# key: value", on their way in. Pure. Everything
 * that is wrong with them is KWHY_E_INPUT and names file and line.
 */
enum {
	KWHY_BENCH_CELLS_MAX = 24,   /* of a line; later ones are left out */
	KWHY_BENCH_LINE_BYTES = 1024 /* with its end */
};

struct kwhy_bench_rows {
	const char *path; /* for errors */
	struct kwhy_error *error;
	size_t line; /* of the file, from 1; 0: none yet */
	char text[KWHY_BENCH_LINE_BYTES];
	char *cells[KWHY_BENCH_CELLS_MAX]; /* of that line, once it is split */
	size_t cell_count;
};

/* Gives each line in turn, without its end, to `take`, which may change it, until one of them fails. */
KWHY_MUST_USE enum kwhy_status kwhy_bench_rows_walk(struct kwhy_bench_rows *rows,
	const struct kwhy_text *file, enum kwhy_status (*take)(void *context, char *line), void *context);

/* Cuts a line at its commas into the cells. */
void kwhy_bench_rows_split(struct kwhy_bench_rows *rows, char *line);

/* Fails, what is wrong with this line: in sight of analysers, which then know that it does. */
KWHY_MUST_USE static inline enum kwhy_status kwhy_bench_rows_wrong(
	const struct kwhy_bench_rows *rows, const char *words)
{
	return kwhy_fail(rows->error, KWHY_E_INPUT, "%s, line %zu: %s; name a folder that --save wrote",
		rows->path, rows->line, words);
}

/* Fails: the file has no lines. */
KWHY_MUST_USE enum kwhy_status kwhy_bench_rows_empty(const struct kwhy_bench_rows *rows);

/* A line that may be one of these settings. Texts are copied; "unknown" leaves the place as it is. */
struct kwhy_bench_setting {
	const char *key; /* "# key: " */
	const char **place;
};
KWHY_MUST_USE enum kwhy_status kwhy_bench_rows_setting(const struct kwhy_bench_rows *rows, const char *line,
	const struct kwhy_bench_setting *settings, size_t count, struct kwhy_arena *arena);

/* Cells. false: no such thing. An empty cell is the real number NAN. */
bool kwhy_bench_cell_whole(const char *cell, uint64_t *out);
bool kwhy_bench_cell_real(const char *cell, double *out);
bool kwhy_bench_cell_find(const char *cell, const char *(*name)(unsigned), unsigned count, unsigned *out);

/* Writes a comma and the cell of a real number. */
void kwhy_bench_cell_add(struct kwhy_text *out, double value);

#endif
