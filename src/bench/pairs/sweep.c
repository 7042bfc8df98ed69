/* SPDX-License-Identifier: Apache-2.0 */
#include "bench/pairs/sweep.h"

#include "base/clock.h"
#include "bench/kept_rows.h"
#include "bench/pairs/clocks.h"
#include "bench/pairs/energy.h"
#include "bench/pairs/gauges.h"
#include "bench/pairs/limits.h"
#include "bench/pairs/pinning.h"
#include "bench/pairs/ranks.h"
#include "bench/pairs/store.h"
#include "bench/pairs/warm.h"
#include "bench/transfers/plan.h"
#include "launch/stop.h"
#include "pairs/analysis.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { REFERENCE_EVERY = 20, FOLDER_BYTES = 3072 };

#define WIDTH_RATIO 0.02
/*
 * A configuration that has its minimum of samples is finished, even with a wide interval, when it has taken
 * more than this share of the time for the pass (request->time_s).
 */
#define CONFIG_SHARE (1.0 / 400)
/*
 * When a GPU has become colder than requested (keep_warm_c), copies warm all GPUs until the coldest is
 * REWARM_C degrees above that temperature. The copies run for REWARM_STEP_S seconds at a time, and for at
 * most REWARM_MAX_NS in total.
 */
#define REWARM_C 3
#define REWARM_STEP_S 0.5
#define REWARM_MAX_NS INT64_C(10000000000)

struct sweep {
	const struct kwhy_pair_request *request;
	struct kwhy_pairs *pairs;
	struct kwhy_pair_testbed testbed;
	struct kwhy_pair_gauges gauges;
	struct kwhy_pair_store
		*store; /* files to which samples are written; NULL: samples are only returned in `pairs` */
	struct kwhy_pair_marks begin, end;
	bool *closed;
	double *spent_s;
	size_t closed_count, batches;
	int64_t end_ns;
	bool keeps_warm;
	char folder[FOLDER_BYTES];
};

/*
 * Number of NCCL communicators with which a configuration is measured, one after another; each round of the
 * sweep makes a new one.
 */
static uint32_t communicators_of(const struct sweep *sweep, const struct kwhy_pair_config *config)
{
	uint32_t count = sweep->request->communicators;

	return count > 1 && kwhy_pair_is_by_nccl(config->engine) ? count : 1;
}

static bool is_done(struct sweep *sweep, size_t id)
{
	struct kwhy_pair_config *config = &sweep->pairs->configs[id];
	uint32_t communicators = communicators_of(sweep, config);

	config->capped = false;
	if (config->load == KWHY_PAIR_REFERENCE)
		return true; /* the reference configuration is not measured in the rounds; step() measures it
				after every REFERENCE_EVERY batches */
	if (config->sample_count < KWHY_PAIR_SAMPLES_MIN || config->sample_count < communicators)
		return false;
	if (kwhy_pair_width(config) <= WIDTH_RATIO)
		return true;
	config->capped = true;
	return communicators > 1 || config->sample_count == KWHY_PAIR_SAMPLES_MAX ||
		sweep->spent_s[id] > sweep->request->time_s * CONFIG_SHARE;
}

static void close_config(struct sweep *sweep, size_t id)
{
	if (!sweep->closed[id])
		sweep->closed_count++;
	sweep->closed[id] = true;
}

/*
 * Adds a batch's samples to the configuration. Their start and end are Unix times of the leading rank's host,
 * and are converted to Unix times of rank 0's host.
 */
static void keep_samples(
	struct sweep *sweep, struct kwhy_pair_config *config, const struct kwhy_pair_batch *batch)
{
	int64_t offset_ns = sweep->request->ranks
		? kwhy_pair_ranks_unix_offset(sweep->request->ranks, kwhy_pair_ranks_leader(config))
		: 0;

	for (uint32_t i = 0; i < batch->count; i++) {
		struct kwhy_pair_sample *sample = &config->samples[config->sample_count++];

		*sample = batch->samples[i];
		sample->start_unix_ns -= offset_ns;
		sample->end_unix_ns -= offset_ns;
	}
	config->verified |= batch->verified;
}

static enum kwhy_status measure(struct sweep *sweep, size_t id, struct kwhy_error *error)
{
	struct kwhy_pair_config *config = &sweep->pairs->configs[id];
	size_t buffers = KWHY_PAIR_SAMPLES_MAX - config->sample_count;
	uint32_t communicators = communicators_of(sweep, config),
		 share = (KWHY_PAIR_SAMPLES_MIN + communicators - 1) / communicators,
		 most = share < KWHY_PAIR_BATCH_SAMPLES ? share : KWHY_PAIR_BATCH_SAMPLES;
	struct kwhy_pair_batch batch = {.config = *config,
		.verifies = !config->verified,
		.most = buffers < most ? (uint32_t)buffers : most};
	enum kwhy_status status;

	if (!kwhy_pair_samples(sweep->pairs, config))
		return kwhy_fail_memory(error, "samples");
	status = sweep->request->ranks ? kwhy_pair_ranks_batch(sweep->request->ranks, &batch, error)
				       : kwhy_pair_batch(&sweep->testbed, &batch, error);
	keep_samples(sweep, config, &batch);
	return status;
}

/*
 * Finishes all configurations with the engine, source and target of configuration `id`, because that engine
 * does not work between these GPUs. `error` says why, and is added to the absences in `pairs` unless the same
 * text is there.
 */
static enum kwhy_status leave_out(struct sweep *sweep, size_t id, struct kwhy_error *error)
{
	struct kwhy_pairs *pairs = sweep->pairs;
	const struct kwhy_pair_config *config = &pairs->configs[id];
	const char *name = kwhy_pair_engine_name(config->engine);

	for (size_t i = 0; i < pairs->config_count; i++)
		if (pairs->configs[i].engine == config->engine &&
			pairs->configs[i].source == config->source &&
			pairs->configs[i].target == config->target)
			close_config(sweep, i);
	for (size_t i = 0; i < pairs->absence_count; i++)
		if (strcmp(pairs->absences[i].reason, error->text) == 0)
			return KWHY_OK;
	return kwhy_pairs_add_absence(pairs, name, error->text, error);
}

static enum kwhy_status batch(struct sweep *sweep, size_t id, struct kwhy_error *error)
{
	struct kwhy_pair_config *config = &sweep->pairs->configs[id];
	size_t before = config->sample_count;
	int64_t start_ns = kwhy_clock_mono_ns();
	enum kwhy_status status = measure(sweep, id, error), kept = KWHY_OK;
	struct kwhy_error other;
	size_t taken;

	if (status == KWHY_E_UNSUPPORTED || status == KWHY_E_MEMORY) {
		config->sample_count = before;
		return leave_out(sweep, id, error);
	}
	taken = config->sample_count - before;
	/*
	 * conditions is a mean over batches. Its weight, the number of earlier batches, is estimated: each is
	 * assumed to have had as many samples as this one.
	 */
	if (!status)
		status = kwhy_pair_gauges_fold(&sweep->gauges, config->source,
			taken ? before / taken : before, &config->conditions, error);
	kwhy_pair_sum_up(config);
	sweep->spent_s[id] += (double)(kwhy_clock_mono_ns() - start_ns) * 1e-9;
	if (sweep->store)
		kept = kwhy_pair_store_add(sweep->store, sweep->pairs, id, before, status ? &other : error);
	if (is_done(sweep, id))
		close_config(sweep, id);
	return status ? status : kept;
}

/*
 * Copies between the GPUs for `seconds` to warm them. KWHY_E_UNSUPPORTED is no error: warming is then given
 * up.
 */
static enum kwhy_status warm_devices(struct sweep *sweep, double seconds, struct kwhy_error *error)
{
	int64_t start_ns = kwhy_clock_mono_ns(), taken_ns;
	enum kwhy_status status = kwhy_pair_warm(sweep->request, &sweep->testbed, seconds, error);

	taken_ns = kwhy_clock_mono_ns() - start_ns;
	sweep->pairs->warm_s += (double)taken_ns * 1e-9;
	sweep->end_ns += taken_ns; /* warming does not count in request->time_s */
	if (status != KWHY_E_UNSUPPORTED)
		return status;
	sweep->keeps_warm = false;
	return kwhy_pairs_add_absence(sweep->pairs, "warm", error->text, error);
}

/*
 * Warms all GPUs by copies if the coldest is colder than request->keep_warm_c. If the coldest GPU does not
 * get warmer by that, no GPU is warmed in the rest of the sweep.
 */
static enum kwhy_status keep_warm(struct sweep *sweep, struct kwhy_error *error)
{
	int64_t end_ns = kwhy_clock_mono_ns() + REWARM_MAX_NS;
	double least_c = sweep->request->keep_warm_c, wanted_c = least_c, first_c, coldest_c;
	enum kwhy_status status = kwhy_pair_gauges_await_coldest(&sweep->gauges, &first_c, error);

	coldest_c = first_c;
	if (!status && isnan(coldest_c)) {
		sweep->keeps_warm = false;
		return kwhy_pairs_add_absence(
			sweep->pairs, "keep-warm", "no GPU reports its temperature", error);
	}
	while (!status && sweep->keeps_warm && coldest_c < wanted_c && kwhy_clock_mono_ns() < end_ns) {
		wanted_c = least_c + REWARM_C;
		status = warm_devices(sweep, REWARM_STEP_S, error);
		if (!status)
			status = kwhy_pair_gauges_coldest(&sweep->gauges, &coldest_c, error);
	}
	if (status || !sweep->keeps_warm || coldest_c >= least_c || coldest_c > first_c)
		return status;
	sweep->keeps_warm = false;
	return kwhy_pairs_add_absence(sweep->pairs, "keep-warm",
		"10 s of copies leave a GPU as cold as it was; ask for fewer degrees", error);
}

static enum kwhy_status step(struct sweep *sweep, size_t id, struct kwhy_error *error)
{
	const struct kwhy_pair_config *config = &sweep->pairs->configs[id];
	enum kwhy_status status = kwhy_stop_check(error);

	if (sweep->request->progress)
		sweep->request->progress(sweep->request->context, kwhy_pair_engine_name(config->engine),
			(double)sweep->closed_count / (double)sweep->pairs->config_count);
	if (!status && sweep->batches++ % REFERENCE_EVERY == 0) {
		status = sweep->keeps_warm ? keep_warm(sweep, error) : KWHY_OK;
		if (!status)
			status = batch(sweep, 0, error);
	}
	if (!status)
		status = batch(sweep, id, error);
	return status ? status : kwhy_pair_gauges_keep(&sweep->gauges, sweep->pairs, sweep->store, error);
}

static enum kwhy_status run_rounds(struct sweep *sweep, size_t *order, struct kwhy_error *error)
{
	size_t count = sweep->pairs->config_count;
	uint64_t random = sweep->request->seed;
	enum kwhy_status status = KWHY_OK;
	bool late = false;

	for (uint32_t round = 0; !status && !late && sweep->closed_count < count; round++) {
		if (round == sweep->request->most_rounds && round > 0)
			break;
		kwhy_bench_shuffle(order, count, &random);
		/*
		 * Times depend on the internal buffers of an NCCL communicator, so each round uses new
		 * communicators.
		 */
		if (sweep->request->communicators > 1)
			kwhy_pair_nccl_drop(&sweep->testbed);
		for (size_t i = 0; !status && !late && i < count; i++) {
			if (sweep->closed[order[i]])
				continue;
			status = step(sweep, order[i], error);
			late = kwhy_clock_mono_ns() > sweep->end_ns;
		}
	}
	if (!status && late && sweep->closed_count < count)
		sweep->pairs->ended_early = kwhy_arena_printf(&sweep->pairs->arena,
			"the time was over (%.0f s): %zu of %zu configurations have fewer than %d samples or "
			"wider intervals than 2 %%; give more with --time",
			sweep->request->time_s, count - sweep->closed_count, count, KWHY_PAIR_SAMPLES_MIN);
	return status;
}

/*
 * Takes marks of all clocks at the start of the pass (at_end false) or at its end; the drifts are computed
 * from both.
 */
static enum kwhy_status mark(struct sweep *sweep, bool at_end, struct kwhy_error *error)
{
	int64_t start_ns = kwhy_clock_mono_ns();
	enum kwhy_status status = sweep->request->ranks
		? kwhy_pair_ranks_mark(sweep->request->ranks, at_end, error)
		: kwhy_pair_marks_take(&sweep->testbed, at_end ? &sweep->end : &sweep->begin, error);

	sweep->pairs->clocks_s += (double)(kwhy_clock_mono_ns() - start_ns) * 1e-9;
	return status;
}

static enum kwhy_status find_drifts(struct sweep *sweep, struct kwhy_error *error)
{
	enum kwhy_status status = sweep->request->ranks
		? kwhy_pair_ranks_drifts(sweep->request->ranks, sweep->pairs, error)
		: kwhy_pair_drifts(&sweep->testbed, &sweep->begin, &sweep->end, sweep->pairs->drifts, error);

	return status || !sweep->store ? status : kwhy_pair_store_clocks(sweep->store, sweep->pairs, error);
}

static enum kwhy_status measure_energy(struct sweep *sweep, struct kwhy_error *error)
{
	if (sweep->request->ranks) {
		sweep->pairs->energy_missing = "energy is measured by one process; give --ranks 1";
		return KWHY_OK;
	}
	kwhy_pair_gauges_close(&sweep->gauges); /* the energy pass opens the meters itself */
	return kwhy_pair_energies_measure(sweep->request, &sweep->testbed, sweep->store, sweep->pairs, error);
}

static enum kwhy_status measure_pinning(struct sweep *sweep, struct kwhy_error *error)
{
	if (!sweep->request->ranks)
		return kwhy_pair_pinning_measure(
			sweep->request, &sweep->testbed, sweep->store, sweep->pairs, error);
	sweep->pairs->pinning_missing = "NUMA nodes are compared by one process; give --ranks 1";
	return KWHY_OK;
}

/* Runs the passes for NUMA nodes and energy, if they are requested, after the pass that measures times. */
static enum kwhy_status run_further(struct sweep *sweep, struct kwhy_error *error)
{
	enum kwhy_status status = sweep->request->pinning ? measure_pinning(sweep, error) : KWHY_OK;

	return status || !sweep->request->energy ? status : measure_energy(sweep, error);
}

static enum kwhy_status run(struct sweep *sweep, struct kwhy_error *error)
{
	size_t count = sweep->pairs->config_count, *order = calloc(count, sizeof(*order));
	enum kwhy_status status = KWHY_OK;
	double warm_s;
	int64_t start_ns;

	sweep->keeps_warm = sweep->request->keep_warm_c > 0;
	sweep->pairs->warm_s = sweep->pairs->clocks_s = 0;
	sweep->closed = calloc(count, sizeof(*sweep->closed));
	sweep->spent_s = calloc(count, sizeof(*sweep->spent_s));
	if (!order || !sweep->closed || !sweep->spent_s)
		status = kwhy_fail_memory(error, "the order of a benchmark");
	if (!status && sweep->request->warm_s > 0)
		status = warm_devices(sweep, sweep->request->warm_s, error);
	if (!status)
		status = mark(sweep, false, error);
	warm_s = sweep->pairs->warm_s;
	start_ns = kwhy_clock_mono_ns();
	sweep->end_ns = start_ns + (int64_t)(sweep->request->time_s * 1e9);
	for (size_t i = 0; !status && i < count; i++)
		if (is_done(sweep, i))
			close_config(sweep, i);
	if (!status)
		status = run_rounds(sweep, order, error);
	sweep->pairs->time_pass_s = (double)(kwhy_clock_mono_ns() - start_ns) * 1e-9 -
		(sweep->pairs->warm_s - warm_s);
	if (!status)
		status = mark(sweep, true, error);
	if (!status)
		status = find_drifts(sweep, error);
	free(order);
	return status ? status : run_further(sweep, error);
}

static void describe(struct sweep *sweep)
{
	struct kwhy_pairs *pairs = sweep->pairs;
	struct kwhy_arena *arena = &pairs->arena;
	char settings[KWHY_PAIR_REQUEST_BYTES];

	pairs->backend = kwhy_gpu_backend_name(sweep->request->backend);
	pairs->seed = sweep->request->seed;
	pairs->settings = kwhy_bench_known(arena, kwhy_pair_request_text(sweep->request, settings));
	pairs->driver = kwhy_bench_known(arena,
		sweep->request->ranks ? sweep->request->ranks->sensors.driver
				      : sweep->gauges.sensors[0].driver);
	pairs->cuda = kwhy_bench_known(arena, sweep->testbed.gpu_buffers[0]->gpu->facts.driver_api);
	pairs->measured_on = kwhy_bench_now_text(arena);
	pairs->gpu_count = sweep->testbed.count;
	for (uint32_t i = 0; i < pairs->gpu_count; i++) {
		const struct kwhy_gpu_facts *facts = &sweep->testbed.gpu_buffers[i]->gpu->facts;

		pairs->gpus[i] = (struct kwhy_pair_gpu){.name = kwhy_bench_known(arena, facts->name),
			.pci_address = kwhy_bench_known(arena, facts->pci_address),
			.numa_node = facts->numa_node,
			.architecture = facts->architecture,
			.sm_count = facts->sm_count,
			.memory_bytes = facts->memory_bytes};
	}
	if (sweep->request->ranks)
		kwhy_pair_ranks_describe(sweep->request->ranks, pairs);
	memcpy(pairs->is_direct, sweep->testbed.is_direct, sizeof(pairs->is_direct));
}

/*
 * Appends a name to a path, with every character that is no letter, digit, - or . replaced by _, and
 * truncates the result to the `buffers` bytes of `out`.
 */
static void add_plain(char *out, size_t buffers, const char *text)
{
	size_t length = strlen(out);

	for (; *text && length + 1 < buffers; text++)
		out[length++] = (char)(isalnum((unsigned char)*text) || strchr("-.", *text) ? *text : '_');
	out[length] = '\0';
}

/*
 * Opens the folder of the results: FOLDER/<gpu>-<driver>-<cuda> or, if a measurement is continued, FOLDER or
 * the folder in it that has its samples.
 */
static enum kwhy_status name_folder(struct sweep *sweep, struct kwhy_error *error)
{
	const struct kwhy_pairs *pairs = sweep->pairs;
	char name[160] = "", begun[KWHY_KEPT_PATH_BYTES];
	const bool is_begun = sweep->request->resume && kwhy_kept_folder_find(sweep->request->folder, begun);
	int length = snprintf(
		sweep->folder, sizeof(sweep->folder), "%s", is_begun ? begun : sweep->request->folder);

	if (length < 0 || (size_t)length + sizeof(name) >= sizeof(sweep->folder))
		return kwhy_fail(error, KWHY_E_USAGE, "the folder's name is too long; name another one");
	if (!sweep->request->resume) {
		add_plain(name, sizeof(name), pairs->gpus[0].name ? pairs->gpus[0].name : "unknown");
		add_plain(name, sizeof(name), "-");
		add_plain(name, sizeof(name), pairs->driver ? pairs->driver : pairs->backend);
		add_plain(name, sizeof(name), "-");
		add_plain(name, sizeof(name), pairs->cuda ? pairs->cuda : "none");
		snprintf(sweep->folder + length, sizeof(sweep->folder) - (size_t)length, "/%s", name);
	}
	sweep->pairs->folder = kwhy_arena_copy(&sweep->pairs->arena, sweep->folder);
	return kwhy_pair_store_open(
		sweep->folder, sweep->request->resume, sweep->pairs, &sweep->store, error);
}

/*
 * Adds a note for each GPU that more than one process uses, since that affects the results. With ranks
 * nothing is checked.
 */
static enum kwhy_status note_others(struct sweep *sweep, struct kwhy_error *error)
{
	enum kwhy_status status = KWHY_OK;

	for (uint32_t i = 0; !status && i < sweep->testbed.count && !sweep->request->ranks; i++) {
		struct kwhy_sensor_process processes[KWHY_SENSOR_PROCESSES];
		size_t count = sweep->gauges.sensors[i].device == KWHY_SENSOR_NO_DEVICE
			? 0
			: kwhy_sensors_processes(sweep->gauges.sensors[i].sensors,
				  sweep->gauges.sensors[i].device, processes);
		char note[160];

		if (count < 2)
			continue;
		snprintf(note, sizeof(note),
			"GPU %u is shared: %zu processes have memory on it, this one among them", i, count);
		status = kwhy_pairs_add_note(sweep->pairs, note, error);
	}
	return status;
}

/* Adds the environment variables NCCL_* of this process to `pairs`; with ranks, this is rank 0. */
static enum kwhy_status note_nccl_settings(struct kwhy_pairs *pairs, struct kwhy_error *error)
{
	enum kwhy_status status = KWHY_OK;

	for (char **setting = environ; !status && *setting; setting++)
		if (strncmp(*setting, "NCCL_", sizeof("NCCL_") - 1) == 0)
			status = kwhy_pairs_add_nccl_setting(pairs, *setting, error);
	return status;
}

static enum kwhy_status count_gpus(
	const struct kwhy_pair_request *request, uint32_t *out, struct kwhy_error *error)
{
	uint32_t count = request->device_count;
	enum kwhy_status status = count ? KWHY_OK : kwhy_gpu_count(request->backend, &count, error);

	if (!status && count < 2)
		return kwhy_fail(error, KWHY_E_UNSUPPORTED,
			"a pair needs two GPUs, and there is %s; run it where there are more, or with "
			"--backend host",
			count ? "one" : "none");
	*out = count < KWHY_PAIR_GPUS_MAX ? count : KWHY_PAIR_GPUS_MAX;
	return status;
}

static enum kwhy_status open_place(struct sweep *sweep, struct kwhy_error *error)
{
	const struct kwhy_pair_request *request = sweep->request;
	uint32_t count;
	enum kwhy_status status;

	if (request->ranks) {
		status = kwhy_pair_ranks_testbed(request->ranks, request, &sweep->testbed, error);
		return status ? status : kwhy_pair_ranks_meet(request->ranks, error);
	}
	status = count_gpus(request, &count, error);
	if (!status)
		status = kwhy_pair_testbed_init(request->backend, request->devices, count,
			(size_t)request->most_bytes, request->seed, &sweep->testbed, error);
	return status ? status : kwhy_pair_gauges_open(&sweep->testbed, &sweep->gauges, error);
}

static enum kwhy_status set_up(struct sweep *sweep, struct kwhy_error *error)
{
	const struct kwhy_pair_request *request = sweep->request;
	enum kwhy_status status = open_place(sweep, error);

	if (status)
		return status;
	sweep->gauges.ranks = request->ranks;
	sweep->gauges.count = sweep->testbed.count;
	describe(sweep);
	if (request->backend == KWHY_GPU_CUDA)
		status = kwhy_pair_limits_read(sweep->pairs, error);
	else
		sweep->pairs->route_missing = "links are read of CUDA's devices alone";
	if (status)
		return status;
	status = kwhy_pair_plan_make(request, sweep->pairs, error);
	if (!status && request->folder)
		status = name_folder(sweep, error);
	if (!status)
		status = note_nccl_settings(sweep->pairs, error);
	return status ? status : note_others(sweep, error);
}

static void tear_down(struct sweep *sweep)
{
	char nccl[16];

	kwhy_pair_nccl_version(&sweep->testbed, nccl);
	sweep->pairs->nccl = kwhy_bench_known(&sweep->pairs->arena, nccl);
	if (sweep->request->ranks)
		kwhy_pair_ranks_part(sweep->request->ranks);
	kwhy_pair_marks_free(&sweep->testbed, &sweep->begin);
	kwhy_pair_marks_free(&sweep->testbed, &sweep->end);
	kwhy_pair_testbed_done(&sweep->testbed);
	kwhy_pair_store_close(sweep->store);
	kwhy_pair_gauges_close(&sweep->gauges);
	free(sweep->closed);
	free(sweep->spent_s);
}

enum kwhy_status kwhy_pairs_follow(const struct kwhy_pair_request *given, struct kwhy_error *error)
{
	struct kwhy_pair_request request = *given;
	struct kwhy_pair_testbed testbed = {.count = 0};
	enum kwhy_status status = kwhy_pair_request_complete(&request, error);

	if (!status)
		status = kwhy_pair_ranks_testbed(request.ranks, &request, &testbed, error);
	if (!status)
		status = kwhy_pair_ranks_serve(request.ranks, error);
	kwhy_pair_ranks_part(request.ranks);
	kwhy_pair_testbed_done(&testbed);
	return status;
}

enum kwhy_status kwhy_pairs_measure(
	const struct kwhy_pair_request *given, struct kwhy_pairs **out, struct kwhy_error *error)
{
	struct kwhy_pair_request request = *given;
	struct sweep sweep = {.request = &request};
	enum kwhy_status status = kwhy_pair_request_complete(&request, error);

	if (status)
		return status;
	sweep.pairs = kwhy_pairs_new();
	status = sweep.pairs ? set_up(&sweep, error) : kwhy_fail_memory(error, "measured pairs");
	if (!status) {
		status = run(&sweep, error);
		if (status == KWHY_E_LOST) { /* a device or rank was lost, or the user interrupted: what was
						measured is returned */
			sweep.pairs->ended_early = kwhy_arena_copy(&sweep.pairs->arena, error->text);
			sweep.pairs->is_lost = true;
			status = KWHY_OK;
		}
	}
	if (sweep.pairs)
		tear_down(&sweep);
	if (status)
		kwhy_pairs_free(sweep.pairs);
	else
		*out = sweep.pairs;
	return status;
}
