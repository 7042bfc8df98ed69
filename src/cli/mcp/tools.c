/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/mcp/tools.h"

#include "cli/mcp/answers.h"
#include "cli/values.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { STRINGS_MAX = 1024, LIMIT_MAX = 100, LIMIT_DEFAULT = 10 };

/*
 * One call of a tool. All names in `arguments` are names of arguments that the tool takes; the values are not
 * yet checked.
 */
struct call {
	struct kwhy_mcp_runs *runs;
	const json_t *arguments;
	json_t **out;
	struct kwhy_error *error;
};

#define RUN "\"run\":{\"type\":\"integer\",\"description\":\"number that open gave; default: the last\"}"
#define LIMIT                                                                                         \
	"\"limit\":{\"type\":\"integer\",\"minimum\":1,\"maximum\":100,\"description\":\"most rows; " \
	"default 10\"}"
#define STRINGS "{\"type\":\"array\",\"items\":{\"type\":\"string\"}}"

static enum kwhy_status open_run(const struct call *call);
static enum kwhy_status brief(const struct call *call);
static enum kwhy_status findings(const struct call *call);
static enum kwhy_status account(const struct call *call);
static enum kwhy_status whatif(const struct call *call);
static enum kwhy_status compare(const struct call *call);

static const struct tool {
	const char *name, *title, *description;
	const char *properties, *required; /* parts of the tool's JSON schema */
	enum kwhy_status (*call)(const struct call *call);
} tools[] = {
	{"open", "Open a run",
		"Reads the recording or the traces of one run (several paths are its ranks) and attributes "
		"its time and energy. Returns the number of the run for the other tools. Formats: .kwhy, "
		"Kineto and Chrome JSON, xplane, Perfetto, Nsight Systems sqlite, rocprofv3, CSV.",
		"\"paths\":" STRINGS ",\"power\":" STRINGS
		",\"assume_power\":{\"type\":\"string\",\"description\":\"watts where there is no meter: "
		"150, or compute=300,idle=100\"},\"steps\":{\"type\":\"string\",\"description\":\"name of "
		"the ranges that are "
		"steps\"},\"work\":{\"type\":\"array\",\"items\":{\"type\":\"string\"},\"description\":"
		"\"work done: tokens=4096\"}",
		"\"paths\"", open_run},
	{"brief", "What, where, do",
		"What the run cost, where that went, what to do with file and line, and what is not known, "
		"in 4 kB.",
		RUN, "", brief},
	{"findings", "Findings",
		"The waste that was found, the best first: evidence, source line, cure, what the cure saves, "
		"and the change that whatif can project.",
		RUN ",\"id\":{\"type\":\"string\",\"description\":\"only this kind: launch-bound\"}," LIMIT,
		"", findings},
	{"account", "Accounts",
		"Rows of the ledger: energy and time of each kernel, kind of copy and reason to be idle, the "
		"largest first.",
		RUN ",\"category\":{\"type\":\"string\",\"description\":\"compute, collective, copy, memset, "
		    "sync, launch, alloc, host, ...\"},\"name\":{\"type\":\"string\",\"description\":\"only "
		    "names with this text\"},\"device\":{\"type\":\"integer\",\"minimum\":0}," LIMIT,
		"", account},
	{"whatif", "Project changes",
		"Projects time and energy of the run with changes to the program, from the recording alone. "
		"Without changes it plans: the changes that save most, one after another.",
		RUN
		",\"changes\":{\"type\":\"array\",\"items\":{\"type\":\"string\"},\"description\":\"names of "
		"changes as findings give them, with a number where one takes it: graph, batch=2\"}," LIMIT,
		"", whatif},
	{"compare", "Compare two runs", "What differs from run a to run b: figures, accounts, findings.",
		"\"a\":{\"type\":\"integer\"},\"b\":{\"type\":\"integer\"}," LIMIT, "\"a\",\"b\"", compare},
};

enum { TOOL_COUNT = sizeof(tools) / sizeof(tools[0]) };

static const struct tool *find_tool(const char *name)
{
	for (size_t i = 0; i < TOOL_COUNT; i++)
		if (strcmp(tools[i].name, name) == 0)
			return &tools[i];
	return NULL;
}

bool kwhy_mcp_tool_is_one(const char *name)
{
	return find_tool(name) != NULL;
}

static json_t *schema_of(const struct tool *tool)
{
	char *text;
	json_t *schema;

	if (asprintf(&text,
		    "{\"type\":\"object\",\"properties\":{%s},\"required\":[%s],\"additionalProperties\":"
		    "false}",
		    tool->properties, tool->required) < 0)
		return NULL;
	schema = json_loads(text, 0, NULL);
	free(text);
	return schema;
}

json_t *kwhy_mcp_tools_list(void)
{
	json_t *list = json_array();

	for (size_t i = 0; list && i < TOOL_COUNT; i++)
		if (json_array_append_new(list,
			    json_pack("{s:s, s:s, s:s, s:o, s:{s:b, s:b}}", "name", tools[i].name, "title",
				    tools[i].title, "description", tools[i].description, "inputSchema",
				    schema_of(&tools[i]), "annotations", "readOnlyHint", 1, "openWorldHint",
				    0))) {
			json_decref(list);
			return NULL;
		}
	return list ? json_pack("{s:o}", "tools", list) : NULL;
}

static enum kwhy_status wrong(const struct call *call, const char *name, const char *what)
{
	return kwhy_fail(call->error, KWHY_E_USAGE, "%s must be %s", name, what);
}

/*
 * Fails with KWHY_E_USAGE if an argument has a name that the tool does not take, so that spelling mistakes
 * are reported.
 */
static enum kwhy_status check_names(const struct tool *tool, const struct call *call)
{
	json_t *schema = schema_of(tool);
	const json_t *known = json_object_get(schema, "properties");
	enum kwhy_status status = schema ? KWHY_OK : kwhy_fail_memory(call->error, "a schema");
	const char *key;
	json_t *value;

	json_object_foreach((json_t *)call->arguments, key, value) if (!status &&
		!json_object_get(known, key)) status = kwhy_fail(call->error, KWHY_E_USAGE,
		"%s takes no argument '%.60s'; tools/list has those that it takes", tool->name, key);
	json_decref(schema);
	return status;
}

static enum kwhy_status take_text(const struct call *call, const char *name, const char **out)
{
	const json_t *value = json_object_get(call->arguments, name);

	*out = json_string_value(value);
	return value && !*out ? wrong(call, name, "a string") : KWHY_OK;
}

static enum kwhy_status take_number(
	const struct call *call, const char *name, json_int_t otherwise, json_int_t *out)
{
	const json_t *value = json_object_get(call->arguments, name);

	*out = value ? json_integer_value(value) : otherwise;
	return value && (!json_is_integer(value) || *out < 0) ? wrong(call, name, "an integer of at least 0")
							      : KWHY_OK;
}

static enum kwhy_status take_limit(const struct call *call, size_t *out)
{
	json_int_t limit;
	enum kwhy_status status = take_number(call, "limit", LIMIT_DEFAULT, &limit);

	if (!status && (limit < 1 || limit > LIMIT_MAX))
		return wrong(call, "limit", "an integer from 1 to 100");
	*out = status ? 0 : (size_t)limit;
	return status;
}

/*
 * Reads the argument `name`, a list of strings, into a new array *out, which the caller frees. The strings
 * themselves belong to call->arguments.
 */
static enum kwhy_status take_texts(
	const struct call *call, const char *name, const char ***out, size_t *out_count)
{
	const json_t *list = json_object_get(call->arguments, name);
	const size_t count = json_array_size(list);
	const char **texts;

	*out = NULL;
	*out_count = 0;
	if (!list)
		return KWHY_OK;
	if (!json_is_array(list) || count > STRINGS_MAX)
		return wrong(call, name, "a list of at most 1,024 strings");
	texts = calloc(count + 1, sizeof(*texts));
	if (!texts)
		return kwhy_fail_memory(call->error, "arguments");
	for (size_t i = 0; i < count; i++)
		if (!(texts[i] = json_string_value(json_array_get(list, i)))) {
			free(texts);
			return wrong(call, name, "a list of strings");
		}
	*out = texts;
	*out_count = count;
	return KWHY_OK;
}

static enum kwhy_status find_run(
	const struct call *call, const char *name, json_int_t otherwise, struct kwhy_analysis **out)
{
	json_int_t id;
	enum kwhy_status status = take_number(call, name, otherwise, &id);

	if (status)
		return status;
	for (size_t i = 0; id && i < KWHY_MCP_RUNS_MAX; i++)
		if (call->runs->items[i].id == id) {
			*out = call->runs->items[i].analysis;
			return KWHY_OK;
		}
	return kwhy_fail(call->error, KWHY_E_USAGE,
		"no run %" JSON_INTEGER_FORMAT " is open; open it first (the last %d stay open)", id,
		KWHY_MCP_RUNS_MAX);
}

static enum kwhy_status finish(const struct call *call, json_t *object)
{
	*call->out = object;
	return object ? KWHY_OK : kwhy_fail_memory(call->error, "an answer");
}

/*
 * Converts `code`, the result of a function of kwhy/analyse.h, to a status. Stores the status in call->error,
 * in which the function has already written its message, and returns it.
 */
static enum kwhy_status status_of(const struct call *call, int code)
{
	call->error->status = (enum kwhy_status)code;
	return call->error->status;
}

/* Memory for the arguments of the tool `open`. */
struct request {
	const char **paths, **power, **work_texts;
	size_t path_count, work_count;
	struct kwhy_analysis_work *work;
	char (*units)[KWHY_COUNT_NAME_BYTES];
	struct kwhy_analysis_options options;
};

static enum kwhy_status take_work(const struct call *call, struct request *request)
{
	enum kwhy_status status = take_texts(call, "work", &request->work_texts, &request->work_count);

	if (status)
		return status;
	request->work = calloc(request->work_count + 1, sizeof(*request->work));
	request->units = calloc(request->work_count + 1, sizeof(*request->units));
	if (!request->work || !request->units)
		return kwhy_fail_memory(call->error, "work");
	for (size_t i = 0; !status && i < request->work_count; i++) {
		request->work[i].unit = request->units[i];
		status = kwhy_value_work(
			request->work_texts[i], request->units[i], &request->work[i].count, call->error);
	}
	request->options.work = request->work;
	request->options.work_count = request->work_count;
	return status;
}

static enum kwhy_status take_request(const struct call *call, struct request *request)
{
	struct kwhy_analysis_options *options = &request->options;
	enum kwhy_status status = take_texts(call, "paths", &request->paths, &request->path_count);

	kwhy_analysis_options_init(options, sizeof(*options));
	if (!status && !request->path_count)
		status = wrong(call, "paths", "a list of at least one recording or trace");
	if (!status)
		status = take_texts(call, "power", &request->power, &options->power_path_count);
	if (!status)
		status = take_text(call, "assume_power", &options->assumed_power);
	if (!status)
		status = take_text(call, "steps", &options->step_name);
	if (!status)
		status = take_work(call, request);
	options->power_paths = request->power;
	return status;
}

/*
 * Stores a run in the next entry, and returns the new run's number. If all entries are used, the next one has
 * the run that was opened first, which is closed.
 */
static int64_t keep(struct kwhy_mcp_runs *runs, struct kwhy_analysis *analysis)
{
	struct kwhy_mcp_run *place = &runs->items[runs->last_id % KWHY_MCP_RUNS_MAX];

	kwhy_analysis_close(place->analysis);
	*place = (struct kwhy_mcp_run){++runs->last_id, analysis};
	return place->id;
}

static enum kwhy_status open_run(const struct call *call)
{
	struct request request = {.paths = NULL};
	struct kwhy_analysis *analysis = NULL;
	enum kwhy_status status = take_request(call, &request);
	json_t *object;

	if (!status)
		status = status_of(call,
			kwhy_analysis_open(request.paths, request.path_count, &request.options, &analysis,
				call->error->text, sizeof(call->error->text)));
	free(request.paths);
	free(request.power);
	free(request.work_texts);
	free(request.work);
	free(request.units);
	if (status)
		return status;
	object = kwhy_mcp_run_object(analysis);
	if (!object) {
		kwhy_analysis_close(analysis);
		return kwhy_fail_memory(call->error, "a run");
	}
	json_object_set_new(object, "run", json_integer(keep(call->runs, analysis)));
	return finish(call, object);
}

static enum kwhy_status brief(const struct call *call)
{
	struct kwhy_analysis *analysis;
	char *text;
	enum kwhy_status status = find_run(call, "run", call->runs->last_id, &analysis);

	if (!status)
		status = status_of(call,
			kwhy_analysis_brief(analysis, &text, call->error->text, sizeof(call->error->text)));
	if (status)
		return status;
	*call->out = json_loads(text, 0, NULL);
	kwhy_analysis_text_free(text);
	return finish(call, *call->out);
}

static enum kwhy_status ask(const struct call *call,
	json_t *(*answer)(const struct kwhy_analysis *, const struct kwhy_mcp_question *))
{
	struct kwhy_mcp_question question = {.id = NULL};
	struct kwhy_analysis *analysis;
	enum kwhy_status status = find_run(call, "run", call->runs->last_id, &analysis);

	if (!status)
		status = take_text(call, "id", &question.id);
	if (!status)
		status = take_text(call, "category", &question.category);
	if (!status)
		status = take_text(call, "name", &question.name);
	if (!status)
		status = take_number(call, "device", -1, &question.device);
	if (!status)
		status = take_limit(call, &question.limit);
	return status ? status : finish(call, answer(analysis, &question));
}

static enum kwhy_status findings(const struct call *call)
{
	return ask(call, kwhy_mcp_findings);
}

static enum kwhy_status account(const struct call *call)
{
	return ask(call, kwhy_mcp_accounts);
}

/*
 * Reads a change of the tool `whatif`, such as "graph" or "batch=2": its id and, if there is one, its number.
 * The id is written to `memory`, which has `bytes` bytes.
 */
static enum kwhy_status read_change(const struct call *call, const char *text, char *memory, size_t bytes,
	struct kwhy_analysis_change *out)
{
	const char *number = strchr(text, '=');
	char *end = NULL;
	unsigned long value = number ? strtoul(number + 1, &end, 10) : 0;

	if (number && (end == number + 1 || *end || number[1] == '-' || value > UINT32_MAX))
		return kwhy_fail(call->error, KWHY_E_USAGE,
			"changes: '%.60s' has no whole number after its '='", text);
	snprintf(memory, bytes, "%.*s", (int)strcspn(text, "="), text);
	*out = (struct kwhy_analysis_change){memory, (uint32_t)value};
	return KWHY_OK;
}

enum { CHANGES_MAX = 32, CHANGE_BYTES = 64 };

static enum kwhy_status project(
	const struct call *call, struct kwhy_analysis *analysis, struct kwhy_plan **out)
{
	struct kwhy_analysis_change changes[CHANGES_MAX];
	char memory[CHANGES_MAX][CHANGE_BYTES];
	const char **texts;
	size_t count;
	enum kwhy_status status = take_texts(call, "changes", &texts, &count);

	if (!status && count > CHANGES_MAX)
		status = wrong(call, "changes", "at most 32 changes");
	for (size_t i = 0; !status && i < count; i++)
		status = read_change(call, texts[i], memory[i], CHANGE_BYTES, &changes[i]);
	free(texts);
	if (status)
		return status;
	return status_of(call,
		count ? kwhy_analysis_project(
				analysis, changes, count, out, call->error->text, sizeof(call->error->text))
		      : kwhy_analysis_plan(analysis, 0, out, call->error->text, sizeof(call->error->text)));
}

static enum kwhy_status whatif(const struct call *call)
{
	struct kwhy_analysis *analysis;
	struct kwhy_plan *plan = NULL;
	size_t limit;
	enum kwhy_status status = find_run(call, "run", call->runs->last_id, &analysis);

	if (!status)
		status = take_limit(call, &limit);
	if (!status)
		status = project(call, analysis, &plan);
	if (status)
		return status;
	status = finish(call, kwhy_mcp_plan(plan, limit));
	kwhy_analysis_plan_free(plan);
	return status;
}

static enum kwhy_status compare(const struct call *call)
{
	struct kwhy_analysis *a, *b;
	size_t limit;
	enum kwhy_status status = find_run(call, "a", 0, &a);

	if (!status)
		status = find_run(call, "b", 0, &b);
	if (!status)
		status = take_limit(call, &limit);
	return status ? status : kwhy_mcp_comparison(a, b, limit, call->out, call->error);
}

enum kwhy_status kwhy_mcp_tool_call(struct kwhy_mcp_runs *runs, const char *name, const json_t *arguments,
	json_t **out, struct kwhy_error *error)
{
	const struct tool *tool = find_tool(name);
	const struct call call = {runs, arguments, out, error};
	enum kwhy_status status = check_names(tool, &call);

	return status ? status : tool->call(&call);
}

void kwhy_mcp_runs_done(struct kwhy_mcp_runs *runs)
{
	for (size_t i = 0; i < KWHY_MCP_RUNS_MAX; i++)
		kwhy_analysis_close(runs->items[i].analysis);
	*runs = (struct kwhy_mcp_runs){.last_id = 0};
}
