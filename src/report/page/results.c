/* SPDX-License-Identifier: Apache-2.0 */
#include "report/page/page.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

/*
 * Results that have a page: the value of their member "schema", the name of their array of rows, and the id
 * of the page's block that shows them.
 */
static const struct {
	const char *schema, *rows, *block;
} pages[] = {
	{"kwhy.ops/1", "operations", "kwhy-ops"},
	{"kwhy.twin/1", "rows", "kwhy-lab"},
	{"kwhy.flow/1", "rows", "kwhy-lab"},
	{"kwhy.train/1", "rows", "kwhy-lab"},
	{"kwhy.decode/1", "rows", "kwhy-lab"},
};

enum { PAGE_COUNT = sizeof(pages) / sizeof(pages[0]) };

/*
 * Index in `pages` for a document; PAGE_COUNT: its schema has no page, or its array of rows is missing or
 * empty.
 */
static size_t find_page(const json_t *document)
{
	const char *schema = json_string_value(json_object_get(document, "schema"));
	size_t i = 0;

	while (i < PAGE_COUNT && (!schema || strcmp(schema, pages[i].schema) != 0))
		i++;
	if (i < PAGE_COUNT && !json_array_size(json_object_get(document, pages[i].rows)))
		return PAGE_COUNT;
	return i;
}

enum kwhy_status kwhy_report_results_page(
	const char *path, const char *json, size_t length, struct kwhy_text *out, struct kwhy_error *error)
{
	json_error_t where;
	json_t *root = json_loadb(json, length, 0, &where);
	const json_t *part = json_object_get(
		root, "operations"); /* a machine profile has the results of kwhy bench ops as this member */
	const json_t *document = json_is_object(part) ? part : root;
	const size_t page = find_page(document);
	char *text = page < PAGE_COUNT ? json_dumps(document, JSON_COMPACT) : NULL;
	enum kwhy_status status;

	if (!root)
		status = kwhy_fail(error, KWHY_E_INPUT, "%.300s, line %d: %.100s; give a file that is whole",
			path, where.line, where.text);
	else if (page == PAGE_COUNT)
		status = kwhy_fail(error, KWHY_E_INPUT,
			"%.300s holds no rows to show; write it again with --json of kwhy bench ops or "
			"kwhy-lab",
			path);
	else if (!text)
		status = kwhy_fail_memory(error, "the page");
	else
		status = kwhy_report_block_page(pages[page].block, text, out, error);
	free(text);
	json_decref(root);
	return status;
}
