/* SPDX-License-Identifier: Apache-2.0 */
#include "llm/scraper.h"

#include "base/clock.h"
#include "base/text.h"
#include "llm/curl.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define SECOND_NS INT64_C(1000000000)
#define PERIOD_NS (SECOND_NS / 4)
#define TIMEOUT_NS \
	(10 * SECOND_NS) /* longest wait, after the end of a window, for a scrape from after that end */
#define FIRST_NS (5 * SECOND_NS) /* for this time after its start, kwhy serve may report no energies */
#define ANSWER_MS 5000L
#define URL_BYTES 2048

struct kwhy_llm_scraper {
	struct kwhy_curl curl;
	CURL *easy;
	struct curl_slist *headers;
	char url[URL_BYTES];
	struct kwhy_text body; /* used only by the scraping thread once it runs */
	pthread_t thread;
	bool threaded;
	pthread_mutex_t lock; /* protects all fields after it */
	pthread_cond_t changed;
	bool stopping;
	struct kwhy_llm_track track;
	/* last failure since the last window was requested; status KWHY_OK: there was none */
	struct kwhy_error failure;
};

/* --- One response --- */

static enum kwhy_status check_answer(
	const struct kwhy_llm_scraper *scraper, CURLcode code, long http, struct kwhy_error *error)
{
	if (code != CURLE_OK)
		return kwhy_fail(error, KWHY_E_IO,
			"%s does not answer (%s); does kwhy serve run there, and may this machine reach it?",
			scraper->url, scraper->curl.easy_strerror(code));
	if (http == 401)
		return kwhy_fail(error, KWHY_E_IO,
			"%s wants a token (HTTP status 401); give the one of that kwhy serve with "
			"--meters-token FILE or in KWHY_METERS_TOKEN",
			scraper->url);
	if (http == 403)
		return kwhy_fail(error, KWHY_E_IO,
			"%s answers to its own machine alone (HTTP status 403); start that kwhy serve with "
			"--token, or --allow-open if that is wanted",
			scraper->url);
	if (http != 200)
		return kwhy_fail(error, KWHY_E_IO,
			"%s answers with HTTP status %ld; --meters takes the address of a kwhy serve, like "
			"http://HOST:9835",
			scraper->url, http);
	return KWHY_OK;
}

/*
 * Makes one request. `out` receives the parsed response, *sent_ns the time at which the request was sent,
 * *got_ns the time at which the response had arrived.
 */
static enum kwhy_status scrape(struct kwhy_llm_scraper *scraper, struct kwhy_llm_scrape *out,
	int64_t *sent_ns, int64_t *got_ns, struct kwhy_error *error)
{
	struct kwhy_curl *curl = &scraper->curl;
	enum kwhy_status status;
	long http = 0;
	CURLcode code;

	kwhy_text_clear(&scraper->body);
	*sent_ns = kwhy_clock_mono_ns();
	code = curl->easy_perform(scraper->easy);
	*got_ns = kwhy_clock_mono_ns();
	curl->easy_getinfo(scraper->easy, CURLINFO_RESPONSE_CODE, &http);
	status = check_answer(scraper, code, http, error);
	if (status)
		return status;
	status = kwhy_llm_scrape_read(scraper->body.data ? scraper->body.data : "", out, error);
	if (!status && !out->is_kwhy)
		return kwhy_fail(error, KWHY_E_INPUT,
			"%s shows no metrics of kwhy; --meters takes the address of a kwhy serve next to the "
			"server's GPUs, like http://HOST:9835",
			scraper->url);
	return status;
}

/* --- The thread --- */

static struct timespec timespec_of(int64_t mono_ns)
{
	return (struct timespec){mono_ns / SECOND_NS, mono_ns % SECOND_NS};
}

static void take_one(struct kwhy_llm_scraper *scraper)
{
	struct kwhy_llm_scrape answer;
	struct kwhy_error failure;
	int64_t sent_ns, got_ns;
	enum kwhy_status status = scrape(scraper, &answer, &sent_ns, &got_ns, &failure);

	pthread_mutex_lock(&scraper->lock);
	if (!status)
		status = kwhy_llm_track_add(&scraper->track, &answer, sent_ns, got_ns, &failure);
	if (status)
		scraper->failure = failure;
	pthread_cond_broadcast(&scraper->changed);
	pthread_mutex_unlock(&scraper->lock);
}

static void *run(void *context)
{
	struct kwhy_llm_scraper *scraper = context;
	int64_t next_ns = kwhy_clock_mono_ns();

	pthread_mutex_lock(&scraper->lock);
	while (!scraper->stopping) {
		struct timespec until;
		int64_t now_ns;

		pthread_mutex_unlock(&scraper->lock);
		take_one(scraper);
		now_ns = kwhy_clock_mono_ns();
		next_ns = next_ns + PERIOD_NS > now_ns ? next_ns + PERIOD_NS : now_ns;
		until = timespec_of(next_ns);
		pthread_mutex_lock(&scraper->lock);
		while (!scraper->stopping && kwhy_clock_mono_ns() < next_ns)
			pthread_cond_timedwait(&scraper->changed, &scraper->lock, &until);
	}
	pthread_mutex_unlock(&scraper->lock);
	return NULL;
}

/* --- Opening and closing --- */

static enum kwhy_status add_headers(
	struct kwhy_llm_scraper *scraper, const char *token, struct kwhy_error *error)
{
	enum kwhy_status status = kwhy_curl_add_header(
		&scraper->curl, &scraper->headers, "Accept: application/openmetrics-text", error);

	if (status || !token)
		return status;
	return kwhy_curl_add_token(&scraper->curl, &scraper->headers, token, error);
}

static enum kwhy_status set_url(struct kwhy_llm_scraper *scraper, const char *url, struct kwhy_error *error)
{
	static const char path[] = "/metrics";
	size_t length = strlen(url);

	if (!kwhy_curl_is_url(url) || length + sizeof(path) > sizeof(scraper->url))
		return kwhy_fail(error, KWHY_E_USAGE,
			"'%.80s' is not the address of a kwhy serve; give --meters one like http://HOST:9835",
			url);
	while (length && url[length - 1] == '/')
		length--;
	if (length >= sizeof(path) - 1 &&
		memcmp(url + length - sizeof(path) + 1, path, sizeof(path) - 1) == 0)
		length -= sizeof(path) - 1;
	snprintf(scraper->url, sizeof(scraper->url), "%.*s%s", (int)length, url, path);
	return KWHY_OK;
}

static enum kwhy_status set_request(
	struct kwhy_llm_scraper *scraper, const struct kwhy_llm_meters *meters, struct kwhy_error *error)
{
	struct kwhy_curl *curl = &scraper->curl;
	CURL *easy = kwhy_curl_new_request(curl, scraper->url, scraper->headers);

	if (!easy)
		return kwhy_fail_memory(error, "the request for metrics");
	scraper->easy = easy;
	curl->easy_setopt(easy, CURLOPT_TIMEOUT_MS, ANSWER_MS);
	kwhy_curl_keep_body(curl, easy, &scraper->body);
	if (meters->ca_path && curl->easy_setopt(easy, CURLOPT_CAINFO, meters->ca_path) != CURLE_OK)
		return kwhy_fail(error, KWHY_E_UNSUPPORTED, "this libcurl takes no certificates from %s",
			meters->ca_path);
	return KWHY_OK;
}

static bool tells_energy(const struct kwhy_llm_scrape *answer)
{
	for (size_t i = 0; i < answer->device_count; i++)
		if (kwhy_llm_scrape_find(answer, answer->devices[i].name))
			return true;
	return false;
}

static enum kwhy_status scrape_first(
	struct kwhy_llm_scraper *scraper, const char *devices, struct kwhy_error *error)
{
	int64_t until_ns = kwhy_clock_mono_ns() + FIRST_NS, sent_ns = 0, got_ns = 0;
	struct kwhy_llm_scrape answer = {0};
	enum kwhy_status status = KWHY_OK;

	while (!status && !tells_energy(&answer) && got_ns < until_ns) {
		struct timespec again = timespec_of(got_ns + PERIOD_NS);

		if (got_ns)
			clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &again, NULL);
		status = scrape(scraper, &answer, &sent_ns, &got_ns, error);
	}
	if (!status && !tells_energy(&answer))
		return kwhy_fail(error, KWHY_E_INPUT,
			"kwhy serve at %s reports no energy of a GPU; see kwhy_source_available there for "
			"the reason",
			scraper->url);
	if (!status)
		status = kwhy_llm_track_begin(&scraper->track, &answer, devices, error);
	return status ? status : kwhy_llm_track_add(&scraper->track, &answer, sent_ns, got_ns, error);
}

static enum kwhy_status start(
	struct kwhy_llm_scraper *scraper, const struct kwhy_llm_meters *meters, struct kwhy_error *error)
{
	enum kwhy_status status = add_headers(scraper, meters->token, error);

	if (!status)
		status = set_request(scraper, meters, error);
	if (!status)
		status = scrape_first(scraper, meters->devices, error);
	if (status)
		return status;
	scraper->threaded = pthread_create(&scraper->thread, NULL, run, scraper) == 0;
	return scraper->threaded ? KWHY_OK
				 : kwhy_fail(error, KWHY_E_MEMORY,
					   "no thread to read the server's meters with; raise ulimit -u");
}

static void init_lock(struct kwhy_llm_scraper *scraper)
{
	pthread_condattr_t attributes;

	pthread_mutex_init(&scraper->lock, NULL);
	pthread_condattr_init(&attributes);
	pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
	pthread_cond_init(&scraper->changed, &attributes);
	pthread_condattr_destroy(&attributes);
}

enum kwhy_status kwhy_llm_scraper_open(
	const struct kwhy_llm_meters *meters, struct kwhy_llm_scraper **out, struct kwhy_error *error)
{
	struct kwhy_llm_scraper *scraper = calloc(1, sizeof(*scraper));
	enum kwhy_status status;

	if (!scraper)
		return kwhy_fail_memory(error, "the server's meters");
	status = set_url(scraper, meters->url, error);
	if (!status)
		status = kwhy_curl_open(&scraper->curl, error);
	if (status) {
		free(scraper);
		return status;
	}
	init_lock(scraper);
	status = start(scraper, meters, error);
	if (status)
		kwhy_llm_scraper_close(scraper);
	else
		*out = scraper;
	return status;
}

void kwhy_llm_scraper_close(struct kwhy_llm_scraper *scraper)
{
	if (!scraper)
		return;
	pthread_mutex_lock(&scraper->lock);
	scraper->stopping = true;
	pthread_cond_broadcast(&scraper->changed);
	pthread_mutex_unlock(&scraper->lock);
	if (scraper->threaded)
		pthread_join(scraper->thread, NULL);
	pthread_cond_destroy(&scraper->changed);
	pthread_mutex_destroy(&scraper->lock);
	kwhy_llm_track_done(&scraper->track);
	kwhy_text_done(&scraper->body);
	if (scraper->easy)
		scraper->curl.easy_cleanup(scraper->easy);
	scraper->curl.slist_free_all(scraper->headers);
	kwhy_curl_close(&scraper->curl);
	free(scraper);
}

/* --- Windows --- */

static enum kwhy_status tell_missing(const struct kwhy_llm_scraper *scraper, struct kwhy_error *error)
{
	if (scraper->failure.status) {
		*error = scraper->failure;
		return error->status;
	}
	return kwhy_fail(error, KWHY_E_INPUT,
		"%s reports nothing new of the GPUs' energy; see kwhy_source_age_seconds and "
		"kwhy_source_failures_total there",
		scraper->url);
}

enum kwhy_status kwhy_llm_scraper_window(struct kwhy_llm_scraper *scraper, int64_t start_ns, int64_t end_ns,
	struct kwhy_llm_track_energy *out, struct kwhy_error *error)
{
	struct timespec until = timespec_of(end_ns + TIMEOUT_NS);
	enum kwhy_status status = KWHY_OK;

	pthread_mutex_lock(&scraper->lock);
	while (!kwhy_llm_track_reaches(&scraper->track, end_ns) && kwhy_clock_mono_ns() < end_ns + TIMEOUT_NS)
		pthread_cond_timedwait(&scraper->changed, &scraper->lock, &until);
	if (!kwhy_llm_track_window(&scraper->track, start_ns, end_ns, out))
		status = tell_missing(scraper, error);
	scraper->failure.status = KWHY_OK;
	kwhy_llm_track_forget(&scraper->track, start_ns);
	pthread_mutex_unlock(&scraper->lock);
	return status;
}
