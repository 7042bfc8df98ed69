/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_LLM_CLIENT_H
#define KWHY_LLM_CLIENT_H

#include "base/text.h"
#include "llm/prompt.h"
#include "llm/run.h"

/*
 * Sends concurrent requests to a server with an OpenAI-compatible API, all from one thread. Uses no proxies
 * and follows no redirections, because their time would be part of the measured times. Does not copy the
 * strings of its arguments, which must outlive it.
 */
struct kwhy_llm_client;

struct kwhy_llm_server {
	const char *url; /* URL of the API, up to and including "/v1" */
	const char *key; /* sent as a bearer token; NULL: no token */
};

/*
 * Opens a client. KWHY_E_USAGE: the URL is not one of http or https. KWHY_E_UNSUPPORTED: libcurl is missing.
 */
KWHY_MUST_USE enum kwhy_status kwhy_llm_client_open(
	const struct kwhy_llm_server *server, struct kwhy_llm_client **out, struct kwhy_error *error);
void kwhy_llm_client_close(struct kwhy_llm_client *client);

/* Gets the name of the first model in the server's list of models. The caller frees it. */
KWHY_MUST_USE enum kwhy_status kwhy_llm_client_model(
	struct kwhy_llm_client *client, char **out, struct kwhy_error *error);

/*
 * Finds out whether the server accepts requests that ask for token counts ("usage") with each piece of text;
 * servers that check requests strictly refuse them. Sends one request with a prompt of one word and an answer
 * of at most one token. *out is false only if the answer is HTTP 400 or 422, so it is true, too, if there is
 * no answer within stall_ns.
 */
KWHY_MUST_USE enum kwhy_status kwhy_llm_client_takes_usage_each(struct kwhy_llm_client *client,
	const struct kwhy_llm_question *question, int64_t stall_ns, bool *out, struct kwhy_error *error);

/* Called about twice a second while a load runs. */
typedef enum kwhy_status kwhy_llm_tick(void *context, struct kwhy_error *error);

/*
 * Runs a load and waits for its end. Each request gets a record in *out, also one that fails. `first` is the
 * number of the first request, from which the contents of requests follow. Call kwhy_llm_run_done()
 * afterwards, also after a failure.
 */
KWHY_MUST_USE enum kwhy_status kwhy_llm_client_run(struct kwhy_llm_client *client,
	const struct kwhy_llm_question *question, uint64_t first, const struct kwhy_llm_load *load,
	kwhy_llm_tick *tick, void *context, struct kwhy_llm_run *out, struct kwhy_error *error);

#endif
