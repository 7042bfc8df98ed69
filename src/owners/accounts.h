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
 * Energy by owner and meter, in memory: what was added and not yet stored in the file
 * (kwhy_accounts_stored()), and sums for scrapes. At most a set number of owners have labels of their own.
 * The energy of further owners is shown as that of one owner of the kind KWHY_OWNER_OTHER, but stored under
 * their names. Only one thread at a time may use it.
 */
struct kwhy_accounts;

enum { KWHY_OWNERS_MAX_DEFAULT = 200, KWHY_OWNERS_MAX_LIMIT = 10000 };

/*
 * Sums for scrapes, in J and s, which do not overflow over months. `unsure_j` is half of the sum of the
 * widths of the energies' intervals.
 */
struct kwhy_owner_shown {
	double energy_j, unsure_j, idle_j, held_s, busy_s;
	double known_s; /* the part of held_s in which it is known whether anything ran */
};

/* Energy of one owner by one meter. */
struct kwhy_owner_account {
	uint32_t meter; /* id of the meter, chosen by the caller */
	/*
	 * sums since the owner got its labels; in the row of KWHY_OWNER_OTHER, those of owners without
	 * labels; they never fall
	 */
	struct kwhy_owner_shown shown;
	struct kwhy_share pending; /* energy and times that were not stored yet */
	bool has_pending;
	struct kwhy_bounds bounds;
	/*
	 * power: what is known of the owner's power on the meter's device; stored_power: the value of `power`
	 * in the file
	 */
	struct kwhy_watts_known power, stored_power;
	bool is_power_new; /* `power` has changed since it was stored */
	bool is_looked_up; /* the file was asked for the power */
};

struct kwhy_owner_row {
	struct kwhy_owner owner;
	struct kwhy_owner_account *accounts;
	size_t account_count, account_capacity;
	int64_t used_ns;   /* last time on CLOCK_MONOTONIC at which the owner held or used a device */
	int64_t stored_id; /* id of the owner in the file; 0: not known yet */
	bool is_there;	   /* the row is in use */
	bool is_labelled;  /* the owner is shown under its own name */
};

/* labels_max: number of owners of programs that are shown with their own labels. */
KWHY_MUST_USE enum kwhy_status kwhy_accounts_new(
	size_t labels_max, struct kwhy_accounts **out, struct kwhy_error *error);
void kwhy_accounts_free(struct kwhy_accounts *accounts);

/*
 * Gets the index of an owner's row, and adds a row if there is none; its used_ns becomes now_ns. The index is
 * valid until kwhy_accounts_forget() frees the row.
 */
KWHY_MUST_USE enum kwhy_status kwhy_accounts_find(struct kwhy_accounts *accounts,
	const struct kwhy_owner *owner, int64_t now_ns, uint32_t *out_row, struct kwhy_error *error);

/* The account of an owner and a meter, made if there is none; valid until the next account of the owner is
 * made. */
KWHY_MUST_USE enum kwhy_status kwhy_accounts_account(struct kwhy_accounts *accounts, uint32_t row,
	uint32_t meter, struct kwhy_owner_account **out, struct kwhy_error *error);

/* Adds the energy and times of an owner by one meter. */
KWHY_MUST_USE enum kwhy_status kwhy_accounts_add(struct kwhy_accounts *accounts, uint32_t row, uint32_t meter,
	const struct kwhy_share *share, struct kwhy_error *error);

/*
 * Frees the rows of owners of programs that last held or used a device before `before_ns` and have nothing
 * left to store; rows of idle, unwatched and other energy stay. Their labels become free for other owners.
 */
void kwhy_accounts_forget(struct kwhy_accounts *accounts, int64_t before_ns);

/*
 * All rows, including unused ones (is_there false). The pointer is valid until the next
 * kwhy_accounts_find().
 */
struct kwhy_owner_row *kwhy_accounts_rows(struct kwhy_accounts *accounts, size_t *out_count);

/*
 * Marks everything as stored. Accounts without a file call it, too, to drop what would wait to be stored.
 */
void kwhy_accounts_stored(struct kwhy_accounts *accounts);

#endif
