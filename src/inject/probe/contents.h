/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_INJECT_PROBE_CONTENTS_H
#define KWHY_INJECT_PROBE_CONTENTS_H

#include "inject/probe/burst.h"

/*
 * Copies and hashes the memory of a burst in the launch's stream. The first driver call that fails is
 * remembered. After it hashing stops, but copies continue, because memory must be restored.
 */
enum kwhy_probe_stage {
	KWHY_PROBE_COPY_BEFORE,
	KWHY_PROBE_COPY_AFTER
}; /* the copies made before and after the program's own launch */

void kwhy_probe_contents_note(struct kwhy_probe_burst *burst, enum kwhy_cuda_result result);

/*
 * list_outside() lists all live memory that the kernel does not reach. hash_outside() adds the hash of that
 * memory to sum number `sum`.
 */
void kwhy_probe_contents_list_outside(struct kwhy_probe_burst *burst);
void kwhy_probe_contents_hash_outside(struct kwhy_probe_burst *burst, unsigned sum);
void kwhy_probe_contents_hash_inside(struct kwhy_probe_burst *burst, unsigned sum);
void kwhy_probe_contents_hash_saved(struct kwhy_probe_burst *burst, unsigned sum);

/*
 * Chooses which part of the reached memory is copied, and whether the kernel's writes are observed at this
 * launch. Any result other than KWHY_PROBE_NONE says why the launch cannot be repeated.
 */
enum kwhy_probe_reason kwhy_probe_contents_choose(struct kwhy_probe_burst *burst);
bool kwhy_probe_contents_fit(const struct kwhy_probe_burst *burst);

/*
 * Copies the chosen memory of the program to the copy of that stage or, with `is_back`, from that copy back
 * to the program.
 */
void kwhy_probe_contents_copy(struct kwhy_probe_burst *burst, enum kwhy_probe_stage which, bool is_back);

/*
 * Hashes all reached memory in chunks. Each hash times `factor` is added to the chunk's word in the table.
 * One call with factor 1 and a later one with -1 leave 0 for unchanged chunks. The hashes are also added to
 * sum number `sum`.
 */
void kwhy_probe_contents_look(struct kwhy_probe_burst *burst, int64_t factor, unsigned sum);

#endif
