/* SPDX-License-Identifier: Apache-2.0 */
#include "lab/flow/device.h"

size_t lab_flow_roster_place(const struct lab_flow_shape *shape, void *memory, struct lab_flow_roster *out)
{
	size_t rows = shape->flows + 1, cells = cells_of(shape);

	if (memory) {
		*out = (struct lab_flow_roster){.shape = *shape, .at = memory};
		out->moved = out->at + rows;
		out->fresh = out->moved + rows;
		out->owners = out->fresh + rows;
		out->next = (uint32_t *)(out->owners + cells);
	}
	return (3 * rows + cells) * sizeof(uint64_t) + rows * sizeof(uint32_t);
}

void lab_flow_roster_reset(struct lab_flow_roster *roster)
{
	const struct lab_flow_args lattice = lattice_of(&roster->shape);

	memset(roster->owners, 0, cells_of(&roster->shape) * sizeof(*roster->owners));
	for (uint32_t row = 0; row < roster->shape.flows; row++)
		roster->at[row] = start(&lattice, row);
	roster->next_number = roster->shape.flows;
}

static void free_row(struct lab_flow_roster *roster, uint32_t step, uint32_t row)
{
	roster->fresh[row] = (uint64_t)(step + 1) << 32 | roster->next_number++;
}

/*
 * Merges the flow of `row` with the one that already owns its cell. The flow with the lower number stays and
 * owns the cell. The other flow's row is given to a new flow, and is added to the list of rows from which the
 * one that stays takes the mean of energies.
 */
static void meet(struct lab_flow_roster *roster, uint32_t step, uint32_t row, uint64_t *owner)
{
	const uint64_t *moved = roster->moved;
	uint32_t other = (uint32_t)*owner;

	if (moved[row] < moved[other]) {
		roster->next[row] = other;
		*owner = (uint64_t)(step + 1) << 32 | row;
		free_row(roster, step, other);
	} else {
		roster->next[row] = roster->next[other];
		roster->next[other] = row;
		free_row(roster, step, row);
	}
}

void lab_flow_roster_step(struct lab_flow_roster *roster, uint32_t step, struct lab_flow_step *out)
{
	const struct lab_flow_shape *shape = &roster->shape;
	const uint64_t *moved = roster->moved;
	const struct lab_flow_args lattice = lattice_of(shape);

	*out = (struct lab_flow_step){0};
	memset(roster->fresh, 0, shape->flows * sizeof(*roster->fresh));
	for (uint32_t row = 0; row < shape->flows; row++) {
		uint64_t *owner;

		roster->next[row] = NONE;
		if (z_of(moved[row]) >= shape->depth) {
			free_row(roster, step, row);
			out->exited++;
			continue;
		}
		owner = &roster->owners[cell_of(&lattice, moved[row])];
		if (*owner >> 32 == step + 1) {
			meet(roster, step, row, owner);
			out->merged++;
		} else {
			*owner = (uint64_t)(step + 1) << 32 | row;
		}
	}
	for (uint32_t row = 0; row < shape->flows; row++) {
		if (!roster->fresh[row])
			out->places += mix(moved[row]) * (2 * (uint64_t)step + 1);
		roster->at[row] = roster->fresh[row] ? start(&lattice, (uint32_t)roster->fresh[row])
						     : moved[row];
	}
}
