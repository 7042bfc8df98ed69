/* SPDX-License-Identifier: Apache-2.0 */
/* Puts and gets: cuts their data into pieces and adds these to slots. */
#include "base/c_locale.h"
#include "transfer/convert.h"
#include "transfer/engine.h"

#include <string.h>

enum { SMALL_BYTES = 4096 };

/* Source of a put: bytes to copy (KWHY_TRANSFER_F32), or floats to convert to `format` with `scale`. */
struct source {
	const char *from;
	int format;
	float scale;
};

static void fill(const struct source *source, char *to, uint64_t done_bytes, size_t bytes)
{
	const float *numbers = (const float *)(const void *)source->from;
	size_t number_bytes;

	if (source->format == KWHY_TRANSFER_F32) {
		memcpy(to, source->from + done_bytes, bytes);
		return;
	}
	number_bytes = kwhy_transfer_format_bytes(source->format);
	kwhy_transfer_convert_numbers(to, numbers + done_bytes / number_bytes, bytes / number_bytes,
		source->format, kwhy_transfer_inverse(source->format, source->scale));
}

static struct kwhy_transfer_call call_of(struct kwhy_transfer *transfer)
{
	return (struct kwhy_transfer_call){atomic_load(&transfer->cancels), KWHY_TRANSFER_NO_HOME};
}

/*
 * Returns how many of a piece's `bytes` the slot can take now; 0: the slot must be sent first. `beside`: the
 * piece's device address (kwhy_transfer_slot_reserve()).
 */
static size_t part_of(const struct kwhy_transfer *transfer, const struct kwhy_transfer_slot *slot,
	uint64_t beside, uint64_t bytes)
{
	uint64_t place = kwhy_transfer_slot_reserve(slot, beside), space;

	if (slot->count == transfer->options.pieces || place >= transfer->options.slot_bytes ||
		slot->bytes >= KWHY_TRANSFER_SLOT_ENOUGH_BYTES)
		return 0;
	space = transfer->options.slot_bytes - place;
	return kwhy_transfer_part_bytes(space, bytes);
}

/*
 * Gets the slot for the next part of a piece, and the number of bytes of that part that the slot can take. If
 * the open slot is full, it is sent. If that is a slot of gets, the open slot of puts is sent before it, so
 * that gets fetch what earlier puts wrote, as in a flush.
 */
static int slot_for(struct kwhy_transfer *transfer, struct kwhy_transfer_ring *ring,
	struct kwhy_transfer_call *call, uint64_t beside, uint64_t bytes, struct kwhy_transfer_slot **out,
	size_t *out_part)
{
	int code = kwhy_transfer_slot_open(transfer, ring, call, out);

	*out_part = code ? 0 : part_of(transfer, *out, beside, bytes);
	if (code || *out_part > 0)
		return code;
	if (ring->direction == KWHY_TRANSFER_GET)
		code = kwhy_transfer_send(transfer, &transfer->rings[KWHY_TRANSFER_PUT]);
	if (!code)
		code = kwhy_transfer_send(transfer, ring);
	if (!code)
		code = kwhy_transfer_slot_open(transfer, ring, call, out);
	if (!code)
		*out_part = part_of(transfer, *out, beside, bytes);
	return code;
}

/*
 * If the options say that calls never wait (refuse_full), checks that there is space for the whole piece, so
 * that a piece is accepted completely or not at all. KWHY_TRANSFER_FULL: there is not enough space now.
 * KWHY_TRANSFER_E_INPUT: the piece could never fit.
 */
static int look_for_space(struct kwhy_transfer *transfer, struct kwhy_transfer_ring *ring,
	struct kwhy_transfer_call *call, uint64_t bytes)
{
	bool fits = true;
	int code;

	if (!transfer->options.refuse_full)
		return KWHY_TRANSFER_OK;
	if (bytes > ring->count * (transfer->options.slot_bytes - KWHY_TRANSFER_SLOT_LOSS))
		return kwhy_transfer_fail(transfer, KWHY_TRANSFER_E_INPUT,
			"a piece of %llu bytes is larger than the ring; open the engine with more or larger "
			"slots, or let it wait for space",
			(unsigned long long)bytes);
	code = kwhy_transfer_has_space(transfer, ring, call, bytes, &fits);
	if (code || fits)
		return code;
	return kwhy_transfer_fail(transfer, KWHY_TRANSFER_FULL,
		"the ring has no space for a piece of %llu bytes now; wait for an earlier flush, or open the "
		"engine with more or larger slots",
		(unsigned long long)bytes);
}

/*
 * Writes `part` bytes of a put, from byte `done` of its source on, to offset `place` of the slot, and adds
 * them to the list as a piece.
 */
static void place_put(struct kwhy_transfer_slot *slot, uint64_t place, uint64_t to,
	const struct source *source, uint64_t done, size_t part)
{
	struct kwhy_transfer_piece piece = {.to = to,
		.from = slot->mapped + place,
		.bytes = (uint32_t)part,
		.moves = KWHY_TRANSFER_FROM_MOVES};

	fill(source, slot->host + place, done, part);
	kwhy_transfer_slot_add(slot, &piece, place + part);
	kwhy_transfer_slot_write(slot, to, part);
}

/*
 * Handles the most frequent kind of put: a piece of 1 to SMALL_BYTES bytes that fits in the open slot. false:
 * it is no such put, and nothing was changed.
 */
static bool put_small(struct kwhy_transfer *transfer, struct kwhy_transfer_ring *ring, uint64_t to,
	const struct source *source, uint64_t bytes)
{
	struct kwhy_transfer_slot *slot = ring->open ? &ring->open->slots[ring->open->at] : NULL;
	uint64_t place;

	if (!slot || bytes - 1 >= SMALL_BYTES || slot->count == transfer->options.pieces ||
		slot->bytes >= KWHY_TRANSFER_SLOT_ENOUGH_BYTES)
		return false;
	place = kwhy_transfer_slot_reserve(slot, to);
	if (place + bytes > transfer->options.slot_bytes)
		return false;
	place_put(slot, place, to, source, 0, bytes);
	return true;
}

static int put(struct kwhy_transfer *transfer, uint64_t to, const struct source *source, uint64_t bytes,
	struct kwhy_transfer_call *call)
{
	struct kwhy_transfer_ring *ring = &transfer->rings[KWHY_TRANSFER_PUT];
	int code;

	if (put_small(transfer, ring, to, source, bytes))
		return KWHY_TRANSFER_OK;
	code = look_for_space(transfer, ring, call, bytes);
	for (uint64_t done = 0; done < bytes && !code;) {
		struct kwhy_transfer_slot *slot;
		size_t part;

		code = slot_for(transfer, ring, call, to + done, bytes - done, &slot, &part);
		if (code)
			return code;
		place_put(slot, kwhy_transfer_slot_reserve(slot, to + done), to + done, source, done, part);
		done += part;
	}
	return code;
}

static void count_piece(struct kwhy_transfer *transfer, uint64_t bytes)
{
	transfer->counts.pieces++;
	transfer->counts.bytes += bytes;
}

/* Ends a call: counts its piece and bytes unless it failed, and releases the lock. Returns `code`. */
static int finish(struct kwhy_transfer *transfer, int code, uint64_t bytes)
{
	if (!code)
		count_piece(transfer, bytes);
	kwhy_transfer_end(transfer);
	return code;
}

static int put_source(
	struct kwhy_transfer *transfer, uint64_t to, const struct source *source, uint64_t bytes)
{
	struct kwhy_transfer_call call = call_of(transfer);
	int code = kwhy_transfer_begin(transfer);

	return code ? code : finish(transfer, put(transfer, to, source, bytes, &call), bytes);
}

int kwhy_transfer_put(struct kwhy_transfer *transfer, uint64_t to, const void *from, size_t bytes)
{
	struct source source = {.from = from, .format = KWHY_TRANSFER_F32};

	return put_source(transfer, to, &source, bytes);
}

int kwhy_transfer_put_numbers(
	struct kwhy_transfer *transfer, uint64_t to, const float *from, size_t count, int format, float scale)
{
	KWHY_C_LOCALE;
	struct source source = {.from = (const char *)(const void *)from, .format = format, .scale = scale};
	size_t number_bytes = kwhy_transfer_format_bytes(format);
	int code;

	if (kwhy_transfer_can_convert(format, scale) && count <= SIZE_MAX / sizeof(float) &&
		to % number_bytes == 0)
		return put_source(transfer, to, &source, count * number_bytes);
	code = kwhy_transfer_begin(transfer);
	if (code)
		return code;
	code = kwhy_transfer_fail(transfer, KWHY_TRANSFER_E_INPUT,
		"numbers cannot be put in format %d with scale %g at address 0x%llx; give one of "
		"KWHY_TRANSFER_F32, _F16, _BF16 and _I8, a scale above 0, and an address that is a multiple "
		"of a number's bytes",
		format, (double)scale, (unsigned long long)to);
	kwhy_transfer_end(transfer);
	return code;
}

/*
 * Adds a piece whose data is already in page-locked memory, so that only its entry in the list needs space.
 */
static int add_pinned(struct kwhy_transfer *transfer, struct kwhy_transfer_ring *ring,
	struct kwhy_transfer_call *call, const struct kwhy_transfer_piece *piece)
{
	struct kwhy_transfer_slot *slot;
	size_t part;
	int code = look_for_space(transfer, ring, call, 1);

	if (!code)
		code = slot_for(transfer, ring, call, 0, 1, &slot, &part);
	if (code)
		return code;
	if (slot->deliveries)
		slot->deliveries[slot->count]
			.bytes = 0; /* no data to deliver: the device writes directly to the destination */
	kwhy_transfer_slot_add(slot, piece, 0);
	kwhy_transfer_slot_write(slot, piece->to, piece->bytes);
	return KWHY_TRANSFER_OK;
}

static int move_pinned(struct kwhy_transfer *transfer, enum kwhy_transfer_operation direction, uint64_t to,
	uint64_t from, uint64_t bytes, struct kwhy_transfer_call *call)
{
	struct kwhy_transfer_piece piece = {.to = to, .from = from, .bytes = (uint32_t)bytes};

	if (bytes > UINT32_MAX)
		return kwhy_transfer_fail(transfer, KWHY_TRANSFER_E_INPUT,
			"a piece of page-locked memory has %llu bytes; give it in pieces below 4 GiB",
			(unsigned long long)bytes);
	return bytes > 0 ? add_pinned(transfer, &transfer->rings[direction], call, &piece) : KWHY_TRANSFER_OK;
}

int kwhy_transfer_put_pinned(struct kwhy_transfer *transfer, uint64_t to, const void *from, size_t bytes)
{
	struct kwhy_transfer_call call = call_of(transfer);
	int code = kwhy_transfer_begin(transfer);

	return code
		? code
		: finish(transfer,
			  move_pinned(transfer, KWHY_TRANSFER_PUT, to, kwhy_gpu_address(from), bytes, &call),
			  bytes);
}

int kwhy_transfer_get_pinned(struct kwhy_transfer *transfer, void *to, uint64_t from, size_t bytes)
{
	struct kwhy_transfer_call call = call_of(transfer);
	int code = kwhy_transfer_begin(transfer);

	return code
		? code
		: finish(transfer,
			  move_pinned(transfer, KWHY_TRANSFER_GET, kwhy_gpu_address(to), from, bytes, &call),
			  bytes);
}

static int get(struct kwhy_transfer *transfer, char *to, uint64_t from, uint64_t bytes,
	struct kwhy_transfer_call *call)
{
	struct kwhy_transfer_ring *ring = &transfer->rings[KWHY_TRANSFER_GET];
	int code = look_for_space(transfer, ring, call, bytes);

	for (uint64_t done = 0; done < bytes && !code;) {
		struct kwhy_transfer_slot *slot;
		size_t part;

		code = slot_for(transfer, ring, call, from + done, bytes - done, &slot, &part);
		if (!code) {
			uint64_t place = kwhy_transfer_slot_reserve(slot, from + done);
			struct kwhy_transfer_piece piece = {.to = slot->mapped + place,
				.from = from + done,
				.bytes = (uint32_t)part,
				.moves = KWHY_TRANSFER_TO_MOVES};

			slot->deliveries[slot->count] = (struct kwhy_transfer_delivery){
				.to = to + done, .offset = place, .bytes = part};
			kwhy_transfer_slot_add(slot, &piece, place + part);
			done += part;
		}
	}
	return code;
}

int kwhy_transfer_get(struct kwhy_transfer *transfer, void *to, uint64_t from, size_t bytes)
{
	struct kwhy_transfer_call call = call_of(transfer);
	int code = kwhy_transfer_begin(transfer);

	return code ? code : finish(transfer, get(transfer, to, from, bytes, &call), bytes);
}

static int move_part(struct kwhy_transfer *transfer, enum kwhy_transfer_operation direction,
	const struct kwhy_transfer_part *part, bool pinned, struct kwhy_transfer_call *call)
{
	struct source source = {.from = part->host, .format = KWHY_TRANSFER_F32};
	uint64_t host = kwhy_gpu_address(part->host);
	bool put_it = direction == KWHY_TRANSFER_PUT;

	if (pinned)
		return move_pinned(transfer, direction, put_it ? part->device : host,
			put_it ? host : part->device, part->bytes, call);
	return put_it ? put(transfer, part->device, &source, part->bytes, call)
		      : get(transfer, part->host, part->device, part->bytes, call);
}

static int move_many(struct kwhy_transfer *transfer, enum kwhy_transfer_operation direction,
	const struct kwhy_transfer_part *parts, size_t count, bool pinned, size_t *out_taken)
{
	struct kwhy_transfer_call call = call_of(transfer);
	int code = kwhy_transfer_begin(transfer);
	size_t taken = 0;

	if (out_taken)
		*out_taken = 0;
	if (code)
		return code;
	while (!code && taken < count) {
		code = move_part(transfer, direction, &parts[taken], pinned, &call);
		if (!code)
			count_piece(transfer, parts[taken++].bytes);
	}
	if (out_taken)
		*out_taken = taken;
	kwhy_transfer_end(transfer);
	return code;
}

int kwhy_transfer_put_many(struct kwhy_transfer *transfer, const struct kwhy_transfer_part *parts,
	size_t count, int pinned, size_t *out_taken)
{
	return move_many(transfer, KWHY_TRANSFER_PUT, parts, count, pinned != 0, out_taken);
}

int kwhy_transfer_get_many(struct kwhy_transfer *transfer, const struct kwhy_transfer_part *parts,
	size_t count, int pinned, size_t *out_taken)
{
	return move_many(transfer, KWHY_TRANSFER_GET, parts, count, pinned != 0, out_taken);
}
