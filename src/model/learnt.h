/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_MODEL_LEARNT_H
#define KWHY_MODEL_LEARNT_H

#include "base/arena.h"
#include "base/status.h"
#include "model/ledger.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Powers that one recording taught, for the ledger of another with the same kernels on the same kind of
 * device (docs/formats/powers.md).
 */

#define KWHY_POWERS_SCHEMA "kwhy.powers/1"

/* A grid; both unknown where no grid has more than half of the time. */
struct kwhy_learnt_grid {
	uint32_t blocks;  /* KWHY_UNKNOWN_BLOCKS */
	uint32_t threads; /* of a block; KWHY_NONE: unknown */
};

struct kwhy_learnt_power {
	const char *name; /* of the account */
	struct kwhy_learnt_grid grid;
	double above_idle_w; /* while it runs alone, above 0 */
	double sd_w;	     /* standard uncertainty */
	uint64_t count;	     /* of launches */
	int64_t time_ns;     /* of all of them */
};

struct kwhy_learnt_powers {
	struct kwhy_arena arena;
	const char *path; /* where they come from */
	const char *device_name;
	double context_idle_w; /* the level that the powers are above; NAN: not stated */
	struct kwhy_learnt_power *items;
	size_t count;
};

/* "NVIDIA-H200" is "NVIDIA H200". */
bool kwhy_device_names_agree(const char *a, const char *b);

/* The grid in which an account spends more than half of its time, [account_count] of the device. */
KWHY_MUST_USE enum kwhy_status kwhy_learnt_grids_find(const struct kwhy_recording *recording, uint32_t device,
	const struct kwhy_device_ledger *device_ledger, struct kwhy_learnt_grid *out_grids,
	struct kwhy_error *error);

/*
 * The powers that the readings of a ledger decided (KWHY_BASIS_DATA), and others whose energy is
 * known within 20 % to each side though nobody taught it, of all devices of one name: of the first one that
 * has any. KWHY_E_INPUT: there are none, or the device has no name. kwhy_learnt_powers_free() ends it.
 */
KWHY_MUST_USE enum kwhy_status kwhy_learnt_powers_collect(const struct kwhy_recording *recording,
	const struct kwhy_ledger *ledger, const char *path, struct kwhy_learnt_powers **out,
	struct kwhy_error *error);
void kwhy_learnt_powers_free(struct kwhy_learnt_powers *powers);

#endif
