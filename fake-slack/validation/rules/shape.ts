import type { ErrorObject } from 'ajv';
import type { Payload } from '../payload.ts';
import type { SlackErrorCode } from '../problem.ts';
import { liveAnswer, type Row, type Rule } from '../rule.ts';

/** The generated schema's errors, one rule for each kind of error; wording from answers of live Slack where known. */

const source = `the schema generated from @slack/types; wording: ${liveAnswer}`;

function errorFor(payload: Payload, pointer: string): SlackErrorCode | undefined {
	// Broken JSON, or JSON that is no list; slackapi/node-slack-sdk #1027, jolicode/slack-php-api #114.
	if (payload.kind !== 'view' && pointer === '/blocks') return 'invalid_blocks_format';
	if (payload.kind !== 'message') return undefined;
	if (pointer.startsWith('/metadata')) return 'invalid_metadata_format';
	if (pointer.startsWith('/blocks/') || pointer.startsWith('/attachments/')) return undefined;
	return pointer.startsWith('/attachments') ? 'invalid_attachments' : 'invalid_arguments';
}

/** A kind of error that Ajv reports. */
export type ShapeRow = Row & { keyword: string; words: (error: ErrorObject) => string };

const typeNames: Record<string, string> = { object: 'an object', array: 'an array', integer: 'an integer' };

export const shapeTable: readonly ShapeRow[] = [
	{
		id: 'shape:required',
		source,
		keyword: 'required',
		words: (e) => `missing required field: ${e.params.missingProperty}`,
	},
	{
		id: 'shape:unknown-field',
		source,
		keyword: 'additionalProperties',
		words: (e) => `invalid additional property: ${e.params.additionalProperty}`,
	},
	{
		// Null is no value of any field: it is refused here too.
		id: 'shape:type',
		source,
		keyword: 'type',
		words: (e) => `must provide ${typeNames[String(e.params.type)] ?? `a ${e.params.type}`}`,
	},
	{
		id: 'shape:enum',
		source,
		keyword: 'enum',
		words: (e) =>
			e.instancePath.endsWith('/type')
				? `unsupported type: ${typeof e.data === 'string' ? e.data : JSON.stringify(e.data)}`
				: `must be one of: ${(e.params.allowedValues as unknown[]).join(', ')}`,
	},
	{
		// Where only one type may stand the schema says `const`: a header's text, an input's label.
		id: 'shape:const',
		source,
		keyword: 'const',
		words: (e) => `must be one of: ${e.params.allowedValue}`,
	},
	// Free fields of a message's metadata: a string, a number, a boolean or a flat object.
	{ id: 'shape:any', source, keyword: 'anyOf', words: () => 'failed to match all allowed schemas' },
];

/**
 * What each branch of a union would have wanted says nothing: the union's own error is enough. (Choices by `type` are
 * rebuilt without a union, so what is left are plain values.)
 */
function withoutBranches(errors: readonly ErrorObject[]): ErrorObject[] {
	const unions = errors.filter((error) => error.keyword === 'anyOf').map((error) => error.instancePath);
	return errors.filter(({ keyword, instancePath }) => keyword === 'anyOf' || !unions.includes(instancePath));
}

export function shapeRule(row: ShapeRow): Rule {
	return {
		...row,
		check: (payload, report) => {
			for (const error of withoutBranches(payload.shapeErrors)) {
				if (error.keyword !== row.keyword) continue;
				report(row.words(error), error.instancePath, errorFor(payload, error.instancePath));
			}
		},
	};
}
