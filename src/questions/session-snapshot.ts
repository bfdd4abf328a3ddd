import { z } from 'zod';
import { createCutMark, cutWithNote, type OnCut } from '../core/cut.ts';
import { type DeepReadonly, pick } from '../core/values.ts';
import { digest, digestOf } from './changes.ts';
import { quickAnswerOf } from './quick-answer.ts';
import { type Disclosure, disclosureOf, isShownInChannels, type ShowAnswers } from './secrecy.ts';
import {
	agentAction,
	askingMessageIndex,
	assistantCountOf,
	type ClosedItems,
	isSameQuestion,
	latestAssistantMessages,
	type Question,
	questionAt,
	resultOf,
	type Session,
} from './session.ts';
import { withoutSignedLinks } from './texts.ts';

const item = z.object({
	title: z.string(),
	description: z.string(),
	open: z.boolean(),
	/** Null while unanswered, and always for values that are secret or withheld. */
	value: z.string().nullable(),
	secret: z.boolean(),
	/** Channels see only that it was answered. */
	withheld: z.boolean(),
	/** Whether `SHOW_ANSWERS=auto` shows the value. Since 1.1.0. */
	shownByAuto: z.boolean().exactOptional(),
});
export type ItemView = Readonly<z.infer<typeof item>>;

export const questionView = z.object({
	messageIndex: z.int(),
	fingerprint: z.string(),
	shownHash: z.string(),
	goneOn: z.boolean(),
	/** Messages of the agent after it. Since 1.1.0. */
	stepsSince: z.int().exactOptional(),
	context: z.string(),
	/** The first items. */
	items: z.array(item),
	/** Of all items. */
	itemCount: z.int(),
	openCount: z.int(),
	/** What one press can answer; null when it needs a form. */
	quick: z.object({ position: z.int(), options: z.array(z.string()) }).nullable(),
	/** See `arrivalSeen` of an answer. */
	arrival: z.int().exactOptional(),
});
export type QuestionView = DeepReadonly<z.infer<typeof questionView>>;

export const sessionSnapshot = z.object({
	sessionId: z.string(),
	name: z.string(),
	status: z.string(),
	step: z.int(),
	maxSteps: z.int(),
	steps: z.array(z.object({ step: z.int(), text: z.string(), actions: z.array(agentAction) })),
	/** The newest question, open or not. */
	question: questionView.nullable(),
	result: z.string().nullable(),
	fileCount: z.int(),
	hasScreenshot: z.boolean(),
	digest,
	/** When it was read, clock milliseconds. */
	seenAt: z.number(),
});
/** What channels show, about 40,000 characters at most: no signed links, variables, secret values. Untrusted texts. */
export type SessionSnapshot = DeepReadonly<z.infer<typeof sessionSnapshot>>;

/** Lengths in UTF-16 units, and counts. A Slack message holds about 12,000 characters of blocks; these stay below that. */
const STEP_COUNT = 4;
const STEP_TEXT_LENGTH = 600;
const ACTION_COUNT = 8;
const ITEM_COUNT = 30;
const TITLE_LENGTH = 300;
/** For the descriptions of all items together, and of one item; the same again for values. */
const ALL_ITEMS_LENGTH = 9_000;
const ITEM_LENGTH = 2_000;
const CONTEXT_LENGTH = 1_500;
const RESULT_LENGTH = 2_800;
const NAME_LENGTH = 200;

export interface OurAnswers {
	readonly closedItems: ClosedItems;
	/** What channels see of the values: what they mark as secret, else a guess. */
	readonly disclosure: Disclosure;
}

export const NO_ANSWERS: OurAnswers = { closedItems: () => new Set(), disclosure: disclosureOf([], 'auto') };

/**
 * What cards and posts show of a session, as it was read at `seenAt`, when `arrival` answers of ours had arrived. Without `ours`,
 * as if nobody had answered through Handraise.
 */
export function snapshotOf(
	session: Session,
	seenAt: number,
	ours = NO_ANSWERS,
	arrival: number | null = null,
): SessionSnapshot {
	const result = resultOf(session);
	const question = questionViewAt(session, askingMessageIndex(session) ?? -1, ours);
	return {
		sessionId: session.sessionId,
		name: cut(session.name, NAME_LENGTH),
		status: cut(session.status, NAME_LENGTH),
		step: assistantCountOf(session),
		maxSteps: session.maxSteps,
		steps: latestAssistantMessages(session, STEP_COUNT).map(({ step, message }) => ({
			step,
			text: cut(message.content, STEP_TEXT_LENGTH),
			// The result is shown by itself.
			actions: message.actions
				.filter((action) => action.kind !== 'done')
				.slice(0, ACTION_COUNT)
				.map(({ kind, text }) => ({ kind, text: cut(text, NAME_LENGTH) })),
		})),
		question: question && arrival !== null ? { ...question, arrival } : question,
		result: result === null ? null : cut(result, RESULT_LENGTH),
		fileCount: session.files.length,
		hasScreenshot: session.lastScreenshotUrl !== null,
		digest: digestOf(session, ours.closedItems),
		seenAt,
	};
}

export function questionViewAt(
	session: Session,
	messageIndex: number,
	{ closedItems, disclosure } = NO_ANSWERS,
): QuestionView | null {
	const question = questionAt(session, messageIndex, closedItems);
	if (question === null) return null;
	const mark = createCutMark(false);
	const length = Math.min(ITEM_LENGTH, Math.floor(ALL_ITEMS_LENGTH / Math.min(ITEM_COUNT, question.items.length)));
	return {
		...pick(question, 'messageIndex', 'fingerprint', 'shownHash', 'goneOn', 'stepsSince'),
		context: cut(question.context, CONTEXT_LENGTH, mark.onCut),
		items: question.items.slice(0, ITEM_COUNT).map((item, position) => {
			const shown = disclosure(question, position);
			return {
				title: cut(item.title, TITLE_LENGTH, mark.onCut),
				description: cut(item.description, length, mark.onCut),
				open: question.openItems.includes(position),
				value: shown !== 'shown' || item.value === '' ? null : cut(item.value, length),
				secret: shown === 'secret',
				withheld: shown === 'withheld' && item.value !== '',
				...(shown === 'shown' && { shownByAuto: isShownInChannels('auto', item, item.value) }),
			};
		}),
		itemCount: question.items.length,
		openCount: question.openItems.length,
		// After all parts: `isCut` is known.
		quick: mark.isCut ? null : quickAnswerOf(question, (position) => disclosure(question, position) === 'secret'),
	};
}

/** Whether an option of a question as it was shown is one of today, or the question is another one by now. */
export function isOffered(
	question: QuestionView,
	choice: Pick<Question, 'fingerprint' | 'shownHash'> & { readonly position: number; readonly option: string },
): boolean {
	const { position, option } = choice;
	const isSecret = (at: number) => question.items[at]?.secret === true;
	const found = quickAnswerOf({ ...question, openItems: [position] }, isSecret);
	return !isSameQuestion(choice, question) || found?.options.includes(option) === true;
}

/** A stored question with only the values that `mode` shows: it may have been stored under another mode. */
export function asShownBy(mode: ShowAnswers, question: QuestionView): QuestionView {
	const shows = ({ value, shownByAuto, ...texts }: ItemView) =>
		value === null || ((mode === 'auto' ? shownByAuto : null) ?? isShownInChannels(mode, texts, value));
	const items = question.items.map((item) => (shows(item) ? item : { ...item, value: null, withheld: true }));
	return { ...question, items };
}

/** Removes signed links and cuts. The texts of a card are cut once more, and its note has to count all that is missing. */
function cut(original: string, length: number, onCut?: OnCut): string {
	return cutWithNote(withoutSignedLinks(original), length, onCut);
}
