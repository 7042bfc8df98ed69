/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_DIGEST_HEADS_H
#define KWHY_DIGEST_HEADS_H

#include "digest/job.h"

/*
 * The head of a digest file: the values that identify the digest, read before the rest of it. The heads show
 * which files are digests of one job, and which of these to leave out so that each rank's work counts once.
 */

/* One device in the head of a file. */
struct kwhy_head_device {
	uint64_t uuid; /* hash of the UUID; 0: the UUID is unknown */
	uint64_t key; /* hash of the UUID or, if that is unknown, of host and PCI address; 0: neither is known
		       */
	int64_t busy_ns, metered_ns, measured_nj;
	bool is_shared;	     /* other ranks of the job use the device during some of this rank's time */
	double energy_ratio; /* share of measured_nj that counts for this rank, from 0 to 1; 1: the device is
				not shared */
};

struct kwhy_head {
	const char *path;
	char identity[20];
	uint64_t devices; /* hash of the host's name and of the numbers and UUIDs of its devices */
	struct kwhy_head_device *each;
	size_t device_count;
	uint32_t rank, world_size;
	const uint32_t *others; /* other ranks that used the same devices in this recording */
	size_t other_count;
	bool is_unix_clock, is_readable;
	bool is_unused;		  /* kwhy_digest_is_unused(): the digest is of one device that no rank used */
	int64_t start_ns, end_ns; /* span of the digest, Unix times; both 0 if is_unix_clock is false */
	int64_t origin_unix_ns;
	int64_t activities;
	const char *why; /* why is_readable is false; NULL also if memory was exhausted */
};

/* Begin with all zero bytes; end with kwhy_heads_done(). */
struct kwhy_heads {
	struct kwhy_head *items; /* One for each file. After kwhy_heads_choose(): one for each digest of the
				    job, sorted by rank. */
	size_t count;
	struct kwhy_arena arena;
};

/*
 * Reads the heads of files and of the digests in folders. An unreadable file gets a head with is_readable
 * false. `threads`: threads that read at the same time.
 */
KWHY_MUST_USE enum kwhy_status kwhy_heads_read(struct kwhy_heads *heads, const char *const *paths,
	size_t count, unsigned threads, struct kwhy_error *error);

/*
 * Keeps only the heads of the job's digests, adds a problem to `job` for each digest left out, and sets the
 * job's world size and origin. Left out are digests with the content of another one, those with a world size
 * or clock other than most digests have, those recorded long before or after most, and those with the rank
 * and devices of a digest that has more activities. A digest of an unused device is left out, without a
 * problem, if another digest has the device.
 */
KWHY_MUST_USE enum kwhy_status kwhy_heads_choose(
	struct kwhy_heads *heads, struct kwhy_job *job, struct kwhy_error *error);
/* Sets energy_ratio of devices that several ranks use at the same time, so that their energy counts once. */
KWHY_MUST_USE enum kwhy_status kwhy_heads_share(const struct kwhy_heads *heads, struct kwhy_error *error);
void kwhy_heads_done(struct kwhy_heads *heads);

#endif
