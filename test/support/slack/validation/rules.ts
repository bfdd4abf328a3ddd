import type { Rule } from './rule.ts';
import { blockRules } from './rules/blocks.ts';
import { countRules } from './rules/counts.ts';
import { inputRules } from './rules/inputs.ts';
import { lengthRules } from './rules/lengths.ts';
import { optionRules } from './rules/options.ts';
import { payloadRules } from './rules/payloads.ts';
import { shapeRules } from './rules/shape.ts';
import { surfaceRules } from './rules/surfaces.ts';

/** Every reason for which a message, a view or blocks are refused; the shape first, as Slack reports it first. */
export const rules: readonly Rule[] = [
	...shapeRules,
	...surfaceRules,
	...countRules,
	...lengthRules,
	...blockRules,
	...optionRules,
	...inputRules,
	...payloadRules,
];
