/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_OWNERS_STORE_H
#define KWHY_OWNERS_STORE_H

#include "base/boot.h"
#include "owners/accounts.h"
#include "owners/total.h"

/*
 * The file of accounts: an SQLite database to which what owners used is added, one transaction for each
 * period. A transaction is there wholly or not at all, also after a crash or kill -9, so nothing is counted
 * twice. It also holds the totals of the meters, which the next process takes up. Tables:
 * docs/formats/accounts.md. One process at a time writes it; others may read.
 */
struct kwhy_store;

/* A meter whose energy has owners: a device, or a domain of the host. */
struct kwhy_store_meter {
	const char *key;    /* name that never changes: the device's uuid, or "host:rapl.package-0" */
	const char *name;   /* product name, or the domain's name */
	const char *source; /* name of the energy counter; "": it has none */
	bool is_host;
	int32_t index;	   /* the device's number; -1: a domain of the host */
	int64_t stored_id; /* number of the meter in the file; 0: not known yet */
	struct kwhy_meter_total total;
};

/*
 * Opens the file for writing, and makes it if it does not exist. KWHY_E_INPUT: it is a file of another
 * kind, or another process writes it.
 */
KWHY_MUST_USE enum kwhy_status kwhy_store_open(
	const char *path, struct kwhy_store **out, struct kwhy_error *error);
void kwhy_store_close(struct kwhy_store *store);

/*
 * Sets meter->total to what the file holds, so that kwhy_total_advance() takes it up; without a row of this
 * meter it stays zero. The counter's reading is only valid in the same boot.
 */
KWHY_MUST_USE enum kwhy_status kwhy_store_load(
	struct kwhy_store *store, struct kwhy_store_meter *meter, const char *boot, struct kwhy_error *error);

/*
 * Finds what earlier servers learnt of an owner's power on a device; is_known is false if nothing.
 * `meter_key` is the device's.
 */
KWHY_MUST_USE enum kwhy_status kwhy_store_find_power(struct kwhy_store *store, const struct kwhy_owner *owner,
	const char *meter_key, struct kwhy_watts_known *out, struct kwhy_error *error);

/* What one transaction adds. */
struct kwhy_store_batch {
	struct kwhy_accounts *accounts;
	struct kwhy_store_meter *meters; /* accounts refer to meters by their index here */
	size_t meter_count;
	const char *boot;
	int64_t from_unix_ns, until_unix_ns; /* period in which the energy was used */
};

/*
 * Adds everything that was not stored yet, with the meters' totals, and marks it as stored. After a failure
 * the file contains nothing of it, and the next call adds it.
 */
KWHY_MUST_USE enum kwhy_status kwhy_store_write(
	struct kwhy_store *store, const struct kwhy_store_batch *batch, struct kwhy_error *error);

#endif
