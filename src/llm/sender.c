/* SPDX-License-Identifier: Apache-2.0 */
#include "llm/client_state.h"

#include "base/clock.h"
#include "llm/arrivals.h"
#include "llm/count.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

#define SECOND_NS INT64_C(1000000000)
#define TICK_NS (SECOND_NS / 2)
#define CHECK_NS (SECOND_NS / 20) /* time between two checks for requests whose timeout has passed */
/* time in ns before a slot is used again after a failed request in a closed loop */
#define REST_NS (SECOND_NS / 10)
/*
 * Number of slots of one multi handle. libcurl searches all slots of a handle for a connection to reuse.
 * With thousands of slots in one handle this would take most of a core at thousands of requests per second.
 */
#define SHARD_SLOTS 128
#define EVENTS 256
/*
 * Largest number of requests that are sent before the loop looks for answers again. After a pause many
 * requests are due at once; answers that arrived meanwhile free slots with open connections, which these
 * requests can then use, and opening a new connection takes several times as long.
 */
#define SENDS 32
#define BUFFER_BYTES 8192L /* size of the buffer for a request's response; libcurl's default is 16 KiB */

struct shard;

/* A slot for one of the concurrent requests; it is reused after its request has ended. */
struct slot {
	struct shard *shard;
	CURL *easy; /* NULL: the slot has not been used yet */
	bool busy;
	char *body;
	struct kwhy_llm_answer answer;
	struct kwhy_llm_record record;
	uint64_t number; /* number of the conversation whose requests the slot sends */
	size_t turn;
	int64_t last_ns; /* time at which the last byte arrived; before the first byte: time at which the
			    request was sent */
	/* after a failure in a closed loop: time from which the slot may be used again */
	int64_t rested_ns;
};

struct shard {
	struct sender *sender;
	CURLM *multi;
	int64_t timer_ns; /* time for which libcurl asked to be called; INT64_MAX: for none */
};

/* Slots in the order in which they were added. */
struct queue {
	struct slot **slots; /* [capacity], a ring */
	size_t first, count, capacity;
};

struct sender {
	struct kwhy_llm_client *client;
	const struct kwhy_llm_question *question;
	const struct kwhy_llm_load *load;
	struct slot *slots;
	struct shard *shards;
	size_t shard_count;
	struct queue free, resting;
	struct queue ongoing; /* slots whose conversation has another turn to send */
	struct kwhy_llm_run *run;
	struct kwhy_llm_arrivals arrivals;
	bool is_open;
	uint64_t next;
	uint32_t busy;
	int64_t stop_ns; /* end of the load, after which no more requests are sent */
	int poll_fd, timer_fd;
	bool failed; /* epoll refused a socket */
};

static void push(struct queue *queue, struct slot *slot)
{
	queue->slots[(queue->first + queue->count++) % queue->capacity] = slot;
}

/* Takes the slot that was added last, because its connection is most likely still open. */
static struct slot *pop_last(struct queue *queue)
{
	return queue->slots[(queue->first + --queue->count) % queue->capacity];
}

static struct slot *pop(struct queue *queue)
{
	struct slot *slot = queue->slots[queue->first];

	queue->first = (queue->first + 1) % queue->capacity;
	queue->count--;
	return slot;
}

/* --- libcurl's events --- */

static int watch_socket(CURL *easy, curl_socket_t socket, int what, void *context, void *known)
{
	struct shard *shard = context;
	struct sender *sender = shard->sender;
	/* epoll returns data.u64 with each event: shard index and socket */
	struct epoll_event event = {.data.u64 = (uint64_t)(shard - sender->shards) << 32 | (uint32_t)socket};
	int operation = known ? EPOLL_CTL_MOD : EPOLL_CTL_ADD;

	(void)easy;
	if (what == CURL_POLL_REMOVE) {
		(void)epoll_ctl(sender->poll_fd, EPOLL_CTL_DEL, socket,
			&event); /* fails without harm if the socket is closed already */
		return 0;
	}
	event.events = (what & CURL_POLL_IN ? EPOLLIN : 0) | (what & CURL_POLL_OUT ? EPOLLOUT : 0);
	if (epoll_ctl(sender->poll_fd, operation, socket, &event) != 0)
		sender->failed = true;
	sender->client->curl.multi_assign(shard->multi, socket, shard);
	return 0;
}

static int set_timer(CURLM *multi, long timeout_ms, void *context)
{
	struct shard *shard = context;

	(void)multi;
	shard->timer_ns = timeout_ms < 0 ? INT64_MAX : kwhy_clock_mono_ns() + timeout_ms * (SECOND_NS / 1000);
	return 0;
}

/*
 * libcurl's write function: passes bytes of a response's body to the slot's answer, and ends the request by
 * returning 0 if no more are needed. The body of an error response (HTTP status 400 or above) is dropped.
 */
static size_t take_bytes(char *bytes, size_t size, size_t count, void *context)
{
	struct slot *slot = context;
	long http = 0;

	slot->last_ns = kwhy_clock_mono_ns();
	slot->shard->sender->client->curl.easy_getinfo(slot->easy, CURLINFO_RESPONSE_CODE, &http);
	if (http >= 400)
		return size * count;
	return kwhy_llm_answer_feed(&slot->answer, bytes, size * count, slot->last_ns) ? size * count : 0;
}

/* --- Requests --- */

static enum kwhy_status prepare(struct sender *sender, struct slot *slot, struct kwhy_error *error)
{
	struct kwhy_curl *curl = &sender->client->curl;

	slot->easy = kwhy_llm_client_new_request(sender->client, sender->question);
	if (!slot->easy)
		return kwhy_fail_memory(error, "a request");
	curl->easy_setopt(slot->easy, CURLOPT_WRITEFUNCTION, take_bytes);
	curl->easy_setopt(slot->easy, CURLOPT_WRITEDATA, slot);
	curl->easy_setopt(slot->easy, CURLOPT_PRIVATE, slot);
	curl->easy_setopt(slot->easy, CURLOPT_TCP_NODELAY, 1L);
	curl->easy_setopt(slot->easy, CURLOPT_BUFFERSIZE, BUFFER_BYTES);
	return KWHY_OK;
}

/* Sends the request for the slot's turn. due_ns 0: it is due now. */
static enum kwhy_status send_request(
	struct sender *sender, struct slot *slot, int64_t due_ns, struct kwhy_error *error)
{
	struct kwhy_curl *curl = &sender->client->curl;
	enum kwhy_status status = KWHY_OK;

	if (!slot->easy)
		status = prepare(sender, slot, error);
	if (!status)
		status = kwhy_llm_body(sender->question, slot->number, slot->turn, &slot->body, error);
	if (status)
		return status;
	kwhy_llm_answer_init(&slot->answer);
	slot->answer.whole = sender->question->whole;
	slot->answer.keeps_text = sender->question->tokenizer != NULL;
	curl->easy_setopt(slot->easy, CURLOPT_POSTFIELDS, slot->body);
	curl->easy_setopt(slot->easy, CURLOPT_POSTFIELDSIZE, (long)strlen(slot->body));
	slot->last_ns = kwhy_clock_mono_ns();
	slot->record = (struct kwhy_llm_record){
		.due_ns = due_ns ? due_ns : slot->last_ns, .sent_ns = slot->last_ns};
	if (curl->multi_add_handle(slot->shard->multi, slot->easy) != CURLM_OK)
		return kwhy_fail_memory(error, "a request");
	slot->busy = true;
	sender->busy++;
	return KWHY_OK;
}

static enum kwhy_status send_first_turn(struct sender *sender, int64_t due_ns, struct kwhy_error *error)
{
	struct slot *slot = pop_last(&sender->free);

	slot->number = sender->next++;
	slot->turn = 0;
	return send_request(sender, slot, due_ns, error);
}

/*
 * Puts a slot whose request has ended into a queue: `ongoing` if its conversation has another turn, `resting`
 * after a failure in a closed loop, otherwise `free`.
 */
static void release(struct sender *sender, struct slot *slot)
{
	bool is_done = slot->record.outcome == KWHY_LLM_DONE;

	if (is_done && slot->turn + 1 < kwhy_llm_turns(sender->question, slot->number)) {
		slot->turn++;
		push(&sender->ongoing, slot);
	} else if (is_done || sender->is_open) {
		push(&sender->free, slot);
	} else {
		slot->rested_ns = slot->record.end_ns + REST_NS;
		push(&sender->resting, slot);
	}
}

/* Ends and records the request in a slot; counts tokens of a complete answer if the server did not. */
static enum kwhy_status finish(
	struct sender *sender, struct slot *slot, enum kwhy_llm_outcome outcome, struct kwhy_error *error)
{
	enum kwhy_status status = KWHY_OK;
	long http = 0;

	sender->client->curl.easy_getinfo(slot->easy, CURLINFO_RESPONSE_CODE, &http);
	sender->client->curl.multi_remove_handle(slot->shard->multi, slot->easy);
	slot->busy = false;
	sender->busy--;
	slot->record.end_ns = kwhy_clock_mono_ns();
	slot->record.http_status = (int)http;
	slot->record.outcome = outcome;
	if (slot->answer.no_memory)
		status = kwhy_fail_memory(error, "an answer");
	if (!status && outcome == KWHY_LLM_DONE)
		status = kwhy_llm_count_missing(sender->question, slot->body, &slot->answer, error);
	kwhy_llm_record_take(&slot->record, &slot->answer);
	free(slot->body);
	slot->body = NULL;
	release(sender, slot);
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

static enum kwhy_status take_finished(struct sender *sender, struct shard *shard, struct kwhy_error *error)
{
	enum kwhy_status status = KWHY_OK;
	CURLMsg *message;
	int left;

	while (!status && (message = sender->client->curl.multi_info_read(shard->multi, &left))) {
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

/*
 * Whether the first request of a new conversation is due and a slot is free for it. In a closed loop such a
 * request is due at any time before stop_ns.
 */
static bool is_due(const struct sender *sender, int64_t now_ns)
{
	if (!sender->free.count)
		return false;
	if (sender->is_open)
		return sender->arrivals.next_ns <= now_ns && sender->arrivals.next_ns < sender->stop_ns;
	return now_ns < sender->stop_ns;
}

/*
 * Sends the next turn of each ongoing conversation, or frees its slot if the load has ended. Then begins new
 * conversations that are due, at most SENDS.
 */
static enum kwhy_status send_due(struct sender *sender, struct kwhy_error *error)
{
	int64_t now_ns = kwhy_clock_mono_ns();
	enum kwhy_status status = KWHY_OK;

	while (sender->resting.count && sender->resting.slots[sender->resting.first]->rested_ns <= now_ns)
		push(&sender->free, pop(&sender->resting));
	for (size_t left = sender->ongoing.count; !status && left; left--) {
		struct slot *slot = pop(&sender->ongoing);

		if (now_ns < sender->stop_ns)
			status = send_request(sender, slot, 0, error);
		else
			push(&sender->free, slot);
	}
	for (int sent = 0; !status && sent < SENDS && is_due(sender, now_ns); sent++) {
		status = send_first_turn(sender, sender->is_open ? sender->arrivals.next_ns : 0, error);
		if (sender->is_open)
			kwhy_llm_arrivals_step(&sender->arrivals);
	}
	return status;
}

/* --- The loop --- */

static int64_t least(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

/* Time at which the loop must go on even if no socket is ready. */
static int64_t wake_ns(const struct sender *sender, int64_t now_ns)
{
	int64_t wake_ns = now_ns + CHECK_NS;

	if (is_due(sender, now_ns))
		return now_ns;
	for (size_t i = 0; i < sender->shard_count; i++)
		wake_ns = least(wake_ns, sender->shards[i].timer_ns);
	if (sender->is_open && sender->free.count && sender->arrivals.next_ns < sender->stop_ns)
		wake_ns = least(wake_ns, sender->arrivals.next_ns);
	if (sender->resting.count)
		wake_ns = least(wake_ns, sender->resting.slots[sender->resting.first]->rested_ns);
	return wake_ns;
}

static int wait_for_events(struct sender *sender, struct epoll_event events[EVENTS])
{
	int64_t now_ns = kwhy_clock_mono_ns(), until_ns = wake_ns(sender, now_ns);
	const struct itimerspec timer = {.it_value = {until_ns / SECOND_NS, until_ns % SECOND_NS}};

	if (until_ns > now_ns)
		timerfd_settime(sender->timer_fd, TFD_TIMER_ABSTIME, &timer, NULL);
	return epoll_wait(sender->poll_fd, events, EVENTS, until_ns > now_ns ? -1 : 0);
}

static enum kwhy_status handle(
	struct sender *sender, struct shard *shard, curl_socket_t socket, int what, struct kwhy_error *error)
{
	int running;

	if (sender->client->curl.multi_socket_action(shard->multi, socket, what, &running) != CURLM_OK ||
		sender->failed)
		return kwhy_fail(error, KWHY_E_IO, "libcurl cannot go on with the requests");
	return take_finished(sender, shard, error);
}

static int curl_events(uint32_t events)
{
	return (events & EPOLLIN ? CURL_CSELECT_IN : 0) | (events & EPOLLOUT ? CURL_CSELECT_OUT : 0) |
		(events & (EPOLLERR | EPOLLHUP) ? CURL_CSELECT_ERR : 0);
}

static enum kwhy_status step(struct sender *sender, struct kwhy_error *error)
{
	struct epoll_event events[EVENTS];
	int count = wait_for_events(sender, events);
	enum kwhy_status status = KWHY_OK;
	int64_t now_ns;

	for (int i = 0; !status && i < count; i++) {
		uint64_t data = events[i].data.u64;

		if (data != UINT64_MAX)
			status = handle(sender, &sender->shards[data >> 32], (curl_socket_t)(uint32_t)data,
				curl_events(events[i].events), error);
	}
	now_ns = kwhy_clock_mono_ns();
	for (size_t i = 0; !status && i < sender->shard_count; i++) {
		struct shard *shard = &sender->shards[i];

		if (shard->timer_ns > now_ns)
			continue;
		shard->timer_ns = INT64_MAX;
		status = handle(sender, shard, CURL_SOCKET_TIMEOUT, 0, error);
	}
	return status ? status : send_due(sender, error);
}

static bool is_over(const struct sender *sender, int64_t now_ns)
{
	bool all_sent = now_ns >= sender->stop_ns;

	if (sender->is_open)
		all_sent = sender->arrivals.next_ns >= sender->stop_ns && !sender->ongoing.count;
	return !sender->busy && (all_sent || now_ns - sender->stop_ns > sender->load->stall_ns);
}

/* Adds a record (KWHY_LLM_CUT) of each request that was due before the load's end but was not sent. */
static enum kwhy_status record_unsent(struct sender *sender, struct kwhy_error *error)
{
	enum kwhy_status status = KWHY_OK;

	while (!status && sender->is_open && sender->arrivals.next_ns < sender->stop_ns) {
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

static double own_cpu_s(void)
{
	struct timespec time;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
	return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

static enum kwhy_status send_all(
	struct sender *sender, kwhy_llm_tick *tick, void *context, struct kwhy_error *error)
{
	int64_t now_ns = kwhy_clock_mono_ns(), ticked_ns = now_ns, checked_ns = now_ns;
	double before_s = own_cpu_s();
	enum kwhy_status status = send_due(sender, error);

	while (!status && !is_over(sender, now_ns)) {
		status = step(sender, error);
		now_ns = kwhy_clock_mono_ns();
		if (!status && now_ns - checked_ns >= CHECK_NS) {
			status = give_up_on_some(sender, now_ns, error);
			checked_ns = now_ns;
		}
		if (!status && tick && now_ns - ticked_ns >= TICK_NS) {
			status = tick(context, error);
			ticked_ns = now_ns;
		}
	}
	sender->run->end_ns = now_ns;
	sender->run->cpu_s = own_cpu_s() - before_s;
	return status ? status : record_unsent(sender, error);
}

/* --- Begin and end --- */

static enum kwhy_status begin_shard(struct sender *sender, struct shard *shard, struct kwhy_error *error)
{
	struct kwhy_curl *curl = &sender->client->curl;

	*shard = (struct shard){sender, curl->multi_init(), INT64_MAX};
	if (!shard->multi)
		return kwhy_fail_memory(error, "the requests");
	curl->multi_setopt(shard->multi, CURLMOPT_SOCKETFUNCTION, watch_socket);
	curl->multi_setopt(shard->multi, CURLMOPT_SOCKETDATA, shard);
	curl->multi_setopt(shard->multi, CURLMOPT_TIMERFUNCTION, set_timer);
	curl->multi_setopt(shard->multi, CURLMOPT_TIMERDATA, shard);
	curl->multi_setopt(shard->multi, CURLMOPT_MAXCONNECTS, (long)SHARD_SLOTS);
	return KWHY_OK;
}

static bool begin_queue(struct queue *queue, size_t capacity)
{
	*queue = (struct queue){.slots = calloc(capacity, sizeof(struct slot *)), .capacity = capacity};
	return queue->slots != NULL;
}

static enum kwhy_status begin_slots(struct sender *sender, struct kwhy_error *error)
{
	size_t count = sender->load->concurrency;
	enum kwhy_status status = KWHY_OK;

	sender->shard_count = (count + SHARD_SLOTS - 1) / SHARD_SLOTS;
	sender->slots = calloc(count, sizeof(*sender->slots));
	sender->shards = calloc(sender->shard_count, sizeof(*sender->shards));
	if (!sender->slots || !sender->shards || !begin_queue(&sender->free, count) ||
		!begin_queue(&sender->resting, count) || !begin_queue(&sender->ongoing, count))
		return kwhy_fail_memory(error, "the requests");
	for (size_t i = 0; !status && i < sender->shard_count; i++)
		status = begin_shard(sender, &sender->shards[i], error);
	for (size_t i = 0; !status && i < count; i++) {
		sender->slots[i].shard = &sender->shards[i % sender->shard_count];
		push(&sender->free, &sender->slots[i]);
	}
	return status;
}

static enum kwhy_status begin_events(struct sender *sender, struct kwhy_error *error)
{
	struct epoll_event event = {.events = EPOLLIN, .data.u64 = UINT64_MAX};

	sender->poll_fd = epoll_create1(EPOLL_CLOEXEC);
	sender->timer_fd = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
	if (sender->poll_fd < 0 || sender->timer_fd < 0 ||
		epoll_ctl(sender->poll_fd, EPOLL_CTL_ADD, sender->timer_fd, &event) != 0)
		return kwhy_fail(
			error, KWHY_E_IO, "no file descriptors are left for the requests; raise ulimit -n");
	return KWHY_OK;
}

static void begin(struct sender *sender)
{
	const struct kwhy_llm_load *load = sender->load;
	struct kwhy_llm_run *run = sender->run;

	run->start_ns = kwhy_clock_mono_ns();
	sender->stop_ns = run->start_ns + load->duration_ns;
	run->steady_start_ns = run->start_ns + load->ramp_ns;
	run->steady_end_ns = sender->stop_ns - load->ramp_ns;
	if (sender->is_open)
		kwhy_llm_arrivals_init(&sender->arrivals, &load->arrivals, run->start_ns);
}

static void end(struct sender *sender)
{
	struct kwhy_curl *curl = &sender->client->curl;

	for (uint32_t i = 0; sender->slots && i < sender->load->concurrency; i++) {
		struct slot *slot = &sender->slots[i];

		if (slot->busy)
			curl->multi_remove_handle(slot->shard->multi, slot->easy);
		if (slot->easy)
			curl->easy_cleanup(slot->easy);
		kwhy_llm_answer_done(&slot->answer);
		free(slot->body);
	}
	for (size_t i = 0; sender->shards && i < sender->shard_count; i++)
		if (sender->shards[i].multi)
			curl->multi_cleanup(sender->shards[i].multi);
	free(sender->slots);
	free(sender->shards);
	free(sender->free.slots);
	free(sender->resting.slots);
	free(sender->ongoing.slots);
	if (sender->timer_fd >= 0)
		close(sender->timer_fd);
	if (sender->poll_fd >= 0)
		close(sender->poll_fd);
}

enum kwhy_status kwhy_llm_client_run(struct kwhy_llm_client *client, const struct kwhy_llm_question *question,
	uint64_t first, const struct kwhy_llm_load *load, kwhy_llm_tick *tick, void *context,
	struct kwhy_llm_run *out, struct kwhy_error *error)
{
	struct sender sender = {.client = client,
		.question = question,
		.load = load,
		.run = out,
		.next = first,
		.is_open = !load->is_closed,
		.poll_fd = -1,
		.timer_fd = -1};
	enum kwhy_status status = begin_events(&sender, error);

	*out = (struct kwhy_llm_run){0};
	if (!status)
		status = begin_slots(&sender, error);
	if (!status) {
		begin(&sender);
		status = send_all(&sender, tick, context, error);
	}
	end(&sender);
	return status;
}
