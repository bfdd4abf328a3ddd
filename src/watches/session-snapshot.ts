import { isDeepStrictEqual } from 'node:util';
import { cutWithNote, type OnCut } from '../cut.ts';
import { type Digest, digestOf } from '../questions/changes.ts';
import { withoutSignedLinks } from '../questions/fingerprint.ts';
import { askingMessageIndex, type LeftEmpty, questionAt } from '../questions/open-question.ts';
import { latestAssistantMessages, resultOf, stepOf, taskOf } from '../questions/progress.ts';
import { type QuickAnswer, quickAnswerOf } from '../questions/quick-answer.ts';
import { type Disclosure, disclosureOf, isShownInChannels, type ShowAnswers } from '../questions/secrecy.ts';
import type { AgentAction, Session } from '../questions/session.ts';

/** One item of a question as a channel may see it. */
export interface ItemView {
	readonly title: string;
	readonly description: string;
	readonly open: boolean;
	/** Null while unanswered, and always for values that are secret or withheld. */
	readonly value: string | null;
	readonly secret: boolean;
	/** Channels see only that it was answered. */
	readonly withheld: boolean;
}

export interface QuestionView {
	readonly messageIndex: number;
	readonly fingerprint: string;
	/** See `shownHashOf`. */
	readonly shownHash: string;
	/** A newer assistant message exists. */
	readonly goneOn: boolean;
	/** The agent's text in the message that asks. */
	readonly context: string;
	/** The first items; `itemCount` counts all. */
	readonly items: readonly ItemView[];
	readonly itemCount: number;
	readonly openCount: number;
	/** What one press can answer; null when it needs a form. */
	readonly quick: QuickAnswer | null;
}

export interface StepView {
	readonly step: number;
	readonly text: string;
	readonly actions: readonly AgentAction[];
}

/**
 * What channels show of a session, stored so that any replica can build a card without reading the session again. At most
 * about 40,000 characters, without signed links, variables and secret values. Texts are the agent's own and untrusted.
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
	/** The newest question, open or not. */
	readonly question: QuestionView | null;
	readonly result: string | null;
	readonly fileCount: number;
	readonly hasScreenshot: boolean;
	readonly digest: Digest;
	/** When it was read, clock milliseconds. */
	readonly seenAt: number;
}

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
const TASK_LENGTH = 500;
const BY_GUESS = disclosureOf([], 'auto');

/** Without `leftEmpty` and `disclosure`, as if nobody has answered through Handraise. */
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
		name: cut(session.name, NAME_LENGTH),
		task: task === null ? null : cut(task, TASK_LENGTH),
		status: cut(session.status, NAME_LENGTH),
		...stepOf(session),
		steps: latestAssistantMessages(session, STEP_COUNT).map(({ step, message }) => ({
			step,
			text: cut(message.content, STEP_TEXT_LENGTH),
			// The result is shown by itself.
			actions: message.actions
				.filter((action) => action.kind !== 'done')
				.slice(0, ACTION_COUNT)
				.map(cutAction),
		})),
		question: asking === null ? null : questionViewAt(session, asking, leftEmpty, disclosure),
		result: result === null ? null : cut(result, RESULT_LENGTH),
		fileCount: session.files.length,
		hasScreenshot: session.lastScreenshotUrl !== null,
		digest: digestOf(session, leftEmpty),
		seenAt,
	};
}

/** Whether both show the same, whenever they were read. */
export function showSame(one: SessionSnapshot, other: SessionSnapshot): boolean {
	return isDeepStrictEqual({ ...one, seenAt: 0 }, { ...other, seenAt: 0 });
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
	let isWhole = true;
	const onCut = () => {
		isWhole = false;
	};
	const length = Math.min(ITEM_LENGTH, Math.floor(ALL_ITEMS_LENGTH / Math.min(ITEM_COUNT, question.items.length)));
	return {
		messageIndex,
		fingerprint: question.fingerprint,
		shownHash: question.shownHash,
		goneOn: question.goneOn,
		context: cut(question.context, CONTEXT_LENGTH, onCut),
		items: question.items.slice(0, ITEM_COUNT).map((item, position) => {
			const shown = disclosure(question, position);
			return {
				title: cut(item.title, TITLE_LENGTH, onCut),
				description: cut(item.description, length, onCut),
				open: question.openItems.includes(position),
				value: shown !== 'shown' || item.value === '' ? null : cut(item.value, length),
				secret: shown === 'secret',
				withheld: shown === 'withheld' && item.value !== '',
			};
		}),
		itemCount: question.items.length,
		openCount: question.openItems.length,
		// After all parts: `isWhole` is known.
		quick: isWhole ? quickAnswerOf(question, (position) => disclosure(question, position) === 'secret') : null,
	};
}

/** A stored question with only the values that `mode` shows: it may have been stored under another mode. */
export function asShownBy(mode: ShowAnswers, question: QuestionView): QuestionView {
	const items = question.items.map((item) =>
		item.value === null || isShownInChannels(mode, item, item.value) ? item : { ...item, value: null, withheld: true },
	);
	return { ...question, items };
}

function cutAction(action: AgentAction): AgentAction {
	switch (action.kind) {
		case 'open':
			return { ...action, host: cut(action.host, NAME_LENGTH) };
		case 'saveFile':
			return { ...action, filename: cut(action.filename, NAME_LENGTH) };
		case 'other':
			return { ...action, name: cut(action.name, NAME_LENGTH) };
		default:
			return action;
	}
}

/** Removes signed links and cuts. The texts of a card are cut once more, and its note has to count all that is missing. */
function cut(original: string, length: number, onCut?: OnCut): string {
	return cutWithNote(withoutSignedLinks(original), length, onCut);
}
