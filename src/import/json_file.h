/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_IMPORT_JSON_FILE_H
#define KWHY_IMPORT_JSON_FILE_H

#include "base/status.h"

#include <jansson.h>

/*
 * The document in a small JSON file, to be given back with json_decref(). `what` names its kind in errors:
 * "machine profile". A larger file than max_mib MiB is refused unread.
 */
KWHY_MUST_USE enum kwhy_status kwhy_json_file_load(
	const char *path, const char *what, size_t max_mib, json_t **out_root, struct kwhy_error *error);

#endif
