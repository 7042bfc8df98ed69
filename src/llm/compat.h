/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_LLM_COMPAT_H
#define KWHY_LLM_COMPAT_H

#include "llm/summary.h"

/*
 * Figures of a run by the definitions of other tools (docs/formats/llm.md). Unlike the figures of a summary,
 * they cover the whole run, not only its steady window, and times count from the moment at which a request
 * was sent, not from that at which it was due. Percentiles are interpolated linearly.
 */
enum kwhy_llm_compat_tool {
	KWHY_LLM_COMPAT_NONE,
	KWHY_LLM_COMPAT_VLLM,  /* vllm bench serve */
	KWHY_LLM_COMPAT_AIPERF /* AIPerf of NVIDIA */
};

/* Times in seconds. NAN: there are no values. */
struct kwhy_llm_compat_times {
	size_t count;
	double mean, median, deviation, p99;
};

struct kwhy_llm_compat {
	enum kwhy_llm_compat_tool tool;
	size_t completed, failed, good;
	/*
	 * duration in s: of the whole run (vLLM), or from the sending of the first request to the last piece
	 * of text of an answer (AIPerf)
	 */
	double seconds;
	double prompt_tokens, output_tokens;
	/*
	 * ttft: from the sending of a request to the first event with choices, even one without text (vLLM),
	 * or to the first piece of text (AIPerf). tpot: from there to the end of the answer, divided by the
	 * number of its tokens less one; AIPerf calls it inter token latency. gap: between successive pieces
	 * of text. answer: from the sending of a request to the last event (vLLM) or to the last piece of
	 * text (AIPerf).
	 */
	struct kwhy_llm_compat_times ttft, tpot, gap, answer;
};

KWHY_MUST_USE enum kwhy_status kwhy_llm_compat_of(const struct kwhy_llm_run *run,
	enum kwhy_llm_compat_tool tool, const struct kwhy_llm_limits *limits, struct kwhy_llm_compat *out,
	struct kwhy_error *error);

#endif
