/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_OWNERS_KEEPER_H
#define KWHY_OWNERS_KEEPER_H

#include "live/live.h"
#include "owners/accounts.h"
#include "owners/allocations.h"
#include "owners/store.h"

/*
 * Divides the energy of each device, and of each domain of the host, among its users while kwhy_live
 * measures, and stores the result. Only the thread that uses `live` may use it.
 */
struct kwhy_keeper;

struct kwhy_keeper_request {
	struct kwhy_sensors *sensors;
	struct kwhy_live *live;
	const char *path;    /* file of accounts; NULL: they are kept in memory */
	const char *mapping; /* folder that names the jobs of devices; NULL: none */
	/* pods to which devices are allocated; the caller may change it between two calls; NULL: none */
	const struct kwhy_allocations *allocations;
	const char *root; /* folder that takes the place of "/" for /proc and others; NULL: "/" */
	size_t labels_max;
	int64_t period_ns; /* time between two looks at who holds the devices */
};

/*
 * Makes a keeper, which follows `live` from now on. `live` and the sensors are borrowed. KWHY_E_INPUT: the
 * file is not one of accounts, or another process writes it.
 */
KWHY_MUST_USE enum kwhy_status kwhy_keeper_new(
	const struct kwhy_keeper_request *request, struct kwhy_keeper **out, struct kwhy_error *error);

/* To be called after each kwhy_live_tick(). Once a period it looks up who holds the devices. */
KWHY_MUST_USE enum kwhy_status kwhy_keeper_tick(
	struct kwhy_keeper *keeper, int64_t now_mono_ns, struct kwhy_error *error);

/*
 * Stores what was not stored yet, and frees the keeper. To be called before the live figures are freed.
 * NULL does nothing.
 */
KWHY_MUST_USE enum kwhy_status kwhy_keeper_close(struct kwhy_keeper *keeper, struct kwhy_error *error);

/* State for a scrape; valid until the next call of the keeper. */
struct kwhy_keeper_state {
	const struct kwhy_owner_row *rows; /* some rows may be unused (is_there false) */
	size_t row_count;
	const struct kwhy_store_meter *meters; /* accounts refer to meters by their index; key NULL: the
						  meter's energy has no owners */
	size_t meter_count;
	uint64_t store_failures;   /* number of failed transactions; what they should have stored is stored by
				      the next one */
	const char *store_problem; /* why the last transaction failed; NULL: it did not */
};
struct kwhy_keeper_state kwhy_keeper_state(struct kwhy_keeper *keeper);

#endif
