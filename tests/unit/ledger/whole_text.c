/* SPDX-License-Identifier: Apache-2.0 */
#include "unit/ledger/whole_text.h"

#include "cmocka_all.h"
#include "ledger/energy/model_power.h"
#include "ok.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Two real numbers agree if they differ by less than this share of the larger one, or by less than
 * AGREE_DIFFERENCE. */
#define AGREE_RATIO 2e-6
#define AGREE_DIFFERENCE 1e-9

enum { MODEL_BINS = 5, REALS_PER_LINE = 14 };

static void real(FILE *out, const char *name, double value)
{
	if (isnan(value))
		fprintf(out, " %s=?", name);
	else
		fprintf(out, " %s=~%.8g", name, value);
}

static void energy(FILE *out, const char *name, int64_t nj)
{
	real(out, name, nj == KWHY_UNKNOWN_NJ ? NAN : (double)nj * 1e-9);
}

static void whole(FILE *out, const char *name, int64_t value)
{
	if (value == INT64_MIN)
		fprintf(out, " %s=?", name);
	else
		fprintf(out, " %s=%" PRId64, name, value);
}

static void count(FILE *out, const char *name, uint64_t value)
{
	if (value == UINT64_MAX)
		fprintf(out, " %s=?", name);
	else
		fprintf(out, " %s=%" PRIu64, name, value);
}

static void index_of(FILE *out, const char *name, uint32_t value)
{
	if (value == KWHY_NONE)
		fprintf(out, " %s=-", name);
	else
		fprintf(out, " %s=%" PRIu32, name, value);
}

static void write_coverage(FILE *out, const struct kwhy_coverage_sum *sum)
{
	fprintf(out, "covers");
	whole(out, "start", sum->start_ns);
	whole(out, "end", sum->end_ns);
	whole(out, "known", sum->known_ns);
	count(out, "choice", sum->choice);
	whole(out, "from", sum->select_start_ns);
	whole(out, "to", sum->select_end_ns);
	count(out, "drawn", sum->drawn_count);
	whole(out, "drawn_ns", sum->drawn_ns);
	real(out, "error", sum->share_error_ratio);
	count(out, "windowed", sum->is_in_windows);
	for (size_t i = 0; i < sum->window_count; i++) {
		fprintf(out, "\n window %" PRId64 " %" PRId64, sum->windows[i].start_ns,
			sum->windows[i].end_ns);
		for (int c = 0; c <= KWHY_CATEGORY_OUTSIDE - KWHY_CATEGORY_SYNC; c++)
			fprintf(out, " %" PRId64, sum->windows[i].idle_ns[c]);
	}
	for (size_t i = 0; i < sum->unrecorded_count; i++)
		fprintf(out, "\n unrecorded %" PRId64 " %" PRId64, sum->unrecorded[i].start_ns,
			sum->unrecorded[i].end_ns);
	fprintf(out, "\n");
}

static void write_time_sums(FILE *out, const struct kwhy_device_time *time)
{
	fprintf(out, " kernels");
	count(out, "count", time->kernel_count);
	whole(out, "total", time->kernel_total_ns);
	whole(out, "union", time->kernel_union_ns);
	count(out, "collectives", time->collective_count);
	whole(out, "total", time->collective_total_ns);
	whole(out, "union", time->collective_union_ns);
	whole(out, "overlap", time->collective_overlap_ns);
	whole(out, "exposed", time->collective_exposed_ns);
	count(out, "copies", time->copy_count);
	whole(out, "total", time->copy_total_ns);
	whole(out, "union", time->copy_union_ns);
	count(out, "memsets", time->memset_count);
	count(out, "bytes", time->memset_bytes);
	count(out, "unknown", time->memset_unknown_bytes);
	whole(out, "total", time->memset_total_ns);
	whole(out, "union", time->memset_union_ns);
	count(out, "small", time->small_h2d_count);
	count(out, "graphs", time->graph_count);
	count(out, "streams", time->stream_count);
	count(out, "most", time->max_concurrency);
	real(out, "mean", time->mean_concurrency);
	real(out, "busy", time->busy_ratio);
	real(out, "sm", time->sm_weighted_ratio);
	real(out, "sm_known", time->sm_weighted_known_ratio);
	real(out, "roofline", time->roofline_ratio);
	fprintf(out, "\n");
}

static void write_time(FILE *out, const struct kwhy_device_time *time)
{
	fprintf(out, "time");
	whole(out, "first", time->first_ns);
	whole(out, "last", time->last_ns);
	whole(out, "span", time->span_ns);
	whole(out, "busy", time->busy_ns);
	whole(out, "idle", time->idle_ns);
	whole(out, "unrecorded", time->unrecorded_ns);
	whole(out, "probing", time->probing_ns);
	whole(out, "probing_idle", time->probing_idle_ns);
	whole(out, "compute", time->compute_ns);
	whole(out, "collective", time->collective_ns);
	whole(out, "copy", time->copy_ns);
	whole(out, "memset", time->memset_ns);
	whole(out, "overlap", time->overlap_ns);
	fprintf(out, "\n idle");
	whole(out, "sync", time->sync_ns);
	whole(out, "launch", time->launch_ns);
	whole(out, "alloc", time->alloc_ns);
	whole(out, "host", time->host_ns);
	count(out, "gaps", time->idle_gaps);
	count(out, "sync", time->sync_gaps);
	count(out, "launch", time->launch_gaps);
	count(out, "alloc", time->alloc_gaps);
	count(out, "host", time->host_gaps);
	fprintf(out, "\n");
	write_time_sums(out, time);
	for (size_t i = 0; i < time->copy_sum_count; i++)
		fprintf(out, " copies %u %u %u %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRId64 "\n",
			time->copies[i].kind, time->copies[i].src_memory, time->copies[i].dst_memory,
			time->copies[i].count, time->copies[i].bytes, time->copies[i].unknown_bytes,
			time->copies[i].total_ns);
	for (size_t i = 0; i < time->copy_class_count; i++)
		fprintf(out, " sizes %u %u %u %d %" PRIu64 " %" PRIu64 " %" PRId64 "\n",
			time->copy_classes[i].kind, time->copy_classes[i].src_memory,
			time->copy_classes[i].dst_memory, (int)time->copy_classes[i].size_class,
			time->copy_classes[i].count, time->copy_classes[i].bytes,
			time->copy_classes[i].total_ns);
}

static void write_energy(FILE *out, const struct kwhy_device_energy *sums)
{
	fprintf(out, "energy source=%s known=%d modelled=%d", sums->source ? sums->source : "-", sums->known,
		sums->modelled);
	whole(out, "start", sums->start_ns);
	whole(out, "end", sums->end_ns);
	whole(out, "metered", sums->metered_ns);
	energy(out, "measured", sums->measured_nj);
	energy(out, "attributed", sums->attributed_nj);
	real(out, "sampling", sums->sampling_ratio);
	energy(out, "clean", sums->clean_idle_nj);
	energy(out, "context", sums->context_idle_nj);
	energy(out, "execution_idle", sums->execution_idle_nj);
	energy(out, "net", sums->net_nj);
	energy(out, "edge", sums->edge_nj);
	whole(out, "edge_ns", sums->edge_ns);
	energy(out, "between", sums->between_nj);
	whole(out, "between_ns", sums->between_ns);
	fprintf(out, "\n levels");
	real(out, "clean_w", sums->clean_idle_w);
	real(out, "context_w", sums->context_idle_w);
	count(out, "measured", sums->clean_idle_measured);
	count(out, "measured", sums->context_idle_measured);
	real(out, "wrong", sums->expected_wrong_ratio);
	real(out, "check", sums->counter_check_ratio);
	real(out, "highest", sums->highest_sample_w);
	real(out, "tau", sums->time_constant_s);
	real(out, "delay", sums->delay_s);
	count(out, "readings", sums->reading_count);
	fprintf(out, "\n");
}

static void write_account(FILE *out, const struct kwhy_account *account)
{
	fprintf(out, " account '%s' %s %s", account->name,
		kwhy_category_name((enum kwhy_category)account->category),
		kwhy_basis_name((enum kwhy_basis)account->basis));
	count(out, "count", account->count);
	count(out, "bytes", account->bytes);
	whole(out, "time", account->time_ns);
	energy(out, "gross", account->gross_nj);
	energy(out, "idle", account->idle_nj);
	energy(out, "net", account->net_nj);
	energy(out, "low", account->low_nj);
	energy(out, "high", account->high_nj);
	index_of(out, "group", account->group);
	index_of(out, "class", account->power_class);
	fprintf(out, " %d%d%d%d%d", account->is_probing_idle, account->is_clean, account->above_samples,
		account->above_limit, account->has_whole);
	if (account->mean_power_mw >= 0)
		real(out, "mean", (double)account->mean_power_mw * 1e-3);
	if (account->has_whole) {
		whole(out, "whole_ns", account->whole_ns);
		energy(out, "whole", account->whole_nj);
		energy(out, "low", account->whole_low_nj);
		energy(out, "high", account->whole_high_nj);
		real(out, "error", account->whole_error_ratio);
	}
	fprintf(out, "\n");
}

static void write_groups(FILE *out, const struct kwhy_device_ledger *device)
{
	for (size_t i = 0; i < device->group_count; i++) {
		fprintf(out, " group");
		energy(out, "gross", device->groups[i].gross_nj);
		energy(out, "low", device->groups[i].low_nj);
		energy(out, "high", device->groups[i].high_nj);
		for (size_t m = 0; m < device->groups[i].member_count; m++)
			fprintf(out, " %u", device->groups[i].members[m]);
		fprintf(out, "\n");
	}
	for (size_t i = 0; i < device->class_count; i++) {
		const struct kwhy_power_class *class = &device->classes[i];

		fprintf(out, " class");
		real(out, "power", class->power_w);
		real(out, "low", class->low_w);
		real(out, "high", class->high_w);
		real(out, "prior", class->prior_power_w);
		real(out, "spread", class->spread);
		fprintf(out, " %d%d\n", class->is_learnt, class->is_decided);
	}
}

/*
 * Writes a summary of the power over time: its ends, and weighted sums that change with any interval of it.
 */
static void write_curve(FILE *out, const struct kwhy_energy_curve *curve)
{
	double scales = 0, weighted = 0, unknown = 0, edges = 0;

	for (size_t i = 0; i < curve->count; i++) {
		const bool known = !isnan(curve->scale[i]);

		scales += known ? curve->scale[i] : 0;
		weighted += known ? curve->scale[i] * sin((double)i + 1) : 0;
		unknown += known ? 0 : (double)i + 1;
	}
	for (size_t i = 0; curve->count && i <= curve->count; i++)
		edges += (double)curve->edge_ns[i] * 1e-9 * ((double)i + 1);
	fprintf(out, " curve");
	count(out, "count", curve->count);
	real(out, "scales", scales);
	real(out, "weighted", weighted);
	real(out, "unknown", unknown);
	real(out, "edges", edges);
	real(out, "unmetered", curve->unmetered_scale);
	fprintf(out, "\n");
}

static void write_device(FILE *out, const struct kwhy_device_ledger *device)
{
	write_coverage(out, &device->coverage);
	write_time(out, &device->time);
	for (size_t i = 0; i < device->host_sum_count; i++)
		fprintf(out, " wait %u %u %u %u %u %" PRIu64 " %" PRId64 " %" PRId64 "\n",
			device->host_sums[i].what, device->host_sums[i].kind, device->host_sums[i].name,
			device->host_sums[i].file, device->host_sums[i].line, device->host_sums[i].gaps,
			device->host_sums[i].time_ns, device->host_sums[i].longest_ns);
	for (size_t i = 0; i < device->clean_count; i++)
		fprintf(out, " clean ~%.8g ~%.8g\n", (double)device->clean[i].start_ns * 1e-9,
			(double)device->clean[i].end_ns * 1e-9);
	for (size_t i = 0; i < device->elevated_idle_count; i++)
		fprintf(out, " elevated %" PRId64 " %" PRId64 " ~%.8g\n", device->elevated_idle[i].start_ns,
			device->elevated_idle[i].end_ns, device->elevated_idle[i].power_w);
	if (device->energy.known) {
		write_energy(out, &device->energy);
		write_groups(out, device);
		write_curve(out, &device->curve);
	}
	for (size_t i = 0; i < device->account_count; i++)
		write_account(out, &device->accounts[i]);
}

static void write_ranges(FILE *out, const char *kind, const struct kwhy_range_sum *sums, size_t range_count)
{
	for (size_t i = 0; i < range_count; i++) {
		fprintf(out, "%s %u %u", kind, sums[i].name, sums[i].kind);
		count(out, "count", sums[i].count);
		whole(out, "host", sums[i].host_ns);
		whole(out, "start", sums[i].start_ns);
		count(out, "work", sums[i].activity_count);
		count(out, "linked", sums[i].linked);
		whole(out, "device", sums[i].device_ns);
		whole(out, "busy", sums[i].busy_ns);
		energy(out, "energy", sums[i].energy_nj);
		energy(out, "window", sums[i].window_energy_nj);
		real(out, "busy", sums[i].busy_ratio);
		real(out, "sm", sums[i].sm_weighted_ratio);
		fprintf(out, "\n");
	}
}

static void write_sums(FILE *out, const struct kwhy_ledger *ledger)
{
	for (size_t i = 0; i < ledger->api_count; i++)
		fprintf(out, "api %u %" PRIu64 " %" PRId64 "\n", ledger->api[i].name, ledger->api[i].count,
			ledger->api[i].total_ns);
	write_ranges(out, "range", ledger->ranges, ledger->range_count);
	write_ranges(out, "step", ledger->steps, ledger->step_count);
	if (ledger->step_count) {
		fprintf(out, "loop %" PRId64 " %" PRId64 " %" PRId64, ledger->loop.start_ns,
			ledger->loop.end_ns, ledger->loop.time_ns);
		energy(out, "energy", ledger->loop.energy_nj);
		fprintf(out, "\n");
	}
	for (size_t i = 0; i < ledger->rank_count; i++) {
		const struct kwhy_rank_sum *rank = &ledger->ranks[i];

		fprintf(out, "rank %d %u %" PRId64 " %" PRId64 " %" PRId64 " %" PRId64, (int)rank->rank,
			rank->device, rank->span_ns, rank->busy_ns, rank->compute_ns,
			rank->collective_exposed_ns);
		energy(out, "energy", rank->energy_nj);
		fprintf(out, "\n");
	}
	for (size_t i = 0; i < ledger->stream_count; i++)
		fprintf(out, "stream %u %" PRIu64 " %" PRId64 " %" PRId64 " %" PRId64 "\n",
			ledger->streams[i].stream, ledger->streams[i].count, ledger->streams[i].busy_ns,
			ledger->streams[i].total_ns, ledger->streams[i].alone_ns);
}

static void write_memory(FILE *out, const struct kwhy_ledger *ledger)
{
	for (size_t i = 0; i < ledger->memory_count; i++) {
		const struct kwhy_memory_sum *sum = &ledger->memory[i];

		fprintf(out, "memory %u", sum->device);
		count(out, "allocated", sum->peak_allocated_bytes);
		count(out, "reserved", sum->peak_reserved_bytes);
		count(out, "all", sum->device_bytes);
		count(out, "unused", sum->unused_bytes);
		count(out, "points", sum->point_count);
		count(out, "taken", sum->taken_count);
		count(out, "given", sum->given_back_count);
		count(out, "bytes", sum->taken_bytes);
		fprintf(out, "\n");
	}
	for (size_t i = 0; i < ledger->host_count; i++) {
		fprintf(out, "host %s %s %d", ledger->hosts[i].source,
			ledger->hosts[i].host ? ledger->hosts[i].host : "-", (int)ledger->hosts[i].machine);
		whole(out, "start", ledger->hosts[i].start_ns);
		whole(out, "end", ledger->hosts[i].end_ns);
		energy(out, "energy", ledger->hosts[i].measured_nj);
		fprintf(out, "\n");
	}
	for (size_t i = 0; i < ledger->overhead_count; i++) {
		const struct kwhy_overhead_sum *sum = &ledger->overheads[i];

		fprintf(out, "overhead %s %d %" PRIu64 " %" PRId64, kwhy_overhead_kind_name(sum->kind),
			(int)sum->device, sum->count, sum->time_ns);
		energy(out, "energy", sum->energy_nj);
		fprintf(out, "\n");
	}
}

static void write_model(FILE *out, const struct kwhy_power_curve *curve)
{
	fprintf(out, "model");
	for (size_t i = 0; i < curve->count; i++)
		fprintf(out, " %" PRId64 " ~%.8g", curve->time_ns[i], (double)curve->power_mw[i] * 1e-3);
	fprintf(out, "\n");
}

/*
 * Writes a summary of the energies of single activities and idle intervals: weighted sums that change with
 * any of them.
 */
static void write_answers(FILE *out, const struct kwhy_ledger *ledger, const struct kwhy_recording *recording)
{
	for (uint32_t d = 0; d < ledger->device_count; d++) {
		double sum_j = 0, idle_j = 0;
		size_t first = recording->activities.first[d], end = recording->activities.first[d + 1];

		for (size_t row = first; row < end; row++) {
			double nj = kwhy_ledger_activity_nj(ledger, recording, row);

			sum_j += isnan(nj) ? (double)row : nj * 1e-9 * (1 + (double)(row % 7));
		}
		for (size_t row = first; row + 1 < end; row++)
			if (recording->activities.end_ns[row] < recording->activities.start_ns[row + 1]) {
				double nj = kwhy_ledger_idle_nj(ledger, d, recording->activities.end_ns[row],
					recording->activities.start_ns[row + 1]);

				idle_j += isnan(nj) ? (double)row : nj * 1e-9 * (1 + (double)(row % 7));
			}
		if (!ledger->devices[d].energy.known)
			continue;
		fprintf(out, "activities %u", d);
		real(out, "energy", sum_j);
		real(out, "gaps", idle_j);
		fprintf(out, "\n");
	}
}

void whole_text_write(FILE *out, struct kwhy_ledger *ledger, const struct kwhy_recording *recording)
{
	struct kwhy_power_curve *curves;
	struct kwhy_error error;

	for (size_t d = 0; d < ledger->device_count; d++) {
		fprintf(out, "device %zu\n", d);
		write_device(out, &ledger->devices[d]);
	}
	OK(kwhy_ledger_model_power(ledger, recording, MODEL_BINS, &curves, &error));
	for (size_t d = 0; d < ledger->device_count; d++)
		if (curves[d].count)
			write_model(out, &curves[d]);
	write_sums(out, ledger);
	write_memory(out, ledger);
	write_answers(out, ledger, recording);
	fprintf(out, "roofline");
	real(out, "arithmetic", ledger->roofline.arithmetic_s);
	real(out, "memory", ledger->roofline.memory_s);
	real(out, "ratio", ledger->roofline.ratio);
	fprintf(out, "\n");
	for (size_t i = 0; i < ledger->note_count; i++)
		fprintf(out, "note %u %s: %s\n", ledger->notes[i].kind, ledger->notes[i].id,
			ledger->notes[i].text);
}

/*
 * Returns the length of the number at `at`, which follows a "~" and ends at a blank or at the end of the
 * line.
 */
static size_t real_length(const char *at)
{
	return strcspn(at, " \n");
}

void whole_text_shorten(FILE *out, const char *text, bool is_exact)
{
	uint64_t hash = UINT64_C(0xcbf29ce484222325);
	size_t reals = 0;
	char digits[32];

	for (const char *at = text; *at; at++) {
		hash = (hash ^ (unsigned char)*at) * UINT64_C(0x100000001b3);
		if (*at != '~')
			continue;
		snprintf(digits, sizeof(digits), "%.6g", strtod(at + 1, NULL));
		for (const char *digit = digits; is_exact && *digit; digit++)
			hash = (hash ^ (unsigned char)*digit) * UINT64_C(0x100000001b3);
		if (!is_exact)
			fprintf(out, "%s~%.*s", reals++ % REALS_PER_LINE ? " " : "\n ",
				(int)real_length(at + 1), at + 1);
		at += real_length(at + 1);
	}
	fprintf(out, "\n rest %016" PRIx64 "\n", hash);
}

static bool agree(const char *expected, size_t expected_length, const char *got, size_t length)
{
	const char *left = memchr(expected, '~', expected_length), *right = memchr(got, '~', length);
	double a, b;

	if (!left || !right || left - expected != right - got ||
		memcmp(expected, got, (size_t)(left - expected)) != 0)
		return expected_length == length && memcmp(expected, got, length) == 0;
	a = strtod(left + 1, NULL);
	b = strtod(right + 1, NULL);
	return fabs(a - b) <= fmax(AGREE_RATIO * fmax(fabs(a), fabs(b)), AGREE_DIFFERENCE);
}

size_t whole_text_difference(const char *expected, const char *got)
{
	size_t line = 1;

	while (*expected || *got) {
		size_t expected_length = strcspn(expected, " \n"), length = strcspn(got, " \n");

		if (!agree(expected, expected_length, got, length) ||
			expected[expected_length] != got[length])
			return line;
		line += got[length] == '\n';
		expected += expected_length + (expected[expected_length] != 0);
		got += length + (got[length] != 0);
	}
	return 0;
}
