/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Keys and values in pages: a table says which page of a pool has a slot's next positions. Page 0 is
 * nobody's: what writes for nobody writes there.
 */
#include "lab/decode/inside.h"

#include <stdlib.h>

uint32_t kwhy_decode_pages_each(const struct kwhy_decode_request *request, uint32_t room)
{
	return request->page ? (room + request->page - 1) / request->page : 0;
}

enum kwhy_status kwhy_decode_page_check(const struct kwhy_decode_request *request, struct kwhy_error *error)
{
	if (request->page % KWHY_DECODE_PAGE_STEP || request->page > KWHY_DECODE_PAGE_MOST)
		return kwhy_fail(error, KWHY_E_INPUT,
			"decode: pages of %u tokens; they have %d of them or a multiple, %d at most",
			request->page, KWHY_DECODE_PAGE_STEP, KWHY_DECODE_PAGE_MOST);
	if (request->page && request->launching == KWHY_DECODE_DEVICE)
		return kwhy_fail(error, KWHY_E_UNSUPPORTED,
			"all tokens in one launch are kept without pages; launch a graph instead");
	return KWHY_OK;
}

enum kwhy_status kwhy_decode_pages_open(struct kwhy_decode *decode, struct kwhy_error *error)
{
	size_t count = (size_t)decode->args.slots * decode->args.pages_each;

	if (!decode->request.page)
		return KWHY_OK;
	decode->pages = calloc(count, sizeof(*decode->pages));
	decode->free_pages = calloc(count, sizeof(*decode->free_pages));
	if (!decode->pages || !decode->free_pages)
		return kwhy_fail_memory(error, "the table of pages");
	return kwhy_decode_pages_give_all(decode, error);
}

void kwhy_decode_pages_close(struct kwhy_decode *decode)
{
	free(decode->pages);
	free(decode->free_pages);
}

/* In no order that memory would like. */
static void fill_pool(struct kwhy_decode *decode)
{
	uint32_t count = decode->args.slots * decode->args.pages_each;

	for (uint32_t i = 0; i < count; i++)
		decode->free_pages[i] = i + 1;
	for (uint32_t i = count; i > 1; i--) {
		uint32_t other = kwhy_decode_mix(i) % i, page = decode->free_pages[other];

		decode->free_pages[other] = decode->free_pages[i - 1];
		decode->free_pages[i - 1] = page;
	}
	decode->free_count = count;
	decode->pages_used = decode->pages_most = 0;
}

void kwhy_decode_pages_take_all(struct kwhy_decode *decode)
{
	uint32_t count = decode->args.slots * decode->args.pages_each;

	if (!decode->request.page)
		return;
	fill_pool(decode);
	for (uint32_t i = 0; i < count; i++)
		decode->pages[i] = 0;
	decode->is_table_new = true;
}

void kwhy_decode_pages_give(struct kwhy_decode *decode, uint32_t slot, uint32_t position)
{
	uint32_t *pages = decode->pages + (size_t)slot * decode->args.pages_each;

	for (uint32_t i = 0; decode->request.page && i <= position / decode->request.page; i++) {
		if (pages[i])
			continue;
		pages[i] = decode->free_pages[--decode->free_count];
		decode->pages_used++;
		if (decode->pages_used > decode->pages_most)
			decode->pages_most = decode->pages_used;
		decode->is_table_new = true;
	}
}

void kwhy_decode_pages_take(struct kwhy_decode *decode, uint32_t slot)
{
	uint32_t *pages = decode->pages + (size_t)slot * decode->args.pages_each;

	for (uint32_t i = 0; i < decode->args.pages_each; i++) {
		if (!pages[i])
			continue;
		decode->free_pages[decode->free_count++] = pages[i];
		decode->pages_used--;
		pages[i] = 0;
		decode->is_table_new = true;
	}
}

enum kwhy_status kwhy_decode_pages_send(struct kwhy_decode *decode, struct kwhy_error *error)
{
	size_t bytes = (size_t)decode->args.slots * decode->args.pages_each * sizeof(*decode->pages);

	if (!decode->is_table_new)
		return KWHY_OK;
	decode->is_table_new = false;
	return kwhy_decode_copy(decode, decode->args.pages, kwhy_gpu_address(decode->pages), bytes, error);
}

enum kwhy_status kwhy_decode_pages_give_all(struct kwhy_decode *decode, struct kwhy_error *error)
{
	kwhy_decode_pages_take_all(decode);
	for (uint32_t slot = 0; decode->request.page && slot < decode->args.slots; slot++)
		kwhy_decode_pages_give(decode, slot, decode->args.pages_each * decode->request.page - 1);
	return kwhy_decode_pages_send(decode, error);
}
