/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_CLI_RECORDINGS_S3_H
#define KWHY_CLI_RECORDINGS_S3_H

#include "base/status.h"
#include "base/text.h"
#include "llm/curl.h"

#include <stdbool.h>

/* A request for an object in S3. Initialise it with zeros. */
struct kwhy_s3 {
	struct kwhy_text url, signer; /* address of the object; what libcurl signs for: "aws:amz:REGION:s3" */
	const char *key_id, *secret;  /* of the environment; NULL: the request is not signed */
	struct curl_slist *headers;
};

bool kwhy_s3_is_address(const char *text);

/*
 * Takes bucket and key from an address s3://BUCKET/KEY, the rest from the environment. KWHY_E_USAGE: the
 * address lacks one of them.
 */
KWHY_MUST_USE enum kwhy_status kwhy_s3_open(
	struct kwhy_curl *curl, const char *address, struct kwhy_s3 *out, struct kwhy_error *error);
/* Has libcurl sign the request. KWHY_E_UNSUPPORTED: this libcurl cannot. */
KWHY_MUST_USE enum kwhy_status kwhy_s3_sign(
	struct kwhy_curl *curl, CURL *easy, const struct kwhy_s3 *s3, struct kwhy_error *error);
void kwhy_s3_close(struct kwhy_curl *curl, struct kwhy_s3 *s3);

#endif
