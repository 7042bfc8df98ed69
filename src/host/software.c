/* SPDX-License-Identifier: Apache-2.0 */
#include "base/dso.h"
#include "host/facts.h"

#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>

struct nccl {
	int (*get_version)(int *out); /* ncclGetVersion(); returns 0 on success */
};

static void read_nccl(struct kwhy_host_facts *facts)
{
	static const char *const sonames[] = {"libnccl.so.2", NULL};
	static const struct kwhy_dso_symbol symbols[] = {
		{"ncclGetVersion", offsetof(struct nccl, get_version), KWHY_DSO_REQUIRED}};
	static const struct kwhy_dso_library library = {.title = "NCCL",
		.sonames = sonames,
		.symbols = symbols,
		.symbol_count = 1,
		.table_bytes = sizeof(struct nccl)};
	struct kwhy_error error;
	struct nccl nccl;
	void *handle;
	int version;

	if (kwhy_dso_open(&library, &nccl, &handle, &error))
		return;
	if (nccl.get_version(&version) == 0)
		facts->nccl_version = version;
	kwhy_dso_close(handle);
}

/* Whether the MPS daemon runs: it makes the pipe `control`, to which its clients connect, in this folder. */
static bool has_mps(const struct kwhy_host_facts *facts)
{
	const char *folder = secure_getenv("CUDA_MPS_PIPE_DIRECTORY");
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "%s/control", folder ? folder : "/tmp/nvidia-mps");
	return kwhy_host_exists(facts, path);
}

static bool can_load(const char *soname)
{
	void *library = dlopen(soname, RTLD_LAZY | RTLD_LOCAL);

	if (library)
		dlclose(library);
	return library;
}

void kwhy_host_read_software(struct kwhy_host_facts *facts)
{
	facts->gpu_devices = kwhy_host_exists(facts, "/dev/nvidiactl");
	facts->has_nvml = can_load("libnvidia-ml.so.1");
	facts->has_cuda = can_load("libcuda.so.1");
	read_nccl(facts);
	facts->mps = has_mps(facts);
}
