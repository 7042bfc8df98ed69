/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Kernels of the transfer benchmark. Addresses are addresses of device memory, or addresses by which the
 * device reaches host memory. The pattern that is moved is pseudo-random: its 32-bit word i is mix(seed + i).
 */
typedef unsigned long long u64;
typedef unsigned int u32;
typedef unsigned char u8;

#ifndef KERNEL
#define KERNEL extern "C" __global__
#endif

__device__ static u32 mix(u32 x)
{
	x ^= x >> 16;
	x *= 0x7feb352du;
	x ^= x >> 15;
	x *= 0x846ca68bu;
	return x ^ (x >> 16);
}

__device__ static u64 index_of_thread(void)
{
	return (u64)blockIdx.x * blockDim.x + threadIdx.x;
}

__device__ static u64 all_threads(void)
{
	return (u64)gridDim.x * blockDim.x;
}

/* Adds the `part` of every thread to *sum, with one atomic operation in global memory per block. */
__device__ static void add_up(u64 part, u64 *sum)
{
	__shared__ u64 block_sum;

	if (threadIdx.x == 0)
		block_sum = 0;
	__syncthreads();
	atomicAdd(&block_sum, part);
	__syncthreads();
	if (threadIdx.x == 0)
		atomicAdd(sum, block_sum);
}

/* Writes the first `bytes` bytes of the pattern to `to`, which is 16-byte aligned. */
KERNEL void kwhy_transfer_pattern(u64 to, u64 bytes, u32 seed)
{
	u64 quads = bytes / 16;

	for (u64 i = index_of_thread(); i < quads; i += all_threads()) {
		u32 word = seed + (u32)(4 * i);

		((uint4 *)to)[i] = make_uint4(mix(word), mix(word + 1), mix(word + 2), mix(word + 3));
	}
	for (u64 i = 16 * quads + index_of_thread(); i < bytes; i += all_threads())
		((u8 *)to)[i] = (u8)(mix(seed + (u32)(i / 4)) >> i % 4 * 8);
}

/*
 * Compares the `bytes` bytes at `at` with the pattern, whose byte `first` belongs to the first of them, and
 * adds the number of bytes that differ to *wrong. Compares only those bytes whose distance from `at`, modulo
 * `stride`, is below `piece`.
 */
KERNEL void kwhy_transfer_check(
	u64 at, u64 bytes, u32 seed, u64 first, u64 stride, u64 piece, u64 wrong)
{
	u64 found = 0;

	for (u64 i = index_of_thread(); i < bytes; i += all_threads()) {
		u64 place = first + i;

		if (i % stride < piece)
			found += ((const u8 *)at)[i] != (u8)(mix(seed + (u32)(place / 4)) >> place % 4 * 8);
	}
	if (found)
		atomicAdd((u64 *)wrong, found);
}

/* Copies in units of 16 bytes if both addresses are 16-byte aligned, otherwise byte by byte. */
KERNEL void kwhy_transfer_copy(u64 to, u64 from, u64 bytes)
{
	u64 quads = (to | from) % 16 == 0 ? bytes / 16 : 0, threads = all_threads(), i = index_of_thread();

	for (; i + 3 * threads < quads; i += 4 * threads) {
		uint4 a = ((const uint4 *)from)[i], b = ((const uint4 *)from)[i + threads],
		      c = ((const uint4 *)from)[i + 2 * threads], d = ((const uint4 *)from)[i + 3 * threads];

		((uint4 *)to)[i] = a;
		((uint4 *)to)[i + threads] = b;
		((uint4 *)to)[i + 2 * threads] = c;
		((uint4 *)to)[i + 3 * threads] = d;
	}
	for (; i < quads; i += threads)
		((uint4 *)to)[i] = ((const uint4 *)from)[i];
	for (i = 16 * quads + index_of_thread(); i < bytes; i += threads)
		((u8 *)to)[i] = ((const u8 *)from)[i];
}

/* Reads every byte once. Adds the sum of all 32-bit words and of the up to three remaining bytes to *sum. */
KERNEL void kwhy_transfer_read(u64 from, u64 bytes, u64 sum)
{
	u64 quads = bytes / 16, part = 0;

	for (u64 i = index_of_thread(); i < quads; i += all_threads()) {
		uint4 quad = ((const uint4 *)from)[i];

		part += (u64)quad.x + quad.y + quad.z + quad.w;
	}
	for (u64 i = 4 * quads + index_of_thread(); i < bytes / 4; i += all_threads())
		part += ((const u32 *)from)[i];
	for (u64 i = bytes / 4 * 4 + index_of_thread(); i < bytes; i += all_threads())
		part += ((const u8 *)from)[i];
	add_up(part, (u64 *)sum);
}

/*
 * Reads `bytes` / 4 32-bit words, does `rounds` rounds of arithmetic on each, and adds the results to *sum.
 * `rounds` determines how long the kernel takes.
 */
KERNEL void kwhy_transfer_work(u64 from, u64 bytes, u32 rounds, u64 sum)
{
	u64 part = 0;

	for (u64 i = index_of_thread(); i < bytes / 4; i += all_threads()) {
		u32 word = ((const u32 *)from)[i];

		for (u32 round = 0; round < rounds; round++)
			word = mix(word);
		part += word;
	}
	add_up(part, (u64 *)sum);
}

/*
 * Copies pieces of memory. Each piece is copied by `parts` thread blocks. The descriptor of a piece has three
 * words: its offset from `from`, its offset from `to`, and its size in bytes.
 */
KERNEL void kwhy_transfer_pieces(u64 descriptors, u32 parts, u64 to, u64 from)
{
	const u32 *piece = (const u32 *)descriptors + 3 * (blockIdx.x / parts);
	u64 source = from + piece[0], sink = to + piece[1];
	u32 bytes = piece[2], quads = (source | sink) % 16 == 0 ? bytes / 16 : 0,
	    first = blockIdx.x % parts * blockDim.x + threadIdx.x, step = parts * blockDim.x;

	for (u32 i = first; i < quads; i += step)
		((uint4 *)sink)[i] = ((const uint4 *)source)[i];
	for (u32 i = 16 * quads + first; i < bytes; i += step)
		((u8 *)sink)[i] = ((const u8 *)source)[i];
}

/*
 * Reads a length of the LZ4 block format: the four bits in `nibble`. If they are 15, the bytes at *in are
 * added and skipped, up to and including the first byte that is not 255.
 */
__device__ static u32 length_of(u32 nibble, const u8 **in, const u8 *end)
{
	u32 length = nibble, more = nibble == 15 ? 255 : 0;

	while (more == 255 && *in < end) {
		more = *(*in)++;
		length += more;
	}
	return length;
}

/*
 * Expands LZ4 blocks (chunks), with a block of threads for each. The descriptor of a chunk has four words:
 * its offset from `from`, its compressed size, its offset from `to`, and its expanded size, in bytes. All
 * threads parse the same tokens and share the copying. Adds the number of invalid chunks to *failed.
 */
KERNEL void kwhy_transfer_expand(u64 chunks, u64 from, u64 to, u64 failed)
{
	const u32 *chunk = (const u32 *)chunks + 4 * blockIdx.x;
	const u8 *in = (const u8 *)from + chunk[0], *end = in + chunk[1];
	u8 *out = (u8 *)to + chunk[2];
	u32 place = 0, bytes = chunk[3];

	while (in < end) {
		u32 token = *in++, literals = length_of(token >> 4, &in, end), offset, matched;

		if (literals > (u64)(end - in) || literals > bytes - place)
			break;
		for (u32 i = threadIdx.x; i < literals; i += blockDim.x)
			out[place + i] = in[i];
		in += literals;
		place += literals;
		if (end - in < 2)
			break;
		offset = in[0] | (u32)in[1] << 8;
		in += 2;
		matched = length_of(token & 15, &in, end) + 4;
		if (offset == 0 || offset > place || matched > bytes - place)
			break;
		__syncthreads();
		for (u32 i = threadIdx.x; i < matched; i += blockDim.x)
			out[place + i] = out[place - offset + i % offset];
		place += matched;
		__syncthreads();
	}
	if (threadIdx.x == 0 && place != bytes)
		atomicAdd((u64 *)failed, 1ull);
}
