/* SPDX-License-Identifier: Apache-2.0 */
#include "owners/missed.h"

static struct kwhy_share_holder *find(struct kwhy_holders *holders, uint32_t owner)
{
	for (size_t i = 0; i < holders->count; i++)
		if (holders->items[i].owner == owner)
			return &holders->items[i];
	return NULL;
}

/* Adds a holder if it is missing. False: it was. */
static bool hold(struct kwhy_holders *all, const struct kwhy_share_holder *holder)
{
	struct kwhy_share_holder *known = find(all, holder->owner);

	if (known) {
		known->part = holder->part > known->part ? holder->part : known->part;
		return true;
	}
	if (all->count < KWHY_HOLDERS_MAX)
		all->items[all->count++] = *holder;
	return false;
}

void kwhy_missed_add(struct kwhy_missed *missed, const struct kwhy_holders *holders, int64_t busy_permille)
{
	size_t known = 0;

	for (size_t i = 0; i < holders->count; i++)
		known += hold(&missed->all, &holders->items[i]);
	if (missed->looks++ && (known < holders->count || holders->count < missed->all.count))
		missed->is_mixed = true;
	missed->had_none |= !holders->count;
	missed->had_some |= holders->count > 0;
	missed->all.is_unseen |= holders->is_unseen;
	if (missed->looks == 1 || busy_permille < 0 ||
		(missed->busy_permille >= 0 && busy_permille > missed->busy_permille))
		missed->busy_permille = busy_permille;
}

void kwhy_missed_hold(struct kwhy_missed *missed, struct kwhy_share_window *window)
{
	struct kwhy_holders *all = &missed->all;
	struct kwhy_share_holder nobody = {
		.owner = all->is_unseen ? window->unknown_owner : window->idle_owner, .part = 1};

	for (size_t i = 0; i < all->count; i++)
		nobody.part = all->items[i].part > nobody.part ? all->items[i].part : nobody.part;
	if (missed->had_none && missed->had_some)
		hold(all, &nobody);
	window->holders = all->items;
	window->holder_count = all->count;
	window->is_unseen = all->is_unseen;
	window->uses_known = false;
	/* the busiest look does not say how much of the time was busy, but whether any was */
	window->busy_permille = !missed->is_mixed && (!all->count || !missed->busy_permille)
		? missed->busy_permille
		: -1;
}
