/* SPDX-License-Identifier: Apache-2.0 */
#include "inject/probe/launch.h"

#include <string.h>

/* Bounds of the addresses of device and host memory; a parameter word outside of them is a number. */
#define MIN_ADDRESS UINT64_C(0x10000)
#define MAX_ADDRESS (UINT64_C(1) << 57)
enum { PARAMETERS_MAX = 4096 };

struct reading {
	const struct kwhy_cuda_probe *driver;
	struct kwhy_probe_memory *memory;
	const struct kwhy_probe_context *probe_context;
	kwhy_cuda_device device;
	struct kwhy_probe_reach *reach;
};

bool kwhy_probe_reach_holds(const struct kwhy_probe_reach *reach, kwhy_cuda_address address)
{
	for (size_t i = 0; i < reach->count; i++)
		if (address - reach->ranges[i].address < reach->ranges[i].bytes)
			return true;
	return false;
}

bool kwhy_probe_reach_may_read(const struct kwhy_cuda_probe *driver,
	const struct kwhy_probe_allocation *allocation, kwhy_cuda_device device)
{
	const struct kwhy_cuda_location here = {KWHY_CUDA_LOCATION_DEVICE, device};
	unsigned long long access = 0;

	if (allocation->context)
		return true;
	return driver->cuMemGetAccess && !driver->cuMemGetAccess(&access, &here, allocation->address) &&
		access == KWHY_CUDA_ACCESS_READ_WRITE;
}

/*
 * Finds the piece of memory mapped by cuMemMap() that contains the address, if the device may read and write
 * it.
 */
static bool find_piece(
	const struct reading *reading, kwhy_cuda_address address, struct kwhy_probe_allocation *out)
{
	return kwhy_probe_memory_find(reading->memory, address, out) && !out->context &&
		kwhy_probe_reach_may_read(reading->driver, out, reading->device);
}

/*
 * Widens a range over all adjacent pieces of mapped memory, because one array may extend over several of
 * them. No array extends over a piece to which the device has no access.
 */
static void widen(const struct reading *reading, struct kwhy_probe_range *range)
{
	struct kwhy_probe_allocation piece;

	if (!find_piece(reading, range->address, &piece))
		return;
	while (find_piece(reading, range->address + range->bytes, &piece))
		range->bytes = piece.address + piece.bytes - range->address;
	while (find_piece(reading, range->address - 1, &piece)) {
		range->bytes += range->address - piece.address;
		range->address = piece.address;
	}
}

static enum kwhy_probe_reason keep(struct reading *reading, struct kwhy_probe_range range)
{
	struct kwhy_probe_reach *reach = reading->reach;

	widen(reading, &range);
	if (reach->count == KWHY_PROBE_RANGES)
		return KWHY_PROBE_RANGES_MANY;
	reach->ranges[reach->count++] = range;
	reach->bytes += range.bytes;
	return KWHY_PROBE_NONE;
}

/*
 * KWHY_PROBE_NONE if the memory at an address may be copied and restored, otherwise the reason why not, such
 * as managed, shared or another device's memory.
 */
static enum kwhy_probe_reason judge(const struct reading *reading, kwhy_cuda_address address)
{
	const struct kwhy_cuda_probe *driver = reading->driver;
	struct kwhy_probe_allocation allocation;
	int type = 0, device = -1;
	unsigned is_managed = 0;

	if (!driver->cuPointerGetAttribute(&is_managed, KWHY_CUDA_POINTER_IS_MANAGED, address) && is_managed)
		return KWHY_PROBE_MANAGED;
	if (!driver->cuPointerGetAttribute(&type, KWHY_CUDA_POINTER_MEMORY_TYPE, address) &&
		type == KWHY_CUDA_MEMORY_HOST)
		return KWHY_PROBE_HOST;
	if (!driver->cuPointerGetAttribute(&device, KWHY_CUDA_POINTER_DEVICE, address) && device >= 0 &&
		device != reading->device)
		return KWHY_PROBE_PEER;
	if (!kwhy_probe_memory_find(reading->memory, address, &allocation))
		return KWHY_PROBE_NONE;
	if (allocation.is_shared)
		return KWHY_PROBE_SHARED;
	return kwhy_probe_reach_may_read(driver, &allocation, reading->device) ? KWHY_PROBE_NONE
									       : KWHY_PROBE_UNKNOWN;
}

/*
 * Finds the allocation that contains the address `address`, a word of the parameters. False: it lies in no
 * device memory that the driver or the prober knows.
 */
static bool find_range(const struct reading *reading, kwhy_cuda_address address, struct kwhy_probe_range *out)
{
	struct kwhy_probe_allocation allocation;

	if (!reading->driver->cuMemGetAddressRange_v2(&out->address, &out->bytes, address) && out->bytes)
		return true;
	if (!kwhy_probe_memory_find(reading->memory, address, &allocation))
		return false;
	*out = (struct kwhy_probe_range){allocation.address, allocation.bytes};
	return true;
}

static enum kwhy_probe_reason keep_number(struct reading *reading, uint64_t word)
{
	struct kwhy_probe_reach *reach = reading->reach;

	reach->signature = (reach->signature ^ word) * UINT64_C(0xbf58476d1ce4e5b9);
	reach->signature ^= reach->signature >> 29;
	return KWHY_PROBE_NONE;
}

static void keep_pointer(struct kwhy_probe_reach *reach, kwhy_cuda_address address, uint32_t slot)
{
	if (reach->pointer_count < KWHY_PROBE_POINTERS)
		reach->pointers[reach->pointer_count++] = (struct kwhy_probe_pointer){address, slot};
	else
		reach->has_lost_pointers = true;
}

/*
 * Handles a parameter word that lies in no known device memory. If the driver does not know it as an address
 * at all, it is a number and added to the signature.
 */
static enum kwhy_probe_reason read_unknown(struct reading *reading, uint64_t word)
{
	int type = 0;

	if (reading->driver->cuPointerGetAttribute(&type, KWHY_CUDA_POINTER_MEMORY_TYPE, word) || !type)
		return keep_number(reading, word);
	return type == KWHY_CUDA_MEMORY_HOST ? KWHY_PROBE_HOST : KWHY_PROBE_UNKNOWN;
}

static enum kwhy_probe_reason read_word(struct reading *reading, uint64_t word, uint32_t slot)
{
	struct kwhy_probe_range range;
	enum kwhy_probe_reason reason = KWHY_PROBE_NONE;

	/*
	 * A word that is an address in the prober's own memory counts as a number: it is left over in a field
	 * of the parameters that the program did not set.
	 */
	if (word < MIN_ADDRESS || word >= MAX_ADDRESS ||
		kwhy_probe_context_holds(reading->probe_context, word))
		return keep_number(reading, word);
	if (!kwhy_probe_reach_holds(reading->reach, word)) {
		if (!find_range(reading, word, &range))
			return read_unknown(reading, word);
		reason = judge(reading, word);
		reason = reason ? reason : keep(reading, range);
	}
	keep_pointer(reading->reach, word, slot);
	return reason;
}

static enum kwhy_probe_reason read_bytes(
	struct reading *reading, const void *from, size_t bytes, uint32_t parameter)
{
	enum kwhy_probe_reason reason = KWHY_PROBE_NONE;
	uint64_t word = 0;

	for (size_t at = 0; !reason && at + sizeof(word) <= bytes; at += sizeof(word)) {
		memcpy(&word, (const unsigned char *)from + at, sizeof(word));
		reason = read_word(reading, word, parameter << 16 | (uint32_t)at);
	}
	if (bytes % sizeof(word)) {
		word = 0;
		memcpy(&word, (const unsigned char *)from + bytes / sizeof(word) * sizeof(word),
			bytes % sizeof(word));
		keep_number(reading, word);
	}
	return reason;
}

static enum kwhy_probe_reason read_extra(struct reading *reading, void *const *extra)
{
	const void *buffer = NULL;
	size_t bytes = 0;

	for (int i = 0; extra[i] && i < 16; i += 2)
		if ((uintptr_t)extra[i] == KWHY_CUDA_EXTRA_BUFFER)
			buffer = extra[i + 1];
		else if ((uintptr_t)extra[i] == KWHY_CUDA_EXTRA_BUFFER_BYTES)
			memcpy(&bytes, extra[i + 1], sizeof(bytes));
	return buffer ? read_bytes(reading, buffer, bytes, 0) : KWHY_PROBE_PARAMETERS;
}

static enum kwhy_probe_reason read_arguments(struct reading *reading, const struct kwhy_probe_launch *launch)
{
	__typeof__(cuFuncGetParamInfo) *ask = reading->driver->cuFuncGetParamInfo;
	enum kwhy_probe_reason reason = KWHY_PROBE_NONE;
	size_t offset, bytes;

	if (!ask || ask(launch->function, 0, &offset, &bytes))
		ask = reading->driver->cuKernelGetParamInfo;
	if (!ask || ask(launch->function, 0, &offset, &bytes))
		return KWHY_PROBE_PARAMETERS;
	for (size_t i = 0; !reason && i < PARAMETERS_MAX; i++) {
		if (ask(launch->function, i, &offset, &bytes))
			break;
		reason = read_bytes(reading, launch->arguments[i], bytes, (uint32_t)i);
	}
	return reason;
}

/*
 * Reads the source and the destination of a copy. The source may be pinned host memory: as the program's call
 * has not returned yet, the program does not know that it may change that memory, so its contents are still
 * those that were copied.
 */
static enum kwhy_probe_reason read_copy(struct reading *reading, const struct kwhy_probe_copy *copy)
{
	enum kwhy_probe_reason reason = read_word(reading, copy->to, 0);
	int type = 0;

	if (reason || !reading->reach->pointer_count)
		return reason ? reason : KWHY_PROBE_UNKNOWN;
	if (copy->width)
		return KWHY_PROBE_NONE;
	if (reading->driver->cuPointerGetAttribute(&type, KWHY_CUDA_POINTER_MEMORY_TYPE, copy->from))
		return KWHY_PROBE_PAGEABLE;
	if (type == KWHY_CUDA_MEMORY_HOST)
		return KWHY_PROBE_NONE;
	if (copy->from < copy->to + copy->bytes && copy->to < copy->from + copy->bytes)
		return KWHY_PROBE_UNKNOWN;
	return read_word(reading, copy->from, 1);
}

static bool can_copy(const struct kwhy_cuda_probe *driver)
{
	return driver->cuMemcpyAsync && driver->cuMemsetD16Async && driver->cuMemsetD32Async;
}

enum kwhy_probe_reason kwhy_probe_reach_read(const struct kwhy_cuda_probe *driver,
	struct kwhy_probe_memory *memory, const struct kwhy_probe_context *probe_context,
	const struct kwhy_probe_launch *launch, struct kwhy_probe_reach *out)
{
	struct reading reading = {
		.driver = driver, .memory = memory, .probe_context = probe_context, .reach = out};

	out->count = out->pointer_count = 0;
	out->bytes = out->signature = 0;
	out->has_lost_pointers = false;
	if (driver->cuCtxGetDevice(&reading.device))
		return KWHY_PROBE_FAILED;
	if (launch->copy.bytes)
		return can_copy(driver) ? read_copy(&reading, &launch->copy) : KWHY_PROBE_FAILED;
	if (launch->arguments)
		return read_arguments(&reading, launch);
	return launch->extra ? read_extra(&reading, launch->extra) : KWHY_PROBE_NONE;
}
