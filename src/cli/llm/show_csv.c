/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/llm/show_csv.h"

#include "base/csv_cell.h"

#include <math.h>

static void add_spread(struct kwhy_text *out, const struct kwhy_llm_distribution *spread)
{
	kwhy_csv_add_real(out, spread->mean);
	kwhy_csv_add_real(out, spread->p50);
	kwhy_csv_add_real(out, spread->p95);
	kwhy_csv_add_real(out, spread->p99);
}

static void add_joules(struct kwhy_text *out, const struct kwhy_llm_energy *energy, double tokens)
{
	kwhy_csv_add_real(out, energy->joules / tokens);
	kwhy_csv_add_real(out, energy->low_j / tokens);
	kwhy_csv_add_real(out, energy->high_j / tokens);
}

static void add_row(struct kwhy_text *out, const struct kwhy_llm_result *result, size_t index)
{
	const struct kwhy_llm_row *row = &result->rows[index];
	const struct kwhy_llm_summary *summary = &row->summary;
	/* loads[0] is the idle server */
	const struct kwhy_llm_load_joules *load = index + 1 < result->joules->count
		? &result->joules->loads[index + 1]
		: NULL;
	bool is_divided = load && load->requests;

	kwhy_text_addf(out, "%zu,", index + 1);
	kwhy_csv_add_text(out, row->name);
	kwhy_text_addf(out, ",%s", row->load.is_closed ? "closed" : "open");
	kwhy_csv_add_real(out, row->load.arrivals.rate_per_s);
	/*
	 * only the concurrency of a closed loop is fixed; that of a load with given arrivals is an upper
	 * limit and is left empty
	 */
	kwhy_csv_add_real(out, row->load.is_closed ? row->load.concurrency : NAN);
	kwhy_text_addf(out, ",%zu,%zu", summary->requests, summary->outcomes[KWHY_LLM_DONE]);
	kwhy_csv_add_real(out, result->slo ? (double)summary->good / summary->seconds : NAN);
	kwhy_csv_add_real(out, summary->seconds);
	kwhy_csv_add_real(out, summary->tokens / summary->seconds);
	kwhy_csv_add_real(out, summary->prompt_tokens / summary->seconds);
	add_spread(out, &summary->first_s);
	add_spread(out, &summary->token_s);
	add_spread(out, &summary->gap_s);
	add_spread(out, &summary->answer_s);
	kwhy_csv_add_real(out, row->gross.joules / row->gross.seconds);
	add_joules(out, &row->gross, summary->tokens);
	add_joules(out, &row->net, summary->tokens);
	kwhy_csv_add_real(out, is_divided ? (double)load->prefill_nj * 1e-9 : NAN);
	kwhy_csv_add_real(out, is_divided ? (double)load->decode_nj * 1e-9 : NAN);
	kwhy_csv_add_real(out, is_divided ? (double)load->idle_nj * 1e-9 : NAN);
	kwhy_text_add(out, "\n");
}

void kwhy_llm_loads_csv(const struct kwhy_llm_result *result, struct kwhy_text *out)
{
	static const char *const spreads[] = {"first_s", "token_s", "gap_s", "answer_s"};

	kwhy_text_add(out,
		"load,name,loop,rate_per_s,concurrency,requests,answered,good_per_s,steady_s,tokens_per_s,"
		"prompt_tokens_per_s");
	for (size_t i = 0; i < sizeof(spreads) / sizeof(spreads[0]); i++)
		kwhy_text_addf(
			out, ",%s_mean,%s_p50,%s_p95,%s_p99", spreads[i], spreads[i], spreads[i], spreads[i]);
	kwhy_text_add(out,
		",power_w,j_a_token,j_a_token_low,j_a_token_high,above_idle_j_a_token,above_idle_j_a_token_"
		"low,"
		"above_idle_j_a_token_high,prefill_j,decode_j,idle_j\n");
	for (size_t i = 0; i < result->row_count; i++)
		add_row(out, result, i);
}
