/* SPDX-License-Identifier: Apache-2.0 */
#include "ledger/ledger_new.h"

#include "ledger/accounts_sort.h"
#include "ledger/parts.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

/* Notes are few: their array doubles inside the arena. */
static enum kwhy_status reserve_note(struct kwhy_ledger *ledger, struct kwhy_error *error)
{
	size_t count = ledger->note_count;
	struct kwhy_note *notes;

	if (count & (count - 1) || count == 1)
		return KWHY_OK;
	notes = kwhy_arena_alloc(&ledger->arena, count ? count * 2 : 2, sizeof(*notes));
	if (!notes)
		return kwhy_fail_memory(error, "notes");
	if (count)
		memcpy(notes, ledger->notes, count * sizeof(*notes));
	ledger->notes = notes;
	return KWHY_OK;
}

enum kwhy_status kwhy_ledger_note(struct kwhy_ledger *ledger, enum kwhy_note_kind kind, const char *id,
	struct kwhy_error *error, const char *format, ...)
{
	struct kwhy_note note = {.kind = kind, .id = kwhy_arena_copy(&ledger->arena, id)};
	enum kwhy_status status = reserve_note(ledger, error);
	char text[1024];
	va_list args;

	if (status)
		return status;
	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	note.text = kwhy_arena_copy(&ledger->arena, text);
	if (!note.id || !note.text)
		return kwhy_fail_memory(error, "notes");
	ledger->notes[ledger->note_count++] = note;
	return KWHY_OK;
}

static enum kwhy_status keep_device(struct kwhy_ledger *ledger, const struct kwhy_recording *recording,
	uint32_t device, const struct kwhy_ledger_options *options, struct kwhy_error *error)
{
	struct kwhy_covered covered;
	enum kwhy_status status = kwhy_covered_init(&covered, recording, device, error);

	if (!status)
		status = kwhy_ledger_coverage(ledger, recording, device, &covered, error);
	if (!status)
		status = kwhy_ledger_time(ledger, recording, device, &covered, error);
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

static enum kwhy_status keep_books(struct kwhy_ledger *ledger, const struct kwhy_recording *recording,
	const struct kwhy_ledger_options *options, struct kwhy_error *error)
{
	enum kwhy_status status = KWHY_OK;

	ledger->devices = kwhy_arena_alloc(&ledger->arena, recording->device_count, sizeof(*ledger->devices));
	if (!ledger->devices)
		return kwhy_fail_memory(error, "the ledger");
	ledger->device_count = recording->device_count;
	for (size_t device = 0; !status && device < recording->device_count; device++)
		status = keep_device(ledger, recording, (uint32_t)device, options, error);
	return status ? status : kwhy_ledger_sums(ledger, recording, options, error);
}

enum kwhy_status kwhy_ledger_new(const struct kwhy_recording *recording,
	const struct kwhy_ledger_options *options, struct kwhy_ledger **out, struct kwhy_error *error)
{
	struct kwhy_ledger *ledger = calloc(1, sizeof(*ledger));
	enum kwhy_status status;

	if (!ledger)
		return kwhy_fail_memory(error, "the ledger");
	status = keep_books(ledger, recording, options, error);
	if (status) {
		kwhy_ledger_free(ledger);
		return status;
	}
	*out = ledger;
	return KWHY_OK;
}

void kwhy_ledger_free(struct kwhy_ledger *ledger)
{
	if (!ledger)
		return;
	kwhy_arena_done(&ledger->arena);
	free(ledger);
}
