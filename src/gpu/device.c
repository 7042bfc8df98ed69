/* SPDX-License-Identifier: Apache-2.0 */
#include "gpu/device.h"

#include "gpu/backend.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>

/*
 * Whether a result means that the context is unusable: every later call then gives the same result, and only
 * a new process can use the GPU again (CUDA's documentation of these results). A GPU that fell off the bus
 * gives KWHY_CUDA_UNKNOWN.
 */
static bool kills_context(enum kwhy_cuda_result result)
{
	static const enum kwhy_cuda_result deadly[] = {KWHY_CUDA_DEINITIALIZED, KWHY_CUDA_DEVICE_UNAVAILABLE,
		KWHY_CUDA_NO_DEVICE, KWHY_CUDA_ECC_UNCORRECTABLE, KWHY_CUDA_NVLINK_UNCORRECTABLE,
		KWHY_CUDA_CONTAINED, KWHY_CUDA_ILLEGAL_ADDRESS, KWHY_CUDA_LAUNCH_TIMEOUT,
		KWHY_CUDA_CONTEXT_DESTROYED, KWHY_CUDA_ASSERT, KWHY_CUDA_HARDWARE_STACK,
		KWHY_CUDA_ILLEGAL_INSTRUCTION, KWHY_CUDA_MISALIGNED_ADDRESS, KWHY_CUDA_INVALID_ADDRESS_SPACE,
		KWHY_CUDA_INVALID_PC, KWHY_CUDA_LAUNCH_FAILED, KWHY_CUDA_UNKNOWN};

	for (size_t i = 0; i < sizeof(deadly) / sizeof(deadly[0]); i++)
		if (result == deadly[i])
			return true;
	return false;
}

enum kwhy_status kwhy_gpu_device_check(struct kwhy_gpu_device *device, enum kwhy_cuda_result result,
	const char *what, struct kwhy_error *error)
{
	enum kwhy_status status = KWHY_E_UNSUPPORTED;
	const char *cure = "see dmesg for what the driver says, and stop other programs on this GPU";

	if (result == KWHY_CUDA_SUCCESS)
		return KWHY_OK;
	if (result == KWHY_CUDA_OUT_OF_MEMORY) {
		status = KWHY_E_MEMORY;
		cure = "ask for less, or stop other programs on this GPU";
	} else if (device->stream && kills_context(result)) {
		status = KWHY_E_LOST;
		cure = "the GPU is lost to this program: see dmesg for what the driver says, and run again";
		atomic_store(&device->lost, true);
	}
	return kwhy_fail(error, status, "%s cannot %s: %s; %s",
		device->gpu.facts.name[0] ? device->gpu.facts.name : "the GPU", what,
		kwhy_driver_words(&device->driver, result), cure);
}

static void device_close(struct kwhy_gpu *gpu)
{
	struct kwhy_gpu_device *self = kwhy_gpu_device(gpu);

	if (self->gate_module)
		self->ops.module_free(gpu, self->gate_module);
	if (self->stream)
		self->driver.stream_free(self->stream);
	if (self->context)
		kwhy_driver_context_release(&self->driver, self->device);
	pthread_mutex_destroy(&self->gate_lock);
	kwhy_rtc_close(&self->compiler);
	kwhy_driver_close(&self->driver);
	free(self);
}

static enum kwhy_status device_enter(struct kwhy_gpu *gpu, struct kwhy_error *error)
{
	struct kwhy_gpu_device *self = kwhy_gpu_device(gpu);

	return kwhy_gpu_device_check(self, kwhy_driver_enter(&self->driver, self->device, self->context),
		"use its context", error);
}

static uint32_t attribute(const struct kwhy_gpu_device *self, enum kwhy_driver_attribute which)
{
	return (uint32_t)kwhy_driver_attribute(&self->driver, which, self->device);
}

/*
 * The NUMA node of the PCI device at an address, by its file numa_node in /sys; -1: unknown, or the system
 * assigns none.
 */
static int numa_node_of(const char *pci_address)
{
	char path[80], line[16] = "", *place = path;
	FILE *file;

	snprintf(path, sizeof(path), "/sys/bus/pci/devices/%s/numa_node", pci_address);
	for (; *place; place++)
		*place = (char)tolower((unsigned char)*place);
	file = fopen(path, "re");
	if (!file)
		return -1;
	if (!fgets(line, sizeof(line), file))
		line[0] = '\0';
	fclose(file);
	return isdigit((unsigned char)line[0]) ? (int)strtol(line, NULL, 10) : -1;
}

static void learn_versions(struct kwhy_gpu_device *self)
{
	struct kwhy_gpu_facts *facts = &self->gpu.facts;
	int major = 0, minor = 0;

	kwhy_driver_version(&self->driver, facts->driver_api);
	if (self->compiler.version(&major, &minor) == KWHY_NVRTC_SUCCESS)
		snprintf(facts->compiler, sizeof(facts->compiler), "%d.%d", major, minor);
}

static void learn_facts(struct kwhy_gpu_device *self)
{
	struct kwhy_gpu_facts *facts = &self->gpu.facts;
	const struct kwhy_driver *driver = &self->driver;
	size_t bytes = 0;

	if (driver->device_name(facts->name, sizeof(facts->name), self->device) != KWHY_CUDA_SUCCESS)
		snprintf(facts->name, sizeof(facts->name), "GPU");
	if (driver->device_pci(facts->pci_address, sizeof(facts->pci_address), self->device) !=
		KWHY_CUDA_SUCCESS)
		facts->pci_address[0] = '\0';
	facts->index = self->device;
	facts->numa_node = facts->pci_address[0] ? numa_node_of(facts->pci_address) : -1;
	facts->architecture = (int)(attribute(self, KWHY_DRIVER_CAPABILITY_MAJOR) * 10 +
		attribute(self, KWHY_DRIVER_CAPABILITY_MINOR));
	facts->sm_count = attribute(self, KWHY_DRIVER_MULTIPROCESSORS);
	facts->threads_per_sm = attribute(self, KWHY_DRIVER_THREADS_PER_MULTIPROCESSOR);
	facts->registers_per_sm = attribute(self, KWHY_DRIVER_REGISTERS_PER_MULTIPROCESSOR);
	facts->shared_bytes_per_sm = attribute(self, KWHY_DRIVER_SHARED_BYTES_PER_MULTIPROCESSOR);
	facts->copy_engines = attribute(self, KWHY_DRIVER_COPY_ENGINES);
	facts->can_manage = attribute(self, KWHY_DRIVER_CONCURRENT_MANAGED_ACCESS) != 0;
	self->pageable_access = attribute(self, KWHY_DRIVER_PAGEABLE_ACCESS) != 0;
	if (driver->device_memory(&bytes, self->device) == KWHY_CUDA_SUCCESS)
		facts->memory_bytes = bytes;
	learn_versions(self);
}

static void fill_ops(struct kwhy_gpu_device *self)
{
	self->ops.name = kwhy_gpu_backend_name(
		self->driver.vendor == KWHY_DRIVER_CUDA ? KWHY_GPU_CUDA : KWHY_GPU_HIP);
	self->ops.close = device_close;
	self->ops.enter = device_enter;
	kwhy_gpu_device_add_kernels(&self->ops);
	kwhy_gpu_device_add_memory(self);
	kwhy_gpu_device_add_copies(self);
	kwhy_gpu_device_add_streams(&self->ops);
	kwhy_gpu_device_add_graphs(self);
	kwhy_gpu_device_add_gates(&self->ops);
	self->gpu.ops = &self->ops;
}

static enum kwhy_cuda_result find_device(struct kwhy_gpu_device *self, const char *given)
{
	const char *name = given ? given : "0";
	char *end;
	long number = strtol(name, &end, 10);

	if (*end == '\0' && end != name && number >= 0 && number <= 4096)
		return self->driver.device_get(&self->device, (int)number);
	return self->driver.device_by_pci(&self->device, name);
}

static enum kwhy_status make_context(
	struct kwhy_gpu_device *self, const char *given, struct kwhy_error *error)
{
	enum kwhy_status status = kwhy_gpu_device_check(self, find_device(self, given),
		self->driver.vendor == KWHY_DRIVER_CUDA ? "be found by CUDA (is it in CUDA_VISIBLE_DEVICES?)"
							: "be found by HIP (is it in HIP_VISIBLE_DEVICES?)",
		error);

	if (status)
		return status;
	learn_facts(self);
	fill_ops(self);
	status = kwhy_gpu_device_check(self,
		kwhy_driver_context_retain(&self->driver, self->device, &self->context), "make a context",
		error);
	if (!status)
		status = device_enter(&self->gpu, error);
	if (!status)
		status = kwhy_gpu_device_check(self,
			self->driver.stream_new(&self->stream, KWHY_CUDA_STREAM_NON_BLOCKING),
			"make a stream", error);
	return status;
}

static enum kwhy_status open_libraries(
	struct kwhy_gpu_device *self, enum kwhy_driver_vendor vendor, struct kwhy_error *error)
{
	enum kwhy_status status = kwhy_driver_open(vendor, &self->driver, error);

	if (status)
		return status;
	status = kwhy_rtc_open(vendor, &self->compiler, error);
	if (status)
		kwhy_driver_close(&self->driver);
	return status;
}

static enum kwhy_status device_open(
	enum kwhy_driver_vendor vendor, const char *device, struct kwhy_gpu **out, struct kwhy_error *error)
{
	struct kwhy_gpu_device *self = calloc(1, sizeof(*self));
	enum kwhy_status status = self ? open_libraries(self, vendor, error)
				       : kwhy_fail_memory(error, "the state of a GPU");

	if (status) {
		free(self);
		return status;
	}
	pthread_mutex_init(&self->gate_lock, NULL);
	status = make_context(self, device, error);
	if (status)
		device_close(&self->gpu);
	else
		*out = &self->gpu;
	return status;
}

static enum kwhy_status device_count(enum kwhy_driver_vendor vendor, uint32_t *out, struct kwhy_error *error)
{
	struct kwhy_driver driver;
	enum kwhy_status status = kwhy_driver_open(vendor, &driver, error);
	enum kwhy_cuda_result result;
	int count = 0;

	if (status)
		return status;
	result = driver.device_count(&count);
	if (result != KWHY_CUDA_SUCCESS)
		status = kwhy_fail(error, KWHY_E_UNSUPPORTED,
			"the GPUs cannot be counted: %s; see dmesg for what the driver says",
			kwhy_driver_words(&driver, result));
	else
		*out = (uint32_t)count;
	kwhy_driver_close(&driver);
	return status;
}

enum kwhy_status kwhy_gpu_cuda_open(const char *device, struct kwhy_gpu **out, struct kwhy_error *error)
{
	return device_open(KWHY_DRIVER_CUDA, device, out, error);
}

enum kwhy_status kwhy_gpu_cuda_count(uint32_t *out, struct kwhy_error *error)
{
	return device_count(KWHY_DRIVER_CUDA, out, error);
}

enum kwhy_status kwhy_gpu_hip_open(const char *device, struct kwhy_gpu **out, struct kwhy_error *error)
{
	return device_open(KWHY_DRIVER_HIP, device, out, error);
}

enum kwhy_status kwhy_gpu_hip_count(uint32_t *out, struct kwhy_error *error)
{
	return device_count(KWHY_DRIVER_HIP, out, error);
}
