import { z } from 'zod';
import { draftsIn } from '../domain/agent-drafts.ts';
import { gated } from '../domain/gate.ts';
import { nearMissAt } from '../domain/near-misses.ts';
import { askedAt } from '../domain/options.ts';
import { MAX_OPTION_LENGTH, MAX_OPTIONS } from '../domain/quick-answer.ts';
import { looksSecretAt } from '../domain/secrecy.ts';
import { EMPTY_SESSION_FIELDS, openQuestion, type Question, type Session } from '../domain/session.ts';
import { snapshotOf } from '../domain/session-snapshot.ts';
import { HandraiseError } from '../kernel/errors.ts';
import { runSync } from '../kernel/slices.ts';
import { parseOrNull } from '../kernel/values.ts';
import { buttons, type KnownBlock, type MessageContent, type ModalView, message, plain } from '../slack/blocks.ts';
import { buildForm } from '../slack/form/build.ts';
import { type Field, planFields } from '../slack/form/fields.ts';
import { CHOOSE_IDS, newMetadata } from '../slack/ids.ts';
import { MOST_ABOVE_OPTIONS, openQuestionParts } from './question.ts';
import { asksWords } from './question-post.ts';

/* What Handraise makes of a question, for the authors of agents: `npm run ask`, and the sandbox. */

/** As the service reads it: missing and null are empty. */
const TEXT = z
	.string()
	.nullish()
	.transform((text) => text ?? '');
const ITEM = z.object({ title: TEXT, description: TEXT });
const ITEMS = z.array(ITEM).min(1);
const MESSAGE = z.object({ content: TEXT, human_input: ITEMS });
const ITEM_ALONE = ITEM.refine(({ title, description }) => title + description !== '');
const ASKED = z.union([
	MESSAGE,
	ITEMS.transform((human_input) => ({ content: '', human_input })),
	ITEM_ALONE.transform((item) => ({ content: '', human_input: [item] })),
]);

/**
 * Reads the JSON of a message that asks, of its `human_input`, or of one item.
 * @throws HandraiseError `no_question` for another text
 */
export function previewOf(json: string) {
	const asked = parseOrNull(ASKED, json);
	if (asked === null)
		throw new HandraiseError(
			'This is not the JSON of a question. Give an item, {"title": "…", "description": "…"}, a list of items, or a ' +
				'message: {"content": "…", "human_input": [items]}.',
			{ code: 'no_question' },
		);
	const session = sessionOf(asked);
	const question = openQuestion(session);
	const { question: view } = snapshotOf(session, 0);
	if (question === null || view === null) throw new HandraiseError('nothing is asked', { code: 'internal' });
	const showing = { sessionId: session.sessionId, discreet: false, choices: { channelId: 'C0', readAt: 0 } };
	const { blocks, row, note, isTooLong } = openQuestionParts(view, showing);
	const labels = row.flatMap((part) =>
		part?.type === 'button' && CHOOSE_IDS.some((id) => id === part.action_id) ? [part.text.text] : [],
	);
	const metadata = newMetadata({ sessionId: session.sessionId, formId: 'preview' });
	const drafts = draftsIn(question);
	const form = buildForm(question, metadata, drafts);
	const fields: readonly KnownBlock[] = form.kind === 'fields' ? form.blocks : [];
	return {
		buttons: labels,
		whyNoButtons: labels.length > 0 ? '' : whyNoButtons(question, isTooLong ? TOO_LONG : note),
		items: planFields(question, metadata, drafts, null).map((field) => itemOf(question, field)),
		post: message('A question', [...blocks(asksWords('Your agent')), ...buttons(...row)]) satisfies MessageContent,
		form: {
			type: 'modal',
			title: plain('Answer', 24),
			submit: plain('Send answer', 24),
			close: plain('Cancel', 24),
			blocks: [...fields],
		} satisfies ModalView,
	};
}

function sessionOf({ content, human_input }: z.infer<typeof MESSAGE>): Session {
	const humanInput = human_input.map((item) => ({ ...item, value: '' }));
	return runSync(
		gated({
			...EMPTY_SESSION_FIELDS,
			sessionId: 'preview',
			status: 'humanInput',
			name: 'Your agent',
			messages: [{ role: 'assistant', content, actions: [], humanInput }],
		}),
	);
}

function itemOf(question: Question, field: Field) {
	const { position, variant, options, secret, optional } = field;
	const { name, choice, why, draft } = askedAt(question, position);
	const offered = variant === 'plain' ? [] : options;
	const lostOptions = choice !== null && offered.length === 0 && !secret ? LOST_OPTIONS : null;
	return {
		name,
		kind: nameOf(field),
		options: offered,
		isSecret: secret,
		isOptional: optional,
		hasDraft: draft !== null,
		why: isUnread(question, position) ? UNREAD : (lostOptions ?? why),
		nearMiss: nearMissAt(question, position),
	};
}

type InputName = Exclude<Field['kind'], 'choice' | 'yesNo'> | 'one of' | 'several of';

function nameOf({ variant, kind, separator }: Field): InputName {
	if (variant === 'plain') return 'longText';
	if (kind !== 'choice' && kind !== 'yesNo') return kind;
	return separator === undefined ? 'one of' : 'several of';
}

/** Why a form does not offer what a question lists. */
const LOST_OPTIONS = 'no options: its draft is none of them, they look alike, or the form has more than 30 items';

/** No rule reads such an item, so it counts as secret. */
const isUnread = (question: Question, position: number) => question.isCut || question.items[position]?.isCut === true;
const UNREAD =
	'too long: more than 8,000 characters in a title or description, 20,000 above the items, or 100,000 or 90 items ' +
	'in all';

const TOO_LONG =
	`the text above them has more than ${MOST_ABOVE_OPTIONS.characters} characters or ${MOST_ABOVE_OPTIONS.lines} ` +
	'lines, which Slack may fold';

/** Why a post has no buttons although the question has options. */
function whyNoButtons(question: Question, note: string): string {
	if (question.items.length > 1) return 'it asks for several items';
	if (isUnread(question, 0)) return 'it is too long';
	if (looksSecretAt(question, 0)) return 'it looks secret';
	const { choice } = askedAt(question, 0);
	if (choice === null) return 'it has no options';
	if (choice.isSeveral) return 'more than one may be chosen';
	if (!choice.isWhole) return 'it may ask for more than an option';
	if (choice.options.length > MAX_OPTIONS) return `it has more than ${MAX_OPTIONS} options`;
	if (choice.options.some((option) => option.length > MAX_OPTION_LENGTH))
		return `an option has more than ${MAX_OPTION_LENGTH} characters`;
	return note === '' ? 'an option cannot be shown exactly, or looks like another or like a button of ours' : note;
}

const TYPED = 'the text that somebody writes';

/** The inputs of fields. `name`: as people would call it. `sent`: what comes back as an item's `value`. */
const FIELD_WORDS = {
	longText: { name: 'a text', sent: TYPED },
	line: { name: 'a text of one line', sent: TYPED },
	'one of': { name: 'one of', sent: 'an option as written, perhaps with a note behind it, or other text' },
	'several of': {
		name: 'several of',
		sent:
			'options as written, ", " between them (line breaks if any option has a comma), perhaps with a note, or ' +
			'other text',
	},
	number: { name: 'number', sent: 'a number such as 3 or 3.5, or other text' },
	date: { name: 'date', sent: 'a date such as 2026-11-20, or other text' },
	time: { name: 'time', sent: 'a time such as 17:05, or other text' },
	email: { name: 'email', sent: 'an e-mail address, or other text' },
	url: { name: 'a web address', sent: 'a web address, or other text' },
} as const satisfies Record<InputName, { readonly name: string; readonly sent: string }>;

/** The preview in lines: each item with its field, what comes back, whether it is secret and why, and the buttons. */
export function previewWords({ items, buttons: labels, whyNoButtons: why }: ReturnType<typeof previewOf>): string {
	// Control characters of an agent's text could change the terminal.
	const shown = (text: string) => text.replace(/[\s\p{Cc}]+/gu, ' ').trim();
	const lines = items.flatMap((item, at) => {
		const mayBeEmpty = item.isOptional && items.length > 1;
		const more = [item.isOptional && ', optional', item.hasDraft && ', begins with a draft'].filter(Boolean);
		return [
			`${at + 1}. ${shown(item.name) || '(no title)'}`,
			`   field: ${FIELD_WORDS[item.kind].name}${more.join('')}`,
			...item.options.map((option) => `     - ${shown(option)}`),
			`   sent: ${FIELD_WORDS[item.kind].sent}${mayBeEmpty ? ', or ""' : ''}`,
			`   secret: ${item.isSecret ? 'yes' : 'no'}`,
			`   ${item.why}`,
			...(item.nearMiss === null ? [] : [`   almost: ${item.nearMiss}`]),
		];
	});
	const row = labels.length > 0 ? labels.map((label) => `[ ${label} ]`).join('  ') : `none: ${why}`;
	return [...lines, `Buttons on the post: ${row}`].join('\n');
}
