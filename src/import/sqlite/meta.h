/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_IMPORT_SQLITE_META_H
#define KWHY_IMPORT_SQLITE_META_H

#include "import/sqlite/sqlite.h"
#include "model/recording.h"

enum {
	KWHY_SQLITE_META_BYTES = 64
}; /* bytes for a value of the table meta, with the NUL; longer values are left out */

/* Gets the value of a key of the table meta of kwhy's exports; empty: there is no such key. */
KWHY_MUST_USE enum kwhy_status kwhy_sqlite_meta(
	struct kwhy_sqlite *db, const char *key, char out[KWHY_SQLITE_META_BYTES], struct kwhy_error *error);

/*
 * Sets the recording's clock from its first trace; gives the shift by which times of later traces get its
 * origin. KWHY_E_INPUT: the trace has another clock.
 */
KWHY_MUST_USE enum kwhy_status kwhy_sqlite_set_clock(struct kwhy_recording *recording, struct kwhy_sqlite *db,
	const char *path, int64_t *out_shift_ns, struct kwhy_error *error);

#endif
