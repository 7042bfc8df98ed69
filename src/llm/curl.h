/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_LLM_CURL_H
#define KWHY_LLM_CURL_H

#include "base/status.h"
#include "base/text.h"

#include <curl/curl.h>

/*
 * The libcurl functions that kwhy uses, loaded at run time, as the rest of kwhy does not need libcurl. For
 * one thread.
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
	CURLMsg *(*multi_info_read)(CURLM *multi, int *left);
	void *library;
};

/* Loads libcurl. KWHY_E_UNSUPPORTED: this machine has none. */
KWHY_MUST_USE enum kwhy_status kwhy_curl_open(struct kwhy_curl *out, struct kwhy_error *error);
void kwhy_curl_close(struct kwhy_curl *curl);

/* Whether a URL begins with http:// or https://. */
bool kwhy_curl_is_url(const char *url);

/*
 * Add a line, or the header of a bearer token, to a list of headers, which the caller frees. KWHY_E_USAGE:
 * the token has a line break.
 */
KWHY_MUST_USE enum kwhy_status kwhy_curl_add_header(
	struct kwhy_curl *curl, struct curl_slist **headers, const char *line, struct kwhy_error *error);
KWHY_MUST_USE enum kwhy_status kwhy_curl_add_token(
	struct kwhy_curl *curl, struct curl_slist **headers, const char *token, struct kwhy_error *error);

/* Makes a request without proxies and redirections; NULL: out of memory. The headers are borrowed. */
CURL *kwhy_curl_new_request(struct kwhy_curl *curl, const char *url, const struct curl_slist *headers);

/* Makes a request append the body of its answer to `out`, up to 16 MiB. */
void kwhy_curl_keep_body(struct kwhy_curl *curl, CURL *easy, struct kwhy_text *out);

#endif
