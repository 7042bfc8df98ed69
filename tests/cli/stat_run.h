/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_TESTS_CLI_STAT_RUN_H
#define KWHY_TESTS_CLI_STAT_RUN_H

#include "cmocka_all.h"
#include "spawn.h"

#include <jansson.h>

/* kwhy stat on a machine of the fake NVML, and what its result says. */

/* A setup and a teardown of a group: the fake NVML, and a folder for results. */
int stat_begin(void **state);
int stat_end(void **state);

/* The path of a file in the folder, until the next call; stat_end() has the names that it removes. */
const char *place(const char *name);
/* The machine is that of a scenario of the fake. */
void use_scenario(const char *name);

/* Ends with json_decref(). */
json_t *parse(const struct kwhy_text *text);
/* Runs the words, which write their result to stat.json, and reads that; ends with json_decref(). */
json_t *stat_of(const char *const *words);
#define STAT(...) stat_of((const char *const[]){"stat", "-o", place("stat.json"), __VA_ARGS__, NULL})

/* The item of an array whose key has that name. */
json_t *named(json_t *array, const char *key, const char *name);
json_t *domain_of(const json_t *document, const char *name);
double real_at(const json_t *object, const char *outer, const char *inner);

/* It ended with that status and said so on stderr. Frees it. */
void assert_ends(struct spawned spawned, int exit, const char *says);

#endif
