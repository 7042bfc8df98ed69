/* SPDX-License-Identifier: Apache-2.0 */
#include "llm/run.h"

#include <stdlib.h>

void kwhy_llm_run_done(struct kwhy_llm_run *run)
{
	for (size_t i = 0; i < run->count; i++)
		free(run->records[i].pieces);
	free(run->records);
	*run = (struct kwhy_llm_run){0};
}

enum kwhy_status kwhy_llm_run_add(
	struct kwhy_llm_run *run, const struct kwhy_llm_record *record, struct kwhy_error *error)
{
	if (run->count == run->capacity) {
		size_t capacity = run->capacity ? 2 * run->capacity : 256;
		struct kwhy_llm_record *grown = realloc(run->records, capacity * sizeof(*grown));

		if (!grown)
			return kwhy_fail_memory(error, "the requests");
		run->records = grown;
		run->capacity = capacity;
	}
	run->records[run->count++] = *record;
	return KWHY_OK;
}

void kwhy_llm_record_take(struct kwhy_llm_record *record, struct kwhy_llm_answer *answer)
{
	record->prompt_tokens = answer->prompt_tokens;
	record->cached_tokens = answer->cached_tokens;
	record->completion_tokens = answer->completion_tokens;
	record->is_counted = answer->is_counted;
	record->first_event_ns = answer->first_event_ns;
	record->last_event_ns = answer->last_event_ns;
	record->pieces = answer->pieces;
	record->piece_count = answer->piece_count;
	answer->pieces = NULL;
	kwhy_llm_answer_done(answer);
}
