/* SPDX-License-Identifier: Apache-2.0 */
#include "measure/session.h"

#include "base/c_locale.h"
#include "base/cpu_time.h"
#include "base/settle.h"

#define MS INT64_C(1000000)
#define LAST_READINGS_NS (1500 * MS)

/*
 * Waits until the meters have reported the time up to end_ns. Gives up LAST_READINGS_NS after the time by
 * which they normally have. Releases fold_lock while it waits.
 */
static enum kwhy_status wait_for_last(struct kwhy_session *session, int64_t end_ns, struct kwhy_error *error)
{
	int64_t ready_ns = kwhy_history_ready_ns(session->history, end_ns, NULL);
	int64_t give_up_ns = ready_ns + LAST_READINGS_NS;
	enum kwhy_status status;
	bool busy;

	do {
		int64_t now_ns = kwhy_clock_mono_ns();

		pthread_mutex_unlock(&session->fold_lock);
		kwhy_settle(now_ns < ready_ns ? ready_ns - now_ns : 20 * MS);
		kwhy_sampler_flush(session->sampler);
		pthread_mutex_lock(&session->fold_lock);
		status = session->status ? session->status : kwhy_session_collect(session, &busy, error);
		if (session->status)
			*error = session->error;
		if (!status)
			status = kwhy_session_make_curves(session, error);
	} while (!status && kwhy_session_known_until(session, end_ns, false) < end_ns &&
		kwhy_clock_mono_ns() < give_up_ns);
	return status;
}

static void tell_losses(const struct kwhy_session *session, struct kwhy_results *results)
{
	struct kwhy_history_losses losses = kwhy_history_losses(session->history);
	struct kwhy_sampler_cost cost;

	kwhy_sampler_cost(session->sampler, &cost);
	results->lost_events = kwhy_recorder_dropped(session->recorder);
	results->lost_readings = losses.lost + losses.forgotten;
	results->failed_readings = losses.failures;
	results->sampler_cpu_ns = cost.cpu_ns;
	results->sampler_running_ns = cost.running_ns;
	results->session_cpu_s = (double)(cost.cpu_ns - session->begun_cpu_ns) * 1e-9;
	results->session_busy_s = kwhy_cpu_busy_s(NULL) - session->begun_busy_s;
}

static enum kwhy_status make_results(
	struct kwhy_session *session, int64_t end_ns, struct kwhy_results **out, struct kwhy_error *error)
{
	struct kwhy_results_request request = {.sensors = session->sensors,
		.metered = session->metered,
		.metered_count = session->metered_count,
		.names = &session->names,
		.idle_name = session->idle_name,
		.enough_ratio = session->enough_ratio};
	struct kwhy_regions *regions;
	enum kwhy_status status = wait_for_last(session, end_ns, error);

	if (!status)
		status = kwhy_session_fold_rest(session, end_ns, &regions, error);
	if (status)
		return status;
	request.regions = regions;
	pthread_mutex_lock(&session->names_lock);
	status = kwhy_results_make(&request, out, error);
	pthread_mutex_unlock(&session->names_lock);
	kwhy_regions_free(regions);
	return status;
}

int kwhy_session_results(
	struct kwhy_session *session, struct kwhy_results **out, char *message, size_t message_bytes)
{
	KWHY_C_LOCALE;
	int64_t end_ns = kwhy_clock_mono_ns();
	struct kwhy_results *results = NULL;
	struct kwhy_error error = {0};
	enum kwhy_status status;

	if (kwhy_session_is_forked(session))
		return kwhy_session_refuse_child(message, message_bytes);
	pthread_mutex_lock(&session->fold_lock);
	status = make_results(session, end_ns, &results, &error);
	if (!status)
		tell_losses(session, results);
	pthread_mutex_unlock(&session->fold_lock);
	if (!status)
		status = kwhy_results_write(results, &error);
	if (status) {
		kwhy_results_free(results);
		return kwhy_session_say(&error, message, message_bytes);
	}
	*out = results;
	return KWHY_MEASURE_OK;
}
