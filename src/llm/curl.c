/* SPDX-License-Identifier: Apache-2.0 */
#include "llm/curl.h"

#include "base/dso.h"

#include <string.h>

#define BODY_BYTES_MAX (16 << 20)

#define ROW(slot)                                                                  \
	{                                                                          \
		"curl_" #slot, offsetof(struct kwhy_curl, slot), KWHY_DSO_REQUIRED \
	}
static const struct kwhy_dso_symbol symbols[] = {
	ROW(global_init),
	ROW(global_cleanup),
	ROW(easy_init),
	ROW(easy_cleanup),
	ROW(easy_setopt),
	ROW(easy_getinfo),
	ROW(easy_perform),
	ROW(easy_strerror),
	ROW(slist_append),
	ROW(slist_free_all),
	ROW(multi_init),
	ROW(multi_cleanup),
	ROW(multi_add_handle),
	ROW(multi_remove_handle),
	ROW(multi_perform),
	ROW(multi_poll),
	ROW(multi_setopt),
	ROW(multi_socket_action),
	ROW(multi_assign),
	ROW(multi_info_read),
};

/*
 * File names of libcurl's shared library, which depend on the TLS library for which a distribution built it;
 * the interface is the same.
 */
static const char *const sonames[] = {
	"libcurl.so.4", "libcurl-gnutls.so.4", "libcurl-nss.so.4", "libcurl.so", NULL};

enum kwhy_status kwhy_curl_open(struct kwhy_curl *out, struct kwhy_error *error)
{
	static const struct kwhy_dso_library library = {
		.title = "libcurl (package libcurl4), which sends requests,",
		.sonames = sonames,
		.symbols = symbols,
		.symbol_count = sizeof(symbols) / sizeof(symbols[0]),
		.table_bytes = sizeof(struct kwhy_curl)};
	void *handle = NULL;
	enum kwhy_status status = kwhy_dso_open(&library, out, &handle, error);

	if (status)
		return status;
	out->library = handle;
	if (out->global_init(CURL_GLOBAL_DEFAULT) == CURLE_OK)
		return KWHY_OK;
	kwhy_dso_close(handle);
	return kwhy_fail(
		error, KWHY_E_UNSUPPORTED, "libcurl does not start here; install package libcurl4 anew");
}

void kwhy_curl_close(struct kwhy_curl *curl)
{
	curl->global_cleanup();
	kwhy_dso_close(curl->library);
}

bool kwhy_curl_is_url(const char *url)
{
	return strncmp(url, "http://", 7) == 0 || strncmp(url, "https://", 8) == 0;
}

enum kwhy_status kwhy_curl_add_header(
	struct kwhy_curl *curl, struct curl_slist **headers, const char *line, struct kwhy_error *error)
{
	struct curl_slist *longer = curl->slist_append(*headers, line);

	if (!longer)
		return kwhy_fail_memory(error, "the request's headers");
	*headers = longer;
	return KWHY_OK;
}

enum kwhy_status kwhy_curl_add_token(
	struct kwhy_curl *curl, struct curl_slist **headers, const char *token, struct kwhy_error *error)
{
	struct kwhy_text line = {0};
	enum kwhy_status status;

	if (strpbrk(token, "\r\n"))
		return kwhy_fail(error, KWHY_E_USAGE, "the key has a line break in it");
	kwhy_text_addf(&line, "Authorization: Bearer %s", token);
	status = kwhy_text_check(&line, error);
	if (!status)
		status = kwhy_curl_add_header(curl, headers, line.data, error);
	kwhy_text_done(&line);
	return status;
}

CURL *kwhy_curl_new_request(struct kwhy_curl *curl, const char *url, const struct curl_slist *headers)
{
	CURL *easy = curl->easy_init();

	if (!easy)
		return NULL;
	curl->easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
	curl->easy_setopt(easy, CURLOPT_PROXY, "");
	curl->easy_setopt(easy, CURLOPT_HTTPHEADER, headers);
	curl->easy_setopt(easy, CURLOPT_USERAGENT, "kwhy/" KWHY_VERSION);
	if (curl->easy_setopt(easy, CURLOPT_URL, url) == CURLE_OK)
		return easy;
	curl->easy_cleanup(easy);
	return NULL;
}

static size_t keep_bytes(char *bytes, size_t size, size_t count, void *context)
{
	struct kwhy_text *text = context;

	if (text->length + size * count > BODY_BYTES_MAX)
		return 0;
	kwhy_text_add_bytes(text, bytes, size * count);
	return text->failed ? 0 : size * count;
}

void kwhy_curl_keep_body(struct kwhy_curl *curl, CURL *easy, struct kwhy_text *out)
{
	curl->easy_setopt(easy, CURLOPT_WRITEFUNCTION, keep_bytes);
	curl->easy_setopt(easy, CURLOPT_WRITEDATA, out);
}
