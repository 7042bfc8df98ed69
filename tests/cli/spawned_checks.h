/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_TESTS_CLI_SPAWNED_CHECKS_H
#define KWHY_TESTS_CLI_SPAWNED_CHECKS_H

#include "cmocka_all.h"
#include "spawn.h"

#include <jansson.h>
#include <string.h>

/* What tests hold against a run of a command; all end it. */

/* It failed with that status, wrote no result and said so. */
static inline void assert_fails(struct spawned spawned, int status, const char *says)
{
	if (spawned.exit != status || spawned.out.length || !strstr(spawned.err.data, says))
		fail_msg("exit %d, stdout '%s', stderr '%s' without '%s'", spawned.exit, spawned.out.data,
			spawned.err.data, says);
	spawned_done(&spawned);
}

/* Its result, of a run that ended with that status and was quiet; end it with json_decref(). */
static inline json_t *json_with(struct spawned spawned, int status)
{
	json_t *root = json_loads(spawned.out.data, 0, NULL);

	if (spawned.exit != status || spawned.err.length || !root)
		fail_msg("exit %d, stderr '%s', stdout '%s'", spawned.exit, spawned.err.data,
			spawned.out.data);
	spawned_done(&spawned);
	return root;
}

/* Its result, of a run that did well. */
static inline json_t *json_of(struct spawned spawned)
{
	return json_with(spawned, 0);
}

#endif
