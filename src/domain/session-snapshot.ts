import { z } from 'zod';
import { atOnce } from '../kernel/lease-loop.ts';
import { type DeepReadonly, pick } from '../kernel/values.ts';
import { markedTitle } from './contract.ts';
import { type Disclosure, disclosureOf, isShownInChannels, type ShowAnswers } from './disclosure.ts';
import { createMask, credentialsOf, drawMasked, type Mask } from './masking.ts';
import { quickAnswerOf } from './quick-answer.ts';
import {
	agentAction,
	askingMessageIndex,
	assistantCountOf,
	type ClosedItems,
	filledAt,
	isOver,
	isSameQuestion,
	latestAssistantMessages,
	NOTHING_ELSE,
	type Question,
	type QuestionDigest,
	questionAt,
	questionDigest,
	resultOf,
	type Session,
} from './session.ts';
import { asSent, createCutMark, cutWithNote, fingerprintOf, type OnCut, shown, withoutSignedLinks } from './texts.ts';

export const digest = z
	.object({
		status: z.string(),
		assistantCount: z.int(),
		question: questionDigest.nullable(),
		/** `resultHash` of the session. */
		result: z.string().nullable(),
		/** `filesHash` of the session. */
		files: z.string(),
	})
	.readonly();
/** What was last announced of a session. It is stored as JSON and holds no text of a person or an agent. */
export type Digest = z.infer<typeof digest>;

/** `stepped`: more assistant messages, or fewer. What becomes of questions: see `OccurrenceChange`. */
export type SessionChange =
	| { readonly kind: 'statusChanged'; readonly from: string; readonly to: string }
	| { readonly kind: 'ended'; readonly status: string }
	| { readonly kind: 'stepped' | 'resultChanged' | 'filesChanged' };

export function digestOf(session: Session, closedItems?: ClosedItems): Digest {
	return {
		status: session.status,
		assistantCount: assistantCountOf(session),
		question: digestOfQuestionAt(session, askingMessageIndex(session) ?? -1, closedItems),
		result: session.resultHash,
		files: session.filesHash,
	};
}

export function digestOfQuestionAt(
	session: Session,
	messageIndex: number,
	closedItems?: ClosedItems,
): QuestionDigest | null {
	const question = questionAt(session, messageIndex, closedItems);
	if (question === null) return null;
	const { fingerprint, shownHash, openItems: open } = question;
	const answered = filledAt(session, messageIndex);
	return { messageIndex, fingerprint, shownHash, answered, open };
}

/** The changes since `before`. If that is null (nothing announced yet), only the end is one. */
export function changesBetween(before: Digest | null, current: Digest): SessionChange[] {
	const changes: SessionChange[] = [];
	if (before !== null && before.status !== current.status)
		changes.push({ kind: 'statusChanged', from: before.status, to: current.status });
	if (before !== null && before.assistantCount !== current.assistantCount) changes.push({ kind: 'stepped' });
	if (before !== null && before.result !== current.result) changes.push({ kind: 'resultChanged' });
	if (before !== null && before.files !== current.files) changes.push({ kind: 'filesChanged' });
	if (isOver(current.status) && !isOver(before?.status ?? '')) changes.push({ kind: 'ended', status: current.status });
	return changes;
}

const item = z.object({
	title: z.string(),
	description: z.string(),
	open: z.boolean(),
	/** Null while unanswered, and always for values that are secret or withheld. */
	value: z.string().nullable(),
	secret: z.boolean(),
	/** Channels see only that it was answered. */
	withheld: z.boolean(),
	/** `SHOW_ANSWERS=auto` shows the value. Since 1.1.0. */
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
	/** Something in its texts is masked. Since 1.1.0. */
	hides: z.boolean().exactOptional(),
	/** What one press can answer; null when it needs a form, or hides something. */
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
	steps: z.array(z.object({ step: z.int(), text: z.string(), actions: z.array(agentAction) })),
	/** The newest question, open or not. */
	question: questionView.nullable(),
	result: z.string().nullable(),
	fileCount: z.int(),
	digest,
	/** When it was read, clock milliseconds. */
	seenAt: z.number(),
});
/** What channels show, about 40,000 characters at most: no signed links, variables, secret values. Untrusted texts. */
export type SessionSnapshot = DeepReadonly<z.infer<typeof sessionSnapshot>>;

/** Lengths in UTF-16 units, and counts. A Slack message holds about 12,000 characters of blocks: these are fewer. */
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

export interface KnownAnswers {
	readonly closedItems: ClosedItems;
	/** What channels see of the values: what they mark as secret, else a guess. */
	readonly disclosure: Disclosure;
}

export const NO_ANSWERS: KnownAnswers = { closedItems: () => new Set(), disclosure: disclosureOf([], 'auto') };

/** What posts show of a session read at `seenAt` after `arrival` answers of ours; without `ours`, as if it had none. */
export function snapshotOf(
	session: Session,
	seenAt: number,
	ours = NO_ANSWERS,
	arrival: number | null = null,
): SessionSnapshot {
	const question = askedAt(session, askingMessageIndex(session) ?? -1, ours);
	return maskedSnapshot(credentialsOf(session), {
		...pick(session, 'sessionId', 'name', 'status'),
		step: assistantCountOf(session),
		steps: latestAssistantMessages(session, STEP_COUNT).map(({ step, message }) => ({
			step,
			text: message.content,
			// The result is shown by itself.
			actions: message.actions.filter((action) => action.kind !== 'done').slice(0, ACTION_COUNT),
		})),
		question: question && arrival !== null ? { ...question, arrival } : question,
		result: resultOf(session),
		fileCount: session.files.length,
		digest: digestOf(session, ours.closedItems),
		seenAt,
	});
}

export function questionViewAt(session: Session, messageIndex: number, ours = NO_ANSWERS): QuestionView | null {
	const question = askedAt(session, messageIndex, ours);
	return question && maskedQuestion(credentialsOf(session), question);
}

/** With masked and cut texts. Also what is stored: 1.0.0 masked nothing. */
export const maskedQuestion = (known: Set<string>, whole: QuestionView) =>
	drawMasked(known, (mask) => shownQuestion(whole, mask));

/** With whole texts. */
function askedAt(
	session: Session,
	messageIndex: number,
	{ closedItems, disclosure }: KnownAnswers,
): QuestionView | null {
	const question = questionAt(session, messageIndex, closedItems);
	if (question === null) return null;
	return {
		...pick(question, 'messageIndex', 'fingerprint', 'shownHash', 'goneOn', 'stepsSince', 'context'),
		items: question.items.slice(0, ITEM_COUNT).map((item, position) => {
			const shown = disclosure(question, position);
			return {
				...pick(item, 'title', 'description'),
				open: question.openItems.includes(position),
				value: shown !== 'shown' || item.value === '' ? null : item.value,
				secret: shown === 'secret',
				withheld: shown === 'withheld' && item.value !== '',
				...(shown === 'shown' && { shownByAuto: isShownInChannels('auto', item, item.value) }),
			};
		}),
		itemCount: question.items.length,
		openCount: question.openItems.length,
		quick: quickAnswerOf(question, (position) => disclosure(question, position) === 'secret'),
	};
}

/** Like `maskedQuestion`. */
export const maskedSnapshot = (known: Set<string>, whole: SessionSnapshot): SessionSnapshot =>
	drawMasked(known, (mask) => ({
		...whole,
		name: cut(whole.name, NAME_LENGTH, mask),
		status: cut(whole.status, NAME_LENGTH, mask),
		steps: whole.steps.map(({ step, text, actions }) => ({
			step,
			text: cut(text, STEP_TEXT_LENGTH, mask),
			actions: actions.map((action) => ({ ...action, text: cut(action.text, NAME_LENGTH, mask) })),
		})),
		question: whole.question && shownQuestion(whole.question, mask),
		result: whole.result === null ? null : cut(whole.result, RESULT_LENGTH, mask),
	}));

function shownQuestion(whole: QuestionView, { known }: Mask): QuestionView {
	const mark = createCutMark(false);
	// Whether this question hides something.
	const mask = createMask(false, known);
	const length = Math.min(ITEM_LENGTH, Math.floor(ALL_ITEMS_LENGTH / Math.min(ITEM_COUNT, whole.itemCount)));
	const shown = {
		...whole,
		context: cut(whole.context, CONTEXT_LENGTH, mask, mark.onCut),
		items: whole.items.map((item) => ({
			...item,
			title: cut(markedTitle(item.title).name, TITLE_LENGTH, mask, mark.onCut),
			description: cut(item.description, length, mask, mark.onCut),
			// An option that the agent offered may be one.
			value: item.value && cut(item.value, length, mask),
		})),
	};
	return { ...shown, ...(mask.hides && { hides: true }), quick: mark.isCut || mask.hides ? null : whole.quick };
}

/** What a snapshot keeps of its session, for a form while the session cannot be read. */
export interface SnapshotQuestion {
	/** Without messages, files, screenshot and task, which are not stored. */
	readonly session: Session;
	readonly question: Question;
	/** Of the session. */
	readonly step: number;
	/** Something in the question is masked, and what it was is not stored. */
	readonly hides: boolean;
	/** The items have the texts of the agent, neither masked nor cut: only then what looks like an option is one. */
	readonly isWhole: boolean;
}

/** The open question of a snapshot as a form asks it; null when none is open, or not all of its items are stored. */
export function storedQuestionOf(snapshot: SessionSnapshot): SnapshotQuestion | null {
	const { question, step } = snapshot;
	if (question === null || question.openCount === 0 || question.items.length < question.itemCount) return null;
	const textOf = (text: string) => shown(text, ALL_ITEMS_LENGTH).text;
	const items = question.items.map(({ title, description, open, value, secret }) => ({
		title: textOf(title),
		description: textOf(description),
		value: textOf(open ? '' : (value ?? '')),
		// The mark was made of all texts, so it decides: what is cut counts as secret.
		isCut: secret,
	}));
	return {
		session: {
			...pick(snapshot, 'sessionId', 'status', 'name'),
			...NOTHING_ELSE,
			messages: [],
			resultHash: null,
			filesHash: '',
		},
		question: {
			...pick(question, 'messageIndex', 'fingerprint', 'shownHash', 'goneOn'),
			stepsSince: question.stepsSince ?? 0,
			context: textOf(question.context),
			isCut: false,
			items,
			openItems: [...items.keys()].filter((position) => question.items[position]?.open === true),
			sent: items.map(({ title, description }) => {
				return { title: asSent(title), description: asSent(description), value: asSent('') };
			}),
		},
		step,
		hides: question.hides === true,
		isWhole: atOnce(fingerprintOf(question.items)) === question.fingerprint,
	};
}

/** Whether an option of a question as shown is one of today, or the question is another by now. */
export function isOffered(
	question: QuestionView,
	choice: Pick<Question, 'fingerprint' | 'shownHash'> & { readonly position: number; readonly option: string },
): boolean {
	const { position, option } = choice;
	const isSecret = (at: number) => question.items[at]?.secret === true;
	const found = question.hides === true ? null : quickAnswerOf({ ...question, openItems: [position] }, isSecret);
	return !isSameQuestion(choice, question) || found?.options.includes(option) === true;
}

/** A stored question with only the values that `mode` shows: it may have been stored under another mode. */
export function asShownBy(mode: ShowAnswers, question: QuestionView): QuestionView {
	const shows = ({ value, shownByAuto, ...texts }: ItemView) =>
		value === null || ((mode === 'auto' ? shownByAuto : null) ?? isShownInChannels(mode, texts, value));
	const items = question.items.map((item) => (shows(item) ? item : { ...item, value: null, withheld: true }));
	return { ...question, items };
}

/**
 * Removes signed links, masks and cuts, in this order: no half of a credential stays. The texts of a card are cut once
 * more, and its note counts all that is missing.
 */
function cut(original: string, length: number, mask: Mask, onCut?: OnCut): string {
	return cutWithNote(mask.read(withoutSignedLinks(original)), length, onCut);
}
