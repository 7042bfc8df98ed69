/* SPDX-License-Identifier: Apache-2.0 */
#include "lab/flow/books.h"

#include "lab/flow/rules.h"

#include <stdlib.h>

enum kwhy_status kwhy_flow_books_open(
	const struct kwhy_flow_shape *shape, struct kwhy_flow_books *out, struct kwhy_error *error)
{
	*out = (struct kwhy_flow_books){.shape = *shape,
		.at = calloc(shape->flows + 1, sizeof(*out->at)),
		.fresh = calloc(shape->flows + 1, sizeof(*out->fresh)),
		.next = calloc(shape->flows + 1, sizeof(*out->next)),
		.owners = calloc(kwhy_flow_cells(shape), sizeof(*out->owners))};
	if (!out->at || !out->fresh || !out->next || !out->owners) {
		kwhy_flow_books_done(out);
		return kwhy_fail_memory(error, "a lattice");
	}
	kwhy_flow_books_reset(out);
	return KWHY_OK;
}

void kwhy_flow_books_done(struct kwhy_flow_books *books)
{
	free(books->at);
	free(books->fresh);
	free(books->next);
	free(books->owners);
	*books = (struct kwhy_flow_books){0};
}

void kwhy_flow_books_reset(struct kwhy_flow_books *books)
{
	memset(books->owners, 0, kwhy_flow_cells(&books->shape) * sizeof(*books->owners));
	for (uint32_t row = 0; row < books->shape.flows; row++)
		books->at[row] = kwhy_flow_start(&books->shape, row);
	books->next_number = books->shape.flows;
}

static void renew(struct kwhy_flow_books *books, uint32_t step, uint32_t row)
{
	books->fresh[row] = (uint64_t)(step + 1) << 32 | books->next_number++;
}

/* The lower number stays; the other's row is free, and hangs on the one that stays. */
static void meet(
	struct kwhy_flow_books *books, uint32_t step, const uint64_t *moved, uint32_t row, uint64_t *owner)
{
	uint32_t other = (uint32_t)*owner;

	if (moved[row] < moved[other]) {
		books->next[row] = other;
		*owner = (uint64_t)(step + 1) << 32 | row;
		renew(books, step, other);
	} else {
		books->next[row] = books->next[other];
		books->next[other] = row;
		renew(books, step, row);
	}
}

void kwhy_flow_books_step(
	struct kwhy_flow_books *books, uint32_t step, const uint64_t *moved, struct kwhy_flow_step *out)
{
	const struct kwhy_flow_shape *shape = &books->shape;

	*out = (struct kwhy_flow_step){0};
	memset(books->fresh, 0, shape->flows * sizeof(*books->fresh));
	for (uint32_t row = 0; row < shape->flows; row++) {
		uint64_t *owner;

		books->next[row] = KWHY_FLOW_NONE;
		if (kwhy_flow_z(moved[row]) >= shape->depth) {
			renew(books, step, row);
			out->exited++;
			continue;
		}
		owner = &books->owners[kwhy_flow_cell(shape, moved[row])];
		if (*owner >> 32 == step + 1) {
			meet(books, step, moved, row, owner);
			out->merged++;
		} else {
			*owner = (uint64_t)(step + 1) << 32 | row;
		}
	}
	for (uint32_t row = 0; row < shape->flows; row++) {
		if (!books->fresh[row])
			out->places += kwhy_splitmix(moved[row]) * (2 * (uint64_t)step + 1);
		books->at[row] = books->fresh[row] ? kwhy_flow_start(shape, (uint32_t)books->fresh[row])
						   : moved[row];
	}
}
