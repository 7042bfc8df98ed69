/* SPDX-License-Identifier: Apache-2.0 */
#include "lab/flow/books.h"

#include "lab/flow/rules.h"

#include <stdlib.h>

enum kwhy_status lab_flow_books_open(
	const struct lab_flow_shape *shape, struct lab_flow_books *out, struct kwhy_error *error)
{
	*out = (struct lab_flow_books){.shape = *shape,
		.at = calloc(shape->flows + 1, sizeof(*out->at)),
		.fresh = calloc(shape->flows + 1, sizeof(*out->fresh)),
		.next = calloc(shape->flows + 1, sizeof(*out->next)),
		.owners = calloc(cells_of(shape), sizeof(*out->owners))};
	if (!out->at || !out->fresh || !out->next || !out->owners) {
		lab_flow_books_done(out);
		return kwhy_fail_memory(error, "a lattice");
	}
	lab_flow_books_reset(out);
	return KWHY_OK;
}

void lab_flow_books_done(struct lab_flow_books *books)
{
	free(books->at);
	free(books->fresh);
	free(books->next);
	free(books->owners);
	*books = (struct lab_flow_books){0};
}

void lab_flow_books_reset(struct lab_flow_books *books)
{
	const struct args lattice = lattice_of(&books->shape);

	memset(books->owners, 0, cells_of(&books->shape) * sizeof(*books->owners));
	for (uint32_t row = 0; row < books->shape.flows; row++)
		books->at[row] = start(&lattice, row);
	books->next_number = books->shape.flows;
}

static void free_row(struct lab_flow_books *books, uint32_t step, uint32_t row)
{
	books->fresh[row] = (uint64_t)(step + 1) << 32 | books->next_number++;
}

/* The lower number stays; the other's row is free, and hangs on the one that stays. */
static void meet(
	struct lab_flow_books *books, uint32_t step, const uint64_t *moved, uint32_t row, uint64_t *owner)
{
	uint32_t other = (uint32_t)*owner;

	if (moved[row] < moved[other]) {
		books->next[row] = other;
		*owner = (uint64_t)(step + 1) << 32 | row;
		free_row(books, step, other);
	} else {
		books->next[row] = books->next[other];
		books->next[other] = row;
		free_row(books, step, row);
	}
}

void lab_flow_books_step(
	struct lab_flow_books *books, uint32_t step, const uint64_t *moved, struct lab_flow_step *out)
{
	const struct lab_flow_shape *shape = &books->shape;
	const struct args lattice = lattice_of(shape);

	*out = (struct lab_flow_step){0};
	memset(books->fresh, 0, shape->flows * sizeof(*books->fresh));
	for (uint32_t row = 0; row < shape->flows; row++) {
		uint64_t *owner;

		books->next[row] = NONE;
		if (z_of(moved[row]) >= shape->depth) {
			free_row(books, step, row);
			out->exited++;
			continue;
		}
		owner = &books->owners[cell_of(&lattice, moved[row])];
		if (*owner >> 32 == step + 1) {
			meet(books, step, moved, row, owner);
			out->merged++;
		} else {
			*owner = (uint64_t)(step + 1) << 32 | row;
		}
	}
	for (uint32_t row = 0; row < shape->flows; row++) {
		if (!books->fresh[row])
			out->places += mix(moved[row]) * (2 * (uint64_t)step + 1);
		books->at[row] = books->fresh[row] ? start(&lattice, (uint32_t)books->fresh[row])
						   : moved[row];
	}
}
