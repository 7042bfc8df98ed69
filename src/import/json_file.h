/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_IMPORT_JSON_FILE_H
#define KWHY_IMPORT_JSON_FILE_H

#include "base/status.h"

#include <jansson.h>

/*
 * Loads a small JSON file; free the document with json_decref(). `what` names the kind of document in error
 * messages: for example "machine profile". A file larger than max_mib MiB is refused without reading it.
 */
KWHY_MUST_USE enum kwhy_status kwhy_json_file_load(
	const char *path, const char *what, size_t max_mib, json_t **out_root, struct kwhy_error *error);

#endif
