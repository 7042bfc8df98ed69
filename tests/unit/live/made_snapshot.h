/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_TESTS_MADE_SNAPSHOT_H
#define KWHY_TESTS_MADE_SNAPSHOT_H

#include "live/snapshot.h"

/*
 * Returns a made-up snapshot with every case that output formats must handle: a busy H200, a throttled one, a
 * MIG instance, a lost GPU, a CPU package, a wall meter, and names whose characters need escaping. It is
 * static and always the same.
 */
const struct kwhy_live_snapshot *made_snapshot(void);

/* Returns a snapshot of a single GPU of which only the name is known. */
const struct kwhy_live_snapshot *made_snapshot_bare(void);

/*
 * Compares `got` with the file tests/golden/NAME. With KWHY_UPDATE_GOLDEN=1 it rewrites the file instead.
 */
void assert_same_as_golden(const char *name, const char *got);

#endif
