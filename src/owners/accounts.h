/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_OWNERS_ACCOUNTS_H
#define KWHY_OWNERS_ACCOUNTS_H

#include "base/status.h"
#include "owners/bounds.h"
#include "owners/owner.h"
#include "owners/share.h"
#include "owners/watts.h"

#include <stddef.h>
#include <stdint.h>

/*
 * Energy by owner and meter, in memory: what was added since it was last stored, and what a scrape shows.
 * The number of owners with labels of their own is limited; what others use is shown as that of one owner of
 * the kind KWHY_OWNER_OTHER, but stored as their own. Only one thread at a time may use it.
 */
struct kwhy_accounts;

enum { KWHY_OWNERS_MAX_DEFAULT = 200, KWHY_OWNERS_MAX_LIMIT = 10000 };

/* Sums for a scrape, which run for months. `unsure_j` is half of the sum of the intervals' widths. */
struct kwhy_owner_shown {
	double energy_j, unsure_j, idle_j, held_s, busy_s;
	double known_s; /* the part of held_s in which it is known whether anything ran */
};

/* Energy of one owner by one meter. */
struct kwhy_owner_account {
	uint32_t meter;		       /* number of the meter, chosen by the caller */
	struct kwhy_owner_shown shown; /* sums since the owner got its labels; they never fall */
	struct kwhy_share pending;     /* what was not stored yet */
	bool has_pending;
	struct kwhy_bounds bounds;
	/* what is known of the owner's power on the meter's device, and what of it is in the file */
	struct kwhy_watts_known power, stored_power;
	bool is_power_new; /* `power` is not that of the file */
	bool is_looked_up; /* the file was asked for the power */
};

struct kwhy_owner_row {
	struct kwhy_owner owner;
	struct kwhy_owner_account *accounts;
	size_t account_count, account_capacity;
	int64_t used_ns;   /* time on CLOCK_MONOTONIC at which the owner last held or used something */
	int64_t stored_id; /* number of the owner in the file; 0: not known yet */
	bool is_there;	   /* the row is in use */
	bool is_labelled;  /* the owner is shown under its own name */
};

/* labels_max: number of owners of programs that are shown with their own labels. */
KWHY_MUST_USE enum kwhy_status kwhy_accounts_new(
	size_t labels_max, struct kwhy_accounts **out, struct kwhy_error *error);
void kwhy_accounts_free(struct kwhy_accounts *accounts);

/* The number of an owner's row; if there is none, one is made. It is valid while the owner is used. */
KWHY_MUST_USE enum kwhy_status kwhy_accounts_find(struct kwhy_accounts *accounts,
	const struct kwhy_owner *owner, int64_t now_ns, uint32_t *out_row, struct kwhy_error *error);

/* The account of an owner and a meter, made if there is none; valid until the next account of the owner is
 * made. */
KWHY_MUST_USE enum kwhy_status kwhy_accounts_account(struct kwhy_accounts *accounts, uint32_t row,
	uint32_t meter, struct kwhy_owner_account **out, struct kwhy_error *error);

/* Adds what an owner used by a meter. */
KWHY_MUST_USE enum kwhy_status kwhy_accounts_add(struct kwhy_accounts *accounts, uint32_t row, uint32_t meter,
	const struct kwhy_share *share, struct kwhy_error *error);

/*
 * Frees the rows of owners that were used last before `before_ns` and have nothing that waits to be stored,
 * and with them their labels.
 */
void kwhy_accounts_forget(struct kwhy_accounts *accounts, int64_t before_ns);

/* All rows, also those that are not there; valid until the next kwhy_accounts_find(). */
struct kwhy_owner_row *kwhy_accounts_rows(struct kwhy_accounts *accounts, size_t *out_count);

/* Marks everything as stored, or, for what is not kept in a file, forgets what waits to be stored. */
void kwhy_accounts_stored(struct kwhy_accounts *accounts);

#endif
