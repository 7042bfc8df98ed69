/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/mcp/answers.h"

#include "report/compare.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

enum { EVIDENCE_ROWS = 3, TEXT_BYTES = 720 };

static json_t *joules(int64_t energy_nj)
{
	return energy_nj == KWHY_ANALYSE_UNKNOWN ? json_null() : json_real((double)energy_nj * 1e-9);
}

static json_t *seconds(int64_t time_ns)
{
	return time_ns == KWHY_ANALYSE_UNKNOWN ? json_null() : json_real((double)time_ns * 1e-9);
}

json_t *kwhy_mcp_text(const char *text)
{
	char clean[3 * TEXT_BYTES + 4];
	size_t length;

	if (!text)
		return json_null();
	length = strnlen(text, TEXT_BYTES);
	while (length && text[length] && ((unsigned char)text[length] & 0xC0) == 0x80)
		length--; /* text[length] is inside a UTF-8 character: the text is cut before that character
			   */
	const char *more = text[length] ? "..." : "";
	const size_t bytes = kwhy_text_sanitize(clean, text, length);

	memcpy(clean + bytes, more, strlen(more) + 1);
	return json_string(clean);
}

/*
 * Appends a row to a list if the list has fewer than `limit` rows; otherwise adds 1 to *left_out. The
 * reference to the row is consumed in any case. False: out of memory, also if the row is NULL.
 */
static bool add_row(json_t *list, json_t *row, size_t limit, json_int_t *left_out)
{
	if (!row)
		return false;
	if (json_array_size(list) < limit)
		return json_array_append_new(list, row) == 0;
	json_decref(row);
	++*left_out;
	return true;
}

/*
 * Makes an object with the list under `key` and, under "left_out", the number of rows that were left out of
 * the list. If `complete` is false, which says that memory was too short for a row, returns NULL. The
 * reference to the list is consumed in any case.
 */
static json_t *object_of(const char *key, json_t *list, bool complete, json_int_t left_out)
{
	if (complete)
		return json_pack("{s:o, s:I}", key, list, "left_out", left_out);
	json_decref(list);
	return NULL;
}

static json_t *device_object(const struct kwhy_analysis *analysis, size_t number)
{
	struct kwhy_device_info info = {.size = sizeof(info)};

	if (kwhy_analysis_device(analysis, number, &info))
		return NULL;
	return json_pack("{s:I, s:o, s:o, s:o, s:o, s:o, s:o}", "device", (json_int_t)number, "name",
		kwhy_mcp_text(info.name), "rank", info.rank < 0 ? json_null() : json_integer(info.rank),
		"seconds", seconds(info.span_ns), "busy_seconds", seconds(info.busy_ns), "energy_j",
		joules(info.energy_nj), "recording_metered_j", joules(info.metered_nj));
}

json_t *kwhy_mcp_run_object(const struct kwhy_analysis *analysis)
{
	struct kwhy_run_info info = {.size = sizeof(info)};
	json_t *devices = json_array();
	json_int_t left_out = 0;
	bool complete = devices && kwhy_analysis_run(analysis, &info) == KWHY_ANALYSE_OK;

	for (size_t d = 0; complete && d < kwhy_analysis_device_count(analysis); d++)
		complete = add_row(devices, device_object(analysis, d), 16, &left_out);
	if (!complete) {
		json_decref(devices);
		return NULL;
	}
	return json_pack("{s:o, s:o, s:o, s:o, s:b, s:I, s:o, s:I}", "seconds", seconds(info.time_ns),
		"energy_j", joules(info.energy_nj), "energy_low_j", joules(info.low_nj), "energy_high_j",
		joules(info.high_nj), "modelled", info.is_modelled, "findings",
		(json_int_t)kwhy_analysis_finding_count(analysis), "devices", devices, "devices_left_out",
		left_out);
}

static json_t *evidence_list(const struct kwhy_analysis *analysis, size_t finding, size_t count)
{
	json_t *list = json_array();

	for (size_t i = 0; list && i < count && i < EVIDENCE_ROWS; i++) {
		struct kwhy_evidence_info info = {.size = sizeof(info)};

		if (kwhy_analysis_evidence(analysis, finding, i, &info) == KWHY_ANALYSE_OK)
			json_array_append_new(list, kwhy_mcp_text(info.what));
	}
	return list;
}

static const char *bound_name(int32_t bound)
{
	return bound == KWHY_ANALYSE_EXPECTED ? "expected"
		: bound == KWHY_ANALYSE_UPPER ? "at most"
					      : "at least";
}

static json_t *finding_object(
	const struct kwhy_analysis *analysis, size_t number, const struct kwhy_finding_info *info)
{
	return json_pack(
		"{s:s, s:o, s:o, s:I, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:{s:o, s:o, s:s, s:b, s:o}, s:o}",
		"id", info->id, "title", kwhy_mcp_text(info->title), "device",
		info->device < 0 ? json_null() : json_integer(info->device), "count", (json_int_t)info->count,
		"seconds", seconds(info->time_ns), "energy_j", joules(info->energy_nj), "in",
		kwhy_mcp_text(info->place), "file", kwhy_mcp_text(info->file), "line",
		info->line > 0 ? json_integer(info->line) : json_null(), "cure", kwhy_mcp_text(info->cure),
		"change", kwhy_mcp_text(info->change), "saves", "seconds", seconds(info->saved_ns),
		"energy_j", joules(info->saved_nj), "bound", bound_name(info->bound), "frees_device",
		info->frees_device, "assumption", kwhy_mcp_text(info->assumption), "evidence",
		evidence_list(analysis, number, info->evidence_count));
}

json_t *kwhy_mcp_findings(const struct kwhy_analysis *analysis, const struct kwhy_mcp_question *question)
{
	json_t *list = json_array();
	json_int_t left_out = 0;
	bool complete = list != NULL;

	for (size_t i = 0; complete && i < kwhy_analysis_finding_count(analysis); i++) {
		struct kwhy_finding_info info = {.size = sizeof(info)};

		if (kwhy_analysis_finding(analysis, i, &info) ||
			(question->id && strcmp(question->id, info.id) != 0))
			continue;
		if (json_array_size(list) < question->limit)
			complete = add_row(
				list, finding_object(analysis, i, &info), question->limit, &left_out);
		else
			left_out++;
	}
	return object_of("findings", list, complete, left_out);
}

static json_t *account_object(size_t device, const struct kwhy_account_info *info)
{
	return json_pack("{s:I, s:s, s:o, s:s, s:I, s:o, s:o, s:o, s:o, s:o}", "device", (json_int_t)device,
		"category", info->category, "name", kwhy_mcp_text(info->name), "basis", info->basis, "count",
		(json_int_t)info->count, "seconds", seconds(info->time_ns), "energy_j",
		joules(info->gross_nj), "energy_low_j", joules(info->low_nj), "energy_high_j",
		joules(info->high_nj), "net_j", joules(info->net_nj));
}

static bool is_asked_for(const struct kwhy_mcp_question *question, const struct kwhy_account_info *info)
{
	return (!question->category || strcmp(question->category, info->category) == 0) &&
		(!question->name || strstr(info->name, question->name));
}

json_t *kwhy_mcp_accounts(const struct kwhy_analysis *analysis, const struct kwhy_mcp_question *question)
{
	json_t *list = json_array();
	json_int_t left_out = 0;
	bool complete = list != NULL;

	for (size_t d = 0; d < kwhy_analysis_device_count(analysis); d++) {
		if (question->device >= 0 && (size_t)question->device != d)
			continue;
		for (size_t i = 0; complete && i < kwhy_analysis_account_count(analysis, d); i++) {
			struct kwhy_account_info info = {.size = sizeof(info)};

			if (kwhy_analysis_account(analysis, d, i, &info) || !is_asked_for(question, &info))
				continue;
			if (json_array_size(list) < question->limit)
				complete = add_row(
					list, account_object(d, &info), question->limit, &left_out);
			else
				left_out++;
		}
	}
	return object_of("accounts", list, complete, left_out);
}

static json_t *change_object(const struct kwhy_plan_change_info *info)
{
	return json_pack("{s:s, s:o, s:s, s:s, s:I, s:o, s:o, s:s, s:o}", "change", info->id, "title",
		kwhy_mcp_text(info->title), "effort", info->effort, "risk", info->risk, "places",
		(json_int_t)info->places, "saved_seconds", seconds(info->saved_ns), "saved_j",
		joules(info->saved_nj), "bound", bound_name(info->bound), "assumption",
		kwhy_mcp_text(info->assumption));
}

static json_t *changes_list(const struct kwhy_plan *plan, size_t count)
{
	json_t *list = json_array();

	for (size_t i = 0; list && i < count; i++) {
		struct kwhy_plan_change_info info = {.size = sizeof(info)};

		if (kwhy_plan_change(plan, i, &info) == KWHY_ANALYSE_OK)
			json_array_append_new(list, change_object(&info));
	}
	return list;
}

static json_t *refused_list(const struct kwhy_plan *plan, size_t count, size_t limit)
{
	json_t *list = json_array();

	for (size_t i = 0; list && i < count && i < limit; i++) {
		struct kwhy_plan_refusal_info info = {.size = sizeof(info)};

		if (kwhy_plan_refusal(plan, i, &info) == KWHY_ANALYSE_OK)
			json_array_append_new(list,
				json_pack("{s:s, s:o}", "change", info.id, "reason",
					kwhy_mcp_text(info.reason)));
	}
	return list;
}

json_t *kwhy_mcp_plan(const struct kwhy_plan *plan, size_t limit)
{
	struct kwhy_plan_info info = {.size = sizeof(info)};

	if (kwhy_plan_info(plan, &info))
		return NULL;
	return json_pack("{s:{s:o, s:o}, s:{s:o, s:o, s:o, s:o, s:o, s:o, s:s}, s:o, s:o}", "before",
		"seconds", seconds(info.before_ns), "energy_j", joules(info.before_nj), "after", "seconds",
		seconds(info.after_ns), "seconds_low", seconds(info.low_ns), "seconds_high",
		seconds(info.high_ns), "energy_j", joules(info.after_nj), "energy_low_j", joules(info.low_nj),
		"energy_high_j", joules(info.high_nj), "bound", bound_name(info.bound), "changes",
		changes_list(plan, info.change_count), "refused",
		refused_list(plan, info.refused_count, limit));
}

/*
 * Shortens each list in an object to `limit` rows, and adds a member that says by how many rows each list was
 * shortened.
 */
static enum kwhy_status shorten(json_t *object, size_t limit, struct kwhy_error *error)
{
	json_t *cut = json_object(), *value;
	const char *key;
	int failed = !cut;

	json_object_foreach(object, key, value)
	{
		const size_t count = json_array_size(value);

		if (count <= limit)
			continue;
		failed |= json_object_set_new(cut, key, json_integer((json_int_t)(count - limit)));
		while (json_array_size(value) > limit)
			json_array_remove(value, limit);
	}
	failed |= json_object_set_new(object, "left_out", cut);
	return failed ? kwhy_fail_memory(error, "a comparison") : KWHY_OK;
}

static enum kwhy_status compare_sides(const struct kwhy_side *a, const struct kwhy_side *b, size_t limit,
	json_t **out, struct kwhy_error *error)
{
	const struct kwhy_conditions none = {.count = 0};
	struct kwhy_comparison comparison = {.a = NULL};
	struct kwhy_text text = {0};
	json_t *object = NULL;
	enum kwhy_status status = kwhy_compare(&comparison, a, b, error);

	if (status)
		return status;
	status = kwhy_compare_json(&comparison, &none, &text, error);
	if (!status && !(object = json_loadb(text.data, text.length, 0, NULL)))
		status = kwhy_fail_memory(error, "a comparison");
	if (!status)
		status = shorten(object, limit, error);
	if (status)
		json_decref(object);
	else
		*out = object;
	kwhy_text_done(&text);
	kwhy_comparison_done(&comparison);
	return status;
}

enum kwhy_status kwhy_mcp_comparison(const struct kwhy_analysis *a, const struct kwhy_analysis *b,
	size_t limit, json_t **out, struct kwhy_error *error)
{
	struct kwhy_side sides[2];
	enum kwhy_status status = kwhy_side_of_report(&sides[0], "a", &a->report, error);

	if (status)
		return status;
	status = kwhy_side_of_report(&sides[1], "b", &b->report, error);
	if (!status) {
		status = compare_sides(&sides[0], &sides[1], limit, out, error);
		kwhy_side_done(&sides[1]);
	}
	kwhy_side_done(&sides[0]);
	return status;
}
