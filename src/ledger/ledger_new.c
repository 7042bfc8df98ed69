/* SPDX-License-Identifier: Apache-2.0 */
#include "ledger/ledger_new.h"

#include "ledger/accounts_sort.h"
#include "ledger/energy/energy_meter.h"
#include "ledger/parts.h"
#include "ledger/probing.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

struct kwhy_ledger_options kwhy_ledger_options_default(void)
{
	struct kwhy_ledger_options options = {.seed = 1};

	options.assumed.all_w = NAN;
	for (int i = 0; i < KWHY_CATEGORY_COUNT; i++)
		options.assumed.category_w[i] = NAN;
	for (int i = 0; i < KWHY_COPY_KIND_COUNT; i++)
		options.assumed.copy_w[i] = NAN;
	return options;
}

enum kwhy_status kwhy_ledger_note(struct kwhy_ledger *ledger, enum kwhy_note_kind kind, const char *id,
	struct kwhy_error *error, const char *format, ...)
{
	struct kwhy_note note = {.kind = kind, .id = kwhy_arena_copy(&ledger->arena, id)};
	struct kwhy_note *notes = kwhy_arena_grow(
		&ledger->arena, ledger->notes, ledger->note_count, sizeof(*notes));
	char text[1024];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	note.text = kwhy_arena_copy(&ledger->arena, text);
	if (!notes || !note.id || !note.text)
		return kwhy_fail_memory(error, "notes");
	ledger->notes = notes;
	notes[ledger->note_count++] = note;
	return KWHY_OK;
}

static enum kwhy_status keep_device(struct kwhy_ledger *ledger, const struct kwhy_recording *recording,
	uint32_t device, const struct kwhy_ledger_options *options, struct kwhy_error *error)
{
	struct kwhy_covered covered;
	enum kwhy_status status = kwhy_covered_init(&covered, recording, device, error);

	if (!status)
		status = kwhy_probing_cut(&covered, recording, device, error);
	if (!status)
		status = kwhy_ledger_coverage(ledger, recording, device, &covered, error);
	if (!status)
		status = kwhy_ledger_time(ledger, recording, device, &covered, error);
	if (!status)
		status = kwhy_ledger_clean(ledger, recording, device, &covered, options, error);
	kwhy_covered_done(&covered);
	if (!status)
		status = kwhy_ledger_accounts(ledger, recording, device, error);
	if (!status)
		status = kwhy_ledger_energy(ledger, recording, device, options, error);
	if (!status)
		status = kwhy_ledger_sampling(ledger, recording, device, error);
	if (!status)
		status = kwhy_accounts_sort(ledger, recording, device, error);
	return status;
}

/* Fails with KWHY_E_INPUT if the energies of all devices together, in nJ, exceed an int64_t. */
static enum kwhy_status check_sum(const struct kwhy_ledger *ledger, struct kwhy_error *error)
{
	int64_t sum_nj = 0;

	for (size_t d = 0; d < ledger->device_count; d++)
		if (ledger->devices[d].energy.known &&
			__builtin_add_overflow(sum_nj, ledger->devices[d].energy.attributed_nj, &sum_nj))
			return kwhy_energy_refuse("the devices together come to", error);
	return KWHY_OK;
}

static enum kwhy_status keep_devices(struct kwhy_ledger *ledger, const struct kwhy_recording *recording,
	const struct kwhy_ledger_options *options, struct kwhy_error *error)
{
	enum kwhy_status status = KWHY_OK;

	ledger->devices = kwhy_arena_alloc(&ledger->arena, recording->device_count, sizeof(*ledger->devices));
	if (!ledger->devices)
		return kwhy_fail_memory(error, "the ledger");
	ledger->device_count = recording->device_count;
	for (size_t device = 0; !status && device < recording->device_count; device++)
		status = keep_device(ledger, recording, (uint32_t)device, options, error);
	return status ? status : check_sum(ledger, error);
}

/*
 * Fills a new ledger. If kwhy probe ran, `program` is the same recording as `recording`, but writable: its
 * activities of kwhy probe are removed from it when the devices' parts of the ledger are complete, so that
 * the rest of the ledger is made without them. Otherwise `program` is NULL.
 */
static enum kwhy_status keep_ledger(struct kwhy_ledger *ledger, const struct kwhy_recording *recording,
	struct kwhy_recording *program, const struct kwhy_ledger_options *options, struct kwhy_error *error)
{
	enum kwhy_status status = keep_devices(ledger, recording, options, error);

	if (!status && program)
		kwhy_probing_drop(ledger, program);
	if (!status)
		status = kwhy_ledger_roofline(ledger, recording, options, error);
	return status ? status : kwhy_ledger_sums(ledger, recording, options, error);
}

static enum kwhy_status ledger_new(const struct kwhy_recording *recording, struct kwhy_recording *program,
	const struct kwhy_ledger_options *options, struct kwhy_ledger **out, struct kwhy_error *error)
{
	struct kwhy_ledger *ledger = calloc(1, sizeof(*ledger));
	enum kwhy_status status;

	if (!ledger)
		return kwhy_fail_memory(error, "the ledger");
	status = keep_ledger(ledger, recording, program, options, error);
	if (status) {
		kwhy_ledger_free(ledger);
		return status;
	}
	*out = ledger;
	return KWHY_OK;
}

enum kwhy_status kwhy_ledger_new(const struct kwhy_recording *recording,
	const struct kwhy_ledger_options *options, struct kwhy_ledger **out, struct kwhy_error *error)
{
	return ledger_new(recording, NULL, options, out, error);
}

enum kwhy_status kwhy_ledger_new_of_program(struct kwhy_recording *recording,
	const struct kwhy_ledger_options *options, struct kwhy_ledger **out, struct kwhy_error *error)
{
	return ledger_new(recording, recording, options, out, error);
}

void kwhy_ledger_free(struct kwhy_ledger *ledger)
{
	if (!ledger)
		return;
	kwhy_arena_done(&ledger->arena);
	free(ledger);
}
