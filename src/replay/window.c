/* SPDX-License-Identifier: Apache-2.0 */
#include "replay/window.h"

#include "base/clock.h"

#include <math.h>

static enum kwhy_status run_once(
	struct kwhy_replay_run *run, struct kwhy_replay_window *window, struct kwhy_error *error)
{
	struct kwhy_replay_span span;
	enum kwhy_status status = kwhy_replay_run_once(run, &span, error);

	if (status)
		return status;
	if (window->runs < KWHY_REPLAY_RUNS_KEPT)
		window->spans[window->runs] = span;
	window->sum.span_s += span.span_s;
	window->sum.late_s += span.late_s;
	window->runs++;
	return KWHY_OK;
}

enum kwhy_status kwhy_replay_window_run(struct kwhy_device_energy *energy, struct kwhy_replay_run *run,
	struct kwhy_replay_window *window, struct kwhy_error *error)
{
	enum kwhy_status status = kwhy_device_energy_begin(energy, window->name, error);
	int64_t end_ns = kwhy_clock_mono_ns() + (int64_t)(window->seconds * 1e9);

	if (status)
		return status;
	while (!status && (!window->runs || kwhy_clock_mono_ns() < end_ns))
		status = run_once(run, window, error);
	kwhy_device_energy_end(energy);
	return status;
}

static struct kwhy_joules share_of(const struct kwhy_joules *joules, double less_j, size_t runs)
{
	double one = 1 / (double)runs;

	return (struct kwhy_joules){
		(joules->value - less_j) * one, (joules->low - less_j) * one, (joules->high - less_j) * one};
}

struct kwhy_replay_joules kwhy_replay_window_joules(
	const struct kwhy_device_energy *energy, const struct kwhy_replay_window *window)
{
	struct kwhy_window_joules joules;
	double idle_w;

	kwhy_device_energy_of(energy, window->name, 1, &joules);
	idle_w = (joules.gross.value - joules.net.value) / joules.seconds;
	return (struct kwhy_replay_joules){
		.gross = share_of(
			&joules.gross, idle_w * (joules.seconds - window->sum.span_s), window->runs),
		.net = share_of(&joules.net, 0, window->runs),
		.idle_w = idle_w};
}
