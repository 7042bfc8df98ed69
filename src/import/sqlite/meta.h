/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_IMPORT_SQLITE_META_H
#define KWHY_IMPORT_SQLITE_META_H

#include "import/sqlite/sqlite.h"
#include "model/recording.h"

/* Room for a value of the table meta, with its NUL; a longer value is ignored. */
enum { KWHY_SQLITE_META_BYTES = 64 };

/*
 * Copies the value of a key of the table meta of kwhy's exports to `out`; "": the key is missing, or its
 * value is too long.
 */
KWHY_MUST_USE enum kwhy_status kwhy_sqlite_meta(
	struct kwhy_sqlite *db, const char *key, char out[KWHY_SQLITE_META_BYTES], struct kwhy_error *error);

/*
 * If the export is the recording's first trace, sets the recording's clock and origin from it. Otherwise sets
 * *out_shift_ns to what must be added to the export's times to count from the recording's origin.
 * KWHY_E_INPUT: the export has another clock than the recording.
 */
KWHY_MUST_USE enum kwhy_status kwhy_sqlite_set_clock(struct kwhy_recording *recording, struct kwhy_sqlite *db,
	const char *path, int64_t *out_shift_ns, struct kwhy_error *error);

#endif
