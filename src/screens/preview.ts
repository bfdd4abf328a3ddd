import { z } from 'zod';
import { gated } from '../domain/gate.ts';
import { choicesOf, guessInputAt } from '../domain/input-kind.ts';
import { nearMissAt } from '../domain/near-misses.ts';
import { askedAt } from '../domain/options.ts';
import { MAX_OPTION_LENGTH, MAX_OPTIONS } from '../domain/quick-answer.ts';
import { looksSecretAt } from '../domain/secrecy.ts';
import { EMPTY_SESSION_FIELDS, openQuestion, type Question, type Session } from '../domain/session.ts';
import { snapshotOf } from '../domain/session-snapshot.ts';
import { HandraiseError } from '../kernel/errors.ts';
import { runSync } from '../kernel/slices.ts';
import { parseOrNull } from '../kernel/values.ts';
import { draftsIn } from '../people/agent-texts.ts';
import { buttons, type KnownBlock, type MessageContent, type ModalView, message, plain } from '../slack/blocks.ts';
import { buildForm } from '../slack/form/build.ts';
import { CHOOSE_IDS, newMetadata } from '../slack/ids.ts';
import { MOST_ABOVE_OPTIONS, openQuestionParts } from './question.ts';
import { asksWords } from './question-post.ts';

/* What Handraise makes of a question, for the authors of agents: `npm run ask`, and the sandbox. */

const ITEM = z.object({ title: z.string().default(''), description: z.string().default('') });
const ITEMS = z.array(ITEM).min(1);
const MESSAGE = z.object({ content: z.string().default(''), human_input: ITEMS });
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
	const form = buildForm(
		question,
		newMetadata({ sessionId: session.sessionId, formId: 'preview' }),
		draftsIn(question),
	);
	const fields: readonly KnownBlock[] = form.kind === 'fields' ? form.blocks : [];
	return {
		buttons: labels,
		whyNoButtons: labels.length > 0 ? '' : whyNoButtons(question, isTooLong ? TOO_LONG : note),
		items: question.items.map((_, position) => itemOf(question, position)),
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

function itemOf(question: Question, position: number) {
	const { name, marks, why, draft } = askedAt(question, position);
	const guess = guessInputAt(question, position);
	const { options, separator } = choicesOf(guess);
	const isSecret = looksSecretAt(question, position);
	return {
		name,
		kind: options.length > 0 ? (separator === undefined ? 'one of' : 'several of') : guess.kind,
		options,
		isSecret,
		isOptional: marks.has('optional'),
		hasDraft: draft !== null,
		why,
		nearMiss: nearMissAt(question, position),
	};
}

const TOO_LONG =
	`the text above them has more than ${MOST_ABOVE_OPTIONS.characters} characters or ${MOST_ABOVE_OPTIONS.lines} ` +
	'lines, which Slack may fold';

/** Why a post has no buttons although the question has options. */
function whyNoButtons(question: Question, note: string): string {
	if (question.items.length > 1) return 'it asks for several items';
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

/** The kinds of input, as people would call them. */
const KINDS: Readonly<Record<string, string>> = {
	longText: 'a text',
	line: 'a text of one line',
	url: 'a web address',
};

/** The preview as lines of text: the field of each item, whether it is secret, why, and the buttons. */
export function previewWords({ items, buttons: labels, whyNoButtons: why }: ReturnType<typeof previewOf>): string {
	// Control characters of an agent's text could change the terminal.
	const shown = (text: string) => text.replace(/[\s\p{Cc}]+/gu, ' ').trim();
	const lines = items.flatMap((item, at) => {
		const more = [item.isOptional && 'optional', item.hasDraft && 'begins with a draft'].filter(Boolean);
		return [
			`${at + 1}. ${shown(item.name) || '(no title)'}`,
			`   field: ${KINDS[item.kind] ?? item.kind}`,
			...item.options.map((option) => `     - ${shown(option)}`),
			`   secret: ${[item.isSecret ? 'yes' : 'no', ...more].join(', ')}`,
			`   ${item.why}`,
			...(item.nearMiss === null ? [] : [`   almost: ${item.nearMiss}`]),
		];
	});
	const row = labels.length > 0 ? labels.map((label) => `[ ${label} ]`).join('  ') : `none: ${why}`;
	return [...lines, `Buttons on the post: ${row}`].join('\n');
}
