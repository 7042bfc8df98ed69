/* SPDX-License-Identifier: Apache-2.0 */
#include "vendor/cublas.h"

#include "base/dso.h"

static const struct kwhy_dso_symbol symbols[] = {
#define X(name, need) {#name, offsetof(struct kwhy_cublas, name), KWHY_DSO_##need},
#include "vendor/cublas_symbols.def"
#undef X
};

static const char *const sonames[] = {
	"libcublas.so.13", "libcublas.so.12", "libcublas.so.11", "libcublas.so", NULL};

static const struct kwhy_dso_library library = {
	.title = "cuBLAS",
	.sonames = sonames,
	.symbols = symbols,
	.symbol_count = sizeof(symbols) / sizeof(symbols[0]),
	.table_bytes = sizeof(struct kwhy_cublas),
};

enum kwhy_status kwhy_cublas_open(struct kwhy_cublas *out, struct kwhy_error *error)
{
	struct kwhy_cublas cublas;
	void *handle = NULL;
	enum kwhy_status status = kwhy_dso_open(&library, &cublas, &handle, error);

	if (status)
		return status;
	cublas.library = handle;
	*out = cublas;
	return KWHY_OK;
}

void kwhy_cublas_close(struct kwhy_cublas *cublas)
{
	kwhy_dso_close(cublas->library);
	cublas->library = NULL;
}
