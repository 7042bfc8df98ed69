/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_OWNERS_SHARING_H
#define KWHY_OWNERS_SHARING_H

#include "owners/accounts.h"
#include "owners/share.h"
#include "owners/store.h"
#include "owners/watts.h"

/*
 * Divides the energy of one device among its owners by the powers that it learns of them, and adds the shares
 * to the accounts, which also keep what is known of each owner's power. The struct's pointers are borrowed.
 */
struct kwhy_sharing {
	struct kwhy_accounts *accounts;
	struct kwhy_store *store; /* the file with what earlier servers learnt; NULL: there is none */
	const char *meter_key;	  /* NULL: the meter has no owners */
	uint32_t meter;
	struct kwhy_watts watts;
};

/* Facts about the device in a window that struct kwhy_share_window does not have. */
struct kwhy_sharing_look {
	double clock_hz;  /* SM clock; NAN: unknown */
	bool has_uses;	  /* the driver was asked for the holders' use at this look, and it is known */
	bool is_repeated; /* the driver has no new sample of the use since the last look, so the use is that
			     of the last look */
};

/* Divides a window among its holders, and adds their shares to the accounts. */
KWHY_MUST_USE enum kwhy_status kwhy_sharing_divide(struct kwhy_sharing *sharing,
	const struct kwhy_share_window *window, const struct kwhy_sharing_look *look,
	struct kwhy_error *error);

/*
 * Learns the owners' powers from a window whose holders were the same at its start and its end. Call it
 * before kwhy_sharing_divide() for that window. Without holders it does nothing.
 */
KWHY_MUST_USE enum kwhy_status kwhy_sharing_learn(struct kwhy_sharing *sharing,
	const struct kwhy_share_window *window, const struct kwhy_sharing_look *look,
	struct kwhy_error *error);

#endif
