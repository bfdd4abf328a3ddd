import { z } from 'zod';
import { runSync } from '../kernel/slices.ts';
import { type DeepReadonly, pick } from '../kernel/values.ts';
import { markedTitle } from './contract.ts';
import { type Disclosure, disclosureOf, isShownInChannels, type ShowAnswers } from './disclosure.ts';
import { fingerprintOf } from './hashes.ts';
import { createMask, credentialsOf, drawMasked, type Mask } from './masking.ts';
import { quickAnswerOf } from './quick-answer.ts';
import {
	agentAction,
	askingMessageIndex,
	assistantCountOf,
	type ClosedItems,
	EMPTY_SESSION_FIELDS,
	isSameQuestion,
	latestAssistantMessages,
	type Question,
	questionAt,
	resultOf,
	type Session,
} from './session.ts';
import { digest, digestOf } from './session-digest.ts';
import { withoutSignedLinks } from './signed-links.ts';
import { createCutCheck, cutWithNote, type OnCut, toSentText, toShownText } from './texts.ts';

const item = z.object({
	title: z.string(),
	description: z.string(),
	open: z.boolean(),
	/** Null: unanswered, secret or withheld. */
	value: z.string().nullable(),
	secret: z.boolean(),
	/** Channels see only that the item was answered. */
	withheld: z.boolean(),
	/** `SHOW_ANSWERS=auto` shows the value. Since 1.1.0. */
	shownByAuto: z.boolean().exactOptional(),
});
export type ItemSnapshot = Readonly<z.infer<typeof item>>;

export const questionSnapshot = z.object({
	messageIndex: z.int(),
	fingerprint: z.string(),
	shownHash: z.string(),
	goneOn: z.boolean(),
	/** Messages of the agent after the question. Since 1.1.0. */
	stepsSince: z.int().exactOptional(),
	context: z.string(),
	/** The first items. */
	items: z.array(item),
	/** Of all items, also those that are not in `items`. */
	itemCount: z.int(),
	openCount: z.int(),
	/** Something in the question's texts is masked. Since 1.1.0. */
	hides: z.boolean().exactOptional(),
	/** The options of a one-press answer; null: the question needs a form, or hides something. */
	quick: z.object({ position: z.int(), options: z.array(z.string()) }).nullable(),
	/** How many answers of ours had arrived: see `arrivalSeen` of an answer. */
	arrival: z.int().exactOptional(),
});
export type QuestionSnapshot = DeepReadonly<z.infer<typeof questionSnapshot>>;

export const sessionSnapshot = z.object({
	sessionId: z.string(),
	name: z.string(),
	status: z.string(),
	step: z.int(),
	steps: z.array(z.object({ step: z.int(), text: z.string(), actions: z.array(agentAction) })),
	/** The newest question, open or not. */
	question: questionSnapshot.nullable(),
	result: z.string().nullable(),
	fileCount: z.int(),
	digest,
	/** When the session was read, clock milliseconds. */
	seenAt: z.number(),
});
/**
 * What channels show of a session: about 40,000 characters at most, without signed links, session details and secret
 * values. The texts are untrusted.
 */
export type SessionSnapshot = DeepReadonly<z.infer<typeof sessionSnapshot>>;

/** Lengths in UTF-16 units, and counts. Together they fit into a Slack message, about 12,000 characters of blocks. */
const STEP_COUNT = 4;
const STEP_TEXT_LENGTH = 600;
const ACTION_COUNT = 8;
const ITEM_COUNT = 30;
const TITLE_LENGTH = 300;
/** For the descriptions of all items together, and of one item. The same limits apply to the values. */
const ALL_ITEMS_LENGTH = 9_000;
const ITEM_LENGTH = 2_000;
const CONTEXT_LENGTH = 1_500;
const RESULT_LENGTH = 2_800;
const NAME_LENGTH = 200;

export interface KnownAnswers {
	readonly closedItems: ClosedItems;
	/** What channels see of the values. */
	readonly disclosure: Disclosure;
}

export const NO_ANSWERS: KnownAnswers = { closedItems: () => new Set(), disclosure: disclosureOf([], 'auto') };

/**
 * What posts show of a session. `seenAt`: when it was read. `ours`: what our answers mean for it. `arrival`: how many
 * of them had arrived; null: not known.
 */
export function snapshotOf(
	session: Session,
	seenAt: number,
	ours = NO_ANSWERS,
	arrival: number | null = null,
): SessionSnapshot {
	const question = wholeQuestionAt(session, askingMessageIndex(session) ?? -1, ours);
	return maskedSnapshot(credentialsOf(session), {
		...pick(session, 'sessionId', 'name', 'status'),
		step: assistantCountOf(session),
		steps: latestAssistantMessages(session, STEP_COUNT).map(({ step, message }) => ({
			step,
			text: message.content,
			// `result` below shows it.
			actions: message.actions.filter((action) => action.kind !== 'done').slice(0, ACTION_COUNT),
		})),
		question: question && arrival !== null ? { ...question, arrival } : question,
		result: resultOf(session),
		fileCount: session.files.length,
		digest: digestOf(session, ours.closedItems),
		seenAt,
	});
}

export function questionSnapshotAt(session: Session, messageIndex: number, ours = NO_ANSWERS): QuestionSnapshot | null {
	const question = wholeQuestionAt(session, messageIndex, ours);
	return question && maskedQuestion(credentialsOf(session), question);
}

/** A question with masked and cut texts. Stored ones are masked again, because 1.0.0 did not mask. */
export const maskedQuestion = (known: Set<string>, whole: QuestionSnapshot) =>
	drawMasked(known, (mask) => shownQuestion(whole, mask));

/** A question with whole texts. */
function wholeQuestionAt(
	session: Session,
	messageIndex: number,
	{ closedItems, disclosure }: KnownAnswers,
): QuestionSnapshot | null {
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

/** A snapshot with masked and cut texts, like `maskedQuestion`. */
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

function shownQuestion(whole: QuestionSnapshot, { known }: Mask): QuestionSnapshot {
	const cutCheck = createCutCheck(false);
	// A mask of its own says whether this question hides something.
	const mask = createMask(false, known);
	const length = Math.min(ITEM_LENGTH, Math.floor(ALL_ITEMS_LENGTH / Math.min(ITEM_COUNT, whole.itemCount)));
	const shown = {
		...whole,
		context: cut(whole.context, CONTEXT_LENGTH, mask, cutCheck.onCut),
		items: whole.items.map((item) => ({
			...item,
			title: cut(markedTitle(item.title).name, TITLE_LENGTH, mask, cutCheck.onCut),
			description: cut(item.description, length, mask, cutCheck.onCut),
			// Without a cut mark: a cut value does not make an option incomplete.
			value: item.value && cut(item.value, length, mask),
		})),
	};
	return { ...shown, ...(mask.hides && { hides: true }), quick: cutCheck.isCut || mask.hides ? null : whole.quick };
}

/** A question as a snapshot keeps it, for a form while the session cannot be read. */
export interface SnapshotQuestion {
	/** Without messages, files and screenshot, which are not stored. */
	readonly session: Session;
	readonly question: Question;
	/** The session's step. */
	readonly step: number;
	/** Something in the question is masked, and the original text is not stored. */
	readonly hides: boolean;
	/** The items' texts are neither masked nor cut. Only then a text that looks like an option is one. */
	readonly isWhole: boolean;
}

/** The open question of a snapshot for a form; null: none is open, or not all of its items are stored. */
export function storedQuestionOf(snapshot: SessionSnapshot): SnapshotQuestion | null {
	const { question, step } = snapshot;
	if (question === null || question.openCount === 0 || question.items.length < question.itemCount) return null;
	const textOf = (text: string) => toShownText(text, ALL_ITEMS_LENGTH).text;
	const items = question.items.map(({ title, description, open, value, secret }) => ({
		title: textOf(title),
		description: textOf(description),
		value: textOf(open ? '' : (value ?? '')),
		// `secret` was decided with whole texts. As `isCut` it makes the rules count the item as secret.
		isCut: secret,
	}));
	return {
		session: {
			...pick(snapshot, 'sessionId', 'status', 'name'),
			...EMPTY_SESSION_FIELDS,
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
				return { title: toSentText(title), description: toSentText(description), value: toSentText('') };
			}),
		},
		step,
		hides: question.hides === true,
		isWhole: runSync(fingerprintOf(question.items)) === question.fingerprint,
	};
}

/** Whether a shown option is still one of the question, or the question has changed (which others check). */
export function isOffered(
	question: QuestionSnapshot,
	choice: Pick<Question, 'fingerprint' | 'shownHash'> & { readonly position: number; readonly option: string },
): boolean {
	const { position, option } = choice;
	const isSecret = (at: number) => question.items[at]?.secret === true;
	const found = question.hides === true ? null : quickAnswerOf({ ...question, openItems: [position] }, isSecret);
	return !isSameQuestion(choice, question) || found?.options.includes(option) === true;
}

/** A stored question without the values that `mode` withholds. It may have been stored under another mode. */
export function asShownBy(mode: ShowAnswers, question: QuestionSnapshot): QuestionSnapshot {
	const shows = ({ value, shownByAuto, ...texts }: ItemSnapshot) =>
		value === null || ((mode === 'auto' ? shownByAuto : null) ?? isShownInChannels(mode, texts, value));
	const items = question.items.map((item) => (shows(item) ? item : { ...item, value: null, withheld: true }));
	return { ...question, items };
}

/** Removes signed links, masks and cuts, in this order, so that no half of a credential stays. */
function cut(original: string, length: number, mask: Mask, onCut?: OnCut): string {
	return cutWithNote(mask.read(withoutSignedLinks(original)), length, onCut);
}
