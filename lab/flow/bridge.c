/* SPDX-License-Identifier: Apache-2.0 */
#include "lab/flow/bridge.h"

#include "lab/flow/inside.h"
#include "lab/flow/rules.h"

enum { E = KWHY_FLOW_ENERGIES };

static bool has_left(const struct kwhy_flow *flow, uint32_t row)
{
	return kwhy_flow_z(flow->moved[row]) >= flow->shape.depth;
}

/* What they put out, row by row, as such a program fetches it. */
static enum kwhy_status fetch_left(struct kwhy_flow *flow, struct kwhy_error *error)
{
	enum kwhy_status status = KWHY_OK;

	for (uint32_t row = 0; !status && row < flow->shape.flows; row++)
		if (has_left(flow, row))
			status = kwhy_flow_copy_out(flow, flow->bridge.left + (size_t)row * E,
				flow->args.outputs_rows +
					(uint64_t)row * KWHY_FLOW_OUTPUTS * sizeof(*flow->bridge.left),
				E * sizeof(*flow->bridge.left), error);
	return status ? status : kwhy_flow_wait(flow, error);
}

/* Written, and read as whoever takes it would. */
static void send_line(struct kwhy_flow *flow, uint32_t step, uint32_t row)
{
	struct kwhy_flow_bridge *bridge = &flow->bridge;
	char line[KWHY_FLOW_LINE_BYTES];
	float e[E];

	kwhy_flow_line_write(flow->moved[row], bridge->left + (size_t)row * E, line);
	bridge->texts[step] += kwhy_flow_line_read(line, KWHY_FLOW_LINE_PLACES, e);
	for (uint32_t k = 0; k < E; k++)
		bridge->out += (int64_t)((double)e[k] * 0x1p32);
	flow->tally.lines++;
}

/* Written as whoever sends it would, and read: what was read goes to the device. */
static enum kwhy_status take_line(
	struct kwhy_flow *flow, uint32_t step, uint32_t row, struct kwhy_error *error)
{
	uint64_t at = flow->books.at[row];
	char line[KWHY_FLOW_LINE_BYTES];
	float e[E], *come = flow->bridge.come + (size_t)row * E;

	for (uint32_t k = 0; k < E; k++)
		e[k] = kwhy_flow_start_energy((uint32_t)(at >> 32), k);
	kwhy_flow_line_write(at, e, line);
	flow->bridge.texts[step] += kwhy_flow_line_read(line, KWHY_FLOW_LINE_WORDS, come);
	flow->tally.lines++;
	return kwhy_flow_copy_in(
		flow, flow->args.e + (uint64_t)row * E * sizeof(*come), come, E * sizeof(*come), error);
}

enum kwhy_status kwhy_flow_bridge_step(struct kwhy_flow *flow, uint32_t step, struct kwhy_error *error)
{
	enum kwhy_status status = fetch_left(flow, error);

	if (!status)
		status = kwhy_flow_hold(flow, error);
	flow->bridge.texts[step] = 0;
	for (uint32_t row = 0; !status && row < flow->shape.flows; row++) {
		if (!flow->books.fresh[row])
			continue;
		if (has_left(flow, row))
			send_line(flow, step, row);
		status = take_line(flow, step, row, error);
	}
	flow->bridge.texts[step] *= 2 * (uint64_t)step + 1;
	return status;
}
