/* SPDX-License-Identifier: Apache-2.0 */
#include "owners/missed.h"

/*
 * Index of a holder in `all`; it is added if it is missing; if it is there, its part becomes the larger of
 * the two. Returns all->count, and adds nothing, if the list is full.
 */
static size_t hold(struct kwhy_holders *all, const struct kwhy_share_holder *holder)
{
	for (size_t i = 0; i < all->count; i++)
		if (all->items[i].owner == holder->owner) {
			if (holder->part > all->items[i].part)
				all->items[i].part = holder->part;
			return i;
		}
	if (all->count == KWHY_HOLDERS_MAX)
		return all->count;
	all->items[all->count] = *holder;
	return all->count++;
}

void kwhy_missed_add(struct kwhy_missed *missed, const struct kwhy_holders *holders, bool has_uses)
{
	const size_t before = missed->all.count;

	for (size_t i = 0; i < holders->count; i++) {
		const size_t at = hold(&missed->all, &holders->items[i]);

		if (at < missed->all.count)
			missed->seen[at]++;
	}
	if (missed->looks++ && (missed->all.count > before || holders->count < missed->all.count))
		missed->is_mixed = true;
	missed->empty += !holders->count;
	missed->is_vague |= holders->count > 1 && !has_uses;
	missed->all.is_unseen |= holders->is_unseen;
}

bool kwhy_missed_differs(const struct kwhy_missed *missed)
{
	return missed->is_mixed || missed->is_vague || missed->all.is_unseen;
}

size_t kwhy_missed_divide(
	struct kwhy_missed *missed, struct kwhy_share_window *window, struct kwhy_share_of *out)
{
	struct kwhy_holders *all = &missed->all;
	struct kwhy_share_holder nobody = {
		.owner = all->is_unseen ? window->unknown_owner : window->idle_owner, .part = 1};
	const size_t held = all->count;
	size_t count;

	for (size_t i = 0; i < held; i++) {
		nobody.part = all->items[i].part > nobody.part ? all->items[i].part : nobody.part;
		all->items[i].part *= missed->seen[i];
	}
	nobody.part *= missed->empty;
	if (held && missed->empty)
		hold(all, &nobody);
	window->holders = all->items;
	window->holder_count = all->count;
	window->is_unseen = all->is_unseen;
	window->uses_known = false;
	window->busy_permille = -1;
	count = kwhy_share_divide(window, out);
	for (size_t i = 0; i < count; i++) {
		const int64_t looks = i < held ? missed->seen[i] : 0;

		out[i].share.held_ns = out[i].share.unknown_ns = (int64_t)((__int128)window->length_ns *
			looks / missed->looks);
	}
	return count;
}
