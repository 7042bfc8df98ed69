/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/live/otlp.h"

#include "base/decimal.h"
#include "llm/curl.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MS_NS INT64_C(1000000)
enum { INTERVAL_DEFAULT_MS = 60000, INTERVAL_MIN_MS = 100, INTERVAL_MAX_MS = 86400000 };
enum { TIMEOUT_S = 10, LAST_TIMEOUT_MS = 3000, BUSY_MS = 50, MESSAGE_BYTES = 400 };

struct kwhy_otlp {
	struct kwhy_curl curl;
	bool is_open; /* libcurl was loaded */
	CURLM *multi;
	CURL *request; /* request that is in flight; NULL: there is none */
	struct curl_slist *headers;
	char *url;
	struct kwhy_text body, answer;
	int64_t interval_ns, due_ns; /* interval_ns: time between two requests; due_ns: time of the next
					request, CLOCK_MONOTONIC */
	bool has_failed;	     /* the last request failed, and a message said so */
	char message[MESSAGE_BYTES];
};

/* Appends a header's value, in which %XX (two hexadecimal digits) stands for a byte, as in W3C Baggage. */
static void add_decoded(struct kwhy_text *line, const char *at, size_t length)
{
	for (size_t i = 0; i < length; i++) {
		char byte = at[i];

		if (byte == '%' && i + 2 < length && isxdigit((unsigned char)at[i + 1]) &&
			isxdigit((unsigned char)at[i + 2])) {
			const char digits[] = {at[i + 1], at[i + 2], '\0'};

			byte = (char)strtoul(digits, NULL, 16);
			i += 2;
		}
		kwhy_text_add_bytes(line, &byte, 1);
	}
}

/* Adds the content type, and the headers that OTEL_EXPORTER_OTLP_HEADERS lists as "name=value,name=value". */
static enum kwhy_status add_headers(struct kwhy_otlp *otlp, struct kwhy_error *error)
{
	const char *at = secure_getenv("OTEL_EXPORTER_OTLP_HEADERS");
	enum kwhy_status status = kwhy_curl_add_header(
		&otlp->curl, &otlp->headers, "Content-Type: application/json", error);

	while (!status && at && *at) {
		size_t length = strcspn(at += strspn(at, " \t"), ",");
		const char *equals = memchr(at, '=', length);
		struct kwhy_text line = {0};

		if (!equals || memchr(at, '\n', length) || memchr(at, '\r', length))
			return kwhy_fail(error, KWHY_E_USAGE,
				"OTEL_EXPORTER_OTLP_HEADERS is name=value,name=value, without line breaks");
		kwhy_text_add_bytes(&line, at, (size_t)(equals - at));
		kwhy_text_add(&line, ": ");
		add_decoded(&line, equals + 1, length - (size_t)(equals + 1 - at));
		status = kwhy_text_check(&line, error);
		if (!status && (strpbrk(line.data, "\r\n") || strlen(line.data) != line.length))
			status = kwhy_fail(error, KWHY_E_USAGE,
				"OTEL_EXPORTER_OTLP_HEADERS has a line break or a zero byte in a value");
		if (!status)
			status = kwhy_curl_add_header(&otlp->curl, &otlp->headers, line.data, error);
		kwhy_text_done(&line);
		at += length + (at[length] == ',');
	}
	return status;
}

static enum kwhy_status set_interval(struct kwhy_otlp *otlp, struct kwhy_error *error)
{
	const char *text = secure_getenv("OTEL_METRIC_EXPORT_INTERVAL");
	int64_t interval_ms = INTERVAL_DEFAULT_MS;

	if (text && *text &&
		!kwhy_decimal_within((struct kwhy_span){text, strlen(text)}, INTERVAL_MIN_MS, INTERVAL_MAX_MS,
			&interval_ms))
		return kwhy_fail(error, KWHY_E_USAGE,
			"OTEL_METRIC_EXPORT_INTERVAL takes %d to %d milliseconds, not '%.60s'",
			INTERVAL_MIN_MS, INTERVAL_MAX_MS, text);
	otlp->interval_ns = interval_ms * MS_NS;
	return KWHY_OK;
}

static enum kwhy_status set_url(struct kwhy_otlp *otlp, const char *url, struct kwhy_error *error)
{
	static const char path[] = "/v1/metrics";
	size_t length = strlen(url);
	struct kwhy_text text = {0};
	enum kwhy_status status;

	if (!kwhy_curl_is_url(url))
		return kwhy_fail(error, KWHY_E_USAGE,
			"--otlp takes a URL like http://collector:4318, not '%.60s'", url);
	while (length > 0 && url[length - 1] == '/')
		length--;
	kwhy_text_add_bytes(&text, url, length);
	if (length < strlen(path) || memcmp(url + length - strlen(path), path, strlen(path)) != 0)
		kwhy_text_add(&text, path);
	status = kwhy_text_check(&text, error);
	otlp->url = text.data;
	return status;
}

enum kwhy_status kwhy_otlp_open(const char *url, struct kwhy_otlp **out, struct kwhy_error *error)
{
	struct kwhy_otlp *otlp = calloc(1, sizeof(*otlp));
	enum kwhy_status status;

	if (!otlp)
		return kwhy_fail_memory(error, "the OTLP requests");
	status = set_url(otlp, url, error);
	if (!status)
		status = set_interval(otlp, error);
	if (!status)
		status = kwhy_curl_open(&otlp->curl, error);
	otlp->is_open = !status;
	if (!status)
		status = add_headers(otlp, error);
	if (!status && !(otlp->multi = otlp->curl.multi_init()))
		status = kwhy_fail_memory(error, "the OTLP requests");
	if (status) {
		kwhy_otlp_close(otlp);
		return status;
	}
	*out = otlp;
	return KWHY_OK;
}

static void end_request(struct kwhy_otlp *otlp)
{
	if (!otlp->request)
		return;
	otlp->curl.multi_remove_handle(otlp->multi, otlp->request);
	otlp->curl.easy_cleanup(otlp->request);
	otlp->request = NULL;
}

void kwhy_otlp_close(struct kwhy_otlp *otlp)
{
	const char *message;

	if (!otlp)
		return;
	for (int waited_ms = 0; otlp->request && waited_ms < LAST_TIMEOUT_MS; waited_ms += BUSY_MS) {
		otlp->curl.multi_poll(otlp->multi, NULL, 0, BUSY_MS, NULL);
		(void)kwhy_otlp_tick(otlp, 0, &message);
	}
	end_request(otlp);
	if (otlp->multi)
		otlp->curl.multi_cleanup(otlp->multi);
	if (otlp->headers)
		otlp->curl.slist_free_all(otlp->headers);
	if (otlp->is_open)
		kwhy_curl_close(&otlp->curl);
	kwhy_text_done(&otlp->body);
	kwhy_text_done(&otlp->answer);
	free(otlp->url);
	free(otlp);
}

bool kwhy_otlp_is_due(const struct kwhy_otlp *otlp, int64_t now_mono_ns)
{
	return !otlp->request && now_mono_ns >= otlp->due_ns;
}

void kwhy_otlp_send(struct kwhy_otlp *otlp, const struct kwhy_otlp_figures *figures, int64_t now_mono_ns)
{
	otlp->due_ns = now_mono_ns + otlp->interval_ns;
	kwhy_text_clear(&otlp->body);
	kwhy_text_clear(&otlp->answer);
	kwhy_otlp_write(figures, &otlp->body);
	if (otlp->body.failed)
		return; /* out of memory: this request is left out, which loses no energy, because the sums in
			   the next one include it */
	otlp->request = kwhy_curl_new_request(&otlp->curl, otlp->url, otlp->headers);
	if (!otlp->request)
		return;
	otlp->curl.easy_setopt(otlp->request, CURLOPT_POSTFIELDS, otlp->body.data);
	otlp->curl.easy_setopt(otlp->request, CURLOPT_POSTFIELDSIZE, (long)otlp->body.length);
	otlp->curl.easy_setopt(otlp->request, CURLOPT_TIMEOUT, (long)TIMEOUT_S);
	kwhy_curl_keep_body(&otlp->curl, otlp->request, &otlp->answer);
	otlp->curl.multi_add_handle(otlp->multi, otlp->request);
}

/*
 * Whether the collector's answer says that it dropped points:
 * {"partialSuccess":{"rejectedDataPoints":"3"}}.
 */
static bool is_partial(const struct kwhy_text *answer)
{
	static const char key[] = "\"rejectedDataPoints\"";
	const char *found = answer->data ? strstr(answer->data, key) : NULL;

	if (!found)
		return false;
	found += strlen(key);
	found += strspn(found, " \t\r\n:\"");
	return *found >= '1' && *found <= '9';
}

static const char *judge(struct kwhy_otlp *otlp, CURLcode code)
{
	const bool had_failed = otlp->has_failed;
	long status = 0;

	otlp->curl.easy_getinfo(otlp->request, CURLINFO_RESPONSE_CODE, &status);
	otlp->has_failed = code != CURLE_OK || status < 200 || status > 299 || is_partial(&otlp->answer);
	if (!otlp->has_failed)
		return had_failed ? "the OTLP collector takes figures again" : NULL;
	if (had_failed)
		return NULL;
	if (code != CURLE_OK)
		snprintf(otlp->message, sizeof(otlp->message),
			"%.200s: the OTLP collector does not answer: %s; the next request has all figures",
			otlp->url, otlp->curl.easy_strerror(code));
	else
		snprintf(otlp->message, sizeof(otlp->message),
			"%.200s: the OTLP collector refuses %s (HTTP %ld); look at its log and at "
			"OTEL_EXPORTER_OTLP_HEADERS",
			otlp->url, is_partial(&otlp->answer) ? "some figures" : "the figures", status);
	return otlp->message;
}

static int wait_ms(const struct kwhy_otlp *otlp, int64_t now_mono_ns)
{
	return otlp->due_ns > now_mono_ns ? (int)((otlp->due_ns - now_mono_ns) / MS_NS) + 1 : 0;
}

int kwhy_otlp_tick(struct kwhy_otlp *otlp, int64_t now_mono_ns, const char **out_message)
{
	int running, left;
	CURLMsg *done;

	*out_message = NULL;
	if (!otlp->request)
		return wait_ms(otlp, now_mono_ns);
	otlp->curl.multi_perform(otlp->multi, &running);
	done = otlp->curl.multi_info_read(otlp->multi, &left);
	if (!done || done->msg != CURLMSG_DONE)
		return BUSY_MS;
	*out_message = judge(otlp, done->data.result);
	end_request(otlp);
	return wait_ms(otlp, now_mono_ns);
}
