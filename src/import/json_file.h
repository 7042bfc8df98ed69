/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_IMPORT_JSON_FILE_H
#define KWHY_IMPORT_JSON_FILE_H

#include "base/status.h"

#include <jansson.h>

/*
 * Loads a JSON file of at most max_mib MiB (KWHY_E_INPUT: it is larger, or not valid JSON); free *out_root
 * with json_decref(). `what` names the kind of document in error messages, for example "machine profile".
 */
KWHY_MUST_USE enum kwhy_status kwhy_json_file_load(
	const char *path, const char *what, size_t max_mib, json_t **out_root, struct kwhy_error *error);

#endif
