/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_IMPORT_RESULTS_SIDE_H
#define KWHY_IMPORT_RESULTS_SIDE_H

#include "model/side.h"

/*
 * Reads the figures of one run of a comparison from the JSON of kwhy report. KWHY_E_INPUT: `json` is no
 * report of a known version. `label` names the file.
 */
KWHY_MUST_USE enum kwhy_status kwhy_side_read(
	struct kwhy_side *side, const char *label, const char *json, size_t length, struct kwhy_error *error);

#endif
