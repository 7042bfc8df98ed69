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
 * Powers of accounts learnt from one recording, as priors for the ledger of another recording with the same
 * kernels on the same kind of device (docs/formats/powers.md).
 */

#define KWHY_POWERS_SCHEMA "kwhy.powers/1"

/*
 * The grid in which an account spends more than half of its time; both fields are unknown if there is no such
 * grid.
 */
struct kwhy_learnt_grid {
	uint32_t blocks;  /* blocks of the grid; KWHY_UNKNOWN_BLOCKS: unknown */
	uint32_t threads; /* threads per block; KWHY_NONE: unknown */
};

struct kwhy_learnt_power {
	const char *name; /* name of the account */
	struct kwhy_learnt_grid grid;
	double above_idle_w; /* power above idle while the account runs alone, above 0 */
	double sd_w;	     /* standard uncertainty of above_idle_w */
	uint64_t count;	     /* number of activities of the account */
	int64_t time_ns;     /* sum of the durations of these activities */
};

struct kwhy_learnt_powers {
	struct kwhy_arena arena;
	const char *path; /* path of the recording or powers file */
	const char *device_name;
	double context_idle_w; /* idle level that above_idle_w refers to; NAN: not stated */
	struct kwhy_learnt_power *items;
	size_t count;
};

/* Whether two device names are the same apart from case and from "-" or "_" in place of spaces. */
bool kwhy_device_names_agree(const char *a, const char *b);

/*
 * Writes to out_grids[account_count] the grid in which each account of a device spends more than half of its
 * time. If an account has no such grid, both fields of its element are unknown.
 */
KWHY_MUST_USE enum kwhy_status kwhy_learnt_grids_find(const struct kwhy_recording *recording, uint32_t device,
	const struct kwhy_device_ledger *device_ledger, struct kwhy_learnt_grid *out_grids,
	struct kwhy_error *error);

/*
 * Collects the powers of activities that the readings determine (KWHY_BASIS_DATA), not the assumed ones. Of
 * an account that is known only within a group, the power above idle is collected if its relative standard
 * uncertainty is at most 20 % and it was not learnt from another recording. All powers are of devices of one
 * name: that of the first device with such a power. KWHY_E_INPUT: there are no such powers, or no such device
 * has a name. Free the result by kwhy_learnt_powers_free().
 */
KWHY_MUST_USE enum kwhy_status kwhy_learnt_powers_collect(const struct kwhy_recording *recording,
	const struct kwhy_ledger *ledger, const char *path, struct kwhy_learnt_powers **out,
	struct kwhy_error *error);
void kwhy_learnt_powers_free(struct kwhy_learnt_powers *powers);

#endif
