/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/recordings/s3.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

static const char scheme[] = "s3://";

/* CURLOPT_AWS_SIGV4, which libcurl has since 7.75. Older headers of libcurl lack it. */
#define OPTION_AWS_SIGV4 ((CURLoption)(10000 + 305))

/* SHA-256 of an empty text: a request for an object has no body. */
#define EMPTY_SHA256 "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"

bool kwhy_s3_is_address(const char *text)
{
	return strncmp(text, scheme, sizeof(scheme) - 1) == 0;
}

/*
 * Gets the environment variable `name` or, if it is not set or empty, `other`. NULL: neither has a value.
 */
static const char *variable(const char *name, const char *other)
{
	const char *value = secure_getenv(name);

	if ((!value || !*value) && other)
		value = secure_getenv(other);
	return value && *value ? value : NULL;
}

/*
 * Adds an object's key in the encoding that S3's signatures need: bytes other than ASCII letters, digits and
 * -._~/ become %XX.
 */
static void add_key(struct kwhy_text *out, const char *key)
{
	for (; *key; key++)
		if (isalnum((unsigned char)*key) || strchr("-._~/", *key))
			kwhy_text_add_bytes(out, key, 1);
		else
			kwhy_text_addf(out, "%%%02X", (unsigned)(unsigned char)*key);
}

/*
 * Makes the URL of an object. On Amazon's servers the bucket's name is the first part of the host's name. If
 * it contains a dot, it is the first part of the path instead, because no certificate matches such a host. On
 * a server that AWS_ENDPOINT_URL_S3 or AWS_ENDPOINT_URL names, the bucket's name is always the first part of
 * the path.
 */
static void make_url(
	struct kwhy_s3 *out, const char *bucket, size_t length, const char *key, const char *region)
{
	const char *endpoint = variable("AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL");

	if (endpoint) {
		size_t end = strlen(endpoint);

		while (end && endpoint[end - 1] == '/')
			end--;
		kwhy_text_addf(&out->url, "%.*s/%.*s/", (int)end, endpoint, (int)length, bucket);
	} else if (memchr(bucket, '.', length)) {
		kwhy_text_addf(&out->url, "https://s3.%s.amazonaws.com/%.*s/", region, (int)length, bucket);
	} else {
		kwhy_text_addf(&out->url, "https://%.*s.s3.%s.amazonaws.com/", (int)length, bucket, region);
	}
	add_key(&out->url, key);
}

static enum kwhy_status add_headers(struct kwhy_curl *curl, struct kwhy_s3 *out, struct kwhy_error *error)
{
	const char *token = variable("AWS_SESSION_TOKEN", NULL);
	struct kwhy_text line = {0};
	enum kwhy_status status = kwhy_curl_add_header(
		curl, &out->headers, "x-amz-content-sha256: " EMPTY_SHA256, error);

	if (!status && token && strpbrk(token, "\r\n"))
		status = kwhy_fail(error, KWHY_E_USAGE, "AWS_SESSION_TOKEN has a line break in it");
	if (status || !token)
		return status;
	kwhy_text_addf(&line, "x-amz-security-token: %s", token);
	status = kwhy_text_check(&line, error);
	if (!status)
		status = kwhy_curl_add_header(curl, &out->headers, line.data, error);
	kwhy_text_done(&line);
	return status;
}

/*
 * Whether the text may be a bucket's name: letters, digits, '-', '.' and '_', and not dots alone. Other
 * characters could make the URL name another server.
 */
static bool is_bucket(const char *name, size_t length)
{
	size_t letters = 0;

	for (size_t i = 0; i < length; i++) {
		if (!isalnum((unsigned char)name[i]) && !strchr("-._", name[i]))
			return false;
		letters += name[i] != '.';
	}
	return letters > 0;
}

enum kwhy_status kwhy_s3_open(
	struct kwhy_curl *curl, const char *address, struct kwhy_s3 *out, struct kwhy_error *error)
{
	const char *bucket = address + sizeof(scheme) - 1, *slash = strchr(bucket, '/');
	const char *region = variable("AWS_REGION", "AWS_DEFAULT_REGION");
	enum kwhy_status status;

	if (!slash || slash == bucket || !slash[1])
		return kwhy_fail(error, KWHY_E_USAGE, "%.300s: write s3://BUCKET/KEY", address);
	if (!is_bucket(bucket, (size_t)(slash - bucket)))
		return kwhy_fail(error, KWHY_E_USAGE,
			"%.300s: '%.*s' is no name of a bucket, which has letters, digits, '-', '.' and '_' "
			"alone",
			address, (int)(slash - bucket > 100 ? 100 : slash - bucket), bucket);
	region = region ? region : "us-east-1";
	make_url(out, bucket, (size_t)(slash - bucket), slash + 1, region);
	kwhy_text_addf(&out->signer, "aws:amz:%s:s3", region);
	status = kwhy_text_check(&out->url, error);
	if (!status)
		status = kwhy_text_check(&out->signer, error);
	out->key_id = variable("AWS_ACCESS_KEY_ID", NULL);
	out->secret = variable("AWS_SECRET_ACCESS_KEY", NULL);
	if (!out->key_id || !out->secret)
		out->key_id = out->secret = NULL; /* without both credentials the request is not signed, which
						     suffices for buckets that everybody may read */
	return status || !out->key_id ? status : add_headers(curl, out, error);
}

enum kwhy_status kwhy_s3_sign(
	struct kwhy_curl *curl, CURL *easy, const struct kwhy_s3 *s3, struct kwhy_error *error)
{
	CURLcode code;

	if (!s3->key_id)
		return KWHY_OK;
	code = curl->easy_setopt(easy, OPTION_AWS_SIGV4, s3->signer.data);
	if (code == CURLE_UNKNOWN_OPTION)
		return kwhy_fail(error, KWHY_E_UNSUPPORTED,
			"this libcurl cannot sign requests to S3; install libcurl 7.75 or later, or give an "
			"https address");
	if (code == CURLE_OK)
		code = curl->easy_setopt(easy, CURLOPT_USERNAME, s3->key_id);
	if (code == CURLE_OK)
		code = curl->easy_setopt(easy, CURLOPT_PASSWORD, s3->secret);
	return code == CURLE_OK ? KWHY_OK : kwhy_fail_memory(error, "a download");
}

void kwhy_s3_close(struct kwhy_curl *curl, struct kwhy_s3 *s3)
{
	curl->slist_free_all(s3->headers);
	kwhy_text_done(&s3->url);
	kwhy_text_done(&s3->signer);
	*s3 = (struct kwhy_s3){0};
}
