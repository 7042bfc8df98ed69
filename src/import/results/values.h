/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_IMPORT_RESULTS_VALUES_H
#define KWHY_IMPORT_RESULTS_VALUES_H

#include <jansson.h>

/* The number or text of a member of an object; NAN or "" if the member is missing or has another type. */
double kwhy_json_real_of(const json_t *object, const char *key);
const char *kwhy_json_text_of(const json_t *object, const char *key); /* borrowed */
/*
 * The domain of a stat.json that comparisons use: the first of the kind "total", else of "device", else of
 * "host", else of "wall" (a wall meter). NULL: there is none.
 */
const json_t *kwhy_json_main_domain(const json_t *domains); /* borrowed */

/* The item of an array of objects whose member `key` is the text `name`. NULL: no such item. */
const json_t *kwhy_json_named(const json_t *array, const char *key, const char *name); /* borrowed */

/*
 * The member "joules_per_unit" of `work`, an item of the list "work" of a stat.json, for the domain. NULL:
 * not stated.
 */
const json_t *kwhy_json_joules_per_unit(const json_t *work, const json_t *domain); /* borrowed */

#endif
