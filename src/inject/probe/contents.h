/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_INJECT_PROBE_CONTENTS_H
#define KWHY_INJECT_PROBE_CONTENTS_H

#include "inject/probe/burst.h"

/*
 * Copies and hashes the memory of a burst in the launch's stream. The first failed call is noted; after it
 * only the copies that restore memory are still made.
 */
enum kwhy_probe_stage {
	KWHY_PROBE_COPY_BEFORE,
	KWHY_PROBE_COPY_AFTER
}; /* before and after the program's own launch */

void kwhy_probe_contents_note(struct kwhy_probe_burst *burst, enum kwhy_cuda_result result);

/* Lists all live memory that the kernel does not reach. */
void kwhy_probe_contents_list_outside(struct kwhy_probe_burst *burst);
void kwhy_probe_contents_hash_outside(struct kwhy_probe_burst *burst, unsigned sum);
void kwhy_probe_contents_hash_inside(struct kwhy_probe_burst *burst, unsigned sum);
void kwhy_probe_contents_hash_saved(struct kwhy_probe_burst *burst, unsigned sum);

/*
 * Chooses which part of the reached memory is copied and whether the launch is observed for writes. A reason
 * other than NONE: the launch cannot be repeated.
 */
enum kwhy_probe_reason kwhy_probe_contents_choose(struct kwhy_probe_burst *burst);
bool kwhy_probe_contents_fit(const struct kwhy_probe_burst *burst);

/* Copies the chosen memory to one of the copies; with `is_back`, restores it from there. */
void kwhy_probe_contents_copy(struct kwhy_probe_burst *burst, enum kwhy_probe_stage which, bool is_back);

/* Adds the hashes of all reached chunks, times `factor`, to the table of chunks and to sum number `sum`. */
void kwhy_probe_contents_look(struct kwhy_probe_burst *burst, int64_t factor, unsigned sum);

#endif
