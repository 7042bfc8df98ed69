/* SPDX-License-Identifier: Apache-2.0 */
#include "import/json_bridge.h"

#include <new>
#include <simdjson.h>

struct kwhy_json_index {
	simdjson::dom::parser parser;
};

static const uint32_t no_tokens[] = {0};

extern "C" struct kwhy_json_index *kwhy_json_index_new(void)
{
	return new (std::nothrow) kwhy_json_index;
}

extern "C" void kwhy_json_index_free(struct kwhy_json_index *index)
{
	delete index;
}

/* Converts simdjson's error codes. Codes that are not listed are treated as failed allocations. */
static enum kwhy_json_index_result result_of(simdjson::error_code code)
{
	switch (code) {
	case simdjson::SUCCESS:
	case simdjson::EMPTY:
		return KWHY_JSON_INDEXED;
	case simdjson::UNCLOSED_STRING:
		return KWHY_JSON_OPEN_STRING;
	case simdjson::UNESCAPED_CHARS:
		return KWHY_JSON_CONTROL;
	case simdjson::UTF8_ERROR:
		return KWHY_JSON_UTF8;
	default:
		return KWHY_JSON_NO_MEMORY;
	}
}

extern "C" enum kwhy_json_index_result kwhy_json_index_make(struct kwhy_json_index *index, const char *text,
	size_t length, const uint32_t **out_tokens, size_t *out_count)
{
	simdjson::error_code code = simdjson::EMPTY;

	*out_tokens = no_tokens;
	*out_count = 0;
	if (length > index->parser.capacity() && index->parser.allocate(length))
		return KWHY_JSON_NO_MEMORY;
	if (length > 0)
		code = index->parser.implementation->stage1(
			reinterpret_cast<const uint8_t *>(text), length, simdjson::stage1_mode::regular);
	if (code == simdjson::SUCCESS) {
		*out_tokens = index->parser.implementation->structural_indexes.get();
		*out_count = index->parser.implementation->n_structural_indexes;
	}
	return result_of(code);
}
