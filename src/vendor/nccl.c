/* SPDX-License-Identifier: Apache-2.0 */
#include "vendor/nccl.h"

#include "base/dso.h"

static const struct kwhy_dso_symbol symbols[] = {
#define X(name, need) {#name, offsetof(struct kwhy_nccl, name), KWHY_DSO_##need},
#include "vendor/nccl_symbols.def"
#undef X
};

static const char *const sonames[] = {"libnccl.so.2", "libnccl.so", NULL};

static const struct kwhy_dso_library library = {
	.title = "NCCL",
	.sonames = sonames,
	.symbols = symbols,
	.symbol_count = sizeof(symbols) / sizeof(symbols[0]),
	.table_bytes = sizeof(struct kwhy_nccl),
};

enum kwhy_status kwhy_nccl_open(struct kwhy_nccl *out, struct kwhy_error *error)
{
	struct kwhy_nccl nccl;
	void *handle = NULL;
	enum kwhy_status status = kwhy_dso_open(&library, &nccl, &handle, error);

	if (status)
		return status;
	nccl.library = handle;
	*out = nccl;
	return KWHY_OK;
}

void kwhy_nccl_close(struct kwhy_nccl *nccl)
{
	kwhy_dso_close(nccl->library);
	nccl->library = NULL;
}
