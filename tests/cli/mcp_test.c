/* SPDX-License-Identifier: Apache-2.0 */
#include "cmocka_all.h"

#include <errno.h>
#include <jansson.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* A client of `kwhy mcp` that sends lines to the program and reads its answers. */

#define EXAMPLES KWHY_SOURCE_DIR "/examples/recordings/"
#define TINY KWHY_SOURCE_DIR "/tests/golden/tiny.csv"

struct client {
	FILE *to, *from;
	pid_t child;
	json_int_t last_id;
};

static struct client start(void)
{
	struct client client = {.to = NULL};
	int in[2], out[2];

	assert_int_equal(pipe(in), 0);
	assert_int_equal(pipe(out), 0);
	client.child = fork();
	assert_true(client.child >= 0);
	if (client.child == 0) {
		dup2(in[0], STDIN_FILENO);
		dup2(out[1], STDOUT_FILENO);
		for (int fd = 3; fd < 64; fd++)
			close(fd);
		execl(KWHY_PROGRAM, "kwhy", "mcp", (char *)NULL);
		_exit(127);
	}
	close(in[0]);
	close(out[1]);
	client.to = fdopen(in[1], "w");
	client.from = fdopen(out[0], "r");
	return client;
}

/*
 * Closes the program's input and checks that it then ends without a further line. Returns its exit status,
 * -1 if a signal ended it.
 */
static int finish(struct client *client)
{
	int state;

	fclose(client->to);
	assert_int_equal(getc(client->from), EOF);
	fclose(client->from);
	assert_int_equal(waitpid(client->child, &state, 0), client->child);
	return WIFEXITED(state) ? WEXITSTATUS(state) : -1;
}

static void send_line(struct client *client, const char *line)
{
	assert_true(fputs(line, client->to) >= 0);
	assert_true(putc('\n', client->to) != EOF);
	assert_int_equal(fflush(client->to), 0);
}

/* Reads one answer, which is one line of JSON. The caller owns it. */
static json_t *read_answer(struct client *client)
{
	char *line = NULL;
	size_t bytes = 0;
	json_t *answer;

	if (getline(&line, &bytes, client->from) < 0)
		fail_msg("the program has ended");
	answer = json_loads(line, 0, NULL);
	if (!answer)
		fail_msg("no JSON: %s", line);
	free(line);
	assert_string_equal(json_string_value(json_object_get(answer, "jsonrpc")), "2.0");
	return answer;
}

/* Sends a request and returns the result of its answer. The caller owns the result. */
static json_t *ask(struct client *client, const char *method, json_t *params)
{
	json_t *request = json_pack("{s:s, s:I, s:s, s:o}", "jsonrpc", "2.0", "id", ++client->last_id,
		"method", method, "params", params);
	char *line = json_dumps(request, JSON_COMPACT);
	json_t *answer, *result;

	send_line(client, line);
	free(line);
	json_decref(request);
	answer = read_answer(client);
	assert_int_equal(json_integer_value(json_object_get(answer, "id")), client->last_id);
	result = json_incref(json_object_get(answer, "result"));
	json_decref(answer);
	return result;
}

static json_t *call(struct client *client, const char *tool, json_t *arguments)
{
	return ask(client, "tools/call", json_pack("{s:s, s:o}", "name", tool, "arguments", arguments));
}

/*
 * Calls a tool. Checks that it succeeds and that its result holds the same JSON object twice, as text and as
 * structured content. Returns this object; the caller owns it.
 */
static json_t *call_well(struct client *client, const char *tool, json_t *arguments)
{
	json_t *result = call(client, tool, arguments),
	       *object = json_object_get(result, "structuredContent"), *again;
	const char *text = json_string_value(
		json_object_get(json_array_get(json_object_get(result, "content"), 0), "text"));

	if (!json_is_false(json_object_get(result, "isError")))
		fail_msg("%s: %s", tool, text);
	again = json_loads(text, 0, NULL);
	assert_true(json_equal(again, object));
	json_decref(again);
	json_incref(object);
	json_decref(result);
	return object;
}

static void call_badly(struct client *client, const char *tool, json_t *arguments, const char *says)
{
	json_t *result = call(client, tool, arguments);
	const char *text = json_string_value(
		json_object_get(json_array_get(json_object_get(result, "content"), 0), "text"));

	assert_true(json_is_true(json_object_get(result, "isError")));
	if (!strstr(text, says))
		fail_msg("'%s' lacks '%s'", text, says);
	json_decref(result);
}

static void assert_error(struct client *client, const char *line, int code)
{
	json_t *answer;

	send_line(client, line);
	answer = read_answer(client);
	assert_int_equal(json_integer_value(json_object_get(json_object_get(answer, "error"), "code")), code);
	assert_non_null(json_object_get(answer, "id"));
	json_decref(answer);
}

static void greet(struct client *client)
{
	json_t *result = ask(client, "initialize",
		json_pack("{s:s, s:{}, s:{s:s, s:s}}", "protocolVersion", "2025-11-25", "capabilities",
			"clientInfo", "name", "test", "version", "1"));

	assert_string_equal(json_string_value(json_object_get(result, "protocolVersion")), "2025-11-25");
	assert_true(json_is_object(json_object_get(json_object_get(result, "capabilities"), "tools")));
	json_decref(result);
	/* a notification, which gets no answer */
	send_line(client, "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}");
}

static json_int_t open_path(struct client *client, const char *path)
{
	json_t *run = call_well(client, "open", json_pack("{s:[s]}", "paths", path));
	json_int_t id = json_integer_value(json_object_get(run, "run"));

	assert_true(json_real_value(json_object_get(run, "seconds")) > 0);
	json_decref(run);
	return id;
}

static void versions_are_negotiated_and_tools_listed(void **state)
{
	static const char *const names[] = {"open", "brief", "findings", "account", "whatif", "compare"};
	struct client client = start();
	json_t *result, *tools, *tool;
	size_t i;

	(void)state;
	greet(&client);
	result = ask(&client, "initialize", json_pack("{s:s}", "protocolVersion", "2024-11-05"));
	assert_string_equal(json_string_value(json_object_get(result, "protocolVersion")), "2024-11-05");
	json_decref(result);
	result = ask(&client, "initialize", json_pack("{s:s}", "protocolVersion", "1900-01-01"));
	assert_string_equal(json_string_value(json_object_get(result, "protocolVersion")), "2025-11-25");
	json_decref(result);
	result = ask(&client, "ping", json_object());
	assert_int_equal(json_object_size(result), 0);
	json_decref(result);
	result = ask(&client, "tools/list", json_object());
	tools = json_object_get(result, "tools");
	assert_int_equal(json_array_size(tools), 6);
	json_array_foreach(tools, i, tool)
	{
		assert_string_equal(json_string_value(json_object_get(tool, "name")), names[i]);
		assert_string_equal(
			json_string_value(json_object_get(json_object_get(tool, "inputSchema"), "type")),
			"object");
		assert_true(
			json_is_true(json_object_get(json_object_get(tool, "annotations"), "readOnlyHint")));
	}
	json_decref(result);
	assert_int_equal(finish(&client), 0);
}

static void a_run_is_opened_and_asked_about(void **state)
{
	struct client client = start();
	json_t *object, *row;

	(void)state;
	greet(&client);
	open_path(&client, EXAMPLES "decode.kwhy");
	object = call_well(&client, "brief", json_object());
	assert_string_equal(json_string_value(json_object_get(object, "schema")), "kwhy.brief/1");
	json_decref(object);
	object = call_well(&client, "findings", json_pack("{s:s}", "id", "launch-bound"));
	assert_int_equal(json_array_size(json_object_get(object, "findings")), 1);
	row = json_array_get(json_object_get(object, "findings"), 0);
	assert_string_equal(json_string_value(json_object_get(row, "change")), "graph");
	assert_true(json_array_size(json_object_get(row, "evidence")) > 0);
	json_decref(object);
	object = call_well(&client, "account", json_pack("{s:s, s:i}", "category", "compute", "limit", 2));
	assert_int_equal(json_array_size(json_object_get(object, "accounts")), 2);
	assert_true(json_integer_value(json_object_get(object, "left_out")) > 10);
	json_decref(object);
	object = call_well(&client, "whatif", json_pack("{s:[s]}", "changes", "graph"));
	assert_true(json_real_value(json_object_get(json_object_get(object, "after"), "energy_j")) <
		json_real_value(json_object_get(json_object_get(object, "before"), "energy_j")));
	assert_int_equal(json_array_size(json_object_get(object, "changes")), 1);
	json_decref(object);
	assert_int_equal(finish(&client), 0);
}

static void two_runs_are_compared_and_the_oldest_of_many_is_closed(void **state)
{
	struct client client = start();
	json_int_t first, last = 0;
	json_t *object;

	(void)state;
	greet(&client);
	first = open_path(&client, TINY);
	object = call_well(&client, "open",
		json_pack("{s:[s], s:s, s:[s]}", "paths", TINY, "assume_power", "100", "work", "tokens=4"));
	assert_true(json_is_true(json_object_get(object, "modelled")));
	last = json_integer_value(json_object_get(object, "run"));
	json_decref(object);
	object = call_well(
		&client, "compare", json_pack("{s:I, s:I, s:i}", "a", first, "b", last, "limit", 3));
	assert_in_range(json_array_size(json_object_get(object, "accounts")), 1, 3);
	json_decref(object);
	for (int i = 0; i < 8; i++)
		last = open_path(&client, TINY);
	call_badly(&client, "brief", json_pack("{s:I}", "run", first), "no run 1 is open");
	json_decref(call_well(&client, "brief", json_pack("{s:I}", "run", last)));
	assert_int_equal(finish(&client), 0);
}

static void wrong_arguments_are_explained_and_end_nothing(void **state)
{
	struct client client = start();

	(void)state;
	greet(&client);
	call_badly(&client, "brief", json_object(), "no run 0 is open");
	call_badly(&client, "open", json_object(), "paths must be a list of at least one recording");
	call_badly(&client, "open", json_pack("{s:s}", "paths", TINY), "paths must be a list");
	call_badly(&client, "open", json_pack("{s:[i]}", "paths", 1), "paths must be a list of strings");
	call_badly(&client, "open", json_pack("{s:[s]}", "paths", "/no/such.kwhy"), "/no/such.kwhy");
	call_badly(&client, "open", json_pack("{s:[s]}", "paths", "/dev/null"), "/dev/null");
	call_badly(&client, "open", json_pack("{s:[s], s:s}", "paths", TINY, "path", "x"),
		"takes no argument 'path'");
	call_badly(&client, "open", json_pack("{s:[s], s:[s]}", "paths", TINY, "work", "tokens"), "tokens");
	open_path(&client, TINY);
	call_badly(&client, "account", json_pack("{s:i}", "limit", 101),
		"limit must be an integer from 1 to 100");
	call_badly(&client, "account", json_pack("{s:i}", "device", -1), "device must be an integer");
	call_badly(&client, "findings", json_pack("{s:i}", "id", 4), "id must be a string");
	call_badly(&client, "whatif", json_pack("{s:[s]}", "changes", "magic"), "there is no change 'magic'");
	call_badly(&client, "whatif", json_pack("{s:[s]}", "changes", "batch=x"),
		"'batch=x' has no whole number");
	call_badly(&client, "compare", json_pack("{s:i}", "a", 1), "no run 0 is open");
	json_decref(call_well(&client, "brief", json_object()));
	assert_int_equal(finish(&client), 0);
}

static void send_long_line(struct client *client, size_t bytes)
{
	for (size_t i = 0; i < bytes; i++)
		putc('[', client->to);
	assert_error(client, "", -32700);
}

#define UMLAUTS "éééééééééééééééééééééééé"

static void hostile_messages_get_an_error_each(void **state)
{
	static const struct {
		const char *line;
		int code;
	} messages[] = {
		{"{", -32700},
		{"\xff\xfe", -32700},
		{"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"\\u0000\"}", -32700},
		{"nonsense", -32700},
		{"[]", -32600},
		{"[{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}]", -32600},
		{"7", -32600},
		{"null", -32600},
		{"{}", -32600},
		{"{\"jsonrpc\":\"2.0\",\"id\":null,\"method\":\"ping\"}", -32600},
		{"{\"jsonrpc\":\"2.0\",\"id\":1.5,\"method\":\"ping\"}", -32600},
		{"{\"jsonrpc\":\"2.0\",\"id\":{},\"method\":\"ping\"}", -32600},
		{"{\"jsonrpc\":\"1.0\",\"id\":1,\"method\":\"ping\"}", -32600},
		{"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":7}", -32600},
		{"{\"jsonrpc\":\"2.0\",\"id\":1}", -32600},
		{"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\",\"params\":[]}", -32602},
		{"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"no/such\"}", -32601},
		{"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"server/discover\"}", -32601},
		/*
		 * the error message quotes the first bytes of the name; the cut falls within a character of
		 * two bytes, which must not be divided
		 */
		{"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"x" UMLAUTS UMLAUTS "\"}", -32601},
		{"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":{\"name\":\"x" UMLAUTS
				UMLAUTS "\"}}",
			-32602},
		{"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\"}", -32602},
		{"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":{\"name\":\"rm\"}}",
			-32602},
		{"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/"
		 "call\",\"params\":{\"name\":\"brief\",\"arguments\":3}}",
			-32602},
	};
	struct client client = start();

	(void)state;
	for (size_t i = 0; i < sizeof(messages) / sizeof(messages[0]); i++)
		assert_error(&client, messages[i].line, messages[i].code);
	send_long_line(&client, 3000000); /* longer than the longest message that is accepted (1 MiB) */
	send_long_line(&client, 1000000); /* nested deeper than the JSON parser accepts */
	send_line(&client, "");
	send_line(&client, "{\"jsonrpc\":\"2.0\",\"method\":\"tools/call\",\"params\":{\"name\":\"rm\"}}");
	send_line(&client, "{\"jsonrpc\":\"2.0\",\"id\":4,\"result\":{}}");
	greet(&client); /* none of the three lines before got an answer, and the program still serves */
	assert_int_equal(finish(&client), 0);
}

static void a_client_that_goes_away_ends_the_server(void **state)
{
	struct client client = start();
	int status;

	(void)state;
	fclose(client.from);
	fputs("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}\n", client.to);
	fflush(client.to);
	assert_int_equal(waitpid(client.child, &status, 0), client.child);
	assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 1);
	fclose(client.to);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(versions_are_negotiated_and_tools_listed),
		cmocka_unit_test(a_run_is_opened_and_asked_about),
		cmocka_unit_test(two_runs_are_compared_and_the_oldest_of_many_is_closed),
		cmocka_unit_test(wrong_arguments_are_explained_and_end_nothing),
		cmocka_unit_test(hostile_messages_get_an_error_each),
		cmocka_unit_test(a_client_that_goes_away_ends_the_server),
	};

	signal(SIGPIPE, SIG_IGN);
	return kwhy_test_main(tests, NULL, NULL);
}
