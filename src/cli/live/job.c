/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/live/job.h"

#include "base/clock.h"
#include "base/cpu_time.h"
#include "launch/signals.h"

#include <errno.h>
#include <math.h>
#include <signal.h>
#include <string.h>
#include <sys/signalfd.h>
#include <unistd.h>

#define MS_NS INT64_C(1000000)
#define INTERVAL_VIEW_MS 1000
#define INTERVAL_SERVER_MS 2000
/*
 * Shortest and longest time in ms between two reads of the driver's buffer of power samples. kwhy watch uses
 * the shortest. The longest is below the 2.4 s that the buffer holds, so no sample is missed. Each read takes
 * 0.6 ms of processor time on an H200.
 */
#define RING_PERIOD_MIN_MS 500
#define RING_PERIOD_MAX_MS 2000
/*
 * A server reads gauges that are only shown (and enter no account) once in SLOW_INTERVALS intervals, but at
 * least once in SLOW_PERIOD_MS. Once in COUNTER_CATCH_MS a server polls the energy counter until the counter
 * updates, to know the time of the update.
 */
#define SLOW_INTERVALS 5
#define SLOW_PERIOD_MS 10000
#define COUNTER_CATCH_MS 300000
#define BUSY_MS 10000 /* time in ms between two reads of the busy time of all CPUs */
/* time in ms within which the sampler finishes all reads that are due at the same moment */
#define READ_MS 100
/*
 * shortest interval in ms: the driver updates its readings no faster, and each reading takes the driver's
 * lock
 */
#define INTERVAL_MIN_MS 100
#define INTERVAL_MAX_MS 3600000

void kwhy_live_options_init(struct kwhy_live_options *options, bool is_server)
{
	options->is_server = is_server;
	options->interval_ms = is_server ? INTERVAL_SERVER_MS : INTERVAL_VIEW_MS;
}

static enum kwhy_status watch_signals(int *out, struct kwhy_error *error)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGQUIT);
	if (!kwhy_signals_hangup_ignored())
		sigaddset(&set, SIGHUP);
	sigprocmask(SIG_BLOCK, &set, NULL);
	signal(SIGPIPE, SIG_IGN);
	*out = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	if (*out < 0)
		return kwhy_fail(error, KWHY_E_IO, "signals cannot be waited for: %s", strerror(errno));
	return KWHY_OK;
}

/*
 * Sets the periods with which a server reads the meters: the longest that miss no energy, so that reading
 * takes little time.
 */
static void save(struct kwhy_sensor_request *request, double interval_ms)
{
	const double ring_ms = fmin(fmax(interval_ms, RING_PERIOD_MIN_MS), RING_PERIOD_MAX_MS);

	request->ring_period_ns = request->host_period_ns = (int64_t)ring_ms * MS_NS;
	request->ring_view_period_ns = RING_PERIOD_MIN_MS * MS_NS;
	request->slow_gauge_period_ns = (int64_t)fmin(SLOW_INTERVALS * interval_ms, SLOW_PERIOD_MS) * MS_NS;
	request->counter_catch_ns = COUNTER_CATCH_MS * MS_NS;
}

static enum kwhy_status open_sensors(
	struct kwhy_live_job *job, const struct kwhy_live_options *options, struct kwhy_error *error)
{
	struct kwhy_sensor_request request = {
		.devices = options->devices,
		.ring_period_ns = RING_PERIOD_MIN_MS * MS_NS,
		.gauge_period_ns = (int64_t)options->interval_ms * MS_NS,
		.gauges = true,
		.processes = true,
		.meter_files = options->meters.items,
		.meter_file_count = options->meters.count,
		.replay_path = options->replay,
	};

	if (!(options->interval_ms >= INTERVAL_MIN_MS && options->interval_ms <= INTERVAL_MAX_MS))
		return kwhy_fail(error, KWHY_E_USAGE, "--interval takes %d to %d milliseconds",
			INTERVAL_MIN_MS, INTERVAL_MAX_MS);
	if (options->is_server)
		save(&request, options->interval_ms);
	return kwhy_sensors_open(&request, &job->sensors, error);
}

enum kwhy_status kwhy_live_job_open(
	struct kwhy_live_job *job, const struct kwhy_live_options *options, struct kwhy_error *error)
{
	enum kwhy_status status;

	*job = (struct kwhy_live_job){.signals = -1, .replayed = options->replay != NULL};
	status = watch_signals(&job->signals, error);
	if (!status)
		status = open_sensors(job, options, error);
	if (!status)
		status = kwhy_live_new(job->sensors, kwhy_clock_mono_ns(), &job->live, error);
	if (!status && options->before_threads)
		options->before_threads(options->context);
	if (!status)
		status = kwhy_sampler_start(job->sensors, NULL, &job->sampler, error);
	if (status)
		kwhy_live_job_close(job);
	return status;
}

void kwhy_live_job_close(struct kwhy_live_job *job)
{
	if (job->sampler)
		kwhy_sampler_stop(job->sampler, NULL);
	kwhy_live_free(job->live);
	kwhy_sensors_close(job->sensors);
	if (job->signals >= 0)
		close(job->signals);
	*job = (struct kwhy_live_job){.signals = -1};
}

static bool has_package(const struct kwhy_sensors *sensors)
{
	for (size_t i = 0; i < sensors->source_count; i++)
		if (sensors->sources[i].kind == KWHY_SOURCE_METER &&
			kwhy_meter_row(sensors->sources[i].meter)->owner == KWHY_METER_OWNER_PACKAGE)
			return true;
	return false;
}

/*
 * Busy time in s, summed over all CPUs, from which the energy of the sampler's thread is modelled. It is read
 * only once in BUSY_MS, because reading it takes longer the more CPUs a machine has. NAN: it was not read
 * now, the readings come from a file, or no CPU package has a meter.
 */
static double busy_s(struct kwhy_live_job *job)
{
	if (job->replayed || (job->busy_ns && job->ticked_ns - job->busy_ns < BUSY_MS * MS_NS) ||
		!has_package(job->sensors))
		return NAN;
	job->busy_ns = job->ticked_ns;
	return kwhy_cpu_busy_s(NULL);
}

enum kwhy_status kwhy_live_job_tick(struct kwhy_live_job *job, struct kwhy_error *error)
{
	struct kwhy_sampler_cost cost;

	kwhy_sampler_cost(job->sampler, &cost);
	job->ticked_ns = kwhy_clock_mono_ns();
	return kwhy_live_tick(job->live, job->ticked_ns, &cost, busy_s(job), error);
}

int kwhy_live_job_wait_ms(const struct kwhy_live_job *job)
{
	const int64_t left_ns = job->due_ns - kwhy_clock_mono_ns();

	return left_ns > 0 ? (int)((left_ns + MS_NS - 1) / MS_NS) : 0;
}

enum kwhy_status kwhy_live_job_tick_regularly(
	struct kwhy_live_job *job, int period_ms, struct kwhy_error *error)
{
	const int64_t period_ns = period_ms * MS_NS;
	enum kwhy_status status = kwhy_live_job_tick(job, error);
	struct kwhy_sampler_cost cost;
	int64_t first_ns;

	kwhy_sampler_cost(job->sampler, &cost);
	first_ns = cost.started_mono_ns + READ_MS * MS_NS;
	job->due_ns = first_ns + ((job->ticked_ns - first_ns) / period_ns + 1) * period_ns;
	return status;
}

enum kwhy_status kwhy_live_job_refresh(struct kwhy_live_job *job, int age_ms, struct kwhy_error *error)
{
	if (job->ticked_ns && kwhy_clock_mono_ns() - job->ticked_ns < age_ms * MS_NS)
		return KWHY_OK;
	return kwhy_live_job_tick(job, error);
}
