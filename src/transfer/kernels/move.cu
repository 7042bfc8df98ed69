/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Kernels that move pieces of memory. Source and destination of a piece may be page-locked host memory, a
 * copy of a slot on the device, or any device memory of the program. struct piece equals struct
 * kwhy_transfer_piece, and piece i of a list is pieces_end[-1 - i]. Any size of the grid gives the same
 * results.
 */
typedef unsigned long long u64;
typedef unsigned int u32;
typedef unsigned char u8;

#ifndef KERNEL
#define KERNEL extern "C" __global__
#endif

/*
 * With __grid_constant__ (from Volta on), a kernel's argument can be read by its address; without it, each
 * thread would have a local copy.
 */
#if !defined(__CUDACC__) || __CUDA_ARCH__ < 700
#define __grid_constant__
#endif

struct piece {
	u64 to, from;
	u32 bytes, moves;
};

/*
 * How a kernel shows the host that it has ended: it writes `number`, that of its slot, to the address `done`.
 */
struct mark {
	u64 done, number, arrived; /* `arrived`: address of the counter of blocks that have ended, which is 0
				      between kernels */
};

/*
 * List and data as the kernel's argument (struct kwhy_transfer_packet). A launch copies the whole argument,
 * so there is a short version (2 KiB), too, for slots that fit in it.
 */
struct packet_head {
	struct mark mark;
	/*
	 * address at which the pieces assume that the data begins (at `end`). To those addresses of a piece
	 * that its `moves` names, kernels add the address at which the data really begins in the packet, less
	 * `base`; 0: nothing is added, since no data is in the packet
	 */
	u64 base;
	u32 count, threads, in_order, end;
};

struct packet {
	struct packet_head head;
	u64 bytes[506];
};

struct packet_2k {
	struct packet_head head;
	u64 bytes[250];
};

/*
 * Moves the share that thread number `rank` of `threads` threads has in a piece: single bytes until `to` is
 * aligned to V, then whole Vs, then the remaining bytes. `from` must have the same alignment to V as `to`.
 */
#define MOVE_AS(name, V)                                                                \
	__device__ static void name(u64 to, u64 from, u32 bytes, u32 rank, u32 threads) \
	{                                                                               \
		u32 before = (u32)(0 - to) & (u32)(sizeof(V) - 1);                      \
		u32 head = before < bytes ? before : bytes;                             \
		u32 vectors = (bytes - head) / (u32)sizeof(V);                          \
		u32 tail = head + vectors * (u32)sizeof(V);                             \
		V *vector_to = (V *)(to + head);                                        \
		const V *vector_from = (const V *)(from + head);                        \
                                                                                        \
		for (u32 i = rank; i < head; i += threads)                              \
			((u8 *)to)[i] = ((const u8 *)from)[i];                          \
		for (u32 i = rank; i < vectors; i += threads)                           \
			vector_to[i] = vector_from[i];                                  \
		for (u32 i = tail + rank; i < bytes; i += threads)                      \
			((u8 *)to)[i] = ((const u8 *)from)[i];                          \
	}

MOVE_AS(move_16, uint4)
MOVE_AS(move_8, u64)
MOVE_AS(move_4, u32)
MOVE_AS(move_1, u8)

/* Moves a piece by the widest vectors that the alignment of source and destination allows. */
__device__ static void move_piece(const struct piece *piece, u64 delta, u32 rank, u32 threads)
{
	u64 to = piece->to + (piece->moves & 2 ? delta : 0),
	    from = piece->from + (piece->moves & 1 ? delta : 0);
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

/*
 * Called at the end of each block. The last block to call it writes the mark, after all that the grid wrote
 * has become visible to host and device.
 */
__device__ static void tell(const struct mark *mark)
{
	__syncthreads();
	if (threadIdx.x != 0)
		return;
	__threadfence_system();
	if (gridDim.x > 1) {
		if (atomicAdd((u32 *)mark->arrived, 1u) != gridDim.x - 1)
			return;
		*(volatile u32 *)mark->arrived = 0;
		__threadfence_system();
	}
	*(volatile u64 *)mark->done = mark->number;
}

/*
 * Moves pieces in any order, each by a group of `threads` threads: a part of a block, a block or several
 * blocks. The grid's number of threads is a multiple of `threads`.
 */
__device__ static void move_all(const struct piece *pieces_end, u32 count, u64 delta, u32 threads)
{
	u32 at = blockIdx.x * blockDim.x + threadIdx.x, groups = gridDim.x * blockDim.x / threads;

	for (u32 i = at / threads; i < count; i += groups)
		move_piece(pieces_end - 1 - i, delta, at % threads, threads);
}

/*
 * Moves pieces one after another in a single block, so that a later piece overwrites an earlier one if they
 * overlap.
 */
__device__ static void move_in_order(const struct piece *pieces_end, u32 count, u64 delta)
{
	for (u32 i = 0; i < count; i++) {
		move_piece(pieces_end - 1 - i, delta, threadIdx.x, blockDim.x);
		__syncthreads();
	}
}

KERNEL void kwhy_transfer_move(
	const struct piece *pieces_end, u32 count, u64 delta, u32 threads, struct mark mark)
{
	move_all(pieces_end, count, delta, threads);
	tell(&mark);
}

KERNEL void kwhy_transfer_move_in_order(
	const struct piece *pieces_end, u32 count, u64 delta, u32 threads, struct mark mark)
{
	(void)threads;
	move_in_order(pieces_end, count, delta);
	tell(&mark);
}

__device__ static void move_packet(const struct packet_head *head)
{
	const struct piece *pieces_end = (const struct piece *)((const u8 *)(head + 1) + head->end);
	u64 delta = head->base ? (u64)pieces_end - head->base : 0;

	if (head->in_order)
		move_in_order(pieces_end, head->count, delta);
	else
		move_all(pieces_end, head->count, delta, head->threads);
	tell(&head->mark);
}

KERNEL void kwhy_transfer_move_packet(const __grid_constant__ struct packet packet)
{
	move_packet(&packet.head);
}

KERNEL void kwhy_transfer_move_packet_2k(const __grid_constant__ struct packet_2k packet)
{
	move_packet(&packet.head);
}
