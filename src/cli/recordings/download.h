/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_CLI_RECORDINGS_DOWNLOAD_H
#define KWHY_CLI_RECORDINGS_DOWNLOAD_H

#include "base/arena.h"
#include "base/status.h"

#include <stdbool.h>

/*
 * A trace at an address (http://, https:// or s3://BUCKET/KEY), which libcurl downloads to a file in a
 * private folder in TMPDIR. A request to S3 is signed (AWS_SIGV4) with the credentials, region and endpoint
 * of the environment variables that AWS's own programs read. Other requests use ~/.netrc if it names the
 * host.
 */
struct kwhy_download {
	const char *shown; /* the address without user, password and query, which may be secret */
	const char *path;  /* path of the downloaded file, whose name is the last part of the address, because
			      the extension shows the format */
	const char *folder;
	struct kwhy_arena arena;
};

bool kwhy_download_is_address(const char *text);

/*
 * Downloads the whole file. KWHY_E_INPUT: the server does not have the file or refuses to send it, or the
 * transfer failed or ended early. KWHY_E_IO: the file cannot be written. KWHY_E_UNSUPPORTED: libcurl is
 * missing or too old. End with kwhy_download_done(), also after a failure.
 */
KWHY_MUST_USE enum kwhy_status kwhy_download_get(
	const char *address, struct kwhy_download *out, struct kwhy_error *error);
/* Deletes the downloaded file and its folder. */
void kwhy_download_done(struct kwhy_download *download);

/* Deletes the file and folder of the current download, if there is one. Signal handlers may call it. */
void kwhy_download_remove_unfinished(void);

/* Replaces the path of the downloaded file by the address (`shown`) in the message of an error. */
void kwhy_download_name(const struct kwhy_download *download, struct kwhy_error *error);

#endif
