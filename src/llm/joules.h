/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_LLM_JOULES_H
#define KWHY_LLM_JOULES_H

#include "llm/divide.h"

/* The requests of one load, and their joules. */
struct kwhy_llm_load_joules {
	struct kwhy_llm_run run;
	struct kwhy_llm_reading *readings;
	size_t reading_count; /* 0: the load has fewer than two readings, so its energy is unknown */
	struct kwhy_llm_shares shares;
	struct kwhy_llm_request_energy *requests; /* [run.count]; NULL: unknown */
	struct kwhy_llm_window_energy *windows;	  /* [reading_count - 1]; NULL: unknown */
	/*
	 * energy between the first and the last reading of the load, in three parts whose sum it is exactly:
	 * of the idle server, of the prompts and of the answers
	 */
	int64_t idle_nj, prefill_nj, decode_nj;
};

/* The requests of all loads of a run, and their joules. Zero-initialise it. */
struct kwhy_llm_joules {
	struct kwhy_llm_load_joules *loads;
	size_t count;
	struct kwhy_llm_power_rows rows;
	struct kwhy_llm_power_fit fit;
	struct kwhy_error
		missing; /* why no request has a known energy; status KWHY_OK: the energies are known */
};

/*
 * Adds a load with its readings, which go from before its first request to after its last answer, and moves
 * the records out of `run`. With fewer than two readings its energy is unknown. A load without requests shows
 * the power of the idle server.
 */
KWHY_MUST_USE enum kwhy_status kwhy_llm_joules_add(struct kwhy_llm_joules *joules, struct kwhy_llm_run *run,
	const struct kwhy_llm_reading *readings, size_t count, struct kwhy_error *error);

/*
 * Fits the coefficients to the readings of all loads, and divides the loads' energy among the requests. If
 * that is not possible, because the readings are too few or the tokens of too many prompts are unknown, it
 * returns KWHY_OK, and `missing` says why.
 */
KWHY_MUST_USE enum kwhy_status kwhy_llm_joules_finish(
	struct kwhy_llm_joules *joules, struct kwhy_error *error);
void kwhy_llm_joules_done(struct kwhy_llm_joules *joules);

/* The requests that were answered in full and whose tokens, prompt plus answer, are between two bounds. */
struct kwhy_llm_length_group {
	int64_t tokens_from, tokens_to; /* tokens_from <= tokens < tokens_to */
	size_t count;
	double prompt_tokens, output_tokens, prefill_j, decode_j; /* sums over the requests */
	double prefill_half_j,
		/*
		 * half widths of the 90 % intervals of prefill_j and decode_j, by the errors of the
		 * coefficients; NAN: unknown
		 */
		decode_half_j;
	double work[KWHY_LLM_WORK_COUNT]; /* sums of the requests' work */
};
enum { KWHY_LLM_LENGTH_GROUPS = 6 };

/* Divides the requests of all loads into groups by length. A group may have no requests. */
void kwhy_llm_joules_by_length(
	const struct kwhy_llm_joules *joules, struct kwhy_llm_length_group out[KWHY_LLM_LENGTH_GROUPS]);

#endif
