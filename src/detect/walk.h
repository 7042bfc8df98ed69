/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_DETECT_WALK_H
#define KWHY_DETECT_WALK_H

#include "detect/view.h"

/* Makes the segments of a view, for kwhy_detect_view_init(). Needs `outer`, `issued` and `uses`. */
KWHY_MUST_USE enum kwhy_status kwhy_detect_view_cut_segments(
	struct kwhy_detect_view *view, struct kwhy_error *error);

#endif
