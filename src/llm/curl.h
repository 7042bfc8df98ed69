/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_LLM_CURL_H
#define KWHY_LLM_CURL_H

#include "base/status.h"
#include "base/text.h"

#include <curl/curl.h>

/* The calls of libcurl that we make, opened at run time: nothing else of kwhy needs it. One thread. */
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
	CURLMsg *(*multi_info_read)(CURLM *multi, int *left);
	void *library;
};

/* KWHY_E_UNSUPPORTED: no libcurl on this machine. */
KWHY_MUST_USE enum kwhy_status kwhy_curl_open(struct kwhy_curl *out, struct kwhy_error *error);
void kwhy_curl_close(struct kwhy_curl *curl);

/* Whether it begins as an address of http or https does. */
bool kwhy_curl_is_url(const char *url);

/* Adds a line to a list of headers, which the caller frees; and the one of a bearer token, KWHY_E_USAGE where
 * that has a line break. */
KWHY_MUST_USE enum kwhy_status kwhy_curl_add_header(
	struct kwhy_curl *curl, struct curl_slist **headers, const char *line, struct kwhy_error *error);
KWHY_MUST_USE enum kwhy_status kwhy_curl_add_token(
	struct kwhy_curl *curl, struct curl_slist **headers, const char *token, struct kwhy_error *error);

/* A request without a proxy, from which redirections are not followed. NULL: no memory. The headers are
 * borrowed.
 */
CURL *kwhy_curl_new_request(struct kwhy_curl *curl, const char *url, const struct curl_slist *headers);

/* Lets a request put the body of its answer behind what `out` holds, 16 MiB at most. */
void kwhy_curl_keep_body(struct kwhy_curl *curl, CURL *easy, struct kwhy_text *out);

#endif
