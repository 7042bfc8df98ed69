/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_BENCH_GPU_LIST_H
#define KWHY_BENCH_GPU_LIST_H

#include "measure/device_energy.h"

#include <stdbool.h>

/* Comma-separated lists in options, and the GPUs that are named in them. */

enum { KWHY_LIST_WORD_BYTES = 64 };

/*
 * Copies the next word of the comma-separated list, truncated to the size of `word`, and moves *list past it.
 * false: the list has no further word.
 */
bool kwhy_bench_list_next(const char **list, char word[KWHY_LIST_WORD_BYTES]);

/* Whether the list contains the word. A NULL list contains every word. */
bool kwhy_bench_list_has(const char *list, const char *word);

/*
 * Finds the first word of the list that is_known() rejects, and returns whether there is one. An empty list
 * consists of one empty word; a NULL list has no words.
 */
bool kwhy_bench_list_unknown(
	const char *list, bool (*is_known)(const char *word), char word[KWHY_LIST_WORD_BYTES]);

/* GPUs that are open. The caller closes all `count` of them, also after a failure. */
struct kwhy_bench_gpus {
	struct kwhy_gpu *items[KWHY_DEVICE_ENERGY_GPUS_MAX];
	uint32_t count;
};

/*
 * Opens the GPU that `word` names by its number or PCI address, and adds it. KWHY_E_USAGE: there are
 * KWHY_DEVICE_ENERGY_GPUS_MAX already, or this GPU is already in `gpus`; its energy would be counted twice.
 */
KWHY_MUST_USE enum kwhy_status kwhy_bench_gpus_add(struct kwhy_bench_gpus *gpus,
	enum kwhy_gpu_backend backend, const char *word, struct kwhy_error *error);

/*
 * Opens the GPUs that a list names by number or PCI address; NULL: GPU 0. KWHY_E_USAGE: the list is empty,
 * has more than KWHY_DEVICE_ENERGY_GPUS_MAX GPUs, or names one twice.
 */
KWHY_MUST_USE enum kwhy_status kwhy_bench_gpus_open(enum kwhy_gpu_backend backend, const char *list,
	struct kwhy_bench_gpus *out, struct kwhy_error *error);
void kwhy_bench_gpus_close(const struct kwhy_bench_gpus *gpus);

/*
 * Sleeps for KWHY_SETTLE_SHOWN_NS while the GPUs are idle with their contexts, so that a recording shows
 * their idle power. Does nothing if there is no GPU, or the GPUs are those of the host back end.
 */
void kwhy_bench_gpus_settle(const struct kwhy_bench_gpus *gpus);

#endif
