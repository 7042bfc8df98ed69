/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_IMPORT_RESULTS_VALUES_H
#define KWHY_IMPORT_RESULTS_VALUES_H

#include <jansson.h>

/* The value of a member of a document. NAN or "" where it is missing or of another type. */
double kwhy_json_real_of(const json_t *object, const char *key);
const char *kwhy_json_text_of(const json_t *object, const char *key); /* borrowed */
/*
 * The main domain of a stat.json: the total, else the first device, else the first domain of the host. NULL:
 * no domain.
 */
const json_t *kwhy_json_main_domain(const json_t *domains); /* borrowed */

/* The item of an array whose member `key` is `name`. NULL: no such item. */
const json_t *kwhy_json_named(const json_t *array, const char *key, const char *name); /* borrowed */

/* The joules a unit that some work of a stat.json has in that domain. NULL: not stated. */
const json_t *kwhy_json_joules_per_unit(const json_t *work, const json_t *domain); /* borrowed */

#endif
