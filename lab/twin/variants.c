/* SPDX-License-Identifier: Apache-2.0 */
#include "lab/twin/inside.h"

/* The parts of a step; of pieces 16 bytes lie from one observation to the next. */
#define PIECES                                                                          \
	.send = lab_twin_send_pieces, .compute = lab_twin_compute_ten, .scattered = 16, \
	.fetch = lab_twin_fetch_pieces
#define PACKED_READS .compute = lab_twin_compute_ten, .fetch = lab_twin_fetch_packed
#define TABLE .doubled = true, .send = lab_twin_send_table, .fetch = lab_twin_fetch_packed

const struct lab_twin_variant lab_twin_variants[] = {
	{"v0", "naive", NULL, "pageable memory, a copy and a wait for each of 22 payloads and 1,877 values",
		PIECES, .pageable = true, .waits_each = true},
	{"v1", "pinned, one wait a step", "v0", "pinned memory; copies are queued and waited for once",
		PIECES},
	{"v2", "packed reads", "v1", "the kernel writes its observations without gaps; one copy reads them",
		PACKED_READS, .send = lab_twin_send_pieces},
	{"v3", "packed writes", "v2", "payloads go in one copy; a kernel scatters them", PACKED_READS,
		.send = lab_twin_send_packed},
	{"v4", "batches of copies", "v1",
		"the pieces of v1 by two calls of the driver a step, which takes many copies each", PIECES,
		.batched = true},
	{"v5", "fused kernels", "v3",
		"three kernels a step over two buffers of T; ranks of one GPU are one field, so that "
		"their collectives and the copies to the history go into the kernels",
		TABLE, .compute = lab_twin_compute_fused},
	{"v6", "one graph a step", "v5", "copies and kernels of a step are one launch", TABLE,
		.compute = lab_twin_compute_fused, .host = LAB_TWIN_GRAPHS},
	{"v7", "mapped mailboxes", "v6",
		"kernels read and write the host's memory; no copies, and the host waits for a word",
		.host = LAB_TWIN_GRAPHS, .mapped = true, .doubled = true, .compute = lab_twin_compute_fused},
	{"v8", "policy on the device", "v7",
		"agents decide in a kernel: the whole run is one launch, nothing is transferred",
		.host = LAB_TWIN_DEVICE, .doubled = true},
	{"v9", "a field a rank", "v5",
		"every rank has its field, on GPUs of their own where there are several; sums and peak "
		"are one collective",
		TABLE, .compute = lab_twin_compute_apart, .apart = true},
	{"cpu", "one core of the host", NULL, "no GPU: the reference itself", .host = LAB_TWIN_REFERENCE},
};

const size_t lab_twin_variant_count = sizeof(lab_twin_variants) / sizeof(lab_twin_variants[0]);
