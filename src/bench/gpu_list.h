/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_BENCH_GPU_LIST_H
#define KWHY_BENCH_GPU_LIST_H

#include "measure/device_energy.h"

#include <stdbool.h>

/* Lists of an option, with commas between, and the GPUs that one names. */

enum { KWHY_LIST_WORD_BYTES = 64 };

/* The next word, cut where it is longer than the room; *list goes on after it. False: there is none left. */
bool kwhy_bench_list_next(const char **list, char word[KWHY_LIST_WORD_BYTES]);

/* Whether the list has the word; NULL has all. */
bool kwhy_bench_list_has(const char *list, const char *word);

/* Whether a word of the list is not known; the first such. A list without a word has the empty one; NULL has
 * none. */
bool kwhy_bench_list_unknown(
	const char *list, bool (*is_known)(const char *word), char word[KWHY_LIST_WORD_BYTES]);

/* Opened GPUs: `count` of them are the caller's to close, also after a failure. */
struct kwhy_bench_gpus {
	struct kwhy_gpu *items[KWHY_DEVICE_ENERGY_GPUS_MAX];
	uint32_t count;
};

/* Opens one more, by number or PCI address. KWHY_E_USAGE: one too many, or one that is open already, whose
 * energy would count twice. */
KWHY_MUST_USE enum kwhy_status kwhy_bench_gpus_add(struct kwhy_bench_gpus *gpus,
	enum kwhy_gpu_backend backend, const char *word, struct kwhy_error *error);

/* Opens what a list names; NULL: the first. KWHY_E_USAGE: none, too many, or one twice. */
KWHY_MUST_USE enum kwhy_status kwhy_bench_gpus_open(enum kwhy_gpu_backend backend, const char *list,
	struct kwhy_bench_gpus *out, struct kwhy_error *error);
void kwhy_bench_gpus_close(const struct kwhy_bench_gpus *gpus);

/* Leaves GPUs alone while they are still open, so that who records it sees the level that they idle at. */
void kwhy_bench_gpus_settle(const struct kwhy_bench_gpus *gpus);

#endif
