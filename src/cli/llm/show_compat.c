/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/llm/show_compat.h"

#include <math.h>

static void line(struct kwhy_text *out, const char *name, double value, int digits)
{
	if (isfinite(value))
		kwhy_text_addf(out, "  %-40s %12.*f\n", name, digits, value);
	else
		kwhy_text_addf(out, "  %-40s %12s\n", name, "n/a");
}

static void times(struct kwhy_text *out, const char *name, const struct kwhy_llm_compat_times *values)
{
	const struct {
		const char *prefix;
		double value;
	} rows[] = {{"Mean", values->mean}, {"Median", values->median}, {"P99", values->p99}};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct kwhy_text label = {0};

		kwhy_text_addf(&label, "%s %s (ms):", rows[i].prefix, name);
		line(out, label.data ? label.data : name, rows[i].value * 1e3, 2);
		kwhy_text_done(&label);
	}
}

static void aiperf_times(struct kwhy_text *out, const char *name, const struct kwhy_llm_compat_times *values)
{
	if (!values->count) {
		kwhy_text_addf(out, "  %-28s %10s %10s %10s %10s\n", name, "n/a", "n/a", "n/a", "n/a");
		return;
	}
	kwhy_text_addf(out, "  %-28s %10.2f %10.2f %10.2f %10.2f\n", name, values->mean * 1e3,
		values->median * 1e3, values->p99 * 1e3, values->deviation * 1e3);
}

static void write_vllm(struct kwhy_text *out, const struct kwhy_llm_compat *compat, bool has_limits)
{
	line(out, "Successful requests:", (double)compat->completed, 0);
	line(out, "Failed requests:", (double)compat->failed, 0);
	line(out, "Benchmark duration (s):", compat->seconds, 2);
	line(out, "Total input tokens:", compat->prompt_tokens, 0);
	line(out, "Total generated tokens:", compat->output_tokens, 0);
	line(out, "Request throughput (req/s):", (double)compat->completed / compat->seconds, 2);
	if (has_limits)
		line(out, "Request goodput (req/s):", (double)compat->good / compat->seconds, 2);
	line(out, "Output token throughput (tok/s):", compat->output_tokens / compat->seconds, 2);
	line(out, "Total token throughput (tok/s):",
		(compat->prompt_tokens + compat->output_tokens) / compat->seconds, 2);
	times(out, "TTFT", &compat->ttft);
	times(out, "TPOT", &compat->tpot);
	times(out, "ITL", &compat->gap);
	times(out, "E2EL", &compat->answer);
}

static void write_aiperf(struct kwhy_text *out, const struct kwhy_llm_compat *compat, bool has_limits)
{
	kwhy_text_addf(out, "  %-28s %10s %10s %10s %10s\n", "", "avg", "p50", "p99", "std");
	aiperf_times(out, "Time to First Token (ms)", &compat->ttft);
	aiperf_times(out, "Inter Token Latency (ms)", &compat->tpot);
	aiperf_times(out, "Inter Chunk Latency (ms)", &compat->gap);
	aiperf_times(out, "Request Latency (ms)", &compat->answer);
	line(out, "Output Token Throughput (tokens/sec)", compat->output_tokens / compat->seconds, 2);
	line(out, "Request Throughput (requests/sec)", (double)compat->completed / compat->seconds, 2);
	if (has_limits)
		line(out, "Goodput (requests/sec)", (double)compat->good / compat->seconds, 2);
	line(out, "Request Count (requests)", (double)compat->completed, 0);
	line(out, "Error Request Count (requests)", (double)compat->failed, 0);
}

void kwhy_llm_compat_text(
	struct kwhy_text *out, const char *load, const struct kwhy_llm_compat *compat, bool has_limits)
{
	if (compat->tool == KWHY_LLM_COMPAT_VLLM) {
		kwhy_text_addf(out, "\nBy the definitions of vllm bench serve: %s\n", load);
		write_vllm(out, compat, has_limits);
	} else if (compat->tool == KWHY_LLM_COMPAT_AIPERF) {
		kwhy_text_addf(out, "\nBy the definitions of AIPerf: %s\n", load);
		write_aiperf(out, compat, has_limits);
	}
}

static void times_json(struct kwhy_json *json, const char *key, const struct kwhy_llm_compat_times *values)
{
	kwhy_json_row(json, key);
	kwhy_json_count(json, "count", values->count);
	kwhy_json_real(json, "mean", values->mean);
	kwhy_json_real(json, "median", values->median);
	kwhy_json_real(json, "std", values->deviation);
	kwhy_json_real(json, "p99", values->p99);
	kwhy_json_object_end(json);
}

void kwhy_llm_compat_json(struct kwhy_json *json, const struct kwhy_llm_compat *compat, bool has_limits)
{
	if (compat->tool == KWHY_LLM_COMPAT_NONE) {
		kwhy_json_null(json, "compat");
		return;
	}
	kwhy_json_object(json, "compat");
	kwhy_json_string(json, "tool", compat->tool == KWHY_LLM_COMPAT_VLLM ? "vllm" : "aiperf");
	kwhy_json_count(json, "completed", compat->completed);
	kwhy_json_count(json, "failed", compat->failed);
	kwhy_json_real(json, "good", has_limits ? (double)compat->good : NAN);
	kwhy_json_real(json, "duration_s", compat->seconds);
	kwhy_json_real(json, "input_tokens", compat->prompt_tokens);
	kwhy_json_real(json, "output_tokens", compat->output_tokens);
	kwhy_json_real(json, "requests_per_s", (double)compat->completed / compat->seconds);
	kwhy_json_real(json, "output_tokens_per_s", compat->output_tokens / compat->seconds);
	times_json(json, "ttft_s", &compat->ttft);
	times_json(json, "tpot_s", &compat->tpot);
	times_json(json, "itl_s", &compat->gap);
	times_json(json, "e2el_s", &compat->answer);
	kwhy_json_object_end(json);
}
