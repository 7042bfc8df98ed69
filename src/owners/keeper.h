/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_OWNERS_KEEPER_H
#define KWHY_OWNERS_KEEPER_H

#include "live/live.h"
#include "owners/accounts.h"
#include "owners/allocations.h"
#include "owners/store.h"

/*
 * Divides the energy of each device and of each domain of the host among its users while kwhy_live
 * measures, and stores the result. Only the thread that uses `live` may use it.
 */
struct kwhy_keeper;

struct kwhy_keeper_request {
	struct kwhy_sensors *sensors;
	struct kwhy_live *live;
	const char *path;    /* file of the accounts; NULL: they are only kept in memory */
	const char *mapping; /* folder with the jobs of each device; NULL: none */
	/* pods to which devices are allocated; the caller may change it between two calls; NULL: none */
	const struct kwhy_allocations *allocations;
	const char *
		root; /* folder that replaces "/" in the paths of /proc and other system folders; NULL: "/" */
	size_t labels_max;
	int64_t period_ns; /* time between two searches for the holders of the devices */
};

/*
 * Makes a keeper, which from now on receives the readings of `live`. It does not own `live` and the
 * sensors. KWHY_E_INPUT: the file is no file of accounts, or another process writes it.
 */
KWHY_MUST_USE enum kwhy_status kwhy_keeper_new(
	const struct kwhy_keeper_request *request, struct kwhy_keeper **out, struct kwhy_error *error);

/*
 * Call it after each kwhy_live_tick(). Once in each period it searches for the holders of the devices and
 * divides their energy, and in every fifth period it stores the accounts.
 */
KWHY_MUST_USE enum kwhy_status kwhy_keeper_tick(
	struct kwhy_keeper *keeper, int64_t now_mono_ns, struct kwhy_error *error);

/*
 * Stores what was not stored yet, and frees the keeper, also if storing fails. Call it before `live` is
 * freed. NULL does nothing.
 */
KWHY_MUST_USE enum kwhy_status kwhy_keeper_close(struct kwhy_keeper *keeper, struct kwhy_error *error);

/* State for a scrape; valid until the next call of a function of the keeper. */
struct kwhy_keeper_state {
	const struct kwhy_owner_row *rows; /* rows whose is_there is false are unused */
	size_t row_count;
	const struct kwhy_store_meter *meters; /* struct kwhy_owner_account.meter is an index into it. A meter
						  whose key is NULL has no accounts */
	size_t meter_count;
	uint64_t store_failures; /* number of failed transactions; the next transaction stores their data, too
				  */
	const char *store_problem; /* why the last transaction failed; NULL: it succeeded */
};
struct kwhy_keeper_state kwhy_keeper_state(struct kwhy_keeper *keeper);

#endif
