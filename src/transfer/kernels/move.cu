/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Moves pieces of memory between the host's page-locked memory, a copy of it on the device, and wherever the
 * program wants them; which is which does not matter here. struct piece is struct kwhy_transfer_piece, the
 * list grows down from `pieces_end`. Every byte is written once, whatever the grid: results do not depend on
 * it.
 */
typedef unsigned long long u64;
typedef unsigned int u32;
typedef unsigned char u8;

#ifndef KERNEL
#define KERNEL extern "C" __global__
#endif

struct piece {
	u64 to, from;
	u32 bytes, moves;
};

/*
 * The piece by thread `rank` of `threads`: bytes up to where `to` is aligned to a V, then Vs, then bytes. Both ends are
 * equally far from such a place.
 */
#define MOVE_AS(name, V)                                                                  \
	__device__ static void name(u64 to, u64 from, u32 bytes, u32 rank, u32 threads)   \
	{                                                                                 \
		u32 before = (u32)(0 - to) & (u32)(sizeof(V) - 1);                        \
		u32 head = before < bytes ? before : bytes;                               \
		u32 vectors = (bytes - head) / (u32)sizeof(V);                            \
		u32 tail = head + vectors * (u32)sizeof(V);                               \
		V *vector_to = (V *)(to + head);                                          \
		const V *vector_from = (const V *)(from + head);                          \
                                                                                          \
		for (u32 i = rank; i < head; i += threads)                                \
			((u8 *)to)[i] = ((const u8 *)from)[i];                            \
		for (u32 i = rank; i < vectors; i += threads)                             \
			vector_to[i] = vector_from[i];                                    \
		for (u32 i = tail + rank; i < bytes; i += threads)                        \
			((u8 *)to)[i] = ((const u8 *)from)[i];                            \
	}

MOVE_AS(move_16, uint4)
MOVE_AS(move_8, u64)
MOVE_AS(move_4, u32)
MOVE_AS(move_1, u8)

/* With the widest vectors that both ends allow. */
__device__ static void move_piece(const struct piece *piece, u64 delta, u32 rank, u32 threads)
{
	u64 to = piece->to + (piece->moves & 2 ? delta : 0), from = piece->from + (piece->moves & 1 ? delta : 0);
	u32 apart = (u32)(to ^ from);

	if ((apart & 15) == 0)
		move_16(to, from, piece->bytes, rank, threads);
	else if ((apart & 7) == 0)
		move_8(to, from, piece->bytes, rank, threads);
	else if ((apart & 3) == 0)
		move_4(to, from, piece->bytes, rank, threads);
	else
		move_1(to, from, piece->bytes, rank, threads);
}

/* A piece by `threads` threads of a block, which is a multiple of them; in no order. */
KERNEL void kwhy_transfer_move(const struct piece *pieces_end, u32 count, u64 delta, u32 threads)
{
	u32 groups = blockDim.x / threads, group = threadIdx.x / threads, rank = threadIdx.x % threads;

	for (u32 i = blockIdx.x * groups + group; i < count; i += gridDim.x * groups)
		move_piece(pieces_end - 1 - i, delta, rank, threads);
}

/* By one block, one after another: where they overlap, the later one wins. */
KERNEL void kwhy_transfer_move_in_order(const struct piece *pieces_end, u32 count, u64 delta)
{
	for (u32 i = 0; i < count; i++) {
		move_piece(pieces_end - 1 - i, delta, threadIdx.x, blockDim.x);
		__syncthreads();
	}
}
