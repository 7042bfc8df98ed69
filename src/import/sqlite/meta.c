/* SPDX-License-Identifier: Apache-2.0 */
#include "import/sqlite/meta.h"

#include "base/span.h"

#include <stdlib.h>
#include <string.h>

enum kwhy_status kwhy_sqlite_meta(
	struct kwhy_sqlite *db, const char *key, char out[KWHY_SQLITE_META_BYTES], struct kwhy_error *error)
{
	static const struct kwhy_sqlite_column columns[] = {{"key", NULL}, {"value", NULL}};
	static const struct kwhy_sqlite_table table = {"meta", columns, 2};
	struct kwhy_sqlite_rows rows = {0};
	enum kwhy_status status;
	const char *bytes;
	size_t length;
	bool more;

	out[0] = '\0';
	status = kwhy_sqlite_rows_open(db, &table, &rows, &more, error);
	while (!status && more) {
		status = kwhy_sqlite_rows_next(&rows, &more, error);
		if (status || !more || !kwhy_sqlite_text(&rows, 0, &bytes, &length) ||
			!kwhy_span_is((struct kwhy_span){bytes, length}, key) ||
			!kwhy_sqlite_text(&rows, 1, &bytes, &length) || length >= KWHY_SQLITE_META_BYTES)
			continue;
		memcpy(out, bytes, length);
		out[length] = '\0';
	}
	kwhy_sqlite_rows_close(&rows);
	return status;
}

static enum kwhy_status refuse_clock(
	const struct kwhy_recording *recording, const char *path, struct kwhy_error *error)
{
	return kwhy_fail(error, KWHY_E_INPUT,
		"%s has times of another clock than %s, so the two cannot be aligned; report each alone",
		path, recording->sources[0].path);
}

enum kwhy_status kwhy_sqlite_set_clock(struct kwhy_recording *recording, struct kwhy_sqlite *db,
	const char *path, int64_t *out_shift_ns, struct kwhy_error *error)
{
	char origin[KWHY_SQLITE_META_BYTES], clock[KWHY_SQLITE_META_BYTES];
	enum kwhy_status status = kwhy_sqlite_meta(db, "origin_unix_ns", origin, error);
	int64_t origin_ns = strtoll(origin, NULL, 10);

	if (!status)
		status = kwhy_sqlite_meta(db, "clock", clock, error);
	if (status)
		return status;
	if (recording->source_count == 0) {
		recording->origin_unix_ns = origin_ns;
		recording->unix_clock = !clock[0];
		recording->clock_name = clock[0] ? kwhy_recording_copy(recording, clock, strlen(clock))
						 : NULL;
		return KWHY_OK;
	}
	if (recording->unix_clock == (clock[0] != '\0') ||
		(clock[0] && (!recording->clock_name || strcmp(clock, recording->clock_name) != 0)) ||
		__builtin_sub_overflow(origin_ns, recording->origin_unix_ns, out_shift_ns))
		return refuse_clock(recording, path, error);
	return KWHY_OK;
}
