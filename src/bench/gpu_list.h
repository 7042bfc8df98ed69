/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_BENCH_GPU_LIST_H
#define KWHY_BENCH_GPU_LIST_H

#include "measure/device_energy.h"

#include <stdbool.h>

/* Comma-separated lists in options, and the GPUs that are named in them. */

enum { KWHY_LIST_WORD_BYTES = 64 };

/*
 * Copies the next word of the list, truncated to the size of `word`, and moves *list past it. false: the list
 * has no further word.
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
 * Opens one more GPU, named by its number or PCI address. KWHY_E_USAGE: there are too many GPUs, or this one
 * is open already, which would count its energy twice.
 */
KWHY_MUST_USE enum kwhy_status kwhy_bench_gpus_add(struct kwhy_bench_gpus *gpus,
	enum kwhy_gpu_backend backend, const char *word, struct kwhy_error *error);

/*
 * Opens the GPUs that a list names; NULL: the first GPU. KWHY_E_USAGE: the list is empty or too long, or
 * names a GPU twice.
 */
KWHY_MUST_USE enum kwhy_status kwhy_bench_gpus_open(enum kwhy_gpu_backend backend, const char *list,
	struct kwhy_bench_gpus *out, struct kwhy_error *error);
void kwhy_bench_gpus_close(const struct kwhy_bench_gpus *gpus);

/* Leaves the GPUs idle, with their contexts, long enough for a recording to show their idle level. */
void kwhy_bench_gpus_settle(const struct kwhy_bench_gpus *gpus);

#endif
