/* SPDX-License-Identifier: Apache-2.0 */
#include "base/quantity.h"
#include "cli/command.h"
#include "cli/output.h"
#include "recording/block_reader.h"
#include "recording/bundle.h"
#include "report/json/writer.h"

#include <inttypes.h>
#include <stddef.h>
#include <string.h>

/* Largest number of damaged parts of files that the text lists; all of them are counted. */
enum { PLACES_SHOWN = 20 };

struct verify_options {
	bool json;
};

/* State and counts of a verification. */
struct verifying {
	struct kwhy_text text;
	/* writes into `text`, first the list of damaged parts in the order in which they were found */
	struct kwhy_json json;
	bool is_json;
	uint64_t records[KWHY_WIRE_KIND_COUNT];
	uint64_t blocks, bytes, newer_blocks, damaged_bytes, damages, cuts;
};

static void add_damage(struct verifying *all, const char *path, const struct kwhy_block *block)
{
	all->damaged_bytes += block->bytes;
	all->cuts += block->is_cut;
	if (all->damages++ >= PLACES_SHOWN)
		return;
	if (all->is_json) {
		kwhy_json_row(&all->json, NULL);
		kwhy_json_string(&all->json, "path", path);
		kwhy_json_count(&all->json, "byte", block->offset);
		kwhy_json_count(&all->json, "bytes", block->bytes);
		kwhy_json_string(&all->json, "why", block->damage);
		kwhy_json_object_end(&all->json);
	} else
		kwhy_text_addf(&all->text, "%s: byte %" PRIu64 ": %s (%" PRIu64 " bytes)\n", path,
			block->offset, block->damage, block->bytes);
}

static void add_block(struct verifying *all, const struct kwhy_block *block)
{
	all->blocks++;
	if (block->kind >= KWHY_WIRE_KIND_COUNT) {
		all->newer_blocks++;
		return;
	}
	all->records[block->kind] += block->record_count;
}

static enum kwhy_status verify_file(struct verifying *all, const char *path, struct kwhy_error *error)
{
	struct kwhy_block_reader reader;
	struct kwhy_block block;
	enum kwhy_status status = kwhy_block_reader_open(&reader, path, error);
	int item;

	if (status)
		return status;
	while ((item = kwhy_block_reader_next(&reader, &block, error)) == 0) {
		all->bytes += block.bytes;
		if (block.damage)
			add_damage(all, path, &block);
		else
			add_block(all, &block);
	}
	kwhy_block_reader_close(&reader);
	return item < 0 ? error->status : KWHY_OK;
}

/*
 * Number of recorded processes minus number of final records (KWHY_WIRE_END), at least 0: the number of
 * processes that were killed or are still running.
 */
static uint64_t unended(const struct verifying *all)
{
	const uint64_t *records = all->records;

	return records[KWHY_WIRE_PROCESS] > records[KWHY_WIRE_END]
		? records[KWHY_WIRE_PROCESS] - records[KWHY_WIRE_END]
		: 0;
}

static void begin_json(struct verifying *all, const char *path)
{
	kwhy_json_init(&all->json, &all->text);
	kwhy_json_object(&all->json, NULL);
	kwhy_json_string(&all->json, "schema", "kwhy.verify/1");
	kwhy_json_string(&all->json, "path", path);
	kwhy_json_array(&all->json, "places");
}

static void end_json(struct verifying *all, size_t file_count)
{
	struct kwhy_json *json = &all->json;

	kwhy_json_array_end(json);
	kwhy_json_bool(json, "is_whole", !all->damages && !unended(all));
	kwhy_json_bool(json, "is_cut_short", (all->damages || unended(all)) && all->damages == all->cuts);
	kwhy_json_count(json, "unended_processes", unended(all));
	kwhy_json_count(json, "damaged_places", all->damages);
	kwhy_json_count(json, "damaged_bytes", all->damaged_bytes);
	kwhy_json_count(json, "newer_blocks", all->newer_blocks);
	kwhy_json_count(json, "files", file_count);
	kwhy_json_count(json, "blocks", all->blocks);
	kwhy_json_count(json, "bytes", all->bytes);
	kwhy_json_object(json, "records");
	for (unsigned kind = 0; kind < KWHY_WIRE_KIND_COUNT; kind++)
		if (all->records[kind])
			kwhy_json_count(json, kwhy_wire_kind_name(kind), all->records[kind]);
	kwhy_json_object_end(json);
	kwhy_json_object_end(json);
}

static void summarize(struct verifying *all, const char *path, size_t file_count)
{
	char number[KWHY_QUANTITY_BYTES];

	kwhy_text_addf(&all->text, "%s: %zu %s, %s blocks, ", path, file_count,
		file_count == 1 ? "file" : "files", kwhy_quantity_count(number, all->blocks));
	kwhy_text_addf(&all->text, "%s\n", kwhy_quantity_bytes(number, all->bytes));
	for (unsigned kind = 0; kind < KWHY_WIRE_KIND_COUNT; kind++)
		if (all->records[kind])
			kwhy_text_addf(&all->text, "  %-10s %15s\n", kwhy_wire_kind_name(kind),
				kwhy_quantity_count(number, all->records[kind]));
	if (all->newer_blocks)
		kwhy_text_addf(&all->text, "  %" PRIu64 " blocks of kinds that a newer kwhy wrote\n",
			all->newer_blocks);
	if (all->damages > PLACES_SHOWN)
		kwhy_text_addf(&all->text, "  ... and %" PRIu64 " more damaged places\n",
			all->damages - PLACES_SHOWN);
	if (all->damages > all->cuts)
		kwhy_text_add(&all->text, "damaged: all but these places is intact\n");
	else if (all->cuts)
		kwhy_text_add(&all->text, "cut short: all before the cut is intact\n");
	else if (unended(all))
		kwhy_text_addf(&all->text,
			"cut short: %" PRIu64 " of %" PRIu64 " processes did not end in order\n",
			unended(all), all->records[KWHY_WIRE_PROCESS]);
	else
		kwhy_text_add(&all->text, "whole\n");
}

static enum kwhy_status verify(struct verifying *all, const char *path, struct kwhy_error *error)
{
	struct kwhy_bundle bundle;
	enum kwhy_status status = kwhy_bundle_open(&bundle, path, error);

	if (status)
		return status;
	if (all->is_json)
		begin_json(all, path);
	for (size_t i = 0; !status && i < bundle.count; i++)
		status = verify_file(all, bundle.paths[i], error);
	if (!status && !all->blocks)
		status = kwhy_fail(error, KWHY_E_INPUT,
			"'%.300s' holds no block of a recording; name what kwhy record wrote", path);
	if (!status && all->is_json)
		end_json(all, bundle.count);
	else if (!status)
		summarize(all, path, bundle.count);
	kwhy_bundle_done(&bundle);
	return status;
}

static enum kwhy_status run(const struct kwhy_invocation *invocation, struct kwhy_error *error)
{
	const struct verify_options *given = invocation->options;
	struct verifying all = {.is_json = given->json};
	enum kwhy_status status;

	if (invocation->operands.count != 1)
		return kwhy_fail(error, KWHY_E_USAGE, "verify takes one recording; see kwhy verify --help");
	status = verify(&all, invocation->operands.items[0], error);
	if (!status)
		status = kwhy_text_check(&all.text, error);
	if (!status)
		status = kwhy_output_write(NULL, &all.text, error);
	if (!status && (all.damages || unended(&all)))
		*invocation->exit = KWHY_EXIT_FAILED;
	kwhy_text_done(&all.text);
	return status;
}

static const struct kwhy_option options[] = {
	{"json", 0, NULL, "write JSON", KWHY_OPTION_FLAG, offsetof(struct verify_options, json)},
	KWHY_OPTION_ROW_HELP,
	KWHY_OPTION_ROW_END,
};

const struct kwhy_command kwhy_command_verify = {
	.name = "verify",
	.operands = "RECORDING",
	.summary = "Check a recording: which parts are intact, which are damaged and where.",
	.details = "Exit status 0: whole; 1: cut short or damaged (kwhy report reads a recording up to its "
		   "cut, and a damaged one with --partial).",
	.options = options,
	.options_bytes = sizeof(struct verify_options),
	.run = run,
};
