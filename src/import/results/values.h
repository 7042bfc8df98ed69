/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_IMPORT_RESULTS_VALUES_H
#define KWHY_IMPORT_RESULTS_VALUES_H

#include <jansson.h>

/* The value of a member of an object; NAN or "" if the member is missing or has another type. */
double kwhy_json_real_of(const json_t *object, const char *key);
const char *kwhy_json_text_of(const json_t *object, const char *key); /* borrowed */
/*
 * The domain of a stat.json that is compared: the total; if there is none, the first device; without
 * devices, the first domain of the host; and if there is none either, the domain of a wall meter. NULL:
 * there is no domain.
 */
const json_t *kwhy_json_main_domain(const json_t *domains); /* borrowed */

/* The item of an array of objects whose member `key` is the text `name`. NULL: no such item. */
const json_t *kwhy_json_named(const json_t *array, const char *key, const char *name); /* borrowed */

/* The energy per unit of `work`, which is an item of a stat.json, in the domain. NULL: not stated. */
const json_t *kwhy_json_joules_per_unit(const json_t *work, const json_t *domain); /* borrowed */

#endif
