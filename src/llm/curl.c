/* SPDX-License-Identifier: Apache-2.0 */
#include "llm/curl.h"

#include "base/dso.h"

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
	ROW(multi_info_read),
};

/* One interface; distributions differ in the name, by the TLS below. */
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
