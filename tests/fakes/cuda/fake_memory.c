/* SPDX-License-Identifier: Apache-2.0 */
#include "fake.h"
#include "fake_mapping.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { ROOMS_MAX = 4096 };

enum space_kind { DEVICE, PINNED, REGISTERED, MANAGED, OPENED, MAPPED };

/* Memory that was allocated, registered or opened. */
static struct space {
	uintptr_t begin;
	size_t bytes;
	enum space_kind kind;
	int device;
	/* descriptor of the file that holds memory shared with other processes; 0: it is on the heap */
	int file;
} rooms[ROOMS_MAX];
static size_t space_count;

static struct space *space_at(uintptr_t address)
{
	for (size_t i = 0; i < space_count; i++)
		if (address - rooms[i].begin < rooms[i].bytes)
			return &rooms[i];
	return NULL;
}

/*
 * The bytes of a copy that has returned and has not reached the device yet. As with the real driver, a
 * synchronous copy can return early if it is to the device from unregistered memory, or within device
 * memory. The bytes arrive when the default stream makes progress or is waited for; operations of other
 * streams do not wait for them.
 */
static struct late {
	kwhy_cuda_address to;
	void *taken;
	size_t bytes;
} late;

void fake_memory_land(void)
{
	if (late.taken)
		memcpy((void *)(uintptr_t)late.to, late.taken, late.bytes);
	fake_free(late.taken);
	late.taken = NULL;
}

static bool is_late(const struct space *to, const struct space *from, size_t bytes)
{
	return to && to->kind == DEVICE && (!from || from->kind == DEVICE) && bytes <= FAKE_COPY_MAX_BYTES;
}

static void release(const struct space *space)
{
	if (space->file) {
		munmap((void *)space->begin, space->bytes);
		close(space->file);
	} else
		free((void *)space->begin);
}

void fake_memory_end(void)
{
	late.taken = NULL; /* end_all() frees its memory */
	for (; space_count; space_count--)
		if (rooms[space_count - 1].kind != REGISTERED && rooms[space_count - 1].kind != MAPPED)
			release(&rooms[space_count - 1]);
}

static enum kwhy_cuda_result add_space(void *memory, size_t bytes, enum space_kind kind)
{
	if (!memory || bytes == 0 || space_count == ROOMS_MAX) {
		if (kind != REGISTERED)
			free(memory);
		return memory && bytes == 0 ? KWHY_CUDA_INVALID_VALUE : KWHY_CUDA_OUT_OF_MEMORY;
	}
	rooms[space_count++] = (struct space){(uintptr_t)memory, bytes, kind, fake_current_device(), 0};
	return KWHY_CUDA_SUCCESS;
}

static enum kwhy_cuda_result take_space(uintptr_t address, enum space_kind kind)
{
	struct space *space;

	fake_memory_land();
	fake_run_all();
	fake_streams_settle();
	space = space_at(address);
	if (!space || space->begin != address ||
		(space->kind != kind && !(kind == DEVICE && space->kind == MANAGED)))
		return KWHY_CUDA_INVALID_VALUE;
	if (kind != REGISTERED && kind != MAPPED)
		release(space);
	*space = rooms[--space_count];
	return KWHY_CUDA_SUCCESS;
}

/*
 * Maps the first `bytes` bytes of a file that holds device memory which other processes can open. Returns
 * NULL if that fails.
 */
static void *map_file(int file, size_t bytes)
{
	void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);

	return memory == MAP_FAILED ? NULL : memory;
}

/*
 * Allocates device memory in a file, so that other processes can open it by an IPC handle. Called if
 * KWHY_FAKE_CUDA_SHARED is set.
 */
static enum kwhy_cuda_result new_shared_memory(kwhy_cuda_address *out_address, size_t bytes)
{
	int file = memfd_create("fake device memory", MFD_CLOEXEC);
	void *memory = file >= 0 && !ftruncate(file, (off_t)bytes) ? map_file(file, bytes) : NULL;

	if (!memory || space_count == ROOMS_MAX)
		return KWHY_CUDA_OUT_OF_MEMORY;
	rooms[space_count++] = (struct space){(uintptr_t)memory, bytes, DEVICE, fake_current_device(), file};
	*out_address = (uintptr_t)memory;
	return KWHY_CUDA_SUCCESS;
}

static enum kwhy_cuda_result new_device_memory(
	kwhy_cuda_address *out_address, size_t bytes, enum space_kind kind)
{
	void *memory = NULL;
	enum kwhy_cuda_result result;

	if (fake_current_device() < 0)
		return KWHY_CUDA_INVALID_CONTEXT;
	if (kind == DEVICE && bytes && getenv("KWHY_FAKE_CUDA_SHARED"))
		return new_shared_memory(out_address, bytes);
	if (!fake_asked_for("no-memory") && bytes < (size_t)140 << 30 &&
		posix_memalign(&memory, kind == MANAGED ? 4096 : 512, bytes) != 0)
		memory = NULL;
	result = add_space(memory, bytes, kind);
	if (result == KWHY_CUDA_SUCCESS)
		*out_address = (uintptr_t)memory;
	return result;
}

enum kwhy_cuda_result cuMemAlloc_v2(kwhy_cuda_address *out_address, size_t bytes)
{
	BEGIN("cuMemAlloc_v2");
	return fake_end(new_device_memory(out_address, bytes, DEVICE));
}

enum kwhy_cuda_result cuMemFree_v2(kwhy_cuda_address address)
{
	BEGIN("cuMemFree_v2");
	return fake_end(take_space(address, DEVICE));
}

enum kwhy_cuda_result fake_memory_map(kwhy_cuda_address address, size_t bytes)
{
	if (!bytes || space_at(address) || space_count == ROOMS_MAX)
		return KWHY_CUDA_INVALID_VALUE;
	rooms[space_count++] = (struct space){address, bytes, MAPPED, fake_current_device(), 0};
	return KWHY_CUDA_SUCCESS;
}

enum kwhy_cuda_result fake_memory_unmap(kwhy_cuda_address address)
{
	return take_space(address, MAPPED);
}

struct shared {
	long process, file;
	size_t bytes;
};

enum kwhy_cuda_result cuIpcGetMemHandle(struct kwhy_cuda_shared *out_handle, kwhy_cuda_address address)
{
	struct space *space;
	struct shared shared;

	BEGIN("cuIpcGetMemHandle");
	space = space_at(address);
	if (!space || space->begin != address || space->kind != DEVICE || !space->file)
		return fake_end(KWHY_CUDA_INVALID_VALUE);
	shared = (struct shared){getpid(), space->file, space->bytes};
	memcpy(out_handle->bytes, &shared, sizeof(shared));
	return fake_end(KWHY_CUDA_SUCCESS);
}

/* Opens memory of another process. Like the real driver it refuses the process that shared the memory. */
enum kwhy_cuda_result cuIpcOpenMemHandle_v2(
	kwhy_cuda_address *out_address, struct kwhy_cuda_shared handle, unsigned flags)
{
	struct shared shared;
	char path[64];
	void *memory;
	int file;

	BEGIN("cuIpcOpenMemHandle_v2");
	memcpy(&shared, handle.bytes, sizeof(shared));
	snprintf(path, sizeof(path), "/proc/%ld/fd/%ld", shared.process, shared.file);
	file = shared.process == getpid() || flags != KWHY_CUDA_SHARED_ENABLE_PEER
		? -1
		: open(path, O_RDWR | O_CLOEXEC);
	memory = file < 0 ? NULL : map_file(file, shared.bytes);
	if (!memory || space_count == ROOMS_MAX)
		return fake_end(KWHY_CUDA_INVALID_VALUE);
	rooms[space_count++] = (struct space){
		(uintptr_t)memory, shared.bytes, OPENED, fake_current_device(), file};
	*out_address = (uintptr_t)memory;
	return fake_end(KWHY_CUDA_SUCCESS);
}

enum kwhy_cuda_result cuIpcCloseMemHandle(kwhy_cuda_address address)
{
	BEGIN("cuIpcCloseMemHandle");
	return fake_end(take_space(address, OPENED));
}

enum kwhy_cuda_result cuMemAllocAsync(kwhy_cuda_address *out_address, size_t bytes, kwhy_cuda_stream stream)
{
	(void)stream;
	BEGIN("cuMemAllocAsync");
	return fake_end(new_device_memory(out_address, bytes, DEVICE));
}

/* Frees at once, not in stream order: kwhy synchronises before it frees memory that queued work uses. */
enum kwhy_cuda_result cuMemFreeAsync(kwhy_cuda_address address, kwhy_cuda_stream stream)
{
	(void)stream;
	BEGIN("cuMemFreeAsync");
	return fake_end(take_space(address, DEVICE));
}

enum kwhy_cuda_result cuMemAllocManaged(kwhy_cuda_address *out_address, size_t bytes, unsigned flags)
{
	(void)flags;
	BEGIN("cuMemAllocManaged");
	return fake_end(new_device_memory(out_address, bytes, MANAGED));
}

/* Allocates pinned memory. Fails for more than KWHY_FAKE_CUDA_PINNED_BYTES bytes, if that is set. */
enum kwhy_cuda_result cuMemHostAlloc(void **out_memory, size_t bytes, unsigned flags)
{
	const char *most = getenv("KWHY_FAKE_CUDA_PINNED_BYTES");
	void *memory = NULL;
	enum kwhy_cuda_result result;

	(void)flags;
	BEGIN("cuMemHostAlloc");
	if (most && bytes > strtoull(most, NULL, 10))
		return fake_end(KWHY_CUDA_OUT_OF_MEMORY);
	if (posix_memalign(&memory, 4096, bytes) != 0)
		memory = NULL;
	result = add_space(memory, bytes, PINNED);
	if (result == KWHY_CUDA_SUCCESS)
		*out_memory = memory;
	return fake_end(result);
}

enum kwhy_cuda_result cuMemFreeHost(void *memory)
{
	BEGIN("cuMemFreeHost");
	return fake_end(take_space((uintptr_t)memory, PINNED));
}

enum kwhy_cuda_result cuMemHostRegister_v2(void *memory, size_t bytes, unsigned flags)
{
	(void)flags;
	BEGIN("cuMemHostRegister_v2");
	return fake_end(add_space(memory, bytes, REGISTERED));
}

enum kwhy_cuda_result cuMemHostUnregister(void *memory)
{
	BEGIN("cuMemHostUnregister");
	return fake_end(take_space((uintptr_t)memory, REGISTERED));
}

enum kwhy_cuda_result cuMemHostGetDevicePointer_v2(
	kwhy_cuda_address *out_address, void *memory, unsigned flags)
{
	(void)flags;
	BEGIN("cuMemHostGetDevicePointer_v2");
	*out_address = (uintptr_t)memory;
	return fake_end(space_at((uintptr_t)memory) ? KWHY_CUDA_SUCCESS : KWHY_CUDA_INVALID_VALUE);
}

static enum kwhy_cuda_result copy_now(kwhy_cuda_address to, kwhy_cuda_address from, size_t bytes)
{
	const struct space *at = space_at(to), *source = space_at(from);

	if ((at && to + bytes > at->begin + at->bytes) ||
		(source && from + bytes > source->begin + source->bytes))
		return KWHY_CUDA_INVALID_VALUE;
	fake_memory_land();
	if (is_late(at, source, bytes))
		late = (struct late){to, fake_new(bytes + 1), bytes};
	if (late.taken)
		memcpy(late.taken, (const void *)(uintptr_t)from, bytes);
	else if (bytes <= FAKE_COPY_MAX_BYTES)
		memmove((void *)(uintptr_t)to, (const void *)(uintptr_t)from, bytes);
	return KWHY_CUDA_SUCCESS;
}

static enum kwhy_cuda_result copy_queued(
	kwhy_cuda_address to, kwhy_cuda_address from, size_t bytes, kwhy_cuda_stream stream)
{
	const struct fake_operation operation = {.kind = FAKE_COPY, .to = to, .from = from, .bytes = bytes};

	return fake_put(stream, &operation);
}

#ifdef FAKE_HIP
enum kwhy_cuda_result hipMemcpy(kwhy_cuda_address to, kwhy_cuda_address from, size_t bytes, int kind)
{
	BEGIN("cuMemcpy");
	return fake_end(kind == KWHY_HIP_COPY_DEFAULT ? copy_now(to, from, bytes) : KWHY_CUDA_INVALID_VALUE);
}

enum kwhy_cuda_result hipMemcpyAsync(
	kwhy_cuda_address to, kwhy_cuda_address from, size_t bytes, int kind, kwhy_cuda_stream stream)
{
	BEGIN("cuMemcpyAsync");
	return fake_end(kind == KWHY_HIP_COPY_DEFAULT ? copy_queued(to, from, bytes, stream)
						      : KWHY_CUDA_INVALID_VALUE);
}
#else
static enum kwhy_cuda_result attribute_of(void *out_value, int attribute, const struct space *space)
{
	switch (attribute) {
	case KWHY_CUDA_POINTER_MEMORY_TYPE:
		*(unsigned *)out_value = space->kind == DEVICE || space->kind == MANAGED ||
				space->kind == MAPPED
			? KWHY_CUDA_MEMORY_DEVICE
			: 1;
		return KWHY_CUDA_SUCCESS;
	case KWHY_CUDA_POINTER_IS_MANAGED:
		*(unsigned *)out_value = space->kind == MANAGED;
		return KWHY_CUDA_SUCCESS;
	case KWHY_CUDA_POINTER_DEVICE:
		*(int *)out_value = space->device;
		return KWHY_CUDA_SUCCESS;
	default:
		return KWHY_CUDA_INVALID_VALUE;
	}
}

enum kwhy_cuda_result cuPointerGetAttribute(void *out_value, int attribute, kwhy_cuda_address address)
{
	const struct space *space;

	BEGIN("cuPointerGetAttribute");
	space = space_at(address);
	return fake_end(space ? attribute_of(out_value, attribute, space) : KWHY_CUDA_INVALID_VALUE);
}

enum kwhy_cuda_result cuMemGetAddressRange_v2(
	kwhy_cuda_address *out_base, size_t *out_bytes, kwhy_cuda_address address)
{
	const struct space *space;

	BEGIN("cuMemGetAddressRange_v2");
	space = space_at(address);
	if (!space || space->kind == REGISTERED)
		return fake_end(KWHY_CUDA_NOT_FOUND);
	*out_base = space->begin;
	*out_bytes = space->bytes;
	return fake_end(KWHY_CUDA_SUCCESS);
}

enum kwhy_cuda_result cuMemGetInfo_v2(size_t *out_free, size_t *out_total)
{
	BEGIN("cuMemGetInfo_v2");
	*out_free = (size_t)256 << 20;
	*out_total = (size_t)1 << 30;
	return fake_end(KWHY_CUDA_SUCCESS);
}

enum kwhy_cuda_result cuMemcpyDtoDAsync_v2(
	kwhy_cuda_address to, kwhy_cuda_address from, size_t bytes, kwhy_cuda_stream stream)
{
	BEGIN("cuMemcpyDtoDAsync_v2");
	return fake_end(copy_queued(to, from, bytes, stream));
}

enum kwhy_cuda_result cuMemcpyDtoHAsync_v2(
	void *to, kwhy_cuda_address from, size_t bytes, kwhy_cuda_stream stream)
{
	BEGIN("cuMemcpyDtoHAsync_v2");
	return fake_end(copy_queued((uintptr_t)to, from, bytes, stream));
}

enum kwhy_cuda_result cuMemcpy(kwhy_cuda_address to, kwhy_cuda_address from, size_t bytes)
{
	BEGIN("cuMemcpy");
	return fake_end(copy_now(to, from, bytes));
}

enum kwhy_cuda_result cuMemcpyAsync(
	kwhy_cuda_address to, kwhy_cuda_address from, size_t bytes, kwhy_cuda_stream stream)
{
	BEGIN("cuMemcpyAsync");
	return fake_end(copy_queued(to, from, bytes, stream));
}

#if FAKE_VERSION >= 12080
static enum kwhy_cuda_result copy_batch(kwhy_cuda_address *to, kwhy_cuda_address *from, size_t *bytes,
	size_t count, const struct kwhy_cuda_batch_attributes *attributes, const size_t *begins,
	size_t attribute_count, kwhy_cuda_stream stream)
{
	enum kwhy_cuda_result result = KWHY_CUDA_SUCCESS;

	if (!stream || attribute_count != 1 || begins[0] != 0 ||
		attributes->source_order != KWHY_CUDA_BATCH_IN_STREAM_ORDER || count == 0)
		return KWHY_CUDA_INVALID_VALUE;
	for (size_t i = 0; result == KWHY_CUDA_SUCCESS && i < count; i++)
		result = bytes[i] ? copy_queued(to[i], from[i], bytes[i], stream) : KWHY_CUDA_INVALID_VALUE;
	return result;
}

enum kwhy_cuda_result cuMemcpyBatchAsync(kwhy_cuda_address *to, kwhy_cuda_address *from, size_t *bytes,
	size_t count, struct kwhy_cuda_batch_attributes *attributes, size_t *attribute_begins,
	size_t attribute_count, size_t *out_failed, kwhy_cuda_stream stream)
{
	BEGIN("cuMemcpyBatchAsync");
	*out_failed = SIZE_MAX;
	return fake_end(
		copy_batch(to, from, bytes, count, attributes, attribute_begins, attribute_count, stream));
}
#endif

#if FAKE_VERSION >= 13000
enum kwhy_cuda_result cuMemcpyBatchAsync_v2(kwhy_cuda_address *to, kwhy_cuda_address *from, size_t *bytes,
	size_t count, struct kwhy_cuda_batch_attributes *attributes, size_t *attribute_begins,
	size_t attribute_count, kwhy_cuda_stream stream)
{
	BEGIN("cuMemcpyBatchAsync_v2");
	return fake_end(
		copy_batch(to, from, bytes, count, attributes, attribute_begins, attribute_count, stream));
}
#endif
#endif

enum kwhy_cuda_result cuMemsetD8Async(
	kwhy_cuda_address address, unsigned char value, size_t bytes, kwhy_cuda_stream stream)
{
	const struct fake_operation operation = {
		.kind = FAKE_FILL, .to = address, .value = value, .bytes = bytes};

	BEGIN("cuMemsetD8Async");
	return fake_end(fake_put(stream, &operation));
}

#ifndef FAKE_HIP
/*
 * Fills memory with elements of `width` bytes. All bytes of `value` must be equal, as the fake only fills
 * bytes.
 */
static enum kwhy_cuda_result set_wide(
	kwhy_cuda_address address, unsigned value, size_t width, size_t count, kwhy_cuda_stream stream)
{
	const unsigned char byte = (unsigned char)value;
	const struct fake_operation operation = {
		.kind = FAKE_FILL, .to = address, .value = byte, .bytes = width * count};

	for (size_t i = 1; i < width; i++)
		if ((unsigned char)(value >> 8 * i) != byte)
			return KWHY_CUDA_NOT_SUPPORTED;
	return fake_put(stream, &operation);
}

enum kwhy_cuda_result cuMemsetD16Async(
	kwhy_cuda_address address, unsigned short value, size_t count, kwhy_cuda_stream stream)
{
	BEGIN("cuMemsetD16Async");
	return fake_end(set_wide(address, value, 2, count, stream));
}

enum kwhy_cuda_result cuMemsetD32Async(
	kwhy_cuda_address address, unsigned value, size_t count, kwhy_cuda_stream stream)
{
	BEGIN("cuMemsetD32Async");
	return fake_end(set_wide(address, value, 4, count, stream));
}
#endif
