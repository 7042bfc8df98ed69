/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Device memory that is mapped into a reserved range of addresses. A piece of it can be read and written only
 * while it is mapped and access to it has been set.
 */
#include "fake_mapping.h"

#include "fake.h"

#include <sys/mman.h>

enum { PIECES_MAX = 64 };

static kwhy_cuda_address
	accessible[PIECES_MAX]; /* start addresses of the pieces that may be read and written */
static size_t accessible_count;

enum kwhy_cuda_result cuMemAddressReserve(kwhy_cuda_address *out_address, size_t bytes, size_t alignment,
	kwhy_cuda_address wanted, unsigned long long flags)
{
	void *memory;

	(void)alignment, (void)wanted, (void)flags;
	BEGIN("cuMemAddressReserve");
	memory = mmap(NULL, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	*out_address = (uintptr_t)memory;
	return fake_end(memory == MAP_FAILED ? KWHY_CUDA_OUT_OF_MEMORY : KWHY_CUDA_SUCCESS);
}

enum kwhy_cuda_result cuMemMap(kwhy_cuda_address address, size_t bytes, size_t offset,
	unsigned long long handle, unsigned long long flags)
{
	(void)offset, (void)flags;
	BEGIN("cuMemMap");
	return fake_end(handle < bytes ? KWHY_CUDA_INVALID_VALUE : fake_memory_map(address, bytes));
}

enum kwhy_cuda_result cuMemSetAccess(
	kwhy_cuda_address address, size_t bytes, const void *description, size_t count)
{
	(void)description, (void)count;
	BEGIN("cuMemSetAccess");
	if (accessible_count == PIECES_MAX ||
		mprotect((void *)(uintptr_t)address, bytes, PROT_READ | PROT_WRITE))
		return fake_end(KWHY_CUDA_INVALID_VALUE);
	accessible[accessible_count++] = address;
	return fake_end(KWHY_CUDA_SUCCESS);
}

/*
 * Reports read and write access for a piece whose access was set, and no access for others.
 * `address`: the start of the piece.
 */
enum kwhy_cuda_result cuMemGetAccess(
	unsigned long long *out_flags, const struct kwhy_cuda_location *location, kwhy_cuda_address address)
{
	(void)location;
	BEGIN("cuMemGetAccess");
	*out_flags = 0;
	for (size_t i = 0; i < accessible_count; i++)
		if (accessible[i] == address)
			*out_flags = KWHY_CUDA_ACCESS_READ_WRITE;
	return fake_end(KWHY_CUDA_SUCCESS);
}

enum kwhy_cuda_result cuMemUnmap(kwhy_cuda_address address, size_t bytes)
{
	void *memory = (void *)(uintptr_t)address;

	BEGIN("cuMemUnmap");
	if (fake_memory_unmap(address) || madvise(memory, bytes, MADV_DONTNEED) ||
		mprotect(memory, bytes, PROT_NONE))
		return fake_end(KWHY_CUDA_INVALID_VALUE);
	for (size_t i = accessible_count; i-- > 0;)
		if (accessible[i] == address)
			accessible[i] = accessible[--accessible_count];
	return fake_end(KWHY_CUDA_SUCCESS);
}
