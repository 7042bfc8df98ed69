/* SPDX-License-Identifier: Apache-2.0 */
#include "measure/session.h"

#include "base/c_locale.h"
#include "base/column.h"
#include "base/cpu_time.h"
#include "base/settle.h"

#include <math.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define MS INT64_C(1000000)
#define SECOND INT64_C(1000000000)

enum {
	EVENTS_PER_THREAD = 1 << 17
}; /* events of 24 bytes: 3 MiB of address space for each thread, of which only pages in use take memory */

#define COLLECT_NS (50 * MS)
#define COLLECT_BUSY_NS (5 * MS)
#define FOLD_NS SECOND
#define COUNTER_PERIOD_MAX_S \
	20 /* in s; readings are kept for more than twice as long (KWHY_HISTORY_KEPT_NS) */
#define FIRST_READINGS_NS (2 * SECOND)

_Static_assert(KWHY_MEASURE_E_INPUT == (int)KWHY_E_INPUT && KWHY_MEASURE_E_IO == (int)KWHY_E_IO &&
		KWHY_MEASURE_E_MEMORY == (int)KWHY_E_MEMORY &&
		KWHY_MEASURE_E_UNSUPPORTED == (int)KWHY_E_UNSUPPORTED &&
		KWHY_MEASURE_E_USAGE == (int)KWHY_E_USAGE,
	"statuses");
_Static_assert(sizeof(((struct kwhy_error *)NULL)->text) == KWHY_MESSAGE_BYTES, "messages");
_Static_assert(KWHY_NAMES_MAX == (int)KWHY_RECORDER_NAMES, "names");

static _Atomic uint64_t forks;

static void count_fork(void)
{
	atomic_fetch_add(&forks, 1);
}

static void watch_forks(void)
{
	pthread_atfork(NULL, NULL, count_fork);
}

bool kwhy_session_is_forked(const struct kwhy_session *session)
{
	return session->forks != atomic_load_explicit(&forks, memory_order_relaxed);
}

const char *kwhy_measure_version(void)
{
	return KWHY_VERSION;
}

int kwhy_session_say(const struct kwhy_error *error, char *message, size_t message_bytes)
{
	if (message && message_bytes > 0)
		snprintf(message, message_bytes, "%s", error->text);
	return (int)error->status;
}

int kwhy_session_refuse_child(char *message, size_t message_bytes)
{
	struct kwhy_error error;

	kwhy_error_set(&error, KWHY_E_UNSUPPORTED,
		"this session belongs to the parent process; open another one after fork()");
	return kwhy_session_say(&error, message, message_bytes);
}

static bool collect_once(struct kwhy_session *session)
{
	bool busy = false;

	pthread_mutex_lock(&session->fold_lock);
	if (!session->status)
		session->status = kwhy_session_collect(session, &busy, &session->error);
	if (!session->status && kwhy_clock_mono_ns() - session->last_fold_ns > FOLD_NS)
		session->status = kwhy_session_fold(session, &session->error);
	pthread_mutex_unlock(&session->fold_lock);
	return busy;
}

static void *run_collector(void *context)
{
	KWHY_C_LOCALE;
	struct kwhy_session *session = context;
	bool busy = false;

	while (!atomic_load(&session->stop)) {
		session->clock.sleep_until(
			session->clock.context, kwhy_clock_mono_ns() + (busy ? COLLECT_BUSY_NS : COLLECT_NS));
		busy = collect_once(session);
	}
	return NULL;
}

/*
 * Starts the collector's thread with all signals blocked, so that signals are delivered to the program's
 * threads.
 */
static enum kwhy_status start_collector(struct kwhy_session *session, struct kwhy_error *error)
{
	sigset_t all, before;
	int failed;

	session->clock = kwhy_clock_system_init(&session->sleeper);
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	failed = pthread_create(&session->collector, NULL, run_collector, session);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (failed)
		return kwhy_fail(error, KWHY_E_MEMORY, "no thread for the collector of a session: %s",
			strerror(failed));
	session->collecting = true;
	return KWHY_OK;
}

static bool all_begun(const struct kwhy_session *session)
{
	for (size_t m = 0; m < session->metered_count; m++)
		if (kwhy_curve_last_ns(session->curves[m]) == 0 && !kwhy_session_meter_is_lost(session, m))
			return false;
	return true;
}

/*
 * Waits until every meter has given readings that make a curve, at most FIRST_READINGS_NS. Regions that begin
 * before that cannot be measured.
 */
static enum kwhy_status wait_for_first(struct kwhy_session *session, struct kwhy_error *error)
{
	int64_t give_up_ns = kwhy_clock_mono_ns() + FIRST_READINGS_NS;
	enum kwhy_status status;

	do {
		kwhy_sampler_flush(session->sampler);
		status = kwhy_history_drain(session->history, error);
		if (!status)
			status = kwhy_session_make_curves(session, error);
		if (status || all_begun(session))
			break;
		kwhy_settle(20 * MS);
	} while (kwhy_clock_mono_ns() < give_up_ns);
	return status;
}

static void note_periods(struct kwhy_session *session)
{
	for (size_t s = 0; s < session->sensors->source_count; s++) {
		const struct kwhy_source_channel *source = &session->sensors->sources[s];

		if (source->kind == KWHY_SOURCE_METER && source->period_ns > session->period_most_ns)
			session->period_most_ns = source->period_ns;
	}
	if (session->period_most_ns > SECOND)
		session->period_most_ns = SECOND;
}

static const char whole_session[] = "(session)", idle[] = "(idle)";

/* Whether a region's name is one of the library's own two, which programs must not use. */
static bool is_own(const char *name)
{
	return strcmp(name, whole_session) == 0 || strcmp(name, idle) == 0;
}

static enum kwhy_status make_names(struct kwhy_session *session, struct kwhy_error *error)
{
	enum kwhy_status status;

	session->names_made = true;
	status = kwhy_names_init(&session->names, error);
	if (status)
		return status;
	status = kwhy_names_intern(
		&session->names, whole_session, strlen(whole_session), &session->session_name, error);
	return status ? status
		      : kwhy_names_intern(&session->names, idle, strlen(idle), &session->idle_name, error);
}

/*
 * Begins the library's own region "(session)", which counts for all threads and lasts as long as the session.
 */
static enum kwhy_status begin_all(struct kwhy_session *session, struct kwhy_error *error)
{
	struct kwhy_event event = {
		kwhy_clock_mono_ns(), session->session_name, KWHY_EVENT_BEGIN, KWHY_EVENT_EVERY_THREAD, 0};
	void *events = NULL;
	enum kwhy_status status = kwhy_column_reserve(
		&events, &session->event_capacity, 1, sizeof(event), "the events of a session", error);

	if (status)
		return status;
	session->events = events;
	session->events[session->event_count++] = event;
	session->folded_ns = event.time_ns - 1;
	return KWHY_OK;
}

static enum kwhy_status open_meters(
	struct kwhy_session *session, const struct kwhy_session_options *options, struct kwhy_error *error)
{
	struct kwhy_sensor_request request = {.devices = options->devices,
		.replay_path = options->replay_path,
		.counter_period_ns = options->counter_period_s > 0
			? (int64_t)(options->counter_period_s * 1e9)
			: 0,
		.meter_files = &options->meter_path,
		.meter_file_count = options->meter_path != NULL,
		.without_nvml = options->without_gpus != 0,
		.without_rocm = options->without_gpus != 0,
		.without_host = options->without_host != 0};
	enum kwhy_status status;

	kwhy_sensor_request_see(&request);
	status = kwhy_sensors_open(&request, &session->sensors, error);
	if (!status)
		status = kwhy_history_new(session->sensors, 0, &session->history, error);
	if (status)
		return status;
	note_periods(session);
	session->metered = kwhy_history_metered(session->history, &session->metered_count);
	session->curves = calloc(session->metered_count + 1, sizeof(struct kwhy_curve *));
	if (!session->curves)
		return kwhy_fail_memory(error, "the meters of a session");
	return kwhy_sampler_start(session->sensors, NULL, &session->sampler, error);
}

static void begin_cost(struct kwhy_session *session, bool replayed)
{
	struct kwhy_sampler_cost cost;

	kwhy_sampler_cost(session->sampler, &cost);
	session->begun_cpu_ns = cost.cpu_ns;
	session->begun_busy_s = replayed ? NAN : kwhy_cpu_busy_s(NULL);
}

static enum kwhy_status open_all(
	struct kwhy_session *session, const struct kwhy_session_options *options, struct kwhy_error *error)
{
	enum kwhy_status status = make_names(session, error);

	if (!status)
		status = kwhy_recorder_new(EVENTS_PER_THREAD, &session->recorder, error);
	if (!status)
		status = open_meters(session, options, error);
	if (!status)
		status = kwhy_regions_new(session->metered_count, &session->regions, error);
	if (!status)
		status = wait_for_first(session, error);
	if (!status)
		status = begin_all(session, error);
	if (!status)
		begin_cost(session, options->replay_path != NULL);
	if (!status)
		session->forward = kwhy_forward_open();
	return status ? status : start_collector(session, error);
}

static enum kwhy_status read_options(const struct kwhy_session_options *given,
	struct kwhy_session_options *options, struct kwhy_error *error)
{
	if (given && given->size <= sizeof(given->size)) /* sizeof of a pointer instead of the struct, by
							    mistake, or even less */
		return kwhy_fail(error, KWHY_E_USAGE,
			"struct kwhy_session_options: size is %zu; set it to sizeof(struct "
			"kwhy_session_options)",
			given->size);
	if (given)
		memcpy(options, given, given->size < sizeof(*options) ? given->size : sizeof(*options));
	if (!(options->counter_period_s >= 0 && options->counter_period_s <= COUNTER_PERIOD_MAX_S))
		return kwhy_fail(error, KWHY_E_USAGE, "counters cannot be read every %g s; take 0 to %d",
			options->counter_period_s, COUNTER_PERIOD_MAX_S);
	if (!(options->enough_ratio >= 0 && isfinite(options->enough_ratio)))
		return kwhy_fail(error, KWHY_E_USAGE,
			"enough_ratio cannot be %g; take a share of the figure, such as 0.1, or 0 for that "
			"one",
			options->enough_ratio);
	if (options->enough_ratio == 0)
		options->enough_ratio = KWHY_ENOUGH_RATIO;
	return KWHY_OK;
}

int kwhy_session_open(const struct kwhy_session_options *given, struct kwhy_session **out, char *message,
	size_t message_bytes)
{
	KWHY_C_LOCALE;
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	struct kwhy_session *session = calloc(1, sizeof(*session));
	struct kwhy_session_options options = {0};
	struct kwhy_error error = {0};
	enum kwhy_status status;

	if (!session)
		return kwhy_session_say(&(struct kwhy_error){KWHY_E_MEMORY, "out of memory for a session"},
			message, message_bytes);
	pthread_once(&once, watch_forks);
	session->forks = atomic_load(&forks);
	pthread_mutex_init(&session->names_lock, NULL);
	pthread_mutex_init(&session->fold_lock, NULL);
	status = read_options(given, &options, &error);
	session->enough_ratio = options.enough_ratio;
	if (!status)
		status = open_all(session, &options, &error);
	if (status) {
		kwhy_session_close(session);
		return kwhy_session_say(&error, message, message_bytes);
	}
	*out = session;
	return KWHY_MEASURE_OK;
}

/*
 * Stops the collector and the sampler. Not for a child after fork(), in which these threads do not run:
 * kwhy_session_close() does nothing there.
 */
static void stop_threads(struct kwhy_session *session)
{
	if (session->collecting) {
		atomic_store(&session->stop, true);
		session->clock.wake(session->clock.context);
		pthread_join(session->collector, NULL);
	}
	if (session->sampler)
		kwhy_sampler_stop(session->sampler, NULL);
}

/*
 * Takes the events that came after the collector's last pass, passes them on to the tools that watch the
 * program, and ends that connection.
 */
static void forward_rest(struct kwhy_session *session)
{
	struct kwhy_error error;
	bool busy;

	if (session->forward && !session->status)
		session->status = kwhy_session_collect(session, &busy, &error);
	kwhy_forward_close(session->forward);
}

void kwhy_session_close(struct kwhy_session *session)
{
	KWHY_C_LOCALE;
	if (!session || kwhy_session_is_forked(session))
		return;
	stop_threads(session);
	forward_rest(session);
	if (session->curves)
		kwhy_session_free_curves(session);
	free(session->curves);
	kwhy_regions_free(session->regions);
	free(session->events);
	kwhy_history_free(session->history);
	kwhy_sensors_close(session->sensors);
	kwhy_recorder_free(session->recorder);
	if (session->names_made)
		kwhy_names_done(&session->names);
	pthread_mutex_destroy(&session->fold_lock);
	pthread_mutex_destroy(&session->names_lock);
	free(session);
}

size_t kwhy_session_meter_count(const struct kwhy_session *session)
{
	return session->metered_count;
}

int kwhy_session_meter(const struct kwhy_session *session, size_t meter, struct kwhy_meter_info *out)
{
	size_t size = out->size;
	struct kwhy_meter_info info = {.index = -1};

	if (meter >= session->metered_count || size < 2 * sizeof(size_t))
		return KWHY_MEASURE_E_USAGE;
	info.kind = (int32_t)session->metered[meter].kind;
	info.name = session->metered[meter].name;
	if (session->metered[meter].kind == KWHY_METERED_DEVICE) {
		const struct kwhy_sensor_device *device = &session->sensors
								   ->devices[session->metered[meter].device];

		info.index = device->index;
		info.product = device->name;
		info.uuid = device->uuid;
		info.pci_address = device->pci_address;
		info.driver = device->driver;
	}
	info.size = size;
	memcpy(out, &info, size < sizeof(info) ? size : sizeof(info));
	return KWHY_MEASURE_OK;
}

const char *kwhy_session_absence(const struct kwhy_session *session, size_t number)
{
	return number < session->sensors->absence_count ? session->sensors->absences[number].text : NULL;
}

uint32_t kwhy_session_name(struct kwhy_session *session, const char *name)
{
	struct kwhy_error error;
	uint32_t number = KWHY_NO_NAME;

	if (kwhy_session_is_forked(session) || is_own(name))
		return KWHY_NO_NAME;
	pthread_mutex_lock(&session->names_lock);
	if (kwhy_names_intern(&session->names, name, strlen(name), &number, &error) ||
		number >= KWHY_NAMES_MAX)
		number = KWHY_NO_NAME;
	pthread_mutex_unlock(&session->names_lock);
	return number;
}

void kwhy_region_begin(struct kwhy_session *session, uint32_t region)
{
	if (region < KWHY_NAMES_MAX && !kwhy_session_is_forked(session))
		kwhy_recorder_begin(session->recorder, region);
}

void kwhy_region_end(struct kwhy_session *session, uint32_t region)
{
	if (region < KWHY_NAMES_MAX && !kwhy_session_is_forked(session))
		kwhy_recorder_end(session->recorder, region);
}

/*
 * Whether an amount of work is finite and not negative. Any other would make the sums of its unit
 * meaningless.
 */
static bool is_amount(double amount)
{
	return amount >= 0 && isfinite(amount);
}

void kwhy_region_work(struct kwhy_session *session, uint32_t unit, double amount)
{
	if (unit < KWHY_NAMES_MAX && is_amount(amount) && !kwhy_session_is_forked(session))
		kwhy_recorder_work(session->recorder, unit, amount);
}

int kwhy_session_work(struct kwhy_session *session, const char *unit, double amount)
{
	uint32_t name;

	if (!is_amount(amount) || is_own(unit))
		return KWHY_MEASURE_E_INPUT;
	name = kwhy_session_name(session, unit);
	if (name == KWHY_NO_NAME)
		return kwhy_session_is_forked(session) ? KWHY_MEASURE_E_UNSUPPORTED : KWHY_MEASURE_E_MEMORY;
	kwhy_region_work(session, name, amount);
	return KWHY_MEASURE_OK;
}

int kwhy_session_idle(struct kwhy_session *session, double seconds, char *message, size_t message_bytes)
{
	KWHY_C_LOCALE;
	struct kwhy_error error;

	if (kwhy_session_is_forked(session))
		return kwhy_session_refuse_child(message, message_bytes);
	if (!(seconds > 0 && seconds <= 3600)) {
		kwhy_error_set(&error, KWHY_E_USAGE,
			"cannot measure the idle level for %g s; take more than 0 and at most 3600", seconds);
		return kwhy_session_say(&error, message, message_bytes);
	}
	kwhy_region_begin(session, session->idle_name);
	kwhy_settle((int64_t)(seconds * 1e9));
	kwhy_region_end(session, session->idle_name);
	return KWHY_MEASURE_OK;
}
