import type { InputBlock, KnownBlock } from '@slack/types';
import { openQuestion, type Question } from '../../../src/questions/open-question.ts';
import type { Session } from '../../../src/questions/session.ts';
import { buildForm } from '../../../src/slack/form.ts';
import type { ViewMetadata } from '../../../src/slack/metadata.ts';

export interface AskedItem {
	readonly title: string;
	readonly description?: string;
	readonly value?: string;
}

/** A session whose second message asks these items. */
export function sessionAsking(items: readonly AskedItem[], more: Partial<Session> = {}): Session {
	return {
		sessionId: '3f9a2c1d',
		status: 'active',
		name: '',
		messages: [
			{ role: 'user', content: 'Book a hall.', actions: [], humanInput: [] },
			{
				role: 'assistant',
				content: 'I need to know something.',
				actions: [],
				humanInput: items.map(({ title, description = '', value = '' }) => ({ title, description, value })),
			},
		],
		files: [],
		startTime: null,
		endTime: null,
		lastScreenshotUrl: null,
		lastScreenshotTimestamp: null,
		sessionVariables: [],
		sessionDetails: '',
		maxSteps: 30,
		...more,
	};
}

export function questionOf(items: readonly AskedItem[], status = 'active'): Question {
	const question = openQuestion(sessionAsking(items, { status }));
	if (question === null) throw new Error('nothing is open');
	return question;
}

export function formOf(
	items: readonly AskedItem[],
	metadata: ViewMetadata,
	status = 'active',
	draft: Readonly<Record<number, string>> = {},
): { blocks: readonly KnownBlock[]; metadata: ViewMetadata } {
	const form = buildForm({ sessionId: metadata.sessionId, question: questionOf(items, status), metadata, draft });
	if (form.kind !== 'fields') throw new Error(`no form: ${form.kind}`);
	return form;
}

export function fieldsOf(blocks: readonly { type: string }[]): InputBlock[] {
	return blocks.filter((block): block is InputBlock => block.type === 'input');
}

/** All texts of sections and context lines, in order. */
export function textsOf(blocks: readonly { type: string }[]): string[] {
	return (blocks as readonly KnownBlock[]).flatMap((block) => {
		if (block.type === 'section') return block.text === undefined ? [] : [block.text.text];
		if (block.type !== 'context') return [];
		return block.elements.flatMap((element) => ('text' in element ? [element.text] : []));
	});
}
