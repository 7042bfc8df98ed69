/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_IMPORT_JSON_FILE_H
#define KWHY_IMPORT_JSON_FILE_H

#include "base/status.h"

#include <jansson.h>

/*
 * Loads the document of a small JSON file, which json_decref() ends. `what` is its kind in error messages:
 * "machine profile". A file larger than max_mib MiB is refused unread.
 */
KWHY_MUST_USE enum kwhy_status kwhy_json_file_load(
	const char *path, const char *what, size_t max_mib, json_t **out_root, struct kwhy_error *error);

#endif
