/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_TESTS_FAKE_MAPPING_H
#define KWHY_TESTS_FAKE_MAPPING_H

#include "vendor/cuda_abi.h"

/*
 * Calls of the driver by which a program maps memory into a range of addresses that it has reserved, as
 * PyTorch's expandable segments do. kwhy never makes them. Handles, properties and access are simplified: a
 * handle is its size.
 */
enum kwhy_cuda_result cuMemAddressReserve(kwhy_cuda_address *out_address, size_t bytes, size_t alignment,
	kwhy_cuda_address wanted, unsigned long long flags);
enum kwhy_cuda_result cuMemMap(kwhy_cuda_address address, size_t bytes, size_t offset,
	unsigned long long handle, unsigned long long flags);
enum kwhy_cuda_result cuMemSetAccess(
	kwhy_cuda_address address, size_t bytes, const void *description, size_t count);
enum kwhy_cuda_result cuMemUnmap(kwhy_cuda_address address, size_t bytes);

/*
 * Tell fake_memory.c which pieces of memory are mapped: adds a piece, or removes the piece that begins at the
 * address.
 */
enum kwhy_cuda_result fake_memory_map(kwhy_cuda_address address, size_t bytes);
enum kwhy_cuda_result fake_memory_unmap(kwhy_cuda_address address);

#endif
