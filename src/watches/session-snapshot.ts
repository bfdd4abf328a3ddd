import { type Digest, digestOf } from '../questions/changes.ts';
import {
	type Disclosure,
	disclosureOf,
	isShownInChannels,
	type ShowAnswers,
	withoutSignedLinks,
} from '../questions/disclosure.ts';
import { askingMessageIndex, type LeftEmpty, questionAt } from '../questions/open-question.ts';
import { latestAssistantMessages, resultOf, stepOf, taskOf } from '../questions/progress.ts';
import type { AgentAction, Session } from '../questions/session.ts';

/** One item of a question as a channel may see it. */
export interface ItemView {
	readonly title: string;
	readonly description: string;
	readonly open: boolean;
	/** What was answered; null while nothing was, and always for what is secret or withheld. */
	readonly value: string | null;
	readonly secret: boolean;
	/** It was answered, and channels see only that. */
	readonly withheld: boolean;
}

export interface QuestionView {
	readonly messageIndex: number;
	readonly fingerprint: string;
	/** A newer assistant message exists. */
	readonly goneOn: boolean;
	/** What the agent wrote in the message that asks. */
	readonly context: string;
	/** The first ones; see `itemCount`. */
	readonly items: readonly ItemView[];
	readonly itemCount: number;
	readonly openCount: number;
}

export interface StepView {
	readonly step: number;
	readonly text: string;
	readonly actions: readonly AgentAction[];
}

/**
 * What channels show of a session, stored so that any replica can write a card without reading the session again: at most
 * some 40,000 characters, without signed links, variables and secret values. Texts are the agent's own and untrusted.
 */
export interface SessionSnapshot {
	readonly sessionId: string;
	readonly name: string;
	readonly task: string | null;
	readonly status: string;
	readonly step: number;
	readonly maxSteps: number;
	/** Newest first. */
	readonly steps: readonly StepView[];
	/** The newest one, open or not. */
	readonly question: QuestionView | null;
	readonly result: string | null;
	readonly fileCount: number;
	readonly hasScreenshot: boolean;
	readonly digest: Digest;
	/** Clock milliseconds of the read it was made from. */
	readonly seenAt: number;
}

/** A message holds about 12,000 characters of blocks; all of these together stay below. */
const STEPS = 4;
const STEP_TEXT = 600;
const STEP_ACTIONS = 8;
const ITEMS = 30;
const TITLE = 300;
/** Descriptions of all items together, and of one; values have the same limits. */
const ALL_ITEMS = 9_000;
const ONE_ITEM = 2_000;
const CONTEXT = 1_500;
const RESULT = 2_800;
const NAME = 200;
const TASK = 500;
const BY_GUESS = disclosureOf([], 'auto');

/** Without `leftEmpty` and `disclosure`, as if nobody had answered through Handraise. */
export function snapshotOf(
	session: Session,
	seenAt: number,
	leftEmpty?: LeftEmpty,
	disclosure: Disclosure = BY_GUESS,
): SessionSnapshot {
	const asking = askingMessageIndex(session);
	const result = resultOf(session);
	const task = taskOf(session);
	return {
		sessionId: session.sessionId,
		name: cut(session.name, NAME),
		task: task === null ? null : cut(task, TASK),
		status: cut(session.status, NAME),
		...stepOf(session),
		steps: latestAssistantMessages(session, STEPS).map(({ step, message }) => ({
			step,
			text: cut(message.content, STEP_TEXT),
			// The result has a place of its own.
			actions: message.actions
				.filter((action) => action.kind !== 'done')
				.slice(0, STEP_ACTIONS)
				.map(cutAction),
		})),
		question: asking === null ? null : questionViewAt(session, asking, leftEmpty, disclosure),
		result: result === null ? null : cut(result, RESULT),
		fileCount: session.files.length,
		hasScreenshot: session.lastScreenshotUrl !== null,
		digest: digestOf(session, leftEmpty),
		seenAt,
	};
}

/** The question of one message; null when it asks nothing. */
export function questionViewAt(
	session: Session,
	messageIndex: number,
	leftEmpty?: LeftEmpty,
	disclosure: Disclosure = BY_GUESS,
): QuestionView | null {
	const question = questionAt(session, messageIndex, leftEmpty);
	if (question === null) return null;
	const length = Math.min(ONE_ITEM, Math.floor(ALL_ITEMS / Math.min(ITEMS, question.items.length)));
	return {
		messageIndex,
		fingerprint: question.fingerprint,
		goneOn: question.goneOn,
		context: cut(question.context, CONTEXT),
		items: question.items.slice(0, ITEMS).map((item, position) => {
			const seen = disclosure(question, position);
			return {
				title: cut(item.title, TITLE),
				description: cut(item.description, length),
				open: question.openItems.includes(position),
				value: seen !== 'shown' || item.value === '' ? null : cut(item.value, length),
				secret: seen === 'secret',
				withheld: seen === 'withheld' && item.value !== '',
			};
		}),
		itemCount: question.items.length,
		openCount: question.openItems.length,
	};
}

/** A stored question with the values that `mode` shows; it may have been stored under another mode. */
export function asShownBy(mode: ShowAnswers, question: QuestionView): QuestionView {
	const items = question.items.map((item) =>
		item.value === null || isShownInChannels(mode, item, item.value) ? item : { ...item, value: null, withheld: true },
	);
	return { ...question, items };
}

function cutAction(action: AgentAction): AgentAction {
	switch (action.kind) {
		case 'open':
			return { ...action, host: cut(action.host, NAME) };
		case 'saveFile':
			return { ...action, filename: cut(action.filename, NAME) };
		case 'other':
			return { ...action, name: cut(action.name, NAME) };
		default:
			return action;
	}
}

/** Without signed links, and at most `length` UTF-16 units: text that is cut ends with an ellipsis, never half a character. */
function cut(original: string, length: number): string {
	const text = withoutSignedLinks(original);
	if (text.length <= length) return text;
	const end = length - 1;
	const splits = /[\uD800-\uDBFF]/.test(text.charAt(end - 1));
	return `${text.slice(0, splits ? end - 1 : end)}…`;
}
