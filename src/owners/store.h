/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_OWNERS_STORE_H
#define KWHY_OWNERS_STORE_H

#include "base/boot.h"
#include "owners/accounts.h"
#include "owners/total.h"

/*
 * The file of accounts: an SQLite database. Each call of kwhy_store_write() is one transaction, which adds
 * what the owners used since the last transaction. A transaction is in the file completely or not at all,
 * also after a crash or kill -9, so nothing is counted twice. The file also has the totals of the meters,
 * with which the next process continues. Tables: docs/formats/accounts.md. One process at a time writes it;
 * others may read it.
 */
struct kwhy_store;

/* A meter whose energy has owners: a device, or a domain of the host. */
struct kwhy_store_meter {
	const char *key;    /* name that never changes: the device's UUID, or "host:rapl.package-0" */
	const char *name;   /* product name of the device, or name of the host's domain */
	const char *source; /* name of the energy counter; "": the meter has none */
	bool is_host;
	int32_t index;	   /* index of the device; -1: a domain of the host */
	int64_t stored_id; /* id of the meter in the file; 0: not known yet */
	struct kwhy_meter_total total;
};

/*
 * Opens the file for writing, and makes it if it does not exist. KWHY_E_INPUT: it is no file of accounts,
 * or another process writes it.
 */
KWHY_MUST_USE enum kwhy_status kwhy_store_open(
	const char *path, struct kwhy_store **out, struct kwhy_error *error);
void kwhy_store_close(struct kwhy_store *store);

/*
 * Sets meter->total from the file, so that kwhy_total_advance() continues that total; if the file has no row
 * of the meter, meter->total stays as it is. meter->total.has_counter becomes false if the stored reading of
 * the counter is from another boot of the machine (`boot`; "": unknown) or another counter (`source`).
 */
KWHY_MUST_USE enum kwhy_status kwhy_store_load(
	struct kwhy_store *store, struct kwhy_store_meter *meter, const char *boot, struct kwhy_error *error);

/*
 * Finds what earlier processes of `kwhy serve` learnt of an owner's power on the device with the key
 * meter_key; out->is_known is false if the file has nothing of it.
 */
KWHY_MUST_USE enum kwhy_status kwhy_store_find_power(struct kwhy_store *store, const struct kwhy_owner *owner,
	const char *meter_key, struct kwhy_watts_known *out, struct kwhy_error *error);

/* The data that one transaction adds. */
struct kwhy_store_batch {
	struct kwhy_accounts *accounts;
	struct kwhy_store_meter *meters; /* struct kwhy_owner_account.meter is an index into it */
	size_t meter_count;
	const char *boot;
	/* Unix times of the start and the end of the period in which the energy was used, ns */
	int64_t from_unix_ns, until_unix_ns;
};

/*
 * Adds to the file all that the accounts have not stored yet, replaces the totals of the meters whose total
 * has begun, and marks the accounts as stored. After a failure the file is unchanged, and the next call adds
 * the same data, too.
 */
KWHY_MUST_USE enum kwhy_status kwhy_store_write(
	struct kwhy_store *store, const struct kwhy_store_batch *batch, struct kwhy_error *error);

#endif
