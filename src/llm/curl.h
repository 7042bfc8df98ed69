/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_LLM_CURL_H
#define KWHY_LLM_CURL_H

#include "base/status.h"
#include "base/text.h"

#include <curl/curl.h>

/*
 * The functions of libcurl that kwhy uses. libcurl is loaded at run time, because most commands of kwhy do
 * not need it. Only one thread may use this struct.
 */
struct kwhy_curl {
	CURLcode (*global_init)(long flags);
	void (*global_cleanup)(void);
	CURL *(*easy_init)(void);
	void (*easy_cleanup)(CURL *easy);
	CURLcode (*easy_setopt)(CURL *easy, CURLoption option, ...);
	CURLcode (*easy_getinfo)(CURL *easy, CURLINFO info, ...);
	CURLcode (*easy_perform)(CURL *easy);
	const char *(*easy_strerror)(CURLcode code);
	struct curl_slist *(*slist_append)(struct curl_slist *list, const char *line);
	void (*slist_free_all)(struct curl_slist *list);
	CURLM *(*multi_init)(void);
	CURLMcode (*multi_cleanup)(CURLM *multi);
	CURLMcode (*multi_add_handle)(CURLM *multi, CURL *easy);
	CURLMcode (*multi_remove_handle)(CURLM *multi, CURL *easy);
	CURLMcode (*multi_perform)(CURLM *multi, int *running);
	CURLMcode (*multi_poll)(
		CURLM *multi, struct curl_waitfd *others, unsigned count, int timeout_ms, int *ready);
	CURLMcode (*multi_setopt)(CURLM *multi, CURLMoption option, ...);
	CURLMcode (*multi_socket_action)(CURLM *multi, curl_socket_t socket, int events, int *running);
	CURLMcode (*multi_assign)(CURLM *multi, curl_socket_t socket, void *known);
	CURLMsg *(*multi_info_read)(CURLM *multi, int *left);
	void *library;
};

/* Loads libcurl. KWHY_E_UNSUPPORTED: this machine does not have it. */
KWHY_MUST_USE enum kwhy_status kwhy_curl_open(struct kwhy_curl *out, struct kwhy_error *error);
void kwhy_curl_close(struct kwhy_curl *curl);

/* Whether a URL begins with http:// or https://. */
bool kwhy_curl_is_url(const char *url);

/*
 * kwhy_curl_add_header() adds a line to a list of headers; kwhy_curl_add_token() adds the header
 * "Authorization" with a bearer token. The caller frees the list with slist_free_all(), also after a failure.
 * KWHY_E_USAGE: the token contains a line break.
 */
KWHY_MUST_USE enum kwhy_status kwhy_curl_add_header(
	struct kwhy_curl *curl, struct curl_slist **headers, const char *line, struct kwhy_error *error);
KWHY_MUST_USE enum kwhy_status kwhy_curl_add_token(
	struct kwhy_curl *curl, struct curl_slist **headers, const char *token, struct kwhy_error *error);

/*
 * Makes a request that uses no proxy and follows no redirection. It does not copy the headers, which must
 * outlive it. NULL: out of memory.
 */
CURL *kwhy_curl_new_request(struct kwhy_curl *curl, const char *url, const struct curl_slist *headers);

/* Makes a request append the body of its response to `out`. It fails if the body exceeds 16 MiB. */
void kwhy_curl_keep_body(struct kwhy_curl *curl, CURL *easy, struct kwhy_text *out);

#endif
