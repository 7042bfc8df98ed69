/* SPDX-License-Identifier: Apache-2.0 */
#include "gpu/device.h"

#include "gpu/numa.h"

#include <string.h>
#include <sys/mman.h>

static enum kwhy_status memory_new(
	struct kwhy_gpu *gpu, size_t bytes, uint64_t *out_address, struct kwhy_error *error)
{
	struct kwhy_gpu_device *self = kwhy_gpu_device(gpu);
	kwhy_cuda_address address = 0;
	enum kwhy_status status = kwhy_gpu_device_check(
		self, self->driver.memory_new(&address, bytes), "allocate memory", error);

	if (!status)
		*out_address = address;
	return status;
}

static void memory_free(struct kwhy_gpu *gpu, uint64_t address)
{
	if (address)
		kwhy_gpu_device(gpu)->driver.memory_free(address);
}

static enum kwhy_status memory_share(
	struct kwhy_gpu *gpu, uint64_t address, struct kwhy_gpu_shared *out, struct kwhy_error *error)
{
	struct kwhy_gpu_device *self = kwhy_gpu_device(gpu);
	struct kwhy_cuda_shared handle;
	enum kwhy_status status = kwhy_gpu_device_check(self, self->driver.memory_share(&handle, address),
		"share its memory with another process", error);

	if (!status)
		memcpy(out->bytes, handle.bytes, sizeof(out->bytes));
	return status;
}

static enum kwhy_status memory_open(struct kwhy_gpu *gpu, const struct kwhy_gpu_shared *shared,
	uint64_t *out_address, struct kwhy_error *error)
{
	struct kwhy_gpu_device *self = kwhy_gpu_device(gpu);
	struct kwhy_cuda_shared handle;
	kwhy_cuda_address address = 0;
	enum kwhy_status status;

	memcpy(handle.bytes, shared->bytes, sizeof(handle.bytes));
	status = kwhy_gpu_device_check(self,
		self->driver.memory_open(&address, handle, KWHY_CUDA_SHARED_ENABLE_PEER),
		"reach the memory of another process", error);
	if (!status)
		*out_address = address;
	return status;
}

static void memory_close(struct kwhy_gpu *gpu, uint64_t address)
{
	if (address)
		kwhy_gpu_device(gpu)->driver.memory_close(address);
}

static enum kwhy_status pool_new(struct kwhy_gpu *gpu, struct kwhy_gpu_stream *stream, size_t bytes,
	uint64_t *out_address, struct kwhy_error *error)
{
	struct kwhy_gpu_device *self = kwhy_gpu_device(gpu);
	kwhy_cuda_address address = 0;
	enum kwhy_status status = kwhy_gpu_device_check(self,
		self->driver.pool_new(&address, bytes, kwhy_gpu_device_stream(self, stream)),
		"allocate memory from its pool", error);

	if (!status)
		*out_address = address;
	return status;
}

static enum kwhy_status pool_free(
	struct kwhy_gpu *gpu, struct kwhy_gpu_stream *stream, uint64_t address, struct kwhy_error *error)
{
	struct kwhy_gpu_device *self = kwhy_gpu_device(gpu);

	if (!address)
		return KWHY_OK;
	return kwhy_gpu_device_check(self,
		self->driver.pool_free(address, kwhy_gpu_device_stream(self, stream)),
		"give memory back to its pool", error);
}

/*
 * Maps out->bytes of host memory and touches them, on the NUMA node `numa_node` unless it is -1. If the
 * system refuses that node, the system chooses a node, and out->numa_node does not change.
 */
static enum kwhy_status map_pages(int numa_node, struct kwhy_gpu_host *out, struct kwhy_error *error)
{
	void *memory = mmap(NULL, out->bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (memory == MAP_FAILED)
		return kwhy_fail_memory(error, "host memory");
	if (numa_node >= 0 && kwhy_numa_bind(memory, out->bytes, numa_node))
		out->numa_node = numa_node;
	memset(memory, 0, out->bytes);
	out->memory = memory;
	return KWHY_OK;
}

static enum kwhy_status learn_address(
	struct kwhy_gpu_device *self, struct kwhy_gpu_host *host, struct kwhy_error *error)
{
	kwhy_cuda_address address = 0;
	enum kwhy_status status = kwhy_gpu_device_check(
		self, self->driver.host_address(&address, host->memory, 0), "reach pinned memory", error);

	if (!status)
		host->address = address;
	return status;
}

static enum kwhy_status new_pageable(
	struct kwhy_gpu_device *self, int numa_node, struct kwhy_gpu_host *out, struct kwhy_error *error)
{
	enum kwhy_status status = map_pages(numa_node, out, error);

	if (!status && self->pageable_access)
		out->address = kwhy_gpu_address(out->memory);
	return status;
}

static enum kwhy_status new_registered(
	struct kwhy_gpu_device *self, int numa_node, struct kwhy_gpu_host *out, struct kwhy_error *error)
{
	enum kwhy_status status = map_pages(numa_node, out, error);

	if (!status)
		status = kwhy_gpu_device_check(self,
			self->driver.host_register(out->memory, out->bytes,
				KWHY_CUDA_REGISTER_PORTABLE | KWHY_CUDA_REGISTER_MAPPED),
			"pin host memory (is ulimit -l too low?)", error);
	return status ? status : learn_address(self, out, error);
}

static enum kwhy_status new_pinned(
	struct kwhy_gpu_device *self, int numa_node, struct kwhy_gpu_host *out, struct kwhy_error *error)
{
	unsigned flags = KWHY_CUDA_HOST_PORTABLE | KWHY_CUDA_HOST_MAPPED |
		(out->kind == KWHY_GPU_HOST_WRITE_COMBINED ? KWHY_CUDA_HOST_WRITE_COMBINED : 0);
	struct kwhy_numa_policy before;
	bool is_preferred = numa_node >= 0 && kwhy_numa_prefer(numa_node, &before);
	enum kwhy_status status = kwhy_gpu_device_check(
		self, self->driver.pinned_new(&out->memory, out->bytes, flags), "pin host memory", error);

	if (is_preferred) {
		kwhy_numa_restore(&before);
		out->numa_node = numa_node;
	}
	if (status)
		out->memory = NULL;
	return status ? status : learn_address(self, out, error);
}

static enum kwhy_status new_managed(
	struct kwhy_gpu_device *self, struct kwhy_gpu_host *out, struct kwhy_error *error)
{
	kwhy_cuda_address address = 0;
	enum kwhy_status status;

	if (!self->gpu.facts.can_manage || !self->driver.managed_new)
		return kwhy_fail(error, KWHY_E_UNSUPPORTED,
			"%s has no managed memory that host and device use concurrently; leave it out",
			self->gpu.facts.name);
	status = kwhy_gpu_device_check(self,
		self->driver.managed_new(&address, out->bytes, KWHY_CUDA_MANAGED_GLOBAL),
		"allocate managed memory", error);
	if (status)
		return status;
	out->memory = kwhy_gpu_at(address);
	out->address = address;
	return KWHY_OK;
}

static void host_free(struct kwhy_gpu *gpu, struct kwhy_gpu_host *host)
{
	const struct kwhy_driver *driver = &kwhy_gpu_device(gpu)->driver;

	if (!host->memory)
		return;
	if (host->kind == KWHY_GPU_HOST_REGISTERED)
		driver->host_unregister(host->memory);
	if (host->kind == KWHY_GPU_HOST_REGISTERED || host->kind == KWHY_GPU_HOST_PAGEABLE)
		munmap(host->memory, host->bytes);
	else if (host->kind == KWHY_GPU_HOST_MANAGED)
		driver->memory_free(host->address);
	else
		driver->pinned_free(host->memory);
	*host = (struct kwhy_gpu_host){.numa_node = -1};
}

static enum kwhy_status host_new(struct kwhy_gpu *gpu, enum kwhy_gpu_host_kind kind, size_t bytes,
	int numa_node, struct kwhy_gpu_host *out, struct kwhy_error *error)
{
	struct kwhy_gpu_device *self = kwhy_gpu_device(gpu);
	enum kwhy_status status;

	*out = (struct kwhy_gpu_host){.bytes = bytes, .kind = kind, .numa_node = -1};
	if (kind == KWHY_GPU_HOST_PAGEABLE)
		status = new_pageable(self, numa_node, out, error);
	else if (kind == KWHY_GPU_HOST_REGISTERED)
		status = new_registered(self, numa_node, out, error);
	else if (kind == KWHY_GPU_HOST_MANAGED)
		status = new_managed(self, out, error);
	else
		status = new_pinned(self, numa_node, out, error);
	if (status)
		host_free(gpu, out);
	return status;
}

void kwhy_gpu_device_add_memory(struct kwhy_gpu_device *device)
{
	const struct kwhy_driver *driver = &device->driver;
	struct kwhy_gpu_ops *ops = &device->ops;

	ops->memory_new = memory_new;
	ops->memory_free = memory_free;
	ops->host_new = host_new;
	ops->host_free = host_free;
	if (driver->memory_share && driver->memory_open && driver->memory_close) {
		ops->memory_share = memory_share;
		ops->memory_open = memory_open;
		ops->memory_close = memory_close;
	}
	if (driver->pool_new && driver->pool_free &&
		kwhy_driver_attribute(driver, KWHY_DRIVER_MEMORY_POOLS, device->device)) {
		ops->pool_new = pool_new;
		ops->pool_free = pool_free;
	}
}
