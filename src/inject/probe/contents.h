/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_INJECT_PROBE_CONTENTS_H
#define KWHY_INJECT_PROBE_CONTENTS_H

#include "inject/probe/burst.h"

/*
 * The memory of a burst, copied and hashed in its stream. A call that fails is noted; then nothing more is
 * done but what puts memory back.
 */
enum kwhy_probe_stage { KWHY_PROBE_COPY_BEFORE, KWHY_PROBE_COPY_AFTER }; /* the program's own launch */

void kwhy_probe_contents_note(struct kwhy_probe_burst *burst, enum kwhy_cuda_result result);

/* All live memory that is not reached. */
void kwhy_probe_contents_list_outside(struct kwhy_probe_burst *burst);
void kwhy_probe_contents_hash_outside(struct kwhy_probe_burst *burst, unsigned sum);
void kwhy_probe_contents_hash_inside(struct kwhy_probe_burst *burst, unsigned sum);
void kwhy_probe_contents_hash_saved(struct kwhy_probe_burst *burst, unsigned sum);

/* Chooses what of the reached memory is copied, and whether the launch is looked at; not NONE: it cannot be.
 */
enum kwhy_probe_reason kwhy_probe_contents_choose(struct kwhy_probe_burst *burst);
bool kwhy_probe_contents_fit(const struct kwhy_probe_burst *burst);

/* Copies that aside (`is_back`: puts it back). */
void kwhy_probe_contents_copy(struct kwhy_probe_burst *burst, enum kwhy_probe_stage which, bool is_back);

/* Adds the sums of all chunks that are reached to the table, times `factor`, and to one of the sums. */
void kwhy_probe_contents_look(struct kwhy_probe_burst *burst, int64_t factor, unsigned sum);

#endif
