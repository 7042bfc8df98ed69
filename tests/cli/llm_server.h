/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_TESTS_CLI_LLM_SERVER_H
#define KWHY_TESTS_CLI_LLM_SERVER_H

#include <sys/types.h>

/* A server of made-up answers (tests/fakes/llm) as a process of its own. */
struct llm_server {
	pid_t pid;
	char url[64];
};

/* `key`: what it wants as a bearer token; NULL: nothing. */
struct llm_server llm_server_start(const char *behaviour, const char *key);
void llm_server_stop(const struct llm_server *server);

#endif
