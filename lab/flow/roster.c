/* SPDX-License-Identifier: Apache-2.0 */
#include "lab/flow/roster.h"

#include "lab/flow/device.h"

#include <stdlib.h>

enum kwhy_status lab_flow_roster_open(
	const struct lab_flow_shape *shape, struct lab_flow_roster *out, struct kwhy_error *error)
{
	*out = (struct lab_flow_roster){.shape = *shape,
		.at = calloc(shape->flows + 1, sizeof(*out->at)),
		.fresh = calloc(shape->flows + 1, sizeof(*out->fresh)),
		.next = calloc(shape->flows + 1, sizeof(*out->next)),
		.owners = calloc(cells_of(shape), sizeof(*out->owners))};
	if (!out->at || !out->fresh || !out->next || !out->owners) {
		lab_flow_roster_done(out);
		return kwhy_fail_memory(error, "a lattice");
	}
	lab_flow_roster_reset(out);
	return KWHY_OK;
}

void lab_flow_roster_done(struct lab_flow_roster *roster)
{
	free(roster->at);
	free(roster->fresh);
	free(roster->next);
	free(roster->owners);
	*roster = (struct lab_flow_roster){0};
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

/* The lower number stays; the other's row is free, and hangs on the one that stays. */
static void meet(
	struct lab_flow_roster *roster, uint32_t step, const uint64_t *moved, uint32_t row, uint64_t *owner)
{
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

void lab_flow_roster_step(
	struct lab_flow_roster *roster, uint32_t step, const uint64_t *moved, struct lab_flow_step *out)
{
	const struct lab_flow_shape *shape = &roster->shape;
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
			meet(roster, step, moved, row, owner);
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
