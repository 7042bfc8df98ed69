/* SPDX-License-Identifier: Apache-2.0 */
#include "llm_server.h"

#include "cmocka_all.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/*
 * Replaces the child process by the fake server that answers as `behaviour` says (NULL: the fast one), with
 * the key that it requires (NULL: none). The server writes its port to the file `path`.
 */
static void become(const char *behaviour, const char *key, const char *path)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL); /* if the test program ends without stopping the server, the kernel
					     kills the server, for which ctest would wait */
	if (key)
		setenv("FAKE_LLM_KEY", key, 1);
	if (!behaviour)
		execl(KWHY_FAKE_LLM_FAST, "fast_server", path, "4", "20", (char *)NULL);
	else
		execlp("python3", "python3", KWHY_SOURCE_DIR "/tests/fakes/llm/server.py", behaviour, path,
			(char *)NULL);
	_exit(127);
}

struct llm_server llm_server_start(const char *behaviour, const char *key)
{
	char folder[] = "/tmp/kwhy-llm-XXXXXX", path[64];
	struct llm_server server;
	FILE *file = NULL;
	char port[16];

	assert_non_null(mkdtemp(folder));
	snprintf(path, sizeof(path), "%s/port", folder);
	server.pid = fork();
	if (server.pid == 0)
		become(behaviour, key, path);
	while (!file && waitpid(server.pid, NULL, WNOHANG) == 0) {
		nanosleep(&(struct timespec){0, 10000000}, NULL);
		file = fopen(path, "r");
	}
	assert_non_null(file);
	assert_non_null(fgets(port, sizeof(port), file));
	fclose(file);
	unlink(path);
	rmdir(folder);
	snprintf(server.url, sizeof(server.url), "http://127.0.0.1:%s/v1/", port);
	return server;
}

void llm_server_stop(const struct llm_server *server)
{
	kill(server->pid, SIGKILL);
	waitpid(server->pid, NULL, 0);
}
