/* SPDX-License-Identifier: Apache-2.0 */
#include "inject/probe/rows.h"

#include "inject/facts.h"

#include <stdio.h>

static uint32_t narrow(int64_t time_ns)
{
	return time_ns < UINT32_MAX ? (uint32_t)time_ns : UINT32_MAX;
}

static void write_burst(const struct kwhy_probe_row *row, struct kwhy_inject_labels *labels)
{
	const uint32_t name = kwhy_inject_label(labels, row->account->name);
	struct kwhy_wire_burst *out = kwhy_block_writer_add(labels->writer, KWHY_WIRE_BURST);

	if (out)
		*out = (struct kwhy_wire_burst){.start_mono_ns = row->start_mono_ns,
			.end_mono_ns = row->end_mono_ns,
			.saved_bytes = row->saved_bytes,
			.name = name,
			.correlation = row->correlation,
			.context = row->context,
			.thread = row->thread,
			.blocks = row->account->blocks,
			.repeats = row->repeats,
			.threads_per_block = row->account->threads_per_block,
			.form = row->form,
			.check = row->check,
			.launch_ns = narrow(row->launch_mono_ns - row->start_mono_ns),
			.launched_ns = narrow(row->launched_mono_ns - row->start_mono_ns),
			.repeated_ns = narrow(row->repeated_ns)};
}

static void write_note(struct kwhy_probe *probe, struct kwhy_inject_labels *labels)
{
	char text[KWHY_PROBE_NOTE_BYTES + 100];

	if (!atomic_load(&probe->has_note) || atomic_exchange(&probe->has_noted_note, true))
		return;
	snprintf(text, sizeof(text), "The probing of kernels ended early: %s.", probe->note);
	kwhy_inject_fact_note(labels, "probe-ended", text);
}

void kwhy_probe_write_bursts(struct kwhy_probe *probe, struct kwhy_inject_labels *labels)
{
	unsigned tail = atomic_load(&probe->row_tail);

	for (; tail != atomic_load_explicit(&probe->row_head, memory_order_acquire); tail++)
		write_burst(&probe->rows[tail % KWHY_PROBE_ROWS], labels);
	atomic_store_explicit(&probe->row_tail, tail, memory_order_release);
	write_note(probe, labels);
}

struct unprobed {
	const char *name;
	enum kwhy_probe_reason reason;
	uint64_t launches;
	uint32_t blocks;
	uint16_t threads_per_block;
};

static void write_unprobed(struct kwhy_inject_labels *labels, const struct unprobed *unprobed)
{
	const uint32_t name = kwhy_inject_label(labels, unprobed->name),
		       reason = kwhy_inject_label(labels, kwhy_probe_reason_words(unprobed->reason));
	struct kwhy_wire_unprobed *out = kwhy_block_writer_add(labels->writer, KWHY_WIRE_UNPROBED);

	if (out)
		*out = (struct kwhy_wire_unprobed){.launches = unprobed->launches,
			.name = name,
			.reason = reason,
			.blocks = unprobed->blocks,
			.threads_per_block = unprobed->threads_per_block};
}

/*
 * Writes one record for `launches` launches that were not probed and have no account, such as those of
 * unknown graphs; blocks and threads are unknown.
 */
static void write_sum(
	struct kwhy_inject_labels *labels, const char *name, enum kwhy_probe_reason reason, uint64_t launches)
{
	const struct unprobed sum = {name, reason, launches, KWHY_WIRE_UNKNOWN_U32, KWHY_WIRE_UNKNOWN_U16};

	if (launches)
		write_unprobed(labels, &sum);
}

void kwhy_probe_write_unprobed(struct kwhy_probe *probe, struct kwhy_inject_labels *labels)
{
	const unsigned count = atomic_load(&probe->accounts.count);

	for (unsigned i = 0; i < count; i++) {
		const struct kwhy_probe_account *account = kwhy_probe_account_at(&probe->accounts, i);

		if (!account || atomic_load(&account->bursts) || !atomic_load(&account->launches))
			continue;
		write_unprobed(labels,
			&(struct unprobed){account->name,
				(enum kwhy_probe_reason)atomic_load(&account->reason),
				atomic_load(&account->launches), account->blocks,
				account->threads_per_block});
	}
	write_sum(labels, "launches of graphs", KWHY_PROBE_GRAPH, atomic_load(&probe->graph_launches));
	write_sum(labels, "cooperative launches", KWHY_PROBE_COOPERATIVE,
		atomic_load(&probe->cooperative_launches));
}
