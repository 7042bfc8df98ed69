/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_INJECT_PROBE_CONTENTS_H
#define KWHY_INJECT_PROBE_CONTENTS_H

#include "inject/probe/burst.h"

/*
 * Functions that queue copies and hashes of the memory of a burst in the launch's stream. The first failure
 * of a driver call is kept in burst->failure. After it nothing is hashed any more, but copies are still
 * queued, because memory must be restored.
 */
enum kwhy_probe_stage {
	KWHY_PROBE_COPY_BEFORE,
	KWHY_PROBE_COPY_AFTER
}; /* which copy of the memory: the one made before or the one made after the program's own launch */

void kwhy_probe_contents_note(struct kwhy_probe_burst *burst, enum kwhy_cuda_result result);

/*
 * list_outside() lists in burst->outside all live memory that the kernel does not reach. The other three add
 * a hash to sum number `sum`: hash_outside() that of the memory in burst->outside, hash_inside() that of all
 * memory that the kernel reaches, hash_saved() that of the part of it that is saved.
 */
void kwhy_probe_contents_list_outside(struct kwhy_probe_burst *burst);
void kwhy_probe_contents_hash_outside(struct kwhy_probe_burst *burst, unsigned sum);
void kwhy_probe_contents_hash_inside(struct kwhy_probe_burst *burst, unsigned sum);
void kwhy_probe_contents_hash_saved(struct kwhy_probe_burst *burst, unsigned sum);

/*
 * Chooses which part of the reached memory is saved (burst->saved), and whether the kernel's writes are
 * observed at this launch (is_looked_at). Any result other than KWHY_PROBE_NONE says why the launch cannot be
 * repeated. kwhy_probe_contents_fit(): whether two copies of burst->saved fit into the buffers.
 */
enum kwhy_probe_reason kwhy_probe_contents_choose(struct kwhy_probe_burst *burst);
bool kwhy_probe_contents_fit(const struct kwhy_probe_burst *burst);

/*
 * Queues copies of the saved memory to the buffer for copy `which` or, with `is_back`, from that buffer back
 * to the program's memory.
 */
void kwhy_probe_contents_copy(struct kwhy_probe_burst *burst, enum kwhy_probe_stage which, bool is_back);

/*
 * Hashes all reached memory in chunks. The hash of each chunk, times `factor`, is added to the chunk's word
 * in probe_context->table. After a call with factor 1 and a later one with -1, the words of unchanged chunks
 * are 0. The hashes are also added to sum number `sum`.
 */
void kwhy_probe_contents_look(struct kwhy_probe_burst *burst, int64_t factor, unsigned sum);

#endif
