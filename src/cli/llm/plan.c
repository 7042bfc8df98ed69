/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/llm/plan.h"

#include "base/file.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

enum {
	AT_ONCE_MAX = 16384,
	RATE_MAX = 100000,
	FILES_OF_ITS_OWN = 128, /* number of file descriptors that are reserved for meters, output and
				   everything else that is no connection to the server */
	TURNS_MAX = 100,
	SEARCH_LOADS_MAX = 24,
	TRACE_S_MAX = 366 * 86400
};
#define PROMPT_BYTES_MAX ((size_t)1 << 30)
#define SEARCH_RATIO                                                                                       \
	1.05 /* the search for the highest rate that keeps the limits ends when the lowest rate that broke \
		them is at most this multiple of the highest rate that kept them */
#define GOOD_SHARE 0.95

static enum kwhy_status check_times(const struct kwhy_llm_options *options, struct kwhy_error *error)
{
	if (!(options->seconds > 0 && options->seconds <= 3600))
		return kwhy_fail(error, KWHY_E_USAGE, "--seconds takes more than 0, up to 3600, a load");
	if (!(options->ramp >= 0 && 2 * options->ramp < options->seconds))
		return kwhy_fail(error, KWHY_E_USAGE,
			"--ramp is cut off at both ends: it takes less than half of --seconds");
	if (!(options->stall > 0 && options->stall <= 3600))
		return kwhy_fail(error, KWHY_E_USAGE, "--stall takes more than 0, up to 3600 seconds");
	if (!(options->idle >= 1 && options->idle <= 60))
		return kwhy_fail(error, KWHY_E_USAGE, "--idle takes 1 to 60 seconds");
	return KWHY_OK;
}

static enum kwhy_status check_shapes(const struct kwhy_llm_options *options, struct kwhy_error *error)
{
	if (options->turns < 1 || options->turns > TURNS_MAX || options->shared_words > 1000000)
		return kwhy_fail(
			error, KWHY_E_USAGE, "--turns takes 1 to %d, --shared-words 0 to 1000000", TURNS_MAX);
	if (!(options->burstiness >= 0.01 && options->burstiness <= 100))
		return kwhy_fail(error, KWHY_E_USAGE, "--burstiness takes 0.01 to 100");
	if (!(options->trace_speed >= 0.001 && options->trace_speed <= 1000))
		return kwhy_fail(error, KWHY_E_USAGE, "--trace-speed takes 0.001 to 1000");
	return KWHY_OK;
}

static enum kwhy_status read_arrivals(
	const struct kwhy_llm_options *options, enum kwhy_llm_arrival_kind *out, struct kwhy_error *error)
{
	static const char *const names[] = {
		[KWHY_LLM_POISSON] = "poisson", [KWHY_LLM_CONSTANT] = "constant", [KWHY_LLM_BURST] = "burst"};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (strcmp(options->arrivals, names[i]) == 0) {
			*out = (enum kwhy_llm_arrival_kind)i;
			return KWHY_OK;
		}
	return kwhy_fail(error, KWHY_E_USAGE, "--arrivals takes poisson, constant or burst, not '%.40s'",
		options->arrivals);
}

/*
 * Raises the process's limit of open files, as far as the hard limit allows, so that *at_once requests can be
 * in flight. If the hard limit is too low for that, a closed loop fails with KWHY_E_USAGE. For a load with
 * given arrivals *at_once is only the upper limit of the requests in flight, so it is lowered instead.
 */
static enum kwhy_status allow_sockets(bool is_closed, uint32_t *at_once, struct kwhy_error *error)
{
	struct rlimit limit;
	rlim_t needed = (rlim_t)*at_once + FILES_OF_ITS_OWN;

	if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur >= needed)
		return KWHY_OK;
	limit.rlim_cur = limit.rlim_max < needed ? limit.rlim_max : needed;
	(void)setrlimit(RLIMIT_NOFILE, &limit);
	if (limit.rlim_cur >= needed)
		return KWHY_OK;
	if (is_closed || limit.rlim_cur <= FILES_OF_ITS_OWN)
		return kwhy_fail(error, KWHY_E_USAGE,
			"%u requests in flight need %llu open files, and %llu are allowed: raise ulimit -n",
			*at_once, (unsigned long long)needed, (unsigned long long)limit.rlim_cur);
	*at_once = (uint32_t)(limit.rlim_cur - FILES_OF_ITS_OWN);
	return KWHY_OK;
}

/*
 * Adds a load. rate_per_s NAN: the load is a closed loop, in which `at_once` requests are always in flight;
 * otherwise requests arrive at this mean rate, and at most `at_once` are in flight.
 */
static enum kwhy_status add_load(
	struct kwhy_llm_plan *plan, double rate_per_s, double at_once, struct kwhy_error *error)
{
	const struct kwhy_llm_options *options = plan->options;
	struct kwhy_llm_row *row = &plan->rows[plan->row_count];
	enum kwhy_status status;

	if (plan->row_count == KWHY_LLM_LOADS_MAX)
		return kwhy_fail(error, KWHY_E_USAGE, "at most %d loads at a time", KWHY_LLM_LOADS_MAX);
	plan->row_count++;
	row->words = plan->question.words;
	row->max_tokens = plan->question.max_tokens;
	row->load = (struct kwhy_llm_load){.is_closed = isnan(rate_per_s),
		.arrivals = {.rate_per_s = rate_per_s,
			.burstiness = options->burstiness,
			.seed = options->seed},
		.concurrency = (uint32_t)at_once,
		.duration_ns = (int64_t)(options->seconds * 1e9),
		.ramp_ns = (int64_t)(options->ramp * 1e9),
		.stall_ns = (int64_t)(options->stall * 1e9)};
	status = read_arrivals(options, &row->load.arrivals.kind, error);
	return status ? status : allow_sockets(row->load.is_closed, &row->load.concurrency, error);
}

#define RATE_MIN 1e-6 /* lowest rate, requests per second: one request in twelve days */

static bool is_load(double value, bool is_rate)
{
	return value >= (is_rate ? RATE_MIN : 1) && value <= (is_rate ? RATE_MAX : AT_ONCE_MAX) &&
		(is_rate || value == floor(value));
}

/*
 * Reads a list of loads such as "1,2,4" and adds them. is_rate: the numbers are requests per second, from
 * RATE_MIN to RATE_MAX; otherwise each number is that of a closed loop's requests in flight, a whole number
 * from 1 to AT_ONCE_MAX.
 */
static enum kwhy_status add_loads(
	struct kwhy_llm_plan *plan, const char *list, bool is_rate, struct kwhy_error *error)
{
	enum kwhy_status status = KWHY_OK;
	const char *at = list;

	do {
		char *end;
		double value = strtod(at, &end);

		if (end == at || (*end && (*end != ',' || !end[1])) || !is_load(value, is_rate))
			return kwhy_fail(error, KWHY_E_USAGE,
				"--%s takes %s up to %d with commas between, not '%.40s'",
				is_rate ? "rate" : "concurrency",
				is_rate ? "requests per second" : "whole numbers",
				is_rate ? RATE_MAX : AT_ONCE_MAX, list);
		status = is_rate ? add_load(plan, value, AT_ONCE_MAX, error)
				 : add_load(plan, NAN, value, error);
		at = *end ? end + 1 : end;
	} while (!status && *at);
	return status;
}

static enum kwhy_status read_dialogs(struct kwhy_llm_plan *plan, const char *path, struct kwhy_error *error)
{
	struct kwhy_text text = {0};
	enum kwhy_status status = kwhy_file_read(path, PROMPT_BYTES_MAX, &text, error);

	if (!status)
		status = kwhy_llm_dialogs_read(path, text.data, text.length, &plan->dialogs, error);
	kwhy_text_done(&text);
	plan->question.dialogs = plan->dialogs.items;
	plan->question.dialog_count = plan->dialogs.count;
	return status;
}

/*
 * Opens the tokenizer of --tokenizer, if it is given. If lengths of made-up prompts are in tokens
 * (--prompt-tokens or --trace), also counts the tokens of each word that made-up prompts consist of.
 */
static enum kwhy_status set_tokenizer(struct kwhy_llm_plan *plan, struct kwhy_error *error)
{
	const struct kwhy_llm_options *options = plan->options;
	struct kwhy_llm_question *question = &plan->question;
	enum kwhy_status status;

	if (options->prompt_tokens && (!options->tokenizer || options->prompts || options->trace))
		return kwhy_fail(error, KWHY_E_USAGE,
			"--prompt-tokens is the length of made-up prompts by a --tokenizer; it does not go "
			"with "
			"--prompts or --trace");
	if (!options->tokenizer)
		return KWHY_OK;
	status = kwhy_llm_tokenizer_open(options->tokenizer, &question->tokenizer, error);
	if (status || (!options->prompt_tokens && !options->trace))
		return status;
	status = kwhy_llm_word_costs_of(question->tokenizer, &plan->costs, error);
	question->costs = &plan->costs;
	return status || !options->prompt_tokens
		? status
		: kwhy_llm_length_read("--prompt-tokens", options->prompt_tokens, &question->words, error);
}

static enum kwhy_status set_question(struct kwhy_llm_plan *plan, struct kwhy_error *error)
{
	const struct kwhy_llm_options *options = plan->options;
	bool is_chat = strcmp(options->endpoint, "chat") == 0;
	enum kwhy_status status;

	if (!is_chat && strcmp(options->endpoint, "completions") != 0)
		return kwhy_fail(error, KWHY_E_USAGE, "--endpoint takes chat or completions, not '%.40s'",
			options->endpoint);
	plan->question = (struct kwhy_llm_question){
		.endpoint = is_chat ? KWHY_LLM_CHAT : KWHY_LLM_COMPLETIONS,
		.model = options->model,
		.seed = options->seed,
		.turns = options->turns,
		.shared_words = options->shared_words,
		.ignore_eos = options->ignore_eos,
		.whole = options->no_stream,
	};
	status = kwhy_llm_length_read("--prompt-words", options->words, &plan->question.words, error);
	if (!status)
		status = kwhy_llm_length_read(
			"--max-tokens", options->max_tokens, &plan->question.max_tokens, error);
	if (!status && options->prompts)
		status = read_dialogs(plan, options->prompts, error);
	return status ? status : set_tokenizer(plan, error);
}

/* --- Limits --- */

/*
 * Reads a duration ("300ms", "1.5s") in seconds or, if is_share, a share ("95%", "0.95") at *at, and moves
 * *at to the text after it. False: there is no number, it is not above 0, it is a share above 1, or neither a
 * comma nor the end of the text follows it.
 */
static bool read_amount(const char **at, bool is_share, double *out)
{
	char *end;

	*out = strtod(*at, &end);
	if (end == *at)
		return false;
	*at = end;
	if (is_share) {
		*out /= **at == '%' ? 100 : 1;
		*at += **at == '%';
	} else if (strncmp(*at, "ms", 2) == 0) {
		*out /= 1000;
		*at += 2;
	} else if (**at == 's') {
		++*at;
	} else {
		return false;
	}
	return *out > 0 && (!is_share || *out <= 1) && (**at == ',' || !**at);
}

/*
 * Reads the limits of --slo, such as "ttft=300ms,tpot=40ms,e2e=5s,share=99%": the longest times to the first
 * token, for each further token, and of a whole answer, and the share of the requests that must keep them.
 */
static enum kwhy_status read_limits(struct kwhy_llm_plan *plan, struct kwhy_error *error)
{
	const struct {
		const char *name;
		double *value;
	} limits[] = {{"ttft=", &plan->limits.first_s}, {"tpot=", &plan->limits.token_s},
		{"e2e=", &plan->limits.answer_s}, {"share=", &plan->good_share}};
	const char *at = plan->options->slo;

	plan->limits = (struct kwhy_llm_limits){NAN, NAN, NAN};
	plan->good_share = GOOD_SHARE;
	while (at && *at) {
		bool read = false;

		for (size_t i = 0; !read && i < sizeof(limits) / sizeof(limits[0]); i++) {
			size_t length = strlen(limits[i].name);

			if (strncmp(at, limits[i].name, length) != 0)
				continue;
			at += length;
			read = read_amount(&at, limits[i].value == &plan->good_share, limits[i].value);
			break;
		}
		if (!read)
			return kwhy_fail(error, KWHY_E_USAGE,
				"--slo takes limits like ttft=300ms,tpot=40ms,e2e=5s,share=95%%, not '%.60s'",
				plan->options->slo);
		at += *at == ',';
	}
	return KWHY_OK;
}

bool kwhy_llm_plan_is_good(const struct kwhy_llm_plan *plan, const struct kwhy_llm_row *row)
{
	return row->summary.requests &&
		(double)row->summary.good >= plan->good_share * (double)row->summary.requests;
}

enum kwhy_status kwhy_llm_plan_search(struct kwhy_llm_plan *plan, struct kwhy_error *error)
{
	double good = 0, bad = INFINITY;

	if (!plan->options->search || plan->row_count >= SEARCH_LOADS_MAX)
		return KWHY_OK;
	for (size_t i = 0; i < plan->row_count; i++) {
		double rate = plan->rows[i].load.arrivals.rate_per_s;

		if (kwhy_llm_plan_is_good(plan, &plan->rows[i]))
			good = fmax(good, rate);
		else
			bad = fmin(bad, rate);
	}
	if (bad <= good * SEARCH_RATIO || good >= RATE_MAX || bad < 0.01)
		return KWHY_OK;
	if (isinf(bad))
		return add_load(plan, fmin(2 * good, RATE_MAX), AT_ONCE_MAX, error);
	return add_load(plan, good > 0 ? sqrt(good * bad) : bad / 2, AT_ONCE_MAX, error);
}

static enum kwhy_status read_compat(struct kwhy_llm_plan *plan, struct kwhy_error *error)
{
	const char *name = plan->options->compat;

	if (name && strcmp(name, "vllm") == 0)
		plan->compat = KWHY_LLM_COMPAT_VLLM;
	else if (name && strcmp(name, "aiperf") == 0)
		plan->compat = KWHY_LLM_COMPAT_AIPERF;
	else if (name)
		return kwhy_fail(error, KWHY_E_USAGE, "--compat takes vllm or aiperf, not '%.40s'", name);
	return KWHY_OK;
}

/* --- The plan --- */

/* Checks that the options on meters do not contradict each other. */
static enum kwhy_status check_meters(const struct kwhy_llm_options *options, struct kwhy_error *error)
{
	if (!options->meters && (options->meters_token || options->meters_ca))
		return kwhy_fail(error, KWHY_E_USAGE, "--meters-token and --meters-ca go with --meters");
	if (options->meters && (options->replay || options->no_energy))
		return kwhy_fail(
			error, KWHY_E_USAGE, "--meters does not go with --power-file or --no-energy");
	return KWHY_OK;
}

/*
 * Adds the loads of --design, in which the amounts of the kinds of work differ, so that a fit can find the
 * joules of each kind. Loads of long and of short prompts, whose answers have one token, differ in prompt
 * tokens per batch. Loads of prompts of 8 words, with 1 and with 16 requests at a time, differ in output
 * tokens per step. A load of answers to long prompts has longer contexts. The last load is a mixture of
 * these.
 */
static enum kwhy_status add_design(struct kwhy_llm_plan *plan, struct kwhy_error *error)
{
	const struct kwhy_llm_options *options = plan->options;
	const double words = plan->question.words.a, tokens = plan->question.max_tokens.a;
	const struct {
		const char *name;
		double at_once, words, tokens;
	} loads[] = {
		{"prompts", 1, 4 * words, 1},
		{"short prompts", 1, ceil(words / 4), 1},
		{"answers", 1, 8, tokens},
		{"16 answers", 16, 8, tokens},
		{"16 long", 16, 4 * words, tokens},
		{"4 mixed", 4, words, tokens},
	};
	enum kwhy_status status = KWHY_OK;

	if (options->concurrency || options->rate || options->prompts || options->no_energy)
		return kwhy_fail(error, KWHY_E_USAGE,
			"--design makes its own loads: it does not go with --concurrency, --rate, --prompts "
			"or "
			"--no-energy");
	for (size_t i = 0; !status && i < sizeof(loads) / sizeof(loads[0]); i++) {
		status = add_load(plan, NAN, loads[i].at_once, error);
		plan->rows[i].name = loads[i].name;
		plan->rows[i].words = (struct kwhy_llm_length){.a = loads[i].words};
		plan->rows[i].max_tokens = (struct kwhy_llm_length){.a = loads[i].tokens};
	}
	return status;
}

/*
 * Adds the load of --trace: the requests in the trace, sent at the times that the trace states, counted from
 * its first request and divided by options->trace_speed.
 */
static enum kwhy_status add_trace(struct kwhy_llm_plan *plan, struct kwhy_error *error)
{
	const struct kwhy_llm_options *options = plan->options;
	enum kwhy_status status;
	struct kwhy_llm_row *row = &plan->rows[0];
	double last_s = 0;

	if (options->concurrency || options->rate || options->prompts || options->design || options->search)
		return kwhy_fail(error, KWHY_E_USAGE,
			"--trace is a load of its own: leave out --concurrency, --rate, --prompts, --design "
			"and "
			"--search");
	status = read_dialogs(plan, options->trace, error);
	for (size_t i = 0; !status && i < plan->dialogs.count; i++) {
		double at_s = plan->dialogs.items[i].at_s / options->trace_speed;

		if (!(at_s >= last_s && at_s <= TRACE_S_MAX))
			return kwhy_fail(error, KWHY_E_INPUT,
				"%s, entry %zu: its timestamp is missing, earlier than that before or beyond "
				"a year",
				options->trace, i + 1);
		plan->dialogs.items[i].at_s = last_s = at_s;
	}
	if (!status)
		/* any rate that is not NAN makes this a load with given arrivals; it is set to NAN below */
		status = add_load(plan, 1, AT_ONCE_MAX, error);
	if (status)
		return status;
	/* the arrivals are those of the trace, which has no fixed rate */
	row->load.arrivals.rate_per_s = NAN;
	row->load.duration_ns = (int64_t)(fmin(options->seconds, last_s + 1e-3) * 1e9);
	if (4 * row->load.ramp_ns > row->load.duration_ns)
		row->load.ramp_ns = 0; /* no ramps: a trace this short has too few requests to leave some out
					  of the steady window */
	row->name = "trace";
	row->load.is_closed = false;
	row->load.arrivals.kind = KWHY_LLM_LOGGED;
	row->load.arrivals.log = plan->dialogs.items;
	row->load.arrivals.log_count = plan->dialogs.count;
	return status;
}

static enum kwhy_status add_all(struct kwhy_llm_plan *plan, struct kwhy_error *error)
{
	const struct kwhy_llm_options *options = plan->options;
	enum kwhy_status status = KWHY_OK;

	if (options->search && (!options->slo || options->concurrency || options->design))
		return kwhy_fail(error, KWHY_E_USAGE,
			"--search goes with --slo, and with the --rate to start from; default 1");
	if (options->trace)
		return add_trace(plan, error);
	if (options->design)
		return add_design(plan, error);
	if (options->concurrency)
		status = add_loads(plan, options->concurrency, false, error);
	if (!status && (options->rate || options->search))
		status = add_loads(plan, options->rate ? options->rate : "1", true, error);
	if (!status && !plan->row_count)
		status = add_loads(plan, "1,2,4,8", false, error);
	return status;
}

enum kwhy_status kwhy_llm_plan_make(
	const struct kwhy_llm_options *options, struct kwhy_llm_plan *plan, struct kwhy_error *error)
{
	enum kwhy_status status;

	*plan = (struct kwhy_llm_plan){.options = options};
	if (!options->url)
		return kwhy_fail(error, KWHY_E_USAGE,
			"which server? name it with --url, like http://localhost:8000/v1");
	status = check_times(options, error);
	if (!status)
		status = check_shapes(options, error);
	if (!status)
		status = check_meters(options, error);
	if (!status)
		status = read_limits(plan, error);
	if (!status)
		status = read_compat(plan, error);
	if (!status)
		status = set_question(plan, error);
	return status ? status : add_all(plan, error);
}

void kwhy_llm_plan_done(struct kwhy_llm_plan *plan)
{
	kwhy_llm_dialogs_done(&plan->dialogs);
	kwhy_llm_tokenizer_close(plan->question.tokenizer);
}
