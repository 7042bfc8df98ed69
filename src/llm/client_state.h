/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_LLM_CLIENT_STATE_H
#define KWHY_LLM_CLIENT_STATE_H

#include "llm/client.h"
#include "llm/curl.h"

/* State of a client that client.c and sender.c share. */
enum { KWHY_LLM_URL_BYTES = 2048 };

struct kwhy_llm_client {
	struct kwhy_curl curl;
	struct curl_slist *headers;
	char base[KWHY_LLM_URL_BYTES - 32];
};

/*
 * Makes a request (a libcurl handle) to the question's endpoint, for chats or completions. NULL: out of
 * memory.
 */
CURL *kwhy_llm_client_new_request(struct kwhy_llm_client *client, const struct kwhy_llm_question *question);

#endif
