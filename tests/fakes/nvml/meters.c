/* SPDX-License-Identifier: Apache-2.0 */
/* Simulates the meters of an H200 for a given power. README.md says where the constants come from. */
#include "fake.h"
#include "fakes/gpu_load.h"
#include "fakes/nvml/clock.h"

#include <fcntl.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define MS 1000000
#define STEP_NS (MS / 4) /* time step of the low-pass filter */
#define BEFORE_NS        \
	(INT64_C(2500) * \
		MS) /* time before the scenario's time 0 that is simulated, to fill the buffer of samples */
#define HISTORY_NS (10 * MS)

enum { LOADS_SEEN = 512, SECOND_ITEMS = 100, INSTANT_EVERY = 5 };

static const struct kwhy_clock *set_clock; /* NULL: the machine's clock */

__attribute__((visibility("default"))) void kwhy_fake_nvml_set_clock(const struct kwhy_clock *clock)
{
	fake_forget();
	set_clock = clock;
}

static int64_t clock_ns(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return (int64_t)now.tv_sec * 1000 * MS + now.tv_nsec;
}

static int64_t mono_ns(void)
{
	return set_clock ? set_clock->now_mono_ns(set_clock->context) : clock_ns(CLOCK_MONOTONIC);
}

int64_t fake_now_ns(const struct fake_scenario *scenario)
{
	return mono_ns() - scenario->origin_mono_ns;
}

int64_t fake_unix_us(const struct fake_scenario *scenario, int64_t time_ns)
{
	int64_t offset_ns = set_clock ? set_clock->relate(set_clock->context).offset_ns : scenario->offset_ns;

	return (scenario->origin_mono_ns + time_ns + offset_ns) / 1000;
}

void fake_clock_begin(struct fake_scenario *scenario)
{
	const char *since_ns = getenv(FAKE_SINCE);

	scenario->origin_mono_ns = since_ns ? strtoll(since_ns, NULL, 10) : mono_ns();
	scenario->offset_ns = clock_ns(CLOCK_REALTIME) - clock_ns(CLOCK_MONOTONIC);
}

bool fake_waits(void)
{
	return !set_clock;
}

/* Returns the file of gpu_load.h, which is mapped once; NULL if there is none yet. */
static const struct kwhy_fake_load *load_file(void)
{
	static const struct kwhy_fake_load *mapped;
	const char *path = getenv("KWHY_FAKE_GPU_LOAD");
	struct stat stat;
	void *map = MAP_FAILED;
	int file;

	if (mapped || !path)
		return mapped;
	file = open(path, O_RDONLY | O_CLOEXEC);
	if (file < 0)
		return NULL;
	if (fstat(file, &stat) == 0 && stat.st_size >= (off_t)sizeof(*mapped))
		map = mmap(NULL, sizeof(*mapped), PROT_READ, MAP_SHARED, file, 0);
	close(file);
	if (map != MAP_FAILED)
		mapped = map;
	return mapped;
}

static double loaded_w(int device, int64_t at_mono_ns)
{
	const struct kwhy_fake_load *load = load_file();
	uint64_t count = load ? load->count : 0, first = count > LOADS_SEEN ? count - LOADS_SEEN : 0;
	int64_t most_mw = 0;

	for (uint64_t i = first; i < count; i++) {
		const struct kwhy_fake_load_item *item = &load->items[i % KWHY_FAKE_LOAD_ITEMS];

		if (item->device == device && item->begin_mono_ns <= at_mono_ns &&
			at_mono_ns < item->end_mono_ns && item->power_mw > most_mw)
			most_mw = item->power_mw;
	}
	return (double)most_mw / 1000;
}

static double stepped_w(const struct fake_power *power, double time_s)
{
	double power_w = power->points[0].power_w;

	for (size_t i = 0; i < power->point_count && power->points[i].time_s <= time_s; i++)
		power_w = power->points[i].power_w;
	return power_w;
}

/*
 * Returns `drawn`, a power in W, reduced as a locked clock and a power limit do: the part above 120 W, the
 * idle power with a context, is proportional to the cube of the clock; then the limit applies.
 */
static double held_w(const struct fake_gpu *gpu, double drawn)
{
	double clock = gpu->numbers.locked_clock_mhz / gpu->numbers.sm_clock_max_mhz, idle_w = 120;

	if (clock < 1 && drawn > idle_w)
		drawn = idle_w + (drawn - idle_w) * clock * clock * clock;
	return fmin(drawn, gpu->numbers.power_limit_w);
}

static double drawn_w(const struct fake_scenario *scenario, const struct fake_gpu *gpu, int64_t time_ns)
{
	const struct fake_power *power = &gpu->power;
	double time_ms = (double)time_ns / MS, drawn = power->high_w;

	if (time_ns < 0)
		drawn = isnan(gpu->numbers.before_w) ? power->low_w : gpu->numbers.before_w;
	else if (power->shape == FAKE_SQUARE && fmod(time_ms, power->on_ms + power->off_ms) >= power->on_ms)
		drawn = power->low_w;
	else if (power->shape == FAKE_STEPS && power->point_count > 0)
		drawn = stepped_w(power, time_ms / 1000);
	drawn = fmax(drawn, loaded_w(gpu->index, scenario->origin_mono_ns + time_ns));
	return scenario->has_settings ? held_w(gpu, drawn) : drawn;
}

/*
 * Returns the time stamp of a sample. On an H200 about every fifth stamp is 6 to 10 ms late, in no pattern
 * that was found.
 */
static int64_t stamp_of(const struct fake_gpu *gpu, uint64_t number, int64_t time_ns)
{
	double every = gpu->numbers.ring_late_every, back_s = gpu->numbers.ring_back_at_s;
	uint64_t drawn = (number + 1) * UINT64_C(0x9e3779b97f4a7c15) >> 24;

	if (every >= 1 && drawn % (uint64_t)every == 0)
		time_ns += 6 * MS + (int64_t)(drawn / 64 % (4 * MS));
	if (!isnan(back_s) && time_ns >= back_s * 1000 * MS && time_ns < back_s * 1000 * MS + 30 * MS)
		time_ns -= 70 * MS;
	return time_ns;
}

static void take_sample(struct fake_gpu *gpu)
{
	struct fake_meters *meters = &gpu->meters;
	uint64_t number = meters->sample_count++;
	unsigned value_mw = (unsigned)lround(meters->level_w * 1000);

	meters->stamps_ns[number % FAKE_RING] = stamp_of(gpu, number, meters->now_ns);
	meters->samples_mw[number % FAKE_RING] = value_mw;
	if (number % INSTANT_EVERY == 0)
		meters->instant_mw = value_mw;
	meters->sample_due_ns += gpu->numbers.ring_period_ms * MS;
	meters->next_sample_ns = llround(meters->sample_due_ns);
}

static void take_tick(struct fake_gpu *gpu)
{
	struct fake_meters *meters = &gpu->meters;
	const struct fake_numbers *numbers = &gpu->numbers;
	double now_s = (double)meters->now_ns / MS / 1000, value;

	meters->tick_due_ns += numbers->energy_tick_ms * MS;
	meters->next_tick_ns = llround(meters->tick_due_ns);
	if (now_s >= numbers->energy_stuck_at_s)
		return;
	if (now_s >= numbers->energy_reset_at_s && !meters->was_reset) {
		meters->was_reset = true;
		meters->reset_mj = meters->energy_mj;
	}
	value = meters->energy_mj - meters->reset_mj;
	if (!isnan(numbers->energy_wrap_mj))
		value = fmod(value, numbers->energy_wrap_mj);
	meters->counter_mj = (unsigned long long)fmax(value, 0);
}

static void take_history(struct fake_gpu *gpu)
{
	struct fake_meters *meters = &gpu->meters;

	meters->history_mj[meters->history_count++ % FAKE_HISTORY] = meters->energy_mj;
	meters->next_history_ns += HISTORY_NS;
}

/*
 * Updates the average power from the energy of the last second (100 intervals of 10 ms). Before one second is
 * known it stays as it is.
 */
static void take_average(struct fake_gpu *gpu)
{
	struct fake_meters *meters = &gpu->meters;
	uint64_t count = meters->history_count;

	if (count > SECOND_ITEMS)
		meters->average_mw = (unsigned)lround(meters->history_mj[(count - 1) % FAKE_HISTORY] -
			meters->history_mj[(count - 1 - SECOND_ITEMS) % FAKE_HISTORY]);
	meters->next_average_ns += llround(gpu->numbers.average_ms * MS);
}

static int64_t least(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

/*
 * Advances the meters to until_ns: the power (through a low-pass filter with time constant tau_ms) and the
 * energy, its integral. The power that the load draws is taken as constant until then.
 */
static void run_to(struct fake_scenario *scenario, struct fake_gpu *gpu, int64_t until_ns)
{
	struct fake_meters *meters = &gpu->meters;
	int64_t lag_ns = llround(gpu->numbers.lag_ms * MS), length_ns = until_ns - meters->now_ns;
	double drawn = drawn_w(scenario, gpu, meters->now_ns + length_ns / 2 - lag_ns);
	double tau_ns = gpu->numbers.tau_ms * MS, start_w = meters->level_w;
	double kept = tau_ns > 0 ? exp(-(double)length_ns / tau_ns) : 0;

	meters->level_w = drawn + (start_w - drawn) * kept;
	meters->energy_mj += (drawn * (double)length_ns + (start_w - drawn) * (1 - kept) * fmax(tau_ns, 0)) /
		MS;
	meters->now_ns = until_ns;
}

void fake_meters_advance(struct fake_scenario *scenario, struct fake_gpu *gpu, int64_t now_ns)
{
	struct fake_meters *meters = &gpu->meters;

	while (meters->now_ns < now_ns) {
		int64_t until_ns = least(least(meters->now_ns + STEP_NS, now_ns),
			least(least(meters->next_sample_ns, meters->next_tick_ns),
				least(meters->next_history_ns, meters->next_average_ns)));

		run_to(scenario, gpu, until_ns);
		if (until_ns == meters->next_sample_ns)
			take_sample(gpu);
		if (until_ns == meters->next_tick_ns)
			take_tick(gpu);
		if (until_ns == meters->next_history_ns)
			take_history(gpu);
		if (until_ns == meters->next_average_ns)
			take_average(gpu);
	}
}

void fake_meters_init(struct fake_scenario *scenario, struct fake_gpu *gpu)
{
	struct fake_meters *meters = &gpu->meters;
	int64_t begin_ns = -BEFORE_NS;

	meters->now_ns = begin_ns;
	meters->level_w = drawn_w(scenario, gpu, begin_ns);
	meters->energy_mj = gpu->numbers.energy_start_mj - meters->level_w * BEFORE_NS / MS;
	meters->sample_due_ns = (double)begin_ns + gpu->numbers.ring_period_ms * MS;
	meters->next_sample_ns = llround(meters->sample_due_ns);
	meters->tick_due_ns = (double)begin_ns + gpu->numbers.energy_phase_ms * MS;
	meters->next_tick_ns = llround(meters->tick_due_ns);
	meters->next_history_ns = begin_ns + HISTORY_NS;
	meters->next_average_ns = begin_ns + 50 * MS;
	fake_meters_advance(scenario, gpu, 0);
}
