/* SPDX-License-Identifier: Apache-2.0 */
#include "llm/client.h"

#include "base/clock.h"
#include "llm/curl.h"

#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TICK_NS 500000000
#define POLL_MS 50
/* time in ns before a slot is used again after a failed request in a closed loop */
#define REST_NS 100000000
#define LIST_S 20L /* timeout for the list of models, in seconds */
#define URL_BYTES 2048

struct kwhy_llm_client {
	struct kwhy_curl curl;
	struct curl_slist *headers;
	char base[URL_BYTES - 32];
};

/* --- Opening a client --- */

static enum kwhy_status set_up(
	struct kwhy_llm_client *client, const struct kwhy_llm_server *server, struct kwhy_error *error)
{
	enum kwhy_status status;
	size_t length = strlen(server->url);

	while (length && server->url[length - 1] == '/')
		length--;
	snprintf(client->base, sizeof(client->base), "%.*s", (int)length, server->url);
	status = kwhy_curl_add_header(
		&client->curl, &client->headers, "Content-Type: application/json", error);
	if (!status && server->key)
		status = kwhy_curl_add_token(&client->curl, &client->headers, server->key, error);
	return status;
}

enum kwhy_status kwhy_llm_client_open(
	const struct kwhy_llm_server *server, struct kwhy_llm_client **out, struct kwhy_error *error)
{
	struct kwhy_llm_client *client;
	enum kwhy_status status;

	if (!kwhy_curl_is_url(server->url) || strlen(server->url) >= sizeof(client->base))
		return kwhy_fail(error, KWHY_E_USAGE,
			"'%.80s' is not the address of a server; give one like http://localhost:8000/v1",
			server->url);
	client = calloc(1, sizeof(*client));
	if (!client)
		return kwhy_fail_memory(error, "the client");
	status = kwhy_curl_open(&client->curl, error);
	if (status) {
		free(client);
		return status;
	}
	status = set_up(client, server, error);
	if (status)
		kwhy_llm_client_close(client);
	else
		*out = client;
	return status;
}

void kwhy_llm_client_close(struct kwhy_llm_client *client)
{
	if (!client)
		return;
	client->curl.slist_free_all(client->headers);
	kwhy_curl_close(&client->curl);
	free(client);
}

static CURL *new_handle(struct kwhy_llm_client *client, const char *path)
{
	char url[URL_BYTES];

	snprintf(url, sizeof(url), "%s%s", client->base, path);
	return kwhy_curl_new_request(&client->curl, url, client->headers);
}

static const char *path_of(const struct kwhy_llm_question *question)
{
	return question->endpoint == KWHY_LLM_CHAT ? "/chat/completions" : "/completions";
}

/* --- The list of models --- */

static enum kwhy_status fetch_list(
	struct kwhy_llm_client *client, struct kwhy_text *out, struct kwhy_error *error)
{
	struct kwhy_curl *curl = &client->curl;
	CURL *easy = new_handle(client, "/models");
	long http = 0;
	CURLcode code;

	if (!easy)
		return kwhy_fail_memory(error, "a request");
	curl->easy_setopt(easy, CURLOPT_TIMEOUT, LIST_S);
	kwhy_curl_keep_body(curl, easy, out);
	code = curl->easy_perform(easy);
	curl->easy_getinfo(easy, CURLINFO_RESPONSE_CODE, &http);
	curl->easy_cleanup(easy);
	if (code != CURLE_OK)
		return kwhy_fail(error, KWHY_E_IO, "%s/models does not answer (%s); is the server up?",
			client->base, curl->easy_strerror(code));
	if (http != 200)
		return kwhy_fail(error, KWHY_E_IO,
			"%s/models answers with HTTP status %ld; name the model with --model, and the key in "
			"KWHY_LLM_KEY where the server wants one",
			client->base, http);
	return KWHY_OK;
}

enum kwhy_status kwhy_llm_client_model(struct kwhy_llm_client *client, char **out, struct kwhy_error *error)
{
	struct kwhy_text text = {0};
	enum kwhy_status status = fetch_list(client, &text, error);
	json_t *root = NULL;
	const char *id;

	if (!status) {
		root = json_loadb(text.data ? text.data : "", text.length, 0, NULL);
		id = json_string_value(
			json_object_get(json_array_get(json_object_get(root, "data"), 0), "id"));
		*out = id ? strdup(id) : NULL;
		if (!*out)
			status = kwhy_fail(error, KWHY_E_INPUT,
				"%s/models lists no model; name it with --model", client->base);
	}
	json_decref(root);
	kwhy_text_done(&text);
	return status;
}

/* --- The first request --- */

/* Drops the body of a response. */
static size_t drop_bytes(char *bytes, size_t size, size_t count, void *context)
{
	(void)bytes;
	(void)context;
	return size * count;
}

enum kwhy_status kwhy_llm_client_takes_usage_each(struct kwhy_llm_client *client,
	const struct kwhy_llm_question *question, int64_t stall_ns, bool *out, struct kwhy_error *error)
{
	struct kwhy_curl *curl = &client->curl;
	struct kwhy_llm_question first = *question;
	enum kwhy_status status;
	char *body = NULL;
	CURL *easy;
	long http = 0;

	first.max_tokens = 1;
	first.usage_each = true;
	status = kwhy_llm_body(&first, UINT64_MAX, &body, error);
	if (status)
		return status;
	easy = new_handle(client, path_of(question));
	if (easy) {
		curl->easy_setopt(easy, CURLOPT_POSTFIELDS, body);
		curl->easy_setopt(easy, CURLOPT_POSTFIELDSIZE, (long)strlen(body));
		curl->easy_setopt(easy, CURLOPT_TIMEOUT_MS, (long)(stall_ns / 1000000));
		curl->easy_setopt(easy, CURLOPT_WRITEFUNCTION, drop_bytes);
		(void)curl->easy_perform(easy); /* the loads report what fails */
		curl->easy_getinfo(easy, CURLINFO_RESPONSE_CODE, &http);
		curl->easy_cleanup(easy);
	}
	free(body);
	*out = http != 400 && http != 422;
	return easy ? KWHY_OK : kwhy_fail_memory(error, "a request");
}

/* --- Running a load --- */

/* A slot for one of the concurrent requests. It is reused after the request has ended. */
struct slot {
	struct sender *sender;
	CURL *easy;
	bool busy;
	char *body;
	struct kwhy_llm_answer answer;
	struct kwhy_llm_record record;
	int64_t last_ns;   /* when the last byte arrived; before the first, when the request was sent */
	int64_t rested_ns; /* in a closed loop: when the slot may be used again */
};

struct sender {
	struct kwhy_llm_client *client;
	CURLM *multi;
	const struct kwhy_llm_question *question;
	const struct kwhy_llm_load *load;
	struct slot *slots;
	struct kwhy_llm_run *run;
	struct kwhy_llm_arrivals arrivals;
	uint64_t next;
	uint32_t busy;
	int64_t stop_ns; /* when the load ends and no more requests are sent */
};

/*
 * Receives bytes of a response's body. The body of an error response is dropped, since it is not an answer.
 */
static size_t take_bytes(char *bytes, size_t size, size_t count, void *context)
{
	struct slot *slot = context;
	long http = 0;

	slot->last_ns = kwhy_clock_mono_ns();
	slot->sender->client->curl.easy_getinfo(slot->easy, CURLINFO_RESPONSE_CODE, &http);
	if (http >= 400)
		return size * count;
	return kwhy_llm_answer_feed(&slot->answer, bytes, size * count, slot->last_ns) ? size * count : 0;
}

static enum kwhy_status prepare(struct sender *sender, struct slot *slot, struct kwhy_error *error)
{
	struct kwhy_curl *curl = &sender->client->curl;

	*slot = (struct slot){.sender = sender};
	slot->easy = new_handle(sender->client, path_of(sender->question));
	if (!slot->easy)
		return kwhy_fail_memory(error, "a request");
	curl->easy_setopt(slot->easy, CURLOPT_WRITEFUNCTION, take_bytes);
	curl->easy_setopt(slot->easy, CURLOPT_WRITEDATA, slot);
	curl->easy_setopt(slot->easy, CURLOPT_PRIVATE, slot);
	curl->easy_setopt(slot->easy, CURLOPT_TCP_NODELAY, 1L);
	return KWHY_OK;
}

static enum kwhy_status send_request(
	struct sender *sender, struct slot *slot, int64_t due_ns, struct kwhy_error *error)
{
	struct kwhy_curl *curl = &sender->client->curl;
	enum kwhy_status status = kwhy_llm_body(sender->question, sender->next++, &slot->body, error);

	if (status)
		return status;
	kwhy_llm_answer_init(&slot->answer);
	curl->easy_setopt(slot->easy, CURLOPT_POSTFIELDS, slot->body);
	curl->easy_setopt(slot->easy, CURLOPT_POSTFIELDSIZE, (long)strlen(slot->body));
	slot->last_ns = kwhy_clock_mono_ns();
	slot->record = (struct kwhy_llm_record){
		.due_ns = due_ns ? due_ns : slot->last_ns, .sent_ns = slot->last_ns};
	if (curl->multi_add_handle(sender->multi, slot->easy) != CURLM_OK)
		return kwhy_fail_memory(error, "a request");
	slot->busy = true;
	sender->busy++;
	return KWHY_OK;
}

/* Ends the request in a slot and adds its record to the run. */
static enum kwhy_status finish(
	struct sender *sender, struct slot *slot, enum kwhy_llm_outcome outcome, struct kwhy_error *error)
{
	enum kwhy_status status = KWHY_OK;
	long http = 0;

	sender->client->curl.easy_getinfo(slot->easy, CURLINFO_RESPONSE_CODE, &http);
	sender->client->curl.multi_remove_handle(sender->multi, slot->easy);
	slot->busy = false;
	sender->busy--;
	slot->record.end_ns = kwhy_clock_mono_ns();
	slot->record.http_status = (int)http;
	slot->record.outcome = outcome;
	slot->rested_ns = outcome == KWHY_LLM_DONE ? 0 : slot->record.end_ns + REST_NS;
	if (slot->answer.no_memory)
		status = kwhy_fail_memory(error, "an answer");
	kwhy_llm_record_take(&slot->record, &slot->answer);
	free(slot->body);
	slot->body = NULL;
	if (!status)
		status = kwhy_llm_run_add(sender->run, &slot->record, error);
	if (status)
		free(slot->record.pieces);
	return status;
}

static enum kwhy_llm_outcome outcome_of(struct sender *sender, struct slot *slot, CURLcode code)
{
	long http = 0;

	sender->client->curl.easy_getinfo(slot->easy, CURLINFO_RESPONSE_CODE, &http);
	if (http >= 400)
		return KWHY_LLM_STATUS;
	if (code == CURLE_COULDNT_CONNECT || code == CURLE_COULDNT_RESOLVE_HOST ||
		code == CURLE_SSL_CONNECT_ERROR || code == CURLE_PEER_FAILED_VERIFICATION)
		return KWHY_LLM_REFUSED;
	if (code == CURLE_OK || slot->answer.ended || slot->answer.malformed || slot->answer.reported)
		return kwhy_llm_answer_outcome(&slot->answer);
	return KWHY_LLM_BROKEN;
}

static enum kwhy_status take_finished(struct sender *sender, struct kwhy_error *error)
{
	enum kwhy_status status = KWHY_OK;
	CURLMsg *message;
	int left;

	while (!status && (message = sender->client->curl.multi_info_read(sender->multi, &left))) {
		CURLcode code = message->data.result;
		char *place = NULL;
		struct slot *slot;

		if (message->msg != CURLMSG_DONE)
			continue;
		sender->client->curl.easy_getinfo(message->easy_handle, CURLINFO_PRIVATE, &place);
		slot = (struct slot *)(void *)place;
		status = finish(sender, slot, outcome_of(sender, slot, code), error);
	}
	return status;
}

static enum kwhy_status give_up_on_some(struct sender *sender, int64_t now_ns, struct kwhy_error *error)
{
	bool all = now_ns - sender->stop_ns > sender->load->stall_ns;
	enum kwhy_status status = KWHY_OK;

	for (uint32_t i = 0; !status && i < sender->load->concurrency; i++) {
		struct slot *slot = &sender->slots[i];

		if (slot->busy && now_ns - slot->last_ns > sender->load->stall_ns)
			status = finish(sender, slot, KWHY_LLM_STALLED, error);
		else if (slot->busy && all)
			status = finish(sender, slot, KWHY_LLM_CUT, error);
	}
	return status;
}

/* Sends the requests that are due, as long as slots are free. */
static enum kwhy_status send_due(struct sender *sender, int64_t now_ns, struct kwhy_error *error)
{
	bool is_open = isfinite(sender->load->rate_per_s);
	enum kwhy_status status = KWHY_OK;

	for (uint32_t i = 0; !status && i < sender->load->concurrency; i++) {
		struct slot *slot = &sender->slots[i];
		int64_t due_ns = is_open ? sender->arrivals.next_ns : 0;

		if (is_open && (due_ns > now_ns || due_ns >= sender->stop_ns))
			break;
		if (slot->busy || (!is_open && (slot->rested_ns > now_ns || now_ns >= sender->stop_ns)))
			continue;
		status = send_request(sender, slot, due_ns, error);
		if (is_open)
			kwhy_llm_arrivals_step(&sender->arrivals);
	}
	return status;
}

/*
 * Timeout for polling in ms. It is rounded down, so in the last millisecond before an arrival polls return at
 * once. Queueing a request ends a running poll.
 */
static int timeout_ms(const struct sender *sender, int64_t now_ns)
{
	int64_t due_ms = (sender->arrivals.next_ns - now_ns) / 1000000;

	if (!isfinite(sender->load->rate_per_s) || sender->arrivals.next_ns >= sender->stop_ns ||
		due_ms > POLL_MS || sender->busy == sender->load->concurrency)
		return POLL_MS;
	return due_ms > 0 ? (int)due_ms : 0;
}

static bool is_over(const struct sender *sender, int64_t now_ns)
{
	bool all_sent = isfinite(sender->load->rate_per_s) ? sender->arrivals.next_ns >= sender->stop_ns
							   : now_ns >= sender->stop_ns;

	return !sender->busy && (all_sent || now_ns - sender->stop_ns > sender->load->stall_ns);
}

/*
 * Does one round of work. Requests are sent last, so that a slot is used again in the round in which its
 * answer ended.
 */
static enum kwhy_status step(struct sender *sender, struct kwhy_error *error)
{
	struct kwhy_curl *curl = &sender->client->curl;
	enum kwhy_status status = KWHY_OK;
	int running;

	if (curl->multi_perform(sender->multi, &running) != CURLM_OK)
		status = kwhy_fail(error, KWHY_E_IO, "libcurl cannot go on with the requests");
	if (!status)
		status = take_finished(sender, error);
	if (!status)
		status = give_up_on_some(sender, kwhy_clock_mono_ns(), error);
	return status ? status : send_due(sender, kwhy_clock_mono_ns(), error);
}

/* Adds records of arrivals for which no slot became free before the end of the load. */
static enum kwhy_status record_unsent(struct sender *sender, struct kwhy_error *error)
{
	enum kwhy_status status = KWHY_OK;

	while (!status && isfinite(sender->load->rate_per_s) && sender->arrivals.next_ns < sender->stop_ns) {
		const struct kwhy_llm_record record = {.due_ns = sender->arrivals.next_ns,
			.outcome = KWHY_LLM_CUT,
			.prompt_tokens = -1,
			.cached_tokens = -1,
			.completion_tokens = -1};

		status = kwhy_llm_run_add(sender->run, &record, error);
		kwhy_llm_arrivals_step(&sender->arrivals);
	}
	return status;
}

static enum kwhy_status send_all(
	struct sender *sender, kwhy_llm_tick *tick, void *context, struct kwhy_error *error)
{
	int64_t now_ns = kwhy_clock_mono_ns(), ticked_ns = now_ns;
	enum kwhy_status status = KWHY_OK;

	while (!status && !is_over(sender, now_ns)) {
		status = step(sender, error);
		if (!status)
			sender->client->curl.multi_poll(
				sender->multi, NULL, 0, timeout_ms(sender, kwhy_clock_mono_ns()), NULL);
		now_ns = kwhy_clock_mono_ns();
		if (!status && tick && now_ns - ticked_ns >= TICK_NS) {
			status = tick(context, error);
			ticked_ns = now_ns;
		}
	}
	sender->run->end_ns = now_ns;
	return status ? status : record_unsent(sender, error);
}

static void begin(struct sender *sender)
{
	const struct kwhy_llm_load *load = sender->load;
	struct kwhy_llm_run *run = sender->run;

	*run = (struct kwhy_llm_run){.start_ns = kwhy_clock_mono_ns()};
	sender->stop_ns = run->start_ns + load->duration_ns;
	run->steady_start_ns = run->start_ns + load->ramp_ns;
	run->steady_end_ns = sender->stop_ns - load->ramp_ns;
	if (isfinite(load->rate_per_s))
		kwhy_llm_arrivals_init(&sender->arrivals, load->rate_per_s, load->seed, run->start_ns);
}

static void end(struct sender *sender)
{
	struct kwhy_curl *curl = &sender->client->curl;

	for (uint32_t i = 0; sender->slots && i < sender->load->concurrency; i++) {
		struct slot *slot = &sender->slots[i];

		if (slot->busy)
			curl->multi_remove_handle(sender->multi, slot->easy);
		if (slot->easy)
			curl->easy_cleanup(slot->easy);
		kwhy_llm_answer_done(&slot->answer);
		free(slot->body);
	}
	if (sender->multi)
		curl->multi_cleanup(sender->multi);
	free(sender->slots);
}

enum kwhy_status kwhy_llm_client_run(struct kwhy_llm_client *client, const struct kwhy_llm_question *question,
	uint64_t first, const struct kwhy_llm_load *load, kwhy_llm_tick *tick, void *context,
	struct kwhy_llm_run *out, struct kwhy_error *error)
{
	struct sender sender = {
		.client = client, .question = question, .load = load, .run = out, .next = first};
	enum kwhy_status status = KWHY_OK;

	*out = (struct kwhy_llm_run){0};
	sender.slots = calloc(load->concurrency, sizeof(*sender.slots));
	sender.multi = client->curl.multi_init();
	if (!sender.slots || !sender.multi)
		status = kwhy_fail_memory(error, "the requests");
	for (uint32_t i = 0; !status && i < load->concurrency; i++)
		status = prepare(&sender, &sender.slots[i], error);
	if (!status) {
		begin(&sender);
		status = send_all(&sender, tick, context, error);
	}
	end(&sender);
	return status;
}
