/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_TESTS_CLI_LLM_SERVER_H
#define KWHY_TESTS_CLI_LLM_SERVER_H

#include <sys/types.h>

/* A process with a server that gives made-up answers (tests/fakes/llm). */
struct llm_server {
	pid_t pid;
	char url[64];
};

/*
 * Starts the server. `behaviour`: name of a function in server.py that gives the answers, or
 * "as_the_model_says": the function that the request names as its model; NULL: starts fast_server.c instead,
 * for thousands of concurrent requests, which streams 4 tokens in 80 ms. `key`: bearer token that it
 * requires; NULL: none.
 */
struct llm_server llm_server_start(const char *behaviour, const char *key);
void llm_server_stop(const struct llm_server *server);

#endif
