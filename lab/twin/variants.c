/* SPDX-License-Identifier: Apache-2.0 */
#include "lab/twin/inside.h"

#include <string.h>

enum { SCATTERED = 16 };

const struct lab_twin_variant lab_twin_variants[] = {
	{.id = "v0",
		.title = "naive",
		.change = "pageable memory, a copy and a wait for each of 22 payloads and 1,877 values",
		.pageable = true,
		.waits_each = true,
		.scattered = SCATTERED,
		.send = lab_twin_send_pieces,
		.compute = lab_twin_compute_ten,
		.fetch = lab_twin_fetch_pieces},
	{.id = "v1",
		.title = "pinned, one wait a step",
		.after = "v0",
		.change = "pinned memory; copies are queued and waited for once",
		.scattered = SCATTERED,
		.send = lab_twin_send_pieces,
		.compute = lab_twin_compute_ten,
		.fetch = lab_twin_fetch_pieces},
	{.id = "v2",
		.title = "packed reads",
		.after = "v1",
		.change = "the kernel writes its observations without gaps; one copy reads them",
		.send = lab_twin_send_pieces,
		.compute = lab_twin_compute_ten,
		.fetch = lab_twin_fetch_packed},
	{.id = "v3",
		.title = "packed writes",
		.after = "v2",
		.change = "payloads go in one copy; a kernel scatters them",
		.send = lab_twin_send_packed,
		.compute = lab_twin_compute_ten,
		.fetch = lab_twin_fetch_packed},
	{.id = "v4",
		.title = "batches of copies",
		.after = "v1",
		.change = "the pieces of v1 by two calls of the driver a step, which takes many copies each",
		.scattered = SCATTERED,
		.batched = true,
		.send = lab_twin_send_pieces,
		.compute = lab_twin_compute_ten,
		.fetch = lab_twin_fetch_pieces},
	{.id = "v5",
		.title = "fused kernels",
		.after = "v3",
		.change =
			"three kernels a step over two buffers of T; ranks of one GPU are one field, so that "
			"their collectives and the copies to the history go into the kernels",
		.doubled = true,
		.send = lab_twin_send_table,
		.compute = lab_twin_compute_fused,
		.fetch = lab_twin_fetch_packed},
	{.id = "v6",
		.title = "one graph a step",
		.after = "v5",
		.change = "copies and kernels of a step are one launch",
		.host = LAB_TWIN_GRAPHS,
		.doubled = true,
		.send = lab_twin_send_table,
		.compute = lab_twin_compute_fused,
		.fetch = lab_twin_fetch_packed},
	{.id = "v7",
		.title = "mapped mailboxes",
		.after = "v6",
		.change =
			"kernels read and write the host's memory; no copies, and the host waits for a word",
		.host = LAB_TWIN_GRAPHS,
		.mapped = true,
		.doubled = true,
		.compute = lab_twin_compute_fused},
	{.id = "v8",
		.title = "policy on the device",
		.after = "v7",
		.change = "agents decide in a kernel: the whole run is one launch, nothing is transferred",
		.host = LAB_TWIN_DEVICE,
		.doubled = true},
	{.id = "v9",
		.title = "a field a rank",
		.after = "v5",
		.change = "every rank has its field, on GPUs of their own where there are several; sums and "
			  "peak "
			  "are one collective",
		.doubled = true,
		.apart = true,
		.send = lab_twin_send_table,
		.compute = lab_twin_compute_apart,
		.fetch = lab_twin_fetch_packed},
	{.id = "v9b",
		.title = "sums every fourth step",
		.after = "v9",
		.change = "sums and peak in every fourth step, which gives other bits",
		.doubled = true,
		.apart = true,
		.sums_seldom = true,
		.send = lab_twin_send_table,
		.compute = lab_twin_compute_apart,
		.fetch = lab_twin_fetch_packed},
};

const size_t lab_twin_variant_count = sizeof(lab_twin_variants) / sizeof(lab_twin_variants[0]);

const struct lab_twin_variant *lab_twin_variant_find(const char *id, size_t length)
{
	for (size_t i = 0; i < lab_twin_variant_count; i++)
		if (strlen(lab_twin_variants[i].id) == length &&
			memcmp(lab_twin_variants[i].id, id, length) == 0)
			return &lab_twin_variants[i];
	return NULL;
}
