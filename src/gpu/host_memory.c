/* SPDX-License-Identifier: Apache-2.0 */
#include "gpu/host.h"
#include "gpu/host_share.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { PAGE_BYTES = 4096 };

/* Header of an allocation, in a page of its own directly before the memory that is handed out. */
struct block {
	struct kwhy_gpu_host_owned owned;
	size_t bytes; /* size of the mapping, including the page of this header */
	bool bound;
	/*
	 * descriptor of the file that backs the memory, so that other processes can map it, too; -1: the
	 * memory is private
	 */
	int shared;
	struct kwhy_gpu_host_lender
		/*
		 * sends the descriptor to other processes; NULL: not shared, or another process owns the file
		 */
		*lender;
	struct kwhy_gpu_host_loan loan;
};

static void *memory_of(struct block *block)
{
	return (char *)(void *)block + PAGE_BYTES;
}

static struct block *block_of(void *memory)
{
	return (struct block *)(void *)((char *)memory - PAGE_BYTES);
}

static void block_release(struct kwhy_gpu_host_owned *owned)
{
	struct block *block = (struct block *)(void *)owned;

	kwhy_gpu_host_forget(owned);
	kwhy_gpu_host_lender_close(block->lender);
	if (block->shared >= 0)
		close(block->shared);
	munmap(block, block->bytes);
}

/* Writes to all pages, so that the time of page faults is not part of later measurements. */
static void touch(char *bytes, size_t count)
{
	for (size_t i = 0; i < count; i += PAGE_BYTES)
		*(volatile char *)(bytes + i) = 0;
}

static struct block *block_new(struct kwhy_gpu *gpu, size_t bytes, int numa_node)
{
	struct block *block;

	if (bytes > SIZE_MAX / 2)
		return NULL;
	bytes = (bytes + 2 * PAGE_BYTES - 1) / PAGE_BYTES * PAGE_BYTES;
	block = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (block == MAP_FAILED)
		return NULL;
	block->bytes = bytes;
	block->shared = -1;
	if (bytes > PAGE_BYTES) {
		block->bound = kwhy_numa_bind(memory_of(block), bytes - PAGE_BYTES, numa_node);
		touch(memory_of(block), bytes - PAGE_BYTES);
	}
	kwhy_gpu_host_keep(gpu, &block->owned, block_release);
	return block;
}

static enum kwhy_status fail_memory(size_t bytes, struct kwhy_error *error)
{
	return kwhy_fail(error, KWHY_E_MEMORY,
		"the host cannot give %zu bytes of memory; ask for less or close other programs", bytes);
}

enum kwhy_status kwhy_gpu_host_memory_new(
	struct kwhy_gpu *gpu, size_t bytes, uint64_t *out_address, struct kwhy_error *error)
{
	struct block *block = block_new(gpu, bytes, gpu->facts.numa_node);

	if (!block)
		return fail_memory(bytes, error);
	*out_address = kwhy_gpu_address(memory_of(block));
	return KWHY_OK;
}

void kwhy_gpu_host_memory_free(struct kwhy_gpu *gpu, uint64_t address)
{
	(void)gpu;
	if (address)
		block_release(&block_of(kwhy_gpu_at(address))->owned);
}

_Static_assert(sizeof(struct kwhy_gpu_host_loan) <= sizeof(((struct kwhy_gpu_shared *)0)->bytes), "it fits");

/*
 * Copies the memory's contents to an unnamed file (memfd) of fixed size, and maps that file at the memory's
 * address in place of its private pages. Afterwards other processes can map the same pages.
 */
static bool back_with_file(struct block *block)
{
	size_t bytes = block->bytes - PAGE_BYTES;
	int file = memfd_create("kwhy", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	bool good = file >= 0 && !ftruncate(file, (off_t)bytes) &&
		!fcntl(file, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) &&
		pwrite(file, memory_of(block), bytes, 0) == (ssize_t)bytes &&
		mmap(memory_of(block), bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED | MAP_POPULATE,
			file, 0) != MAP_FAILED;

	if (good)
		block->shared = file;
	else if (file >= 0)
		close(file);
	return good;
}

enum kwhy_status kwhy_gpu_host_memory_share(
	struct kwhy_gpu *gpu, uint64_t address, struct kwhy_gpu_shared *out, struct kwhy_error *error)
{
	struct block *block = block_of(kwhy_gpu_at(address));

	(void)gpu;
	if (block->shared < 0 && !back_with_file(block))
		return kwhy_fail(error, KWHY_E_UNSUPPORTED,
			"the host cannot share %zu bytes between processes: %s; ask for less",
			block->bytes - PAGE_BYTES, strerror(errno));
	if (!block->lender)
		block->lender = kwhy_gpu_host_lend(block->shared, block->bytes - PAGE_BYTES, &block->loan);
	if (!block->lender)
		return kwhy_fail(error, KWHY_E_UNSUPPORTED,
			"the host cannot share memory between processes: %s; close other programs",
			strerror(errno));
	memset(out, 0, sizeof(*out));
	memcpy(out->bytes, &block->loan, sizeof(block->loan));
	return KWHY_OK;
}

/*
 * Maps memory that another process shares, with a header like memory of this process, so that memory_close()
 * or closing the GPU unmaps it.
 */
enum kwhy_status kwhy_gpu_host_memory_open(struct kwhy_gpu *gpu, const struct kwhy_gpu_shared *shared,
	uint64_t *out_address, struct kwhy_error *error)
{
	struct kwhy_gpu_host_loan loan;
	struct block *block;
	int file;

	memcpy(&loan, shared->bytes, sizeof(loan));
	file = kwhy_gpu_host_borrow(&loan);
	if (file < 0)
		return kwhy_fail(error, KWHY_E_UNSUPPORTED,
			"the memory of another process cannot be reached: %s; run both as one user on one "
			"host",
			strerror(errno));
	block = block_new(gpu, (size_t)loan.bytes, -1);
	if (!block) {
		close(file);
		return fail_memory((size_t)loan.bytes, error);
	}
	block->shared = file;
	if (mmap(memory_of(block), (size_t)loan.bytes, PROT_READ | PROT_WRITE,
		    MAP_SHARED | MAP_FIXED | MAP_POPULATE, file, 0) == MAP_FAILED) {
		block_release(&block->owned);
		return fail_memory((size_t)loan.bytes, error);
	}
	*out_address = kwhy_gpu_address(memory_of(block));
	return KWHY_OK;
}

void kwhy_gpu_host_memory_close(struct kwhy_gpu *gpu, uint64_t address)
{
	kwhy_gpu_host_memory_free(gpu, address);
}

enum kwhy_status kwhy_gpu_host_pool_new(struct kwhy_gpu *gpu, struct kwhy_gpu_stream *stream, size_t bytes,
	uint64_t *out_address, struct kwhy_error *error)
{
	(void)stream;
	return kwhy_gpu_host_memory_new(gpu, bytes, out_address, error);
}

static void run_free(const struct kwhy_gpu_host_operation *operation)
{
	kwhy_gpu_host_memory_free(operation->freed.gpu, operation->freed.address);
}

enum kwhy_status kwhy_gpu_host_pool_free(
	struct kwhy_gpu *gpu, struct kwhy_gpu_stream *stream, uint64_t address, struct kwhy_error *error)
{
	static const struct kwhy_gpu_host_verb verb = {.run = run_free};
	struct kwhy_gpu_host_operation operation = {.verb = &verb, .freed = {.gpu = gpu, .address = address}};

	return kwhy_gpu_host_queue(gpu, stream, &operation, error);
}

enum kwhy_status kwhy_gpu_host_host_new(struct kwhy_gpu *gpu, enum kwhy_gpu_host_kind kind, size_t bytes,
	int numa_node, struct kwhy_gpu_host *out, struct kwhy_error *error)
{
	struct block *block = block_new(gpu, bytes, numa_node);

	if (!block)
		return fail_memory(bytes, error);
	*out = (struct kwhy_gpu_host){
		.memory = memory_of(block),
		.bytes = bytes,
		.kind = kind,
		.numa_node = block->bound ? numa_node : -1,
		/*
		 * On most GPUs kernels cannot access pageable memory, so the host back end gives no address
		 * for it, either.
		 */
		.address = kind == KWHY_GPU_HOST_PAGEABLE ? 0 : kwhy_gpu_address(memory_of(block)),
	};
	return KWHY_OK;
}

void kwhy_gpu_host_host_free(struct kwhy_gpu *gpu, struct kwhy_gpu_host *host)
{
	(void)gpu;
	if (host->memory)
		block_release(&block_of(host->memory)->owned);
	memset(host, 0, sizeof(*host));
}
