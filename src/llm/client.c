/* SPDX-License-Identifier: Apache-2.0 */
#include "llm/client_state.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LIST_S 20L /* timeout of the request for the list of models, in seconds */

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
	char url[KWHY_LLM_URL_BYTES];

	snprintf(url, sizeof(url), "%s%s", client->base, path);
	return kwhy_curl_new_request(&client->curl, url, client->headers);
}

CURL *kwhy_llm_client_new_request(struct kwhy_llm_client *client, const struct kwhy_llm_question *question)
{
	return new_handle(client, question->endpoint == KWHY_LLM_CHAT ? "/chat/completions" : "/completions");
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

/* libcurl's write function that drops the body of a response. */
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

	/*
	 * a dialog of a file may state its own limit of tokens, which would replace the limit of one token
	 * below
	 */
	first.dialogs = NULL;
	first.words = first.max_tokens = (struct kwhy_llm_length){.a = 1};
	first.shared_words = 0;
	first.usage_each = true;
	status = kwhy_llm_body(&first, UINT64_MAX, 0, &body, error);
	if (status)
		return status;
	easy = kwhy_llm_client_new_request(client, question);
	if (easy) {
		curl->easy_setopt(easy, CURLOPT_POSTFIELDS, body);
		curl->easy_setopt(easy, CURLOPT_POSTFIELDSIZE, (long)strlen(body));
		curl->easy_setopt(easy, CURLOPT_TIMEOUT_MS, (long)(stall_ns / 1000000));
		curl->easy_setopt(easy, CURLOPT_WRITEFUNCTION, drop_bytes);
		/* ignored: if the server fails, the requests of the load report it */
		(void)curl->easy_perform(easy);
		curl->easy_getinfo(easy, CURLINFO_RESPONSE_CODE, &http);
		curl->easy_cleanup(easy);
	}
	free(body);
	*out = http != 400 && http != 422;
	return easy ? KWHY_OK : kwhy_fail_memory(error, "a request");
}
