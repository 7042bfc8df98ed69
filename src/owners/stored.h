/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_OWNERS_STORED_H
#define KWHY_OWNERS_STORED_H

#include "base/status.h"
#include "owners/owner.h"

#include <stddef.h>
#include <stdint.h>

/* The content of a file of accounts. `kwhy serve` may write the file while it is read. */

/* A sum in nJ with 128 bits, because 64 bits hold only 9.2 GJ, which eight GPUs of 700 W use in 19 days. */
__extension__ typedef __int128 kwhy_wide_nj;
enum { KWHY_WIDE_BYTES = 44 };
/* Writes the number in decimal digits. Returns `out`. */
const char *kwhy_wide_text(char out[KWHY_WIDE_BYTES], kwhy_wide_nj value);

/* Like struct kwhy_share, whose members are described there, but with energies of 128 bits. */
struct kwhy_stored_share {
	kwhy_wide_nj energy_nj, low_nj, high_nj, idle_nj;
	int64_t held_ns, busy_ns, unknown_ns;
};

/* The sums of one owner and one meter over the hours that were asked for. */
struct kwhy_stored_account {
	struct kwhy_owner owner;
	char meter[96]; /* the meter's key */
	bool is_host;
	struct kwhy_stored_share share;
	int64_t first_unix_ns, last_unix_ns;
};

struct kwhy_stored {
	/*
	 * sorted by text of the kind, name, namespace, user and part, then by the device's index (domains of
	 * the host first) and the meter's key
	 */
	struct kwhy_stored_account *items;
	size_t count, capacity;
	/* time that the whole file covers, from its first to its last transaction; 0: it is empty */
	int64_t first_unix_ns, until_unix_ns;
	/*
	 * energy that was divided among owners in all hours: sum of the totals that the file has of the
	 * meters
	 */
	kwhy_wide_nj booked_nj;
	/* sum of the energies of all accounts in all hours; equal to booked_nj unless the file is damaged */
	kwhy_wide_nj summed_nj;
};

/*
 * Reads the accounts of the hours from the one that contains since_unix_ns on; 0: of all hours. KWHY_E_INPUT:
 * the file cannot be read, is no file of accounts, or has a kind of owner that this version does not know.
 * Call kwhy_stored_done() also after a failure.
 */
KWHY_MUST_USE enum kwhy_status kwhy_stored_read(
	const char *path, int64_t since_unix_ns, struct kwhy_stored *out, struct kwhy_error *error);
void kwhy_stored_done(struct kwhy_stored *stored);

#endif
