/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_CLI_RECORDINGS_DIGEST_SECTIONS_H
#define KWHY_CLI_RECORDINGS_DIGEST_SECTIONS_H

#include "cli/recordings/job.h"
#include "digest/make.h"

#include <stddef.h>

/*
 * Digests of a recording that still grows: reads what it has got since the last call, and adds that to the
 * sums of what was read before (record/section.h, digest/fold.h). The sums lie in the recording's folder.
 */
struct kwhy_digest_sections {
	const char *recording; /* folder of the recording */
	const char *output;    /* folder of the digests */
	struct kwhy_job_options *job;
	/* The path of a digest's file, to be freed; NULL: out of memory. */
	char *(*name_file)(
		void *context, const struct kwhy_digest *digest, const struct kwhy_digest_part *part);
	void *context;
	size_t written; /* receives the number of digests */
};

KWHY_MUST_USE enum kwhy_status kwhy_digest_sections_add(
	struct kwhy_digest_sections *sections, struct kwhy_error *error);

#endif
