/* SPDX-License-Identifier: Apache-2.0 */
#include "report/opened.h"

#include "report/finding_kinds.h"

#include <stdlib.h>

struct busy_device {
	double ratio;
	uint32_t device;
};

static int by_ratio(const void *left, const void *right)
{
	const struct busy_device *a = left, *b = right;
	int order = (a->ratio > b->ratio) - (a->ratio < b->ratio);

	return order ? order : (a->device > b->device) - (a->device < b->device);
}

/*
 * Of the kinds of findings that save anything, in the order of reports, finds the first whose worst finding
 * is on one device, and returns that device in *out_device; KWHY_NONE: there is no such kind.
 */
static enum kwhy_status find_advised(
	const struct kwhy_findings *findings, uint32_t *out_device, struct kwhy_error *error)
{
	struct kwhy_finding_kinds kinds;
	enum kwhy_status status = kwhy_finding_kinds_init(&kinds, findings, error);

	*out_device = KWHY_NONE;
	if (status)
		return status;
	for (size_t i = 0; i < kinds.worth_count && *out_device == KWHY_NONE; i++)
		*out_device = kinds.items[i].worst->device;
	kwhy_finding_kinds_done(&kinds);
	return KWHY_OK;
}

/* Lists the active devices except `but` in ascending order of their busy shares, and returns their number. */
static size_t list_busy(const struct kwhy_ledger *ledger, uint32_t but, struct busy_device *list)
{
	size_t count = 0;

	for (uint32_t d = 0; d < ledger->device_count; d++) {
		const struct kwhy_device_time *time = &ledger->devices[d].time;

		if (d != but && kwhy_device_was_active(time))
			list[count++] = (struct busy_device){
				time->span_ns > 0 ? (double)time->busy_ns / (double)time->span_ns : 0, d};
	}
	qsort(list, count, sizeof(*list), by_ratio);
	return count;
}

static enum kwhy_status choose(
	struct kwhy_opened *opened, const struct kwhy_report *report, struct kwhy_error *error)
{
	const struct kwhy_ledger *ledger = report->ledger;
	struct busy_device *list = calloc(ledger->device_count + 1, sizeof(*list));
	uint32_t worst;
	size_t count;
	enum kwhy_status status = list ? find_advised(report->findings, &worst, error)
				       : kwhy_fail_memory(error, "the devices of the page");

	if (!status) {
		count = list_busy(ledger, worst, list);
		opened->worst = worst != KWHY_NONE ? worst : count ? list[0].device : 0;
		opened->median = count ? list[count / 2].device : opened->worst;
		opened->devices[opened->worst] = true;
		opened->devices[opened->median] = true;
	}
	free(list);
	return status;
}

enum kwhy_status kwhy_opened_init(
	struct kwhy_opened *opened, const struct kwhy_report *report, struct kwhy_error *error)
{
	const size_t count = report->ledger->device_count;
	enum kwhy_status status;

	*opened = (struct kwhy_opened){
		.devices = calloc(count + 1, sizeof(bool)), .worst = KWHY_NONE, .median = KWHY_NONE};
	if (!opened->devices)
		return kwhy_fail_memory(error, "the devices of the page");
	if (count > KWHY_OPENED_MAX) {
		status = choose(opened, report, error);
		if (status)
			kwhy_opened_done(opened);
		return status;
	}
	for (size_t d = 0; d < count; d++)
		opened->devices[d] = true;
	return KWHY_OK;
}

void kwhy_opened_done(struct kwhy_opened *opened)
{
	free(opened->devices);
	*opened = (struct kwhy_opened){.worst = KWHY_NONE, .median = KWHY_NONE};
}
