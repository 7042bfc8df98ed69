/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_TESTS_CLI_STAT_RUN_H
#define KWHY_TESTS_CLI_STAT_RUN_H

#include "cmocka_all.h"
#include "spawn.h"

#include <jansson.h>

/* Runs `kwhy stat` on a machine with the fake NVML and checks its result. */

/* Setup and teardown of a group: the fake NVML, and a folder for results. */
int stat_begin(void **state);
int stat_end(void **state);

/*
 * Returns the path of a file in the folder, valid until the next call. stat_end() removes only the names in
 * its own list.
 */
const char *place(const char *name);
/* Makes the fake NVML follow tests/fakes/nvml/scenarios/NAME.txt. */
void use_scenario(const char *name);

/* Returns the parsed JSON. The caller owns it. */
json_t *parse(const struct kwhy_text *text);
/*
 * Runs kwhy with arguments that make it write stat.json. Checks that it succeeds, and returns the JSON. The
 * caller owns it.
 */
json_t *stat_of(const char *const *words);
#define STAT(...) stat_of((const char *const[]){"stat", "-o", place("stat.json"), __VA_ARGS__, NULL})

/* Returns the item of the array whose member `key` is `name`. Fails the test if there is none. */
json_t *named(json_t *array, const char *key, const char *name);
json_t *domain_of(const json_t *document, const char *name);
double real_at(const json_t *object, const char *outer, const char *inner);

/* Checks that the run ended with this status and has `says` in its stderr. Frees the run's output. */
void assert_ends(struct spawned spawned, int exit, const char *says);

#endif
