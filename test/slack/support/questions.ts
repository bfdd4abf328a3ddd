import type { ActionsBlock, InputBlock, KnownBlock } from '@slack/types';
import type { ReadSession } from '../../../src/domain/gate.ts';
import { openQuestion, type Question } from '../../../src/domain/session.ts';
import { buildForm } from '../../../src/slack/form/build.ts';
import type { ViewMetadata } from '../../../src/slack/ids.ts';
import { markupOf, type Part, type Piece } from '../../../src/slack/rich-text.ts';
import { readSession, saying, throughGate } from '../../support/sessions.ts';

export interface AskedItem {
	readonly title: string;
	readonly description?: string;
	readonly value?: string;
}

/** A session whose second message asks these items. */
export function sessionAsking(items: readonly AskedItem[], more: Partial<ReadSession> = {}): ReadSession {
	const humanInput = items.map(({ title, description = '', value = '' }) => ({ title, description, value }));
	return readSession({
		status: 'active',
		messages: [saying('Book a hall.', 'user'), { ...saying('I need to know something.'), humanInput }],
		...more,
	});
}

export function questionOf(items: readonly AskedItem[], status = 'active'): Question {
	const question = openQuestion(throughGate(sessionAsking(items, { status })));
	if (question === null) throw new Error('nothing is open');
	return question;
}

interface FormOptions {
	readonly status?: string;
	readonly draft?: Readonly<Record<number, string>>;
	/** The items that are ticked in the box that says what is secret. */
	readonly secret?: readonly number[] | undefined;
}

export function formOf(
	items: readonly AskedItem[],
	metadata: ViewMetadata,
	{ status = 'active', draft = {}, secret }: FormOptions = {},
): { blocks: readonly KnownBlock[]; metadata: ViewMetadata } {
	const question = questionOf(items, status);
	const form = buildForm(question, metadata, draft, { secret });
	if (form.kind !== 'fields') throw new Error(`no form: ${form.kind}`);
	return form;
}

/** The fields of the items, without the box that says what is secret. */
export function fieldsOf(blocks: readonly { type: string }[]): InputBlock[] {
	return inputsOf(blocks).filter(({ element }) => element.action_id !== 'form.secret');
}

/** The box that says what is secret: of one item alone without a label. */
export function boxOf(blocks: readonly { type: string; block_id?: string }[]) {
	const box = blocks.find((block) => block.block_id?.startsWith('s.')) as InputBlock | ActionsBlock | undefined;
	return box && { ...box, element: box.type === 'input' ? box.element : box.elements[0] };
}

function inputsOf(blocks: readonly { type: string }[]): InputBlock[] {
	return blocks.filter((block): block is InputBlock => block.type === 'input');
}

/**
 * What people read of each section, rich text and context line, in order: what others wrote behind `> `, bold between
 * asterisks, mentions and dates as Slack's marks.
 */
export function textsOf(blocks: readonly { type: string }[]): string[] {
	return (blocks as readonly KnownBlock[]).flatMap((block) => {
		if (block.type === 'rich_text') return [(block.elements as Piece[]).map(readPiece).join('\n')];
		if (block.type === 'section')
			return [block.text, ...(block.fields ?? [])].flatMap((one) => (one === undefined ? [] : [one.text]));
		if (block.type !== 'context') return [];
		return block.elements.flatMap((element) => ('text' in element ? [element.text] : []));
	});
}

function readPiece({ type, elements }: Piece): string {
	const text = (elements as readonly Part[]).map(readPart).join('');
	if (type === 'rich_text_quote') return `> ${text.replaceAll('\n', '\n> ')}`;
	return type === 'rich_text_preformatted' ? `\`\`\`\n${text}\n\`\`\`` : text;
}

function readPart(part: Part): string {
	const text = part.type === 'text' ? part.text : markupOf(part);
	const { bold, code, strike } = part.style ?? ({} as NonNullable<Part['style']>);
	return [[bold, '*'] as const, [code, '`'] as const, [strike, '~'] as const].reduce(
		(whole, [isSet, mark]) => (isSet === true ? `${mark}${whole}${mark}` : whole),
		text,
	);
}
