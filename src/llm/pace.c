/* SPDX-License-Identifier: Apache-2.0 */
#include "llm/pace.h"

#include <math.h>

/*
 * Whether each piece states the number of the answer's tokens so far, and these numbers grow from piece to
 * piece and do not exceed the answer's final number.
 */
static bool is_stated(const struct kwhy_llm_record *record)
{
	int32_t before = 0;

	for (size_t i = 0; i < record->piece_count; i++) {
		if (record->pieces[i].tokens <= before)
			return false;
		before = record->pieces[i].tokens;
	}
	return record->piece_count && before <= record->completion_tokens;
}

void kwhy_llm_pace_init(struct kwhy_llm_pace *pace, const struct kwhy_llm_record *record)
{
	double pieces = (double)record->piece_count;

	*pace = (struct kwhy_llm_pace){.record = record, .tokens = (double)record->completion_tokens};
	for (size_t i = 0; i < record->piece_count; i++)
		pace->bytes += record->pieces[i].bytes;
	if (is_stated(record)) {
		pace->basis = KWHY_LLM_PACE_STATED;
	} else if (!kwhy_llm_record_has_usage(record)) {
		pace->basis = KWHY_LLM_PACE_PIECES;
		pace->tokens = pieces;
	} else {
		pace->basis = pace->tokens < pieces ? KWHY_LLM_PACE_EVENLY : KWHY_LLM_PACE_BY_SIZE;
	}
}

double kwhy_llm_pace_of_piece(const struct kwhy_llm_pace *pace, size_t piece)
{
	const struct kwhy_llm_record *record = pace->record;
	double pieces = (double)record->piece_count;
	int32_t before = piece ? record->pieces[piece - 1].tokens : 0;

	switch (pace->basis) {
	case KWHY_LLM_PACE_STATED:
		return (piece + 1 == record->piece_count ? pace->tokens : record->pieces[piece].tokens) -
			before;
	case KWHY_LLM_PACE_BY_SIZE:
		return 1 + (pace->tokens - pieces) * record->pieces[piece].bytes / pace->bytes;
	case KWHY_LLM_PACE_EVENLY:
		return pace->tokens / pieces;
	default:
		return 1;
	}
}

double kwhy_llm_pace_token_s(const struct kwhy_llm_pace *pace)
{
	const struct kwhy_llm_record *record = pace->record;
	size_t last = record->piece_count - 1;
	double tokens;

	if (record->piece_count < 2)
		return NAN;
	/*
	 * the time ends with the last piece, so tokens that the server counts after that piece are left out
	 */
	tokens = pace->basis == KWHY_LLM_PACE_STATED ? record->pieces[last].tokens - record->pieces[0].tokens
						     : pace->tokens - kwhy_llm_pace_of_piece(pace, 0);
	return (double)(record->pieces[last].at_ns - record->pieces[0].at_ns) * 1e-9 / tokens;
}
