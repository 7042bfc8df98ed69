/* SPDX-License-Identifier: Apache-2.0 */
#include "digest/making.h"

/*
 * Makes the tables of details: findings, steps, ranges, calls, what the devices waited for, ... A job sums
 * only findings, the number of steps, and a few counts of what is missing.
 */

static const char *text_of(const struct kwhy_digest_making *making, uint32_t name)
{
	return name ? kwhy_digest_name(making->digest, kwhy_names_get(&making->recording->names, name))
		    : NULL;
}

enum { OCCURRENCES_MAX = 5 };

static enum kwhy_status add_occurrences(
	const struct kwhy_digest_making *making, const struct kwhy_finding *finding, uint32_t place)
{
	for (size_t i = 0; i < finding->evidence_count && i < OCCURRENCES_MAX; i++) {
		struct kwhy_digest_occurrence *row = KWHY_DIGEST_ADD(
			making->digest, occurrence, making->error);

		if (!row)
			return making->error->status;
		row->finding = place;
		row->start_ns = finding->evidence[i].start_ns;
		row->end_ns = finding->evidence[i].end_ns;
		row->what = kwhy_digest_name(making->digest, finding->evidence[i].what);
	}
	return KWHY_OK;
}

static enum kwhy_status add_finding(
	const struct kwhy_digest_making *making, const struct kwhy_finding *finding)
{
	const uint32_t place = (uint32_t)making->digest->finding_count;
	struct kwhy_digest_finding *row = KWHY_DIGEST_ADD(making->digest, finding, making->error);

	if (!row)
		return making->error->status;
	row->id = finding->id;
	row->device = finding->device == KWHY_NONE ? KWHY_NONE : making->place_of[finding->device];
	row->title = kwhy_digest_sentence(making->digest, finding->title);
	row->count = (int64_t)finding->count;
	row->time_ns = finding->time_ns;
	row->energy_nj = finding->energy_nj;
	row->saved_ns = finding->saving.time_ns;
	row->saved_nj = finding->saving.energy_nj;
	row->bound = kwhy_bound_name(finding->saving.bound);
	row->cure = kwhy_digest_sentence(making->digest, finding->cure);
	row->place = kwhy_digest_name(making->digest, finding->place.words);
	row->file = kwhy_digest_name(making->digest, finding->place.file);
	row->line = finding->place.line ? finding->place.line : INT64_MIN;
	return add_occurrences(making, finding, place);
}

static enum kwhy_status add_findings(const struct kwhy_digest_making *making)
{
	enum kwhy_status status = KWHY_OK;

	for (size_t i = 0; !status && i < kwhy_digest_kept(making, making->findings->count); i++) {
		const struct kwhy_finding *finding = &making->findings->items[i];

		if (finding->device == KWHY_NONE ? making->is_first
						 : making->place_of[finding->device] != KWHY_NONE)
			status = add_finding(making, finding);
	}
	return status;
}

static enum kwhy_status add_steps(const struct kwhy_digest_making *making)
{
	struct kwhy_digest_digest *about = kwhy_digest_about(making->digest);
	const struct kwhy_ledger *ledger = making->ledger;

	about->steps = (int64_t)ledger->step_count;
	about->loop_ns = ledger->step_count ? ledger->loop.time_ns : INT64_MIN;
	about->loop_nj = ledger->step_count ? ledger->loop.energy_nj : INT64_MIN;
	for (size_t i = 0; i < kwhy_digest_kept(making, ledger->step_count); i++) {
		struct kwhy_digest_step *row = KWHY_DIGEST_ADD(making->digest, step, making->error);

		if (!row)
			return making->error->status;
		row->name = text_of(making, ledger->steps[i].name);
		row->start_ns = ledger->steps[i].start_ns;
		row->host_ns = ledger->steps[i].host_ns;
		row->busy_ns = ledger->steps[i].busy_ns;
		row->energy_nj = ledger->steps[i].energy_nj;
		row->window_nj = ledger->steps[i].window_energy_nj;
	}
	return KWHY_OK;
}

static enum kwhy_status add_ranges(const struct kwhy_digest_making *making)
{
	const struct kwhy_ledger *ledger = making->ledger;

	for (size_t i = 0; i < kwhy_digest_kept(making, ledger->range_count); i++) {
		struct kwhy_digest_range *row = KWHY_DIGEST_ADD(making->digest, range, making->error);

		if (!row)
			return making->error->status;
		row->name = text_of(making, ledger->ranges[i].name);
		row->kind = kwhy_host_kind_name((enum kwhy_host_kind)ledger->ranges[i].kind);
		row->count = (int64_t)ledger->ranges[i].count;
		row->host_ns = ledger->ranges[i].host_ns;
		row->device_ns = ledger->ranges[i].device_ns;
		row->busy_ns = ledger->ranges[i].busy_ns;
		row->energy_nj = ledger->ranges[i].energy_nj;
		row->window_nj = ledger->ranges[i].window_energy_nj;
	}
	return KWHY_OK;
}

static enum kwhy_status add_calls(const struct kwhy_digest_making *making)
{
	for (size_t i = 0; i < kwhy_digest_kept(making, making->ledger->api_count); i++) {
		struct kwhy_digest_api *row = KWHY_DIGEST_ADD(making->digest, api, making->error);

		if (!row)
			return making->error->status;
		row->name = text_of(making, making->ledger->api[i].name);
		row->count = (int64_t)making->ledger->api[i].count;
		row->total_ns = making->ledger->api[i].total_ns;
	}
	return KWHY_OK;
}

static enum kwhy_status add_waits(const struct kwhy_digest_making *making, size_t device)
{
	const struct kwhy_device_ledger *ledger = &making->ledger->devices[device];

	for (size_t i = 0; i < kwhy_digest_kept(making, ledger->host_sum_count); i++) {
		const struct kwhy_host_sum *sum = &ledger->host_sums[i];
		struct kwhy_digest_wait *row = KWHY_DIGEST_ADD(making->digest, wait, making->error);

		if (!row)
			return making->error->status;
		row->device = making->place_of[device];
		row->reason = kwhy_host_wait_reason_name((enum kwhy_host_wait_reason)sum->what);
		if (sum->what == KWHY_HOST_WAIT_RANGE)
			row->kind = kwhy_host_kind_name((enum kwhy_host_kind)sum->kind);
		row->name = text_of(making, sum->name);
		row->file = text_of(making, sum->file);
		row->line = sum->line ? sum->line : INT64_MIN;
		row->gaps = (int64_t)sum->gaps;
		row->time_ns = sum->time_ns;
		row->longest_ns = sum->longest_ns;
	}
	return KWHY_OK;
}

static enum kwhy_status add_copies(const struct kwhy_digest_making *making, size_t device)
{
	const struct kwhy_device_time *time = &making->ledger->devices[device].time;

	for (size_t i = 0; i < kwhy_digest_kept(making, time->copy_class_count); i++) {
		const struct kwhy_copy_class_sum *sum = &time->copy_classes[i];
		struct kwhy_digest_copy *row = KWHY_DIGEST_ADD(making->digest, copy, making->error);

		if (!row)
			return making->error->status;
		row->device = making->place_of[device];
		row->direction = kwhy_copy_kind_name((enum kwhy_copy_kind)sum->kind);
		row->source = kwhy_memory_kind_name((enum kwhy_memory_kind)sum->src_memory);
		row->destination = kwhy_memory_kind_name((enum kwhy_memory_kind)sum->dst_memory);
		row->size_class = sum->size_class;
		row->count = (int64_t)sum->count;
		row->bytes = (int64_t)sum->bytes;
		row->total_ns = sum->total_ns;
	}
	return KWHY_OK;
}

static int64_t bytes_of(uint64_t bytes)
{
	return bytes == KWHY_UNKNOWN_BYTES ? INT64_MIN : (int64_t)bytes;
}

static enum kwhy_status add_memory(const struct kwhy_digest_making *making)
{
	for (size_t i = 0; i < making->ledger->memory_count; i++) {
		const struct kwhy_memory_sum *sum = &making->ledger->memory[i];
		struct kwhy_digest_memory *row;

		if (making->place_of[sum->device] == KWHY_NONE)
			continue;
		row = KWHY_DIGEST_ADD(making->digest, memory, making->error);
		if (!row)
			return making->error->status;
		row->device = making->place_of[sum->device];
		row->allocated_bytes = bytes_of(sum->peak_allocated_bytes);
		row->reserved_bytes = bytes_of(sum->peak_reserved_bytes);
		row->device_bytes = bytes_of(sum->device_bytes);
	}
	return KWHY_OK;
}

static enum kwhy_status add_lost(const struct kwhy_digest_making *making)
{
	const struct kwhy_lost *lost = &making->recording->lost;
	const struct {
		const char *what;
		uint64_t count;
	} counts[] = {{"dropped_records", lost->dropped_records}, {"skipped_events", lost->skipped_events},
		{"untimed_records", lost->untimed_records}, {"unmatched_launches", lost->unmatched_launches},
		{"unlinked_activities", lost->unlinked_activities}, {"unknown_bytes", lost->unknown_bytes},
		{making->is_running ? "running" : "truncated", lost->truncated}, {"holes", lost->has_holes}};

	for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++) {
		struct kwhy_digest_lost *row;

		if (!counts[i].count)
			continue;
		row = KWHY_DIGEST_ADD(making->digest, lost, making->error);
		if (!row)
			return making->error->status;
		row->what = counts[i].what;
		row->count = (int64_t)counts[i].count;
	}
	return KWHY_OK;
}

static enum kwhy_status add_notes(
	const struct kwhy_digest_making *making, const struct kwhy_note *notes, size_t count)
{
	for (size_t i = 0; i < kwhy_digest_kept(making, count); i++) {
		struct kwhy_digest_note *row = KWHY_DIGEST_ADD(making->digest, note, making->error);

		if (!row)
			return making->error->status;
		row->id = notes[i].id;
		row->text = kwhy_digest_sentence(making->digest, notes[i].text);
	}
	return KWHY_OK;
}

static enum kwhy_status add_work(const struct kwhy_digest_making *making)
{
	for (size_t i = 0; i < kwhy_digest_kept(making, making->recording->work_count); i++) {
		struct kwhy_digest_work *row = KWHY_DIGEST_ADD(making->digest, work, making->error);

		if (!row)
			return making->error->status;
		row->unit = kwhy_digest_name(making->digest, making->recording->work[i].unit);
		row->amount = making->recording->work[i].count;
	}
	return KWHY_OK;
}

enum kwhy_status kwhy_digest_make_details(const struct kwhy_digest_making *making)
{
	static enum kwhy_status (*const of_all[])(const struct kwhy_digest_making *making) = {
		add_steps, add_ranges, add_calls, add_work};
	enum kwhy_status status = add_findings(making);

	for (size_t d = 0; d < making->ledger->device_count; d++) {
		if (making->place_of[d] == KWHY_NONE)
			continue;
		if (!status)
			status = add_waits(making, d);
		if (!status)
			status = add_copies(making, d);
	}
	for (size_t i = 0; making->is_first && !status && i < sizeof(of_all) / sizeof(of_all[0]); i++)
		status = of_all[i](making);
	if (!status)
		status = add_memory(making);
	if (!status)
		status = add_lost(making);
	if (!status)
		status = add_notes(making, making->recording->notes, making->recording->note_count);
	return status ? status : add_notes(making, making->ledger->notes, making->ledger->note_count);
}
