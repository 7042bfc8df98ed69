/* SPDX-License-Identifier: Apache-2.0 */
#include "bench/rows.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum kwhy_status kwhy_bench_rows_walk(struct kwhy_bench_rows *rows, const struct kwhy_text *file,
	enum kwhy_status (*take)(void *context, char *line), void *context)
{
	enum kwhy_status status = KWHY_OK;

	for (size_t place = 0; !status && place < file->length;) {
		const char *end = memchr(file->data + place, '\n', file->length - place);
		size_t length = end ? (size_t)(end - file->data) - place : file->length - place;

		rows->line++;
		if (length >= sizeof(rows->text))
			return kwhy_bench_rows_wrong(rows, "a line of more than 1,023 bytes");
		memcpy(rows->text, file->data + place, length);
		rows->text[length] = '\0';
		status = take(context, rows->text);
		place += length + 1;
	}
	return status;
}

void kwhy_bench_rows_split(struct kwhy_bench_rows *rows, char *line)
{
	rows->cell_count = 0;
	for (char *cell = line; cell && rows->cell_count < KWHY_BENCH_CELLS_MAX;) {
		char *comma = strchr(cell, ',');

		rows->cells[rows->cell_count++] = cell;
		if (comma)
			*comma++ = '\0';
		cell = comma;
	}
}

enum kwhy_status kwhy_bench_rows_empty(const struct kwhy_bench_rows *rows)
{
	return kwhy_fail(
		rows->error, KWHY_E_INPUT, "%s is empty; name a folder that --save wrote", rows->path);
}

enum kwhy_status kwhy_bench_rows_setting(const struct kwhy_bench_rows *rows, const char *line,
	const struct kwhy_bench_setting *settings, size_t count, struct kwhy_arena *arena)
{
	for (size_t i = 0; i < count; i++) {
		size_t length = strlen(settings[i].key);

		if (strncmp(line, settings[i].key, length) != 0 || strcmp(line + length, "unknown") == 0)
			continue;
		*settings[i].place = kwhy_arena_copy(arena, line + length);
		if (!*settings[i].place)
			return kwhy_fail_memory(rows->error, "settings");
	}
	return KWHY_OK;
}

bool kwhy_bench_cell_whole(const char *cell, uint64_t *out)
{
	char *end;

	*out = strtoull(cell, &end, 10);
	return *cell >= '0' && *cell <= '9' && *end == '\0';
}

bool kwhy_bench_cell_real(const char *cell, double *out)
{
	char *end;

	*out = NAN;
	if (!*cell)
		return true;
	*out = strtod(cell, &end);
	return *end == '\0' && isfinite(*out);
}

bool kwhy_bench_cell_find(const char *cell, const char *(*name)(unsigned), unsigned count, unsigned *out)
{
	for (*out = 0; *out < count; ++*out)
		if (strcmp(cell, name(*out)) == 0)
			return true;
	return false;
}
