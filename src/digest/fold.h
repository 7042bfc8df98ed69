/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_DIGEST_FOLD_H
#define KWHY_DIGEST_FOLD_H

#include "digest/make.h"

/*
 * The digest of a recording that is read section by section (record/section.h): a sum, to which the digest of
 * each section is added. A sum has all rows, and may be larger than a digest; its size depends on how many
 * different operations, ranges, ... there were, and not on how long the program ran.
 *
 * Counts, bytes, times of accounts and energies of the sum are the sums of the sections'. Of a device, the
 * time between its last activity in one section and its first in the next counts as idle for an unknown
 * reason. The median of a gauge is the mean of the sections' medians. A finding is one if it is one in a
 * section.
 */

/* As kwhy_digest_make(), but the digest has all rows, whatever its size. */
KWHY_MUST_USE enum kwhy_status kwhy_digest_make_whole(const struct kwhy_digest_input *input,
	const struct kwhy_digest_parts *parts, size_t part, struct kwhy_digest *out,
	struct kwhy_error *error);

/* Reads a sum that kwhy_digest_save() wrote, with all tables. */
KWHY_MUST_USE enum kwhy_status kwhy_digest_read_all(
	const char *path, struct kwhy_digest *out, struct kwhy_error *error);

/* Adds the digest of the section that follows. What `next` has is copied; its times may change. */
KWHY_MUST_USE enum kwhy_status kwhy_digest_fold(
	struct kwhy_digest *sum, struct kwhy_digest *next, struct kwhy_error *error);

/*
 * Makes a digest of at most KWHY_DIGEST_BYTES_MAX bytes from a sum. It keeps the largest rows, as
 * kwhy_digest_make() does. It uses texts of the sum, so end it first.
 */
KWHY_MUST_USE enum kwhy_status kwhy_digest_fit(
	const struct kwhy_digest *sum, struct kwhy_digest *out, struct kwhy_error *error);

#endif
