/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_TESTS_MADE_SNAPSHOT_H
#define KWHY_TESTS_MADE_SNAPSHOT_H

#include "live/snapshot.h"

/*
 * A machine by hand in which everything occurs that can: a busy H200, a throttled one, an instance, a lost
 * card, a CPU package, a wall meter, names with signs that need care. Static; the same at every call.
 */
const struct kwhy_live_snapshot *made_snapshot(void);

/* One card that nothing is known of but its name. */
const struct kwhy_live_snapshot *made_snapshot_bare(void);

/* Compares with the file tests/golden/NAME; KWHY_UPDATE_GOLDEN=1 rewrites it. */
void assert_same_as_golden(const char *name, const char *got);

#endif
