/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Moves pieces of memory between the host's page-locked memory, a copy of it on the device, and wherever the
 * program wants them; which is which does not matter here. struct piece is struct kwhy_transfer_piece, the
 * list grows down from `pieces_end`. Every byte is written once, whatever the grid: results do not depend on
 * it.
 */
typedef unsigned long long u64;
typedef unsigned int u32;

struct piece {
	u64 to, from;
	u32 bytes, moves;
};

/* By the threads `rank` of `threads`: bytes up to where `to` is aligned to V, then Vs, then bytes. */
template <typename V> __device__ static void move_as(u64 to, u64 from, u32 bytes, u32 rank, u32 threads)
{
	u32 head = (u32)(-to & (sizeof(V) - 1));

	head = head < bytes ? head : bytes;
	u32 vectors = (bytes - head) / (u32)sizeof(V), tail = head + vectors * (u32)sizeof(V);
	V *vector_to = (V *)(to + head);
	const V *vector_from = (const V *)(from + head);

	for (u32 i = rank; i < head; i += threads)
		((unsigned char *)to)[i] = ((const unsigned char *)from)[i];
#pragma unroll 4
	for (u32 i = rank; i < vectors; i += threads)
		vector_to[i] = vector_from[i];
	for (u32 i = tail + rank; i < bytes; i += threads)
		((unsigned char *)to)[i] = ((const unsigned char *)from)[i];
}

/* With the widest vectors that both ends allow. */
__device__ static void move_piece(const struct piece *piece, u64 delta, u32 rank, u32 threads)
{
	u64 to = piece->to + (piece->moves & 2 ? delta : 0), from = piece->from + (piece->moves & 1 ? delta : 0);
	u32 apart = (u32)(to ^ from);

	if ((apart & 15) == 0)
		move_as<uint4>(to, from, piece->bytes, rank, threads);
	else if ((apart & 7) == 0)
		move_as<u64>(to, from, piece->bytes, rank, threads);
	else if ((apart & 3) == 0)
		move_as<u32>(to, from, piece->bytes, rank, threads);
	else
		move_as<unsigned char>(to, from, piece->bytes, rank, threads);
}

/* A piece by `threads` threads of a block, which is a multiple of them; in no order. */
extern "C" __global__ void kwhy_transfer_move(const struct piece *pieces_end, u32 count, u64 delta, u32 threads)
{
	u32 groups = blockDim.x / threads, group = threadIdx.x / threads, rank = threadIdx.x % threads;

	for (u32 i = blockIdx.x * groups + group; i < count; i += gridDim.x * groups)
		move_piece(pieces_end - 1 - i, delta, rank, threads);
}

/* By one block, one after another: where they overlap, the later one wins. */
extern "C" __global__ void kwhy_transfer_move_in_order(const struct piece *pieces_end, u32 count, u64 delta)
{
	for (u32 i = 0; i < count; i++) {
		move_piece(pieces_end - 1 - i, delta, threadIdx.x, blockDim.x);
		__syncthreads();
	}
}
