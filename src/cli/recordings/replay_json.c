/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/bench/workload_show.h"
#include "cli/recordings/replay_show.h"

static void write_seconds(struct kwhy_json *json, const char *key, const struct kwhy_median *median)
{
	kwhy_json_row(json, key);
	kwhy_json_count(json, "count", median->count);
	kwhy_json_real(json, "median", median->median);
	kwhy_json_real(json, "low", median->low);
	kwhy_json_real(json, "high", median->high);
	kwhy_json_real(json, "least", median->least);
	kwhy_json_object_end(json);
}

static void write_left(struct kwhy_json *json, const struct kwhy_replay_outcome *outcome)
{
	const struct kwhy_replay_left *left = &outcome->left;

	kwhy_json_object(json, "otherwise");
	kwhy_json_count(json, "other_devices", left->other_devices);
	kwhy_json_count(json, "collectives", left->collectives);
	kwhy_json_count(json, "peer_copies", left->peer_copies);
	kwhy_json_count(json, "unknown", left->unknown);
	kwhy_json_count(json, "uncalled", left->uncalled);
	kwhy_json_count(json, "allocations", left->allocations);
	kwhy_json_count(json, "guessed_memory", left->guessed_memory);
	kwhy_json_count(json, "overlaps", left->overlaps);
	kwhy_json_count(json, "orders", left->orders);
	kwhy_json_count(json, "loose_graphs", outcome->loose_graphs);
	kwhy_json_count(json, "capped_grids", outcome->capped_grids);
	kwhy_json_count(json, "short_kernels", outcome->short_kernels);
	kwhy_json_int(json, "short_ns", outcome->short_ns);
	kwhy_json_object_end(json);
}

static void write_span(struct kwhy_json *json, const struct kwhy_replay_span *span)
{
	kwhy_json_real(json, "span_s", span->span_s);
	kwhy_json_real(json, "late_s", span->late_s);
}

static void write_runs(struct kwhy_json *json, const struct kwhy_replay_outcome *outcome)
{
	kwhy_json_array(json, "first_runs");
	for (size_t i = 0; i < outcome->runs && i < KWHY_REPLAY_RUNS_SHOWN; i++) {
		kwhy_json_row(json, NULL);
		write_span(json, &outcome->spans[i]);
		kwhy_json_object_end(json);
	}
	kwhy_json_array_end(json);
}

/* Writes the outcome of a replay as members of the open JSON object. */
static void write_outcome(struct kwhy_json *json, const struct kwhy_replay_outcome *outcome)
{
	kwhy_json_count(json, "runs", outcome->runs);
	write_seconds(json, "span_s", &outcome->span_s);
	write_runs(json, outcome);
	kwhy_workload_joules_json(json, "energy_j", outcome->gross);
	kwhy_workload_joules_json(json, "net_j", outcome->net);
	kwhy_json_row(json, "pattern");
	kwhy_json_count(json, "threads", outcome->threads);
	kwhy_json_count(json, "calls", outcome->calls);
	kwhy_json_count(json, "kernels", outcome->kernels);
	kwhy_json_count(json, "copies", outcome->copies);
	kwhy_json_count(json, "fills", outcome->fills);
	kwhy_json_count(json, "waits", outcome->waits);
	kwhy_json_count(json, "graphs", outcome->graphs);
	kwhy_json_count(json, "streams", outcome->replay_streams);
	kwhy_json_object_end(json);
	write_left(json, outcome);
}

static void write_settling(struct kwhy_json *json, const struct kwhy_replay *replay)
{
	static const char *const bounds[] = {[KWHY_REPLAY_NO_BOUND] = NULL,
		[KWHY_REPLAY_ALL_WAIT] = "all wait",
		[KWHY_REPLAY_ALL_WORK] = "all work"};

	kwhy_json_real(json, "first_off_ratio", replay->first_off_ratio);
	kwhy_json_real(json, "wait_late_s", replay->wait_late_ns * 1e-9);
	kwhy_json_real(json, "first_net_off_ratio", replay->first_net_off_ratio);
	kwhy_json_real(json, "work_factor", replay->work_factor);
	kwhy_json_real(json, "changed_work_factor", replay->changed_work_factor);
	kwhy_json_string(json, "work_bound", bounds[replay->bound]);
	kwhy_json_array(json, "settling");
	for (size_t i = 0; i < replay->step_count; i++) {
		const struct kwhy_replay_step *step = &replay->steps[i];

		kwhy_json_row(json, NULL);
		write_span(json, &step->span);
		kwhy_json_real(json, "wait_late_s", step->wait_late_ns * 1e-9);
		kwhy_json_real(json, "work_factor", step->work_factor);
		kwhy_json_real(json, "net_j", step->net_j);
		kwhy_json_object_end(json);
	}
	kwhy_json_array_end(json);
}

static void write_calls(struct kwhy_json *json, const struct kwhy_replay *replay)
{
	kwhy_json_array(json, "calls");
	for (size_t i = 0; i < KWHY_REPLAY_CALL_COUNT; i++) {
		const struct kwhy_replay_call_times *times = &replay->calls[i];

		if (!times->count)
			continue;
		kwhy_json_row(json, NULL);
		kwhy_json_string(json, "kind", kwhy_replay_call_name((enum kwhy_replay_call)i));
		kwhy_json_count(json, "count", times->count);
		kwhy_json_real(json, "recorded_s", times->recorded_ns * 1e-9);
		kwhy_json_real(json, "replayed_s", times->here_ns * 1e-9);
		kwhy_json_object_end(json);
	}
	kwhy_json_array_end(json);
}

static double ratio_less_one(double is, double should)
{
	return should != 0 ? is / should - 1 : NAN;
}

static void write_as_recorded(struct kwhy_json *json, const struct kwhy_replay *replay)
{
	const struct kwhy_replay_outcome *outcome = &replay->as_recorded;
	double span_s = (double)outcome->pattern_span_ns * 1e-9, net_j = kwhy_replay_recorded_net_j(replay);

	kwhy_json_object(json, "as_recorded");
	kwhy_json_row(json, "recorded");
	kwhy_json_real(json, "span_s", span_s);
	kwhy_json_real(json, "energy_j", replay->recorded_j);
	kwhy_json_real(json, "net_j", net_j);
	kwhy_json_real(json, "idle_w", replay->recorded_idle_w);
	kwhy_json_object_end(json);
	write_outcome(json, outcome);
	kwhy_json_row(json, "off_ratio");
	kwhy_json_real(json, "span", ratio_less_one(outcome->span_s.median, span_s));
	kwhy_json_real(json, "energy", ratio_less_one(outcome->gross.value, replay->recorded_j));
	kwhy_json_real(json, "net", kwhy_replay_net_off_ratio(replay, outcome->net.value, net_j));
	kwhy_json_object_end(json);
	kwhy_json_object_end(json);
}

static void write_projection(
	struct kwhy_json *json, const char *key, const struct kwhy_projection *projection)
{
	kwhy_json_row(json, key);
	kwhy_json_int(json, "time_ns", projection->time_ns);
	kwhy_json_int(json, "time_low_ns", projection->time_low_ns);
	kwhy_json_int(json, "time_high_ns", projection->time_high_ns);
	kwhy_json_known(json, "energy_nj", projection->energy_nj);
	kwhy_json_known(json, "low_nj", projection->energy_low_nj);
	kwhy_json_known(json, "high_nj", projection->energy_high_nj);
	kwhy_json_object_end(json);
}

static void write_changed(struct kwhy_json *json, const struct kwhy_replay *replay)
{
	const struct kwhy_projection *after = kwhy_plan_after(replay->plan);
	const struct kwhy_replay_outcome *outcome = &replay->changed;
	double net_j = kwhy_replay_projected_net_j(replay);

	if (!replay->has_changed) {
		kwhy_json_null(json, "changed");
		return;
	}
	kwhy_json_object(json, "changed");
	kwhy_json_array(json, "changes");
	for (size_t i = 0; i < replay->plan->change_count; i++) {
		const struct kwhy_projected_change *change = &replay->plan->changes[i];

		kwhy_json_row(json, NULL);
		kwhy_json_string(json, "id", change->id);
		kwhy_json_count(json, "places", change->places);
		kwhy_json_string(json, "assumption", change->assumption);
		kwhy_json_object_end(json);
	}
	kwhy_json_array_end(json);
	write_projection(json, "projected", after);
	kwhy_json_real(json, "projected_net_j", net_j);
	write_outcome(json, outcome);
	kwhy_json_row(json, "off_ratio");
	kwhy_json_real(json, "span", ratio_less_one(outcome->span_s.median, (double)after->time_ns * 1e-9));
	kwhy_json_real(json, "energy",
		after->energy_nj == KWHY_UNKNOWN_NJ
			? NAN
			: ratio_less_one(outcome->gross.value, (double)after->energy_nj * 1e-9));
	kwhy_json_real(json, "net", kwhy_replay_net_off_ratio(replay, outcome->net.value, net_j));
	kwhy_json_object_end(json);
	kwhy_json_row(json, "saved_ratio");
	kwhy_json_real(
		json, "span", -ratio_less_one(outcome->span_s.median, replay->as_recorded.span_s.median));
	kwhy_json_real(json, "energy",
		kwhy_replay_joules_compare(replay)
			? -ratio_less_one(outcome->gross.value, replay->as_recorded.gross.value)
			: NAN);
	kwhy_json_object_end(json);
	kwhy_json_object_end(json);
}

static void write_proxies(struct kwhy_json *json, const struct kwhy_replay *replay)
{
	kwhy_json_array(json, "standins");
	for (size_t i = 0; i < replay->proxy_count; i++) {
		const struct kwhy_replay_proxy *proxy = &replay->proxies[i];

		kwhy_json_row(json, NULL);
		kwhy_json_string(json, "account", proxy->account);
		kwhy_json_count(json, "count", proxy->count);
		kwhy_json_int(json, "time_ns", proxy->time_ns);
		kwhy_json_real(json, "recorded_w", proxy->recorded_w);
		kwhy_json_string(
			json, "class", kwhy_proxy_class_name((enum kwhy_proxy_class)proxy->choice.class));
		kwhy_json_real(json, "busy_ratio",
			proxy->choice.class == KWHY_PROXY_WAIT
				? 0
				: (double)proxy->choice.busy / KWHY_PROXY_BUSY);
		kwhy_json_real(json, "power_w", proxy->choice.power_w);
		kwhy_json_object_end(json);
	}
	kwhy_json_array_end(json);
}

static void write_refused(struct kwhy_json *json, const struct kwhy_plan *plan)
{
	kwhy_json_array(json, "refused");
	for (size_t i = 0; i < plan->refused_count; i++) {
		kwhy_json_row(json, NULL);
		kwhy_json_string(json, "id", plan->refused[i].id);
		kwhy_json_string(json, "reason", plan->refused[i].reason);
		kwhy_json_object_end(json);
	}
	kwhy_json_array_end(json);
}

void kwhy_replay_json(
	const struct kwhy_replay *replay, const struct kwhy_report *report, struct kwhy_text *out)
{
	struct kwhy_json json;

	kwhy_json_init(&json, out);
	kwhy_json_object(&json, NULL);
	kwhy_json_string(&json, "schema", "kwhy.replay/1");
	kwhy_json_string(&json, "command", report->command);
	kwhy_json_list(&json, "sources");
	for (size_t i = 0; i < report->recording->source_count; i++)
		kwhy_json_string(&json, NULL, report->recording->sources[i].path);
	kwhy_json_array_end(&json);
	kwhy_json_string(&json, "backend", kwhy_gpu_backend_name(replay->backend));
	kwhy_json_bool(&json, "rehearsal", replay->backend == KWHY_GPU_HOST);
	kwhy_json_string(&json, "gpu", replay->gpu.name);
	kwhy_json_string(&json, "recorded_on", replay->recorded_on);
	kwhy_json_real(&json, "idle_w", replay->replayed_idle_w);
	kwhy_json_string(&json, "energy_missing", replay->energy_missing);
	kwhy_json_string(&json, "ended", replay->ended);
	write_settling(&json, replay);
	write_calls(&json, replay);
	write_as_recorded(&json, replay);
	write_changed(&json, replay);
	write_proxies(&json, replay);
	write_refused(&json, replay->plan);
	kwhy_json_object_end(&json);
	kwhy_text_add(out, "\n");
}
