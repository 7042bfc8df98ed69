// SPDX-License-Identifier: Apache-2.0
// kwhy.brief/1 (docs/formats/brief.schema.json) as a page has it: what the report says first. null is "unknown".

type N = number | null;

export interface BriefRow { category: string; name: string; share: N; energy_j: N; energy_low_j?: N; energy_high_j?: N; seconds: N; count: number }
export interface BriefAdvice {
	id: string; what: string; devices: number; seconds: N; in: string | null; file: string | null; line: N; cure: string;
	saves: { energy_j: N; share: N; seconds: N; is_projected: boolean; frees_device: boolean };
}
export interface Brief {
	what: { seconds: N; energy_j: N; busy_ratio: N; metered_j: N; idle_j: N };
	work: { unit: string; count: N; energy_j_each: N; seconds_each: N }[];
	where: BriefRow[]; where_left_out: number; where_j: N;
	do: BriefAdvice[]; do_left_out: number;
	unknown: string[]; unknown_left_out: number;
}
