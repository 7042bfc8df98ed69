/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_CLI_RECORDINGS_DOWNLOAD_H
#define KWHY_CLI_RECORDINGS_DOWNLOAD_H

#include "base/arena.h"
#include "base/status.h"

#include <stdbool.h>

/*
 * A trace at an address, http://, https:// or s3://BUCKET/KEY, as a file in a private folder in TMPDIR. The
 * transfer is libcurl's. S3 is signed (AWS_SIGV4) with the credentials, region and endpoint of the
 * environment variables that AWS's own programs read; the others with ~/.netrc, where it names the host.
 */
struct kwhy_download {
	const char *shown; /* the address without user, password and query, which may be secret */
	const char *path;  /* the file, which keeps the name in the address, because names tell the format */
	const char *folder;
	struct kwhy_arena arena;
};

bool kwhy_download_is_address(const char *text);

/*
 * Gets the whole file. KWHY_E_INPUT: the server does not have it, refuses it, or the transfer was cut off;
 * KWHY_E_UNSUPPORTED: libcurl is missing or too old. End with kwhy_download_done(), also after a failure.
 */
KWHY_MUST_USE enum kwhy_status kwhy_download_get(
	const char *address, struct kwhy_download *out, struct kwhy_error *error);
/* Deletes the file. */
void kwhy_download_done(struct kwhy_download *download);

/* Deletes the file that is there now, if one is. Handlers of signals may call it. */
void kwhy_download_remove_unfinished(void);

/* Names the address in a message that names the file. */
void kwhy_download_name(const struct kwhy_download *download, struct kwhy_error *error);

#endif
