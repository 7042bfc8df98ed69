/* SPDX-License-Identifier: Apache-2.0 */
#include "vendor/cublaslt.h"

#include "base/dso.h"

static const struct kwhy_dso_symbol symbols[] = {
#define X(name, need) {#name, offsetof(struct kwhy_cublaslt, name), KWHY_DSO_##need},
#include "vendor/cublaslt_symbols.def"
#undef X
};

static const char *const sonames[] = {"libcublasLt.so.13", "libcublasLt.so.12", "libcublasLt.so", NULL};

static const struct kwhy_dso_library library = {
	.title = "cuBLASLt",
	.sonames = sonames,
	.symbols = symbols,
	.symbol_count = sizeof(symbols) / sizeof(symbols[0]),
	.table_bytes = sizeof(struct kwhy_cublaslt),
};

enum kwhy_status kwhy_cublaslt_open(struct kwhy_cublaslt *out, struct kwhy_error *error)
{
	struct kwhy_cublaslt lt;
	void *handle = NULL;
	enum kwhy_status status = kwhy_dso_open(&library, &lt, &handle, error);

	if (status)
		return status;
	lt.library = handle;
	*out = lt;
	return KWHY_OK;
}

void kwhy_cublaslt_close(struct kwhy_cublaslt *lt)
{
	kwhy_dso_close(lt->library);
	lt->library = NULL;
}
