import type { Rule } from './rule.ts';
import { blockTable } from './rules/blocks.ts';
import { countRule, countTable, numberRule, numberTable, wholeRule, wholeTable } from './rules/counts.ts';
import { inputTable } from './rules/inputs.ts';
import { emptyRule, emptyTable, lengthRule, lengthTable } from './rules/lengths.ts';
import { optionTable } from './rules/options.ts';
import { payloadTable } from './rules/payloads.ts';
import { errorsTable } from './rules/response-action.ts';
import { richTextTable } from './rules/rich-text.ts';
import { shapeTable } from './rules/shape.ts';
import { sizeRule, sizeTable } from './rules/sizes.ts';
import { actionsRule, actionsTable, surfaceRule, surfaceTable } from './rules/surfaces.ts';

/** Everything for which a message, a view, blocks or the errors of a submission are refused, one row for each reason. */
export const tables = {
	shapes: shapeTable,
	surfaces: surfaceTable,
	actions: actionsTable,
	counts: countTable,
	numbers: numberTable,
	wholes: wholeTable,
	lengths: lengthTable,
	empties: emptyTable,
	blocks: blockTable,
	richText: richTextTable,
	options: optionTable,
	inputs: inputTable,
	payloads: payloadTable,
	sizes: sizeTable,
	errors: errorsTable,
};

export type Tables = typeof tables;

/** The rules of a message, a view or blocks; the shape first, as Slack reports it first. */
export function createRules(source: Tables): Rule[] {
	return [
		...source.shapes,
		...source.surfaces.map(surfaceRule),
		...source.actions.map(actionsRule),
		...source.counts.map(countRule),
		...source.numbers.map(numberRule),
		...source.wholes.map(wholeRule),
		...source.lengths.map(lengthRule),
		...source.empties.map(emptyRule),
		...source.blocks,
		...source.richText,
		...source.options,
		...source.inputs,
		...source.payloads,
		...source.sizes.map(sizeRule),
	];
}
