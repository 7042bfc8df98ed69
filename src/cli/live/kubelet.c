/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/live/kubelet.h"

#include "base/clock.h"
#include "base/decimal.h"
#include "llm/curl.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PERIOD_NS INT64_C(10000000000)
#define FRESH_NS INT64_C(300000000000)
enum { TIMEOUT_MS = 5000, FIRST_MS = 1000, TICK_MS = 20, PATH_BYTES = 320, MESSAGE_BYTES = 700 };

struct kwhy_kubelet {
	char path[PATH_BYTES]; /* path of the socket */
	struct kwhy_curl curl;
	bool is_open; /* libcurl was loaded */
	CURLM *multi;
	CURL *request; /* request that is in flight; NULL: there is none */
	struct curl_slist *headers;
	struct kwhy_text answer;
	int64_t grpc_status; /* gRPC status of the request's answer; -1: not known yet */
	struct kwhy_allocations allocations;
	int64_t due_ns,
		answered_ns; /* times on CLOCK_MONOTONIC: of the next request, and of the last answer */
	bool has_failed;     /* the last request failed, and a message said so */
	char message[MESSAGE_BYTES];
};

/*
 * libcurl's callback for each header and trailer of an answer: stores the gRPC status of the call, which is
 * in a header or trailer of that name, in kubelet->grpc_status.
 */
static size_t take_header(char *bytes, size_t size, size_t count, void *context)
{
	static const char name[] = "grpc-status:";
	struct kwhy_kubelet *kubelet = context;
	const size_t length = size * count, skip = sizeof(name) - 1;
	struct kwhy_span value;

	if (length <= skip || memcmp(bytes, name, skip) != 0)
		return length;
	value = (struct kwhy_span){bytes + skip, length - skip};
	while (value.length > 0 && strchr(" \r\n", *value.bytes))
		value = (struct kwhy_span){value.bytes + 1, value.length - 1};
	while (value.length > 0 && strchr(" \r\n", value.bytes[value.length - 1]))
		value.length--;
	if (!kwhy_decimal_within(value, 0, 1000, &kubelet->grpc_status))
		kubelet->grpc_status = -1;
	return length;
}

static enum kwhy_status open_curl(struct kwhy_kubelet *kubelet, struct kwhy_error *error)
{
	static const char *const lines[] = {"Content-Type: application/grpc", "TE: trailers"};
	enum kwhy_status status = KWHY_OK;

	if (!kubelet->is_open)
		status = kwhy_curl_open(&kubelet->curl, error);
	if (status)
		return status;
	kubelet->is_open = true;
	for (size_t i = 0; !status && !kubelet->multi && i < sizeof(lines) / sizeof(lines[0]); i++)
		status = kwhy_curl_add_header(&kubelet->curl, &kubelet->headers, lines[i], error);
	if (!status && !kubelet->multi && !(kubelet->multi = kubelet->curl.multi_init()))
		status = kwhy_fail_memory(error, "the request to the kubelet");
	return status;
}

/* Starts a request, whose body is an empty gRPC message. */
static enum kwhy_status begin(struct kwhy_kubelet *kubelet, struct kwhy_error *error)
{
	static const char empty[5];
	struct kwhy_curl *curl = &kubelet->curl;
	enum kwhy_status status = open_curl(kubelet, error);
	CURL *request;

	if (status)
		return status;
	request = kwhy_curl_new_request(
		curl, "http://localhost/v1.PodResourcesLister/List", kubelet->headers);
	if (!request)
		return kwhy_fail_memory(error, "the request to the kubelet");
	kwhy_text_clear(&kubelet->answer);
	kubelet->grpc_status = -1;
	curl->easy_setopt(request, CURLOPT_POSTFIELDS, empty);
	curl->easy_setopt(request, CURLOPT_POSTFIELDSIZE, (long)sizeof(empty));
	curl->easy_setopt(request, CURLOPT_TIMEOUT_MS, (long)TIMEOUT_MS);
	/*
	 * each request gets a connection of its own, because libcurl 7.88 sends nothing on an HTTP/2
	 * connection that it has kept from an earlier request
	 */
	curl->easy_setopt(request, CURLOPT_FORBID_REUSE, 1L);
	curl->easy_setopt(request, CURLOPT_HEADERFUNCTION, take_header);
	curl->easy_setopt(request, CURLOPT_HEADERDATA, kubelet);
	kwhy_curl_keep_body(curl, request, &kubelet->answer);
	if (curl->easy_setopt(request, CURLOPT_UNIX_SOCKET_PATH, kubelet->path) != CURLE_OK ||
		curl->easy_setopt(request, CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_2_PRIOR_KNOWLEDGE) !=
			CURLE_OK) {
		curl->easy_cleanup(request);
		return kwhy_fail(error, KWHY_E_UNSUPPORTED, "this libcurl lacks HTTP/2 or sockets of Unix");
	}
	kubelet->request = request;
	curl->multi_add_handle(kubelet->multi, request);
	return KWHY_OK;
}

static void end_request(struct kwhy_kubelet *kubelet)
{
	if (!kubelet->request)
		return;
	kubelet->curl.multi_remove_handle(kubelet->multi, kubelet->request);
	kubelet->curl.easy_cleanup(kubelet->request);
	kubelet->request = NULL;
}

static enum kwhy_status judge(struct kwhy_kubelet *kubelet, CURLcode code, struct kwhy_error *error)
{
	long http_status = 0;

	kubelet->curl.easy_getinfo(kubelet->request, CURLINFO_RESPONSE_CODE, &http_status);
	if (code == CURLE_COULDNT_CONNECT && access(kubelet->path, R_OK | W_OK))
		return kwhy_fail(error, KWHY_E_IO, "only root may connect to it; run kwhy serve as root");
	if (code != CURLE_OK)
		return kwhy_fail(error, KWHY_E_IO, "%s", kubelet->curl.easy_strerror(code));
	if (http_status != 200)
		return kwhy_fail(error, KWHY_E_IO, "it answers with HTTP %ld", http_status);
	if (kubelet->grpc_status > 0)
		return kwhy_fail(
			error, KWHY_E_IO, "it answers with gRPC's status %d", (int)kubelet->grpc_status);
	if (kubelet->grpc_status < 0)
		return kwhy_fail(error, KWHY_E_IO, "its answer is cut off");
	return KWHY_OK;
}

static enum kwhy_status take_answer(struct kwhy_kubelet *kubelet, int64_t now_ns, struct kwhy_error *error)
{
	struct kwhy_allocations listed = {.version = kubelet->allocations.version + 1};
	enum kwhy_status status = kwhy_kubelet_read(
		kubelet->answer.data, kubelet->answer.length, &listed, error);

	if (!status)
		kubelet->answered_ns = now_ns;
	if (!status && !kwhy_allocations_are_same(&listed, &kubelet->allocations)) {
		struct kwhy_allocations before = kubelet->allocations;

		kubelet->allocations = listed;
		listed = before;
	}
	kwhy_allocations_done(&listed);
	return status;
}

/*
 * Stores whether the last request failed (`status`). Returns a message for the user if only one of this
 * request and the one before it failed; NULL: both failed or both succeeded.
 */
static const char *report(
	struct kwhy_kubelet *kubelet, enum kwhy_status status, const struct kwhy_error *error)
{
	const bool had_failed = kubelet->has_failed;

	kubelet->has_failed = status != KWHY_OK;
	if (had_failed == kubelet->has_failed)
		return NULL;
	if (!status)
		return "the kubelet says again which pods hold which GPUs";
	snprintf(kubelet->message, sizeof(kubelet->message),
		"%s: the kubelet does not say which pods hold which GPUs: %.300s", kubelet->path,
		error->text);
	return kubelet->message;
}

/*
 * Continues the request for at most wait_ms, and reads its answer if that arrives. Returns a message for the
 * user, or NULL.
 */
static const char *carry_on(struct kwhy_kubelet *kubelet, int64_t now_ns, int wait_ms)
{
	const int64_t until_ns = kwhy_clock_mono_ns() + wait_ms * INT64_C(1000000);
	struct kwhy_error error;
	enum kwhy_status status;
	CURLMsg *done = NULL;
	int running, left;

	for (;;) {
		kubelet->curl.multi_perform(kubelet->multi, &running);
		done = kubelet->curl.multi_info_read(kubelet->multi, &left);
		left = (int)((until_ns - kwhy_clock_mono_ns()) / 1000000);
		if (done || left <= 0)
			break;
		kubelet->curl.multi_poll(kubelet->multi, NULL, 0, left, NULL);
	}
	if (!done || done->msg != CURLMSG_DONE)
		return NULL;
	status = judge(kubelet, done->data.result, &error);
	if (!status)
		status = take_answer(kubelet, now_ns, &error);
	end_request(kubelet);
	return report(kubelet, status, &error);
}

static void drop_old(struct kwhy_kubelet *kubelet, int64_t now_ns)
{
	if (!kubelet->allocations.count || now_ns - kubelet->answered_ns < FRESH_NS)
		return;
	kwhy_allocations_done(&kubelet->allocations);
	kubelet->allocations.version++;
}

static const char *ask(struct kwhy_kubelet *kubelet, int64_t now_ns, int wait_ms)
{
	struct kwhy_error error;
	enum kwhy_status status;

	drop_old(kubelet, now_ns);
	if (!kubelet->request) {
		if (now_ns < kubelet->due_ns)
			return NULL;
		kubelet->due_ns = now_ns + PERIOD_NS;
		if (access(kubelet->path, F_OK))
			return NULL;
		status = begin(kubelet, &error);
		if (status)
			return report(kubelet, status, &error);
	}
	return carry_on(kubelet, now_ns, wait_ms);
}

enum kwhy_status kwhy_kubelet_open(const char *root, struct kwhy_kubelet **out, struct kwhy_error *error)
{
	struct kwhy_kubelet *kubelet = calloc(1, sizeof(*kubelet));

	if (!kubelet)
		return kwhy_fail_memory(error, "the request to the kubelet");
	snprintf(kubelet->path, sizeof(kubelet->path), "%s/var/lib/kubelet/pod-resources/kubelet.sock",
		root && strcmp(root, "/") != 0 ? root : "");
	*out = kubelet;
	return KWHY_OK;
}

const char *kwhy_kubelet_tick(struct kwhy_kubelet *kubelet, int64_t now_mono_ns)
{
	const bool is_first = !kubelet->due_ns;

	return ask(kubelet, now_mono_ns, is_first ? FIRST_MS : TICK_MS);
}

bool kwhy_kubelet_is_asking(const struct kwhy_kubelet *kubelet)
{
	return kubelet->request != NULL;
}

void kwhy_kubelet_close(struct kwhy_kubelet *kubelet)
{
	if (!kubelet)
		return;
	end_request(kubelet);
	if (kubelet->multi)
		kubelet->curl.multi_cleanup(kubelet->multi);
	if (kubelet->headers)
		kubelet->curl.slist_free_all(kubelet->headers);
	if (kubelet->is_open)
		kwhy_curl_close(&kubelet->curl);
	kwhy_text_done(&kubelet->answer);
	kwhy_allocations_done(&kubelet->allocations);
	free(kubelet);
}

const struct kwhy_allocations *kwhy_kubelet_allocations(const struct kwhy_kubelet *kubelet)
{
	return &kubelet->allocations;
}
