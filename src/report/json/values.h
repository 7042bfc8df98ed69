/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_REPORT_JSON_VALUES_H
#define KWHY_REPORT_JSON_VALUES_H

#include <jansson.h>

/* What a member of a document says; what is missing or of another type is unknown: NAN, "". */
double kwhy_json_real_of(const json_t *object, const char *key);
const char *kwhy_json_text_of(const json_t *object, const char *key); /* borrowed */
/* Of the domains of a stat.json: what adds up, else the first device, else the first of the host; NULL: none.
 */
const json_t *kwhy_json_main_domain(const json_t *domains); /* borrowed */

/* The item of an array whose member `key` says that; NULL: none. */
const json_t *kwhy_json_named(const json_t *array, const char *key, const char *name); /* borrowed */

/* Of some work of a stat.json: the figure of its joules a unit, of that domain; NULL: none. */
const json_t *kwhy_json_joules_per_unit(const json_t *work, const json_t *domain); /* borrowed */

#endif
