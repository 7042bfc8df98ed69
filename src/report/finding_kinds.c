/* SPDX-License-Identifier: Apache-2.0 */
#include "report/finding_kinds.h"

#include "base/quantity.h"
#include "model/known_sum.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static struct kwhy_finding_kind *find_kind(
	struct kwhy_finding_kinds *kinds, const struct kwhy_finding *finding)
{
	for (size_t i = 0; i < kinds->count; i++)
		if (kinds->items[i].worst && strcmp(kinds->items[i].worst->id, finding->id) == 0)
			return &kinds->items[i];
	return NULL;
}

static void add_finding(struct kwhy_finding_kinds *kinds, const struct kwhy_finding *finding)
{
	struct kwhy_finding_kind *kind = find_kind(kinds, finding);
	const struct kwhy_saving *saving = &finding->saving;

	if (!kind) {
		kinds->items[kinds->count++] = (struct kwhy_finding_kind){.worst = finding,
			.device_count = finding->device != KWHY_NONE,
			.least_ns = finding->time_ns,
			.most_ns = finding->time_ns,
			.saved_ns = saving->time_ns,
			.saved_nj = saving->energy_nj};
		return;
	}
	kind->device_count += finding->device != KWHY_NONE;
	if (finding->time_ns < kind->least_ns)
		kind->least_ns = finding->time_ns;
	if (finding->time_ns > kind->most_ns) {
		kind->most_ns = finding->time_ns;
		kind->worst = finding;
	}
	if (saving->time_ns > kind->saved_ns)
		kind->saved_ns = saving->time_ns;
	kwhy_known_add(&kind->saved_nj, saving->energy_nj);
}

static bool is_worth_something(const struct kwhy_finding_kind *kind)
{
	return kind->saved_ns > 0 || (kind->saved_nj != KWHY_UNKNOWN_NJ && kind->saved_nj > 0);
}

/*
 * Compares what comes before the sizes of savings: whether there is one at all, then whether the others wait
 * for the device.
 */
static int by_rank(const struct kwhy_finding_kind *left, const struct kwhy_finding_kind *right)
{
	const bool worth = is_worth_something(left);

	if (worth != is_worth_something(right))
		return worth ? -1 : 1;
	return (int)right->worst->leads - (int)left->worst->leads;
}

static int by_time(const void *a, const void *b)
{
	const struct kwhy_finding_kind *left = a, *right = b;
	const int rank = by_rank(left, right);

	if (rank)
		return rank;
	if (left->saved_ns != right->saved_ns)
		return left->saved_ns < right->saved_ns ? 1 : -1;
	return strcmp(left->worst->id, right->worst->id);
}

static int by_energy(const void *a, const void *b)
{
	const struct kwhy_finding_kind *left = a, *right = b;

	if (by_rank(left, right) || left->saved_nj == right->saved_nj)
		return by_time(a, b);
	return left->saved_nj < right->saved_nj ? 1 : -1;
}

static void sort(struct kwhy_finding_kinds *kinds)
{
	bool known = true;

	for (size_t i = 0; i < kinds->count; i++)
		known &= kinds->items[i].saved_nj != KWHY_UNKNOWN_NJ;
	if (kinds->count > 1)
		qsort(kinds->items, kinds->count, sizeof(*kinds->items), known ? by_energy : by_time);
	while (kinds->worth_count < kinds->count && is_worth_something(&kinds->items[kinds->worth_count]))
		kinds->worth_count++;
}

enum kwhy_status kwhy_finding_kinds_init(
	struct kwhy_finding_kinds *kinds, const struct kwhy_findings *findings, struct kwhy_error *error)
{
	*kinds = (struct kwhy_finding_kinds){.items = NULL};
	if (!findings || !findings->count)
		return KWHY_OK;
	kinds->items = calloc(findings->count, sizeof(*kinds->items));
	if (!kinds->items)
		return kwhy_fail_memory(error, "the kinds of findings");
	for (size_t i = 0; i < findings->count; i++)
		add_finding(kinds, &findings->items[i]);
	sort(kinds);
	return KWHY_OK;
}

void kwhy_finding_kinds_done(struct kwhy_finding_kinds *kinds)
{
	free(kinds->items);
	*kinds = (struct kwhy_finding_kinds){.items = NULL};
}

/*
 * Whether each device has a known rank and no device is shared by ranks, so that a rank identifies a device.
 */
static bool is_ranked(const struct kwhy_recording *recording)
{
	for (size_t d = 0; d < recording->device_count; d++)
		if (recording->devices[d].rank == KWHY_NONE)
			return false;
	return !kwhy_recording_shares_devices(recording);
}

/* Appends "rank 39" or, if is_ranked() is false, "GPU 1". */
static void add_device(struct kwhy_text *out, const struct kwhy_recording *recording, uint32_t device)
{
	if (is_ranked(recording))
		kwhy_text_addf(out, "rank %" PRIu32, recording->devices[device].rank);
	else
		kwhy_text_addf(out, "GPU %" PRId32, recording->devices[device].index);
}

/* Removes the unit of `low` if `high` has the same unit: in "560 ms" to "590 ms", "560 ms" becomes "560". */
static const char *without_unit_of(char *low, const char *high)
{
	char *unit = strchr(low, ' ');
	const char *other = strchr(high, ' ');

	if (unit && other && strcmp(unit, other) == 0)
		*unit = '\0';
	return low;
}

void kwhy_finding_kind_words(const struct kwhy_finding_kind *kind, const struct kwhy_recording *recording,
	size_t active_count, struct kwhy_text *out)
{
	const struct kwhy_finding *worst = kind->worst;
	const size_t name_bytes = strcspn(worst->headline, ":");
	char least[KWHY_QUANTITY_BYTES], most[KWHY_QUANTITY_BYTES];

	if (!kind->device_count || active_count < 2) {
		kwhy_text_add(out, worst->headline);
		return;
	}
	kwhy_text_add_bytes(out, worst->headline, name_bytes);
	kwhy_text_add(out, " on ");
	if (kind->device_count == 1) {
		add_device(out, recording, worst->device);
		kwhy_text_add(out, worst->headline + name_bytes);
		return;
	}
	kwhy_text_addf(out, "%zu of %zu %s, ", kind->device_count, active_count,
		is_ranked(recording) ? "ranks" : "devices");
	kwhy_quantity_time(least, kind->least_ns);
	if (strcmp(least, kwhy_quantity_time(most, kind->most_ns)) != 0)
		kwhy_text_addf(out, "%s to ", without_unit_of(least, most));
	kwhy_text_addf(out, "%s, worst ", most);
	add_device(out, recording, worst->device);
}
