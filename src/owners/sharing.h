/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_OWNERS_SHARING_H
#define KWHY_OWNERS_SHARING_H

#include "owners/accounts.h"
#include "owners/share.h"
#include "owners/store.h"
#include "owners/watts.h"

/*
 * Divides the energy of one device among its owners by their learnt powers, and adds it to the accounts.
 * The accounts also keep what is known of each owner's power. The struct's pointers are borrowed.
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
