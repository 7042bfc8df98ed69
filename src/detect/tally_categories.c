/* SPDX-License-Identifier: Apache-2.0 */
#include "detect/tally.h"

/* Divides the time of a finding among the categories of the ledger's time table. */

/*
 * Orders in which the host's times in a gap are taken (struct kwhy_tally, takes_host_first) if only a part of
 * the gap is waste.
 */
static const uint8_t calls_first[KWHY_HOST_STATE_COUNT] = {
	KWHY_HOST_LAUNCH, KWHY_HOST_SYNC, KWHY_HOST_ELSEWHERE, KWHY_HOST_ALLOC};
static const uint8_t host_first[KWHY_HOST_STATE_COUNT] = {
	KWHY_HOST_ELSEWHERE, KWHY_HOST_LAUNCH, KWHY_HOST_SYNC, KWHY_HOST_ALLOC};

static void take(struct kwhy_tally *tally, const int64_t part_ns[KWHY_HOST_STATE_COUNT], int64_t length_ns)
{
	const uint8_t *order = tally->takes_host_first ? host_first : calls_first;

	for (int i = 0; i < KWHY_HOST_STATE_COUNT; i++) {
		int64_t taken_ns = part_ns[order[i]] < length_ns ? part_ns[order[i]] : length_ns;

		tally->category_ns[kwhy_category_of_wait(order[i])] += taken_ns;
		length_ns -= taken_ns;
	}
}

void kwhy_tally_divide_idle(
	struct kwhy_tally *tally, const struct kwhy_idle_span *idle, uint32_t after, int64_t length_ns)
{
	const struct kwhy_host_span gap = {idle->start_ns, idle->end_ns};
	int64_t part_ns[KWHY_HOST_STATE_COUNT];

	if (!tally->context->recording->has_calls) {
		tally->category_ns[KWHY_CATEGORY_IDLE] += length_ns;
		return;
	}
	if (!tally->status && !tally->host.threads)
		tally->status = kwhy_host_wait_init(
			&tally->host, tally->context->recording, tally->device, tally->context->error);
	if (!tally->status)
		tally->status = kwhy_host_wait_divide(
			&tally->host, &gap, after, part_ns, tally->context->error);
	if (!tally->status)
		take(tally, part_ns, length_ns);
}

void kwhy_tally_divide_again(struct kwhy_tally *tally)
{
	kwhy_host_wait_done(&tally->host);
}

void kwhy_tally_count_kinds(
	struct kwhy_tally *tally, const int64_t kind_ns[KWHY_ACTIVITY_KIND_COUNT], double share)
{
	for (int kind = 0; kind < KWHY_ACTIVITY_KIND_COUNT; kind++)
		tally->category_ns[kwhy_category_of_kind((uint32_t)kind)] += (int64_t)((double)kind_ns[kind] *
			share);
}
