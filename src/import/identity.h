/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_IMPORT_IDENTITY_H
#define KWHY_IMPORT_IDENTITY_H

#include "base/status.h"
#include "model/recording.h"

/*
 * What a file is, by what it holds: a copy under another name, or compressed anew, would count twice. It is
 * identified by a digest, the sum of one number for each row, so that the order of rows is nothing. Files
 * with other rows share it by one chance in 2^64.
 */

/* A number of these values in their order, as good as random. */
uint64_t kwhy_identity_digest(const uint64_t *values, size_t count);

/*
 * After a trace added its source and its activities behind those there were: refuses one whose activities an
 * earlier trace has, too, by the device's number and stated rank, stream, times, kind and name; transfers,
 * which have names in some forms alone, by their way and bytes. A trace without activities is no copy, and
 * ranks that say which they are may do the same. Of two recordings of kwhy their writers tell
 * (import/recorded.c). Nothing is reckoned unless an earlier trace has as many activities.
 */
KWHY_MUST_USE enum kwhy_status kwhy_identity_check_trace(struct kwhy_recording *recording,
	size_t activities_before, const char *path, struct kwhy_error *error);

/* Refuses a power file whose readings an earlier one has, too; else keeps a copy of it in the recording. */
KWHY_MUST_USE enum kwhy_status kwhy_identity_check_power(
	struct kwhy_recording *recording, const struct kwhy_power_file *file, struct kwhy_error *error);

#endif
