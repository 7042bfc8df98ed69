/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_CLI_RECORDINGS_S3_H
#define KWHY_CLI_RECORDINGS_S3_H

#include "base/status.h"
#include "base/text.h"
#include "llm/curl.h"

#include <stdbool.h>

/* A request for an object in S3. Must be zero-initialised. */
struct kwhy_s3 {
	/* url: URL of the object; signer: value of CURLOPT_AWS_SIGV4, "aws:amz:REGION:s3" */
	struct kwhy_text url, signer;
	const char *key_id, *secret; /* credentials from the environment; NULL: the request is not signed */
	struct curl_slist *headers;
};

bool kwhy_s3_is_address(const char *text);

/*
 * Reads bucket and key from an address s3://BUCKET/KEY; region, endpoint and credentials are from environment
 * variables. KWHY_E_USAGE: the address lacks bucket or key, or the bucket's name is invalid. The caller calls
 * kwhy_s3_close(), also after a failure.
 */
KWHY_MUST_USE enum kwhy_status kwhy_s3_open(
	struct kwhy_curl *curl, const char *address, struct kwhy_s3 *out, struct kwhy_error *error);
/*
 * Makes libcurl sign the request `easy`, if there are credentials. KWHY_E_UNSUPPORTED: this libcurl cannot
 * sign requests.
 */
KWHY_MUST_USE enum kwhy_status kwhy_s3_sign(
	struct kwhy_curl *curl, CURL *easy, const struct kwhy_s3 *s3, struct kwhy_error *error);
void kwhy_s3_close(struct kwhy_curl *curl, struct kwhy_s3 *s3);

#endif
