import type { KnownBlock } from '@slack/types';
import type { OnCut } from '../../cut.ts';
import { mergeForPut, putBodyOf } from '../../questions/compare.ts';
import type { Question } from '../../questions/open-question.ts';
import { blockId } from '../ids.ts';
import { lengthWithoutFields, METADATA_LIMIT, type ViewMetadata } from '../metadata.ts';
import { mrkdwn } from '../text.ts';
import { type FieldLimits, fieldBlocks, SECRET_WARNING, secretBox } from './field-blocks.ts';
import {
	DESCRIBED_FIELDS,
	type Field,
	hasOptions,
	INPUT_LIMIT,
	isShown,
	MOST_FIELDS,
	offerOf,
	planFields,
} from './plan.ts';

/** The session service takes 100 kB and fails on more. The client uses 100,000 bytes too, the smaller meaning of that unit. */
export const PUT_LIMIT_BYTES = 100_000;

/** A question as input blocks, or why it cannot be answered in Slack. */
export type Form =
	/** `metadata` has to go into the view: `readForm` needs it. */
	| { readonly kind: 'fields'; readonly blocks: readonly KnownBlock[]; readonly metadata: ViewMetadata }
	/** More open items than a view holds. */
	| { readonly kind: 'tooMany'; readonly count: number }
	/** The question's own texts are so long that the service would refuse the PUT. */
	| { readonly kind: 'tooLarge'; readonly bytes: number };

/** The least room for answers besides the question's own texts. */
const LEAST_ROOM_BYTES = 1000;
/** Of the 250 KB that a view may take; the other blocks need some of it. */
const FORM_BYTES = 150_000;
/** With more fields, the warning about secrets is in the hints. */
const FEW_FIELDS = 10;
const SHRINKING: readonly FieldLimits[] = [
	{ text: 2900, offer: INPUT_LIMIT },
	{ text: 1500, offer: INPUT_LIMIT },
	{ text: 700, offer: 1500 },
	{ text: 300, offer: 600 },
	{ text: 120, offer: 200 },
	{ text: 75, offer: 60 },
];

/**
 * The fields of the open items. `draft`: values by position; one that is longer than an input is shown cut. `metadata`:
 * of the view as it is now, so that a refresh keeps every block_id. `secret`: positions whose box is ticked; if left out,
 * those that look secret.
 */
export function buildForm(input: {
	question: Question;
	metadata: ViewMetadata;
	draft: Readonly<Record<number, string>>;
	secret?: readonly number[];
	onCut?: OnCut;
}): Form {
	const { question, metadata, draft } = input;
	const count = question.openItems.length;
	if (count > MOST_FIELDS) return { kind: 'tooMany', count };
	const bytes = putOverheadBytes(metadata.sessionId, question);
	if (bytes + LEAST_ROOM_BYTES > PUT_LIMIT_BYTES) return { kind: 'tooLarge', bytes };

	const isShownAgain = isShown(metadata, question);
	const secret = input.secret === undefined ? null : new Set(input.secret);
	const planned = keepOptionTexts(planFields(question, metadata, draft, secret), metadata);
	for (const [level, size] of SHRINKING.entries()) {
		// `readForm` cuts texts to the limit of the first showing before it compares them.
		const limits = isShownAgain ? { ...size, offer: metadata.offerLimit } : size;
		const bare = count > DESCRIBED_FIELDS;
		const context = { question, metadata, bare, warnsInHints: count > FEW_FIELDS, limits, onCut: input.onCut };
		const blocks = formBlocks(planned.fields, context);
		if (level < SHRINKING.length - 1 && Buffer.byteLength(JSON.stringify(blocks)) > FORM_BYTES) continue;
		const { fields, optionTexts } = planned;
		return {
			kind: 'fields',
			blocks,
			metadata: {
				...metadata,
				messageIndex: question.messageIndex,
				fingerprint: question.fingerprint,
				shownHash: question.shownHash,
				putOverheadBytes: bytes,
				fields: fields.map(({ position }) => position),
				offered: positionsOf(fields, (field) => offerOf(field, limits.offer) !== null),
				shown: metadata.plainText ? 'plain' : 'guessed',
				asText: positionsOf(fields, (field) => field.variant === 'plain'),
				withOptions: positionsOf(fields, (field) => field.variant === 'guessed' && hasOptions(field)),
				secret: positionsOf(fields, (field) => field.secret),
				offerLimit: limits.offer,
				optionTexts,
			},
		};
	}
	return { kind: 'tooMany', count };
}

function formBlocks(fields: readonly Field[], context: Parameters<typeof fieldBlocks>[1]): KnownBlock[] {
	const blocks: KnownBlock[] = [];
	let warned = false;
	for (const field of fields) {
		if (field.secret && !warned && !context.warnsInHints) {
			warned = true;
			blocks.push({ type: 'context', block_id: blockId('secret'), elements: [mrkdwn(`⚠️ ${SECRET_WARNING}`)] });
		}
		blocks.push(...fieldBlocks(field, context));
	}
	return [...blocks, secretBox(context.question, fields)];
}

/**
 * Slack returns option texts with emoji as `:names:` and `&` as an entity, so the metadata keeps the texts that would
 * change. Where it has no room for them, the choice becomes plain text.
 */
function keepOptionTexts(
	fields: readonly Field[],
	metadata: ViewMetadata,
): { fields: readonly Field[]; optionTexts: Record<number, readonly string[]> } {
	const optionTexts: Record<number, readonly string[]> = {};
	// For numbers that the metadata gets later, and for four lists of positions without ranges: `asText` and `withOptions`
	// share no position.
	const reserve = 400 + 4 * fields.reduce((sum, { position }) => sum + `${position}`.length + 1, 0);
	let room = METADATA_LIMIT - lengthWithoutFields(metadata) - reserve;
	const kept = fields.map((field): Field => {
		if (field.variant === 'plain' || field.kind !== 'choice' || field.options.every(survivesSlack)) return field;
		const size = JSON.stringify(field.options).length + 10;
		if (size > room) return { ...field, variant: 'plain' };
		room -= size;
		optionTexts[field.position] = field.options;
		return field;
	});
	return { fields: kept, optionTexts };
}

function survivesSlack(text: string): boolean {
	return /^[\p{L}\p{N} .,;!?'"()/+%$€£#@_=-]*$/u.test(text) && text === text.trim() && !text.includes('  ');
}

function positionsOf(fields: readonly Field[], test: (field: Field) => boolean): number[] {
	return fields.filter(test).map(({ position }) => position);
}

/** UTF-8 bytes of the PUT's JSON when the open items' values are empty. */
function putOverheadBytes(sessionId: string, question: Question): number {
	const items = mergeForPut(
		question.items,
		question.items.map(() => ''),
	);
	return Buffer.byteLength(putBodyOf(sessionId, question.messageIndex, items));
}
