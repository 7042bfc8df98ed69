/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_OWNERS_SHARING_H
#define KWHY_OWNERS_SHARING_H

#include "owners/accounts.h"
#include "owners/share.h"
#include "owners/store.h"
#include "owners/watts.h"

/*
 * Divides the energy of one device by what its owners' powers were learnt to be, and puts it into the
 * accounts, which also keep what is known of each owner on the device. What the struct names is borrowed.
 */
struct kwhy_sharing {
	struct kwhy_accounts *accounts;
	struct kwhy_store *store; /* has what earlier servers learnt; NULL: nothing */
	const char *meter_key;	  /* NULL: the meter has no owners */
	uint32_t meter;
	struct kwhy_watts watts;
};

/* What a look says of the device besides the window. */
struct kwhy_sharing_look {
	double clock_hz;  /* SM clock; NAN: unknown */
	bool has_uses;	  /* the holders' use is the driver's, and was asked for */
	bool is_repeated; /* the driver had no new samples */
};

/* Divides a window among its holders, and adds their shares to the accounts. */
KWHY_MUST_USE enum kwhy_status kwhy_sharing_divide(struct kwhy_sharing *sharing,
	const struct kwhy_share_window *window, const struct kwhy_sharing_look *look,
	struct kwhy_error *error);

/* Learns from a window whose holders were the same at both ends, before it is divided. */
KWHY_MUST_USE enum kwhy_status kwhy_sharing_learn(struct kwhy_sharing *sharing,
	const struct kwhy_share_window *window, const struct kwhy_sharing_look *look,
	struct kwhy_error *error);

#endif
