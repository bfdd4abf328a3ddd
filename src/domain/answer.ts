import { z } from 'zod';
import { CLOCK_ALLOWANCE_MS } from '../kernel/clock.ts';
import type { BeforePut } from './compare.ts';
import { credentialsOf, masked, repeatedIn } from './masking.ts';
import { PERSON, type Person } from './person.ts';
import { positions, type QuestionKey, type Session } from './session.ts';

/** Identifies one press of Submit. Slack may repeat the request, and one view can show several forms in turn. */
export const submissionKeyOf = (viewId: string, formId: string) => `${viewId}:${formId}`;

export const ORIGIN = z.object({
	channelId: z.string().nullable(),
	/** The thread of the question or card in that channel. */
	threadTs: z.string().nullable(),
	/** The form was opened from a copy of the question, in an inbox or a direct message. */
	isCopy: z.literal(true).exactOptional(),
});
/** Where a form was opened. Channel and thread are null in a direct message. */
export type Origin = Readonly<z.infer<typeof ORIGIN>>;

/**
 * "States of an answer" in `docs/reliability.md` explains each state. Who changes it:
 *
 * - `deliver.ts`: from `accepted` (not sent, or certainly not saved) to `delivering` (a PUT may have begun), and from
 *   there to `delivered`, back to `accepted`, or to a failed state.
 * - `outcomes-store.ts`, with a stored read that shows it: from `delivered` to `resumed`.
 * - `accept.ts`, for the author: from a failed state to `accepted` (`tryAgain`), or to `withdrawn` from that state or
 *   from `accepted` before a PUT.
 *
 * A newer answer turns a `waiting` one into `conflicted`. An answer that comes second is stored as `conflicted` and
 * stays so. If the first one ends without having arrived, the text of the second becomes a draft (`FirstEnding`).
 */
export type AnswerState = (typeof ANSWER_STATES)[number];

/** A question can have only one answer in these states at a time. */
export const BLOCKING_STATES = ['accepted', 'delivering'] as const;
/** It has not ended: it is on its way, or waits for its author. */
export const PENDING_STATES = [...BLOCKING_STATES, 'waiting'] as const;
export const ARRIVED_STATES = ['delivered', 'resumed'] as const;
/** It stands at its question: it may still be sent, or has arrived. */
export const STANDING_STATES = [...PENDING_STATES, ...ARRIVED_STATES] as const;
/** In these states an answer is sent again only when its author asks for it. */
export const FAILED_STATES = ['waiting', 'conflicted', 'changed', 'refused', 'ended'] as const;
export const ANSWER_STATES = [...BLOCKING_STATES, ...ARRIVED_STATES, ...FAILED_STATES, 'withdrawn'] as const;

/** One item of the question as the author saw it, with their value. */
export interface AnswerItem {
	/** As shown above the field, possibly cut. The PUT sends the service's own titles. */
	readonly title: string;
	/** '' when the author left it empty on purpose; null when the item already had a value, or this one was wiped. */
	readonly value: string | null;
	/** Never shown again, and wiped when the answer ends. */
	readonly secret: boolean;
	readonly wiped: boolean;
}

export const OTHER_ANSWER = z.object({
	/** Null, like `person`, when the answer came from outside Handraise, for example from the dashboard. */
	answerId: z.string().nullable(),
	person: PERSON.nullable(),
	/** By position; null for secret values. */
	values: z.array(z.string().nullable()).readonly(),
	at: z.number().nullable(),
	/** Its text equals what the second person wanted to send. */
	same: z.boolean(),
});
/**
 * The other answer to the same question. A second answer holds the first one, for its receipt. A first answer that was
 * not delivered holds the second one.
 */
export type OtherAnswer = Readonly<z.infer<typeof OTHER_ANSWER>>;

/**
 * What became of the agent after an answer. `unseen`: no sign of it after two minutes. `overwritten`: somebody replaced
 * the text from outside. `lost`: the field is empty and the agent asks again. `replaced`: lost, then another answer
 * arrived.
 */
export const AGENT_OUTCOMES = [
	'resumed',
	'failed',
	'stopped',
	'completed',
	'unseen',
	'overwritten',
	'lost',
	'replaced',
] as const;
export type AgentOutcome = (typeof AGENT_OUTCOMES)[number];

/** The author is told of these even when the receipt's window is closed. */
export const BAD_OUTCOMES: readonly AgentOutcome[] = ['overwritten', 'failed', 'stopped', 'lost'];

const STATE = z.enum(ANSWER_STATES);
export const TIMELINE_ENTRY = z.object({
	state: STATE,
	at: z.number(),
	/** For `conflicted`: it lost to somebody else's answer, to an earlier own one, or to one sent in its place. */
	lostTo: z.enum(['other', 'own', 'ownInstead']).optional(),
	/** For `delivered`: its number among the arrivals of the session. It does not depend on the clock. */
	arrival: z.int().exactOptional(),
});
export type TimelineEntry = Readonly<z.infer<typeof TIMELINE_ENTRY>>;

/**
 * The credentials named in the session that the answer's ordinary values repeat, by the newest read that was compared.
 * Null: no read was compared yet. Undefined: a row of 1.1.0, which did not compare.
 */
export type Repeats = readonly string[] | null | undefined;

export const KEPT_QUESTION = z.object({
	context: z.string(),
	items: z.array(z.object({ title: z.string(), description: z.string() })).readonly(),
});
/** A question's texts, masked and cut as channels see them. They are kept so that people can read what was approved. */
export type KeptQuestion = Readonly<z.infer<typeof KEPT_QUESTION>>;

/** The decrypted values. `removed`: after the retention time. `unreadable`: encrypted with another key. */
export type AnswerContent =
	| {
			readonly kind: 'readable';
			readonly items: readonly AnswerItem[];
			readonly other: OtherAnswer | null;
			readonly repeats?: Repeats;
			/** The session's name as the author saw it; empty: not known. */
			readonly sessionName?: string;
			/** The question as it stood when the answer was sent. Absent: not delivered, or stored before 2.0.0. */
			readonly asked?: KeptQuestion;
	  }
	| { readonly kind: 'removed' }
	| { readonly kind: 'unreadable' };

/** Limit for the direct reply to a press that came second. After it, a receipt tells the author instead. */
export const TOLD_WITHIN_MS = 10_000;

/** Stored as one JSON column, because no query filters by it. It changes only when the author presses a button. */
export const SUBMISSION = z.object({
	/** Empty for a one-press answer. */
	viewId: z.string(),
	origin: ORIGIN,
	/** When the read of the session began that the form shows. Its author cannot know answers that arrived later. */
	formReadAt: z.number(),
	/** How many of our answers had arrived in the session by that read. Null: not known, so `formReadAt` decides. */
	arrivalSeen: z.int().nullable(),
	/** The positions that the answer fills or leaves empty on purpose. */
	positions,
	/** The positions that the author left empty on purpose. Rules take them for answered. */
	leftEmpty: positions,
	/** When the access policy last allowed the author to send it. */
	checkedAt: z.number(),
	/** `shownHashOf` of what the author saw. Null: the form or button is from a version without this hash. */
	shownHash: z.string().nullable(),
});
type Submission = Readonly<z.infer<typeof SUBMISSION>>;

/** What an answer has from its submission on. All times are milliseconds since the epoch. */
export interface SubmittedAnswer extends Omit<Submission, 'positions' | 'checkedAt'> {
	readonly id: string;
	readonly submissionKey: string;
	/** Set for a one-press answer. It is sent after `undoUntil`; before that, its author can undo it. */
	readonly press: { readonly undoUntil: number } | null;
	readonly person: Person;
	readonly question: QuestionKey;
	readonly fingerprint: string;
	readonly acceptedAt: number;
	/** When delivery stops and the author is asked. */
	readonly giveUpAt: number;
}

export interface Answer extends SubmittedAnswer, Submission {
	readonly content: AnswerContent;
	/** Positions marked secret by the author. They outlive the values. Null: the form had no box for it. */
	readonly secretPositions: readonly number[] | null;
	readonly state: AnswerState;
	readonly attempts: number;
	/** How often the author replaced the text before sending began. */
	readonly editCount: number;
	/** When the worker's next step is due; null: nothing is left to do. */
	readonly nextAttemptAt: number | null;
	/** Set before a PUT begins. Cleared when certainly nothing was saved. Set in a failed state: it may have arrived. */
	readonly putStartedAt: number | null;
	readonly beforePut: BeforePut | null;
	readonly deliveredAt: number | null;
	readonly agentOutcome: AgentOutcome | null;
	readonly endedAt: number | null;
	readonly lastError: string | null;
	readonly timeline: readonly TimelineEntry[];
	/** The service asked for no request before this time (`Retry-After`). */
	readonly notBefore: number | null;
	/** Consecutive attempts that found no such session (404). */
	readonly missingCount: number;
	/** When the first of these attempts was; null: none. */
	readonly missingSince: number | null;
	/** The service saved the answer but reported a failure, most likely because it could not start the agent. */
	readonly startFailed: boolean;
	/** The row of the answered question; null: the answer ended before 2.0.0. */
	readonly questionId: string | null;
}

export interface NewAnswer extends SubmittedAnswer {
	readonly items: readonly AnswerItem[];
	readonly repeats?: Repeats;
	readonly sessionName?: string;
	/** The form had a box for secret answers. Without it, `secret` of the items is a guess. */
	readonly boxed: boolean;
}

export type AcceptResult =
	/** Committed. Waiting answers to the same question are now `conflicted`. */
	| { readonly kind: 'accepted'; readonly answer: Answer }
	/** The submission was stored before. `edited`: its text was replaced, because nothing was sent yet. */
	| { readonly kind: 'repeated'; readonly answer: Answer; readonly edited: boolean }
	/** The submission was stored before with another text, and sending has begun. The first text stays. */
	| { readonly kind: 'tooLate'; readonly answer: Answer }
	/** Another answer is live, or was delivered since the form was read. This one is stored as `conflicted`. */
	| { readonly kind: 'taken'; readonly by: Answer; readonly answer: Answer };

type Patched =
	| 'state'
	| 'attempts'
	| 'nextAttemptAt'
	| 'putStartedAt'
	| 'deliveredAt'
	| 'agentOutcome'
	| 'lastError'
	| 'notBefore'
	| 'missingCount'
	| 'missingSince'
	| 'startFailed';
/** The fields that a step of the worker may write. A change of the state appends to the timeline. */
export type AnswerPatch = Partial<Pick<Answer, Patched>> & {
	readonly other?: OtherAnswer;
	readonly repeats?: readonly string[];
	readonly asked?: KeptQuestion;
};

/** What happened to a question. `delivered`: its session will change soon. `choice`, `undo`: of one-press answers. */
export type QuestionChange = 'claim' | 'answer' | 'delivered' | 'choice' | 'undo';

/** After this time the author gets a message that delivery takes long. They have probably closed the modal. */
export const TAKES_LONG_MS = 30_000;

/** When the session is read early, in ms after an answer arrived. The agent needs a moment to continue. */
export const EARLY_READS_MS = [2_000, 5_000, 15_000, 60_000] as const;

/** When the first attempt to send was due. */
export function firstDueAt({ press, acceptedAt }: Pick<Answer, 'press' | 'acceptedAt'>): number {
	return press?.undoUntil ?? acceptedAt;
}

/**
 * `lastError` of a second answer when the first one ended without having arrived. The second text is then a draft.
 * `first_over`: the session was over. `first_unknown`: the first answer may have arrived.
 */
const FIRST_ENDINGS = ['first_failed', 'first_over', 'first_unknown'] as const;
export type FirstEnding = (typeof FIRST_ENDINGS)[number];

/** `lastError`: the answer's text is encrypted with another key. */
export const UNREADABLE_VALUES = 'values_unreadable';

/** `lastError` of a `changed` answer: another message of the session asks the same question now. */
export const QUESTION_MOVED = 'question_moved';

/** How the first answer ended, for one that came second. Null while the first is on its way and after it arrived. */
export function firstEndingOf({ state, lastError }: Pick<Answer, 'state' | 'lastError'>): FirstEnding | null {
	return state === 'conflicted' ? (FIRST_ENDINGS.find((ending) => ending === lastError) ?? null) : null;
}

/** The news of which its author is told once, as a string to compare. A receipt shows more, see `looksOther`. */
export const receiptStateOf = (answer: Pick<Answer, 'state' | 'agentOutcome' | 'lastError'>): string =>
	[answer.state, answer.agentOutcome ?? '', firstEndingOf(answer) ?? ''].join(' ').trim();

const isOneOf = (states: readonly string[]) => (state: string) => states.includes(state);

/** True while the answer can still reach the service without its author. */
export const isBlocking = isOneOf(BLOCKING_STATES);
export const isPending = isOneOf(PENDING_STATES);
export const hasArrived = isOneOf(ARRIVED_STATES);
export const isStanding = isOneOf(STANDING_STATES);
/** Not delivered. The author decides whether to try again. */
export const isFailed = isOneOf(FAILED_STATES);

/** The question still needs an answer: nothing but the delivery itself failed. Others may answer. */
export const isUndelivered = isOneOf(['waiting', 'refused']);

/** Whether the answer is on its way, or was delivered after the read that began at `readAt` (null: no read yet). */
export function isAnsweredSince(answer: Answer | null, readAt: number | null): boolean {
	if (answer === null) return false;
	return isBlocking(answer.state) || (answer.deliveredAt !== null && answer.deliveredAt >= (readAt ?? 0));
}

/** Whether sending has stopped and the outcome of an earlier PUT is unknown. */
export function mayHaveArrived({ state, putStartedAt }: Pick<Answer, 'state'> & Partial<Answer>): boolean {
	return putStartedAt != null && (isFailed(state) || state === 'withdrawn');
}

/** The timeline entry of the first arrival; undefined: the answer has not arrived. */
export const arrivalOf = (timeline: readonly TimelineEntry[]) => timeline.find(({ arrival }) => arrival !== undefined);

/** The positions that an answer fills. */
export const filledBy = ({ positions: all, leftEmpty }: Pick<Answer, 'positions' | 'leftEmpty'>) =>
	all.filter((position) => !leftEmpty.includes(position));

/** Whether reads may still show what became of a delivered answer. */
export function awaitsAgentOutcome({ state, agentOutcome }: Pick<Answer, 'state' | 'agentOutcome'>): boolean {
	return state === 'delivered' && (agentOutcome === null || agentOutcome === 'unseen');
}

/** A press that came second and was never sent. Nothing is left to do about it. */
export const isSecondChoice = ({ press, state, putStartedAt }: Answer) =>
	press !== null && state === 'conflicted' && putStartedAt === null;

export function secretOf(items: readonly Pick<AnswerItem, 'secret'>[]): number[] {
	return items.flatMap(({ secret }, position) => (secret ? [position] : []));
}

export function sessionNameOf({ content }: Pick<Answer, 'content'>): string {
	return content.kind === 'readable' ? masked(content.sessionName ?? '').text : '';
}

/** The first answer, as the author of the second may read it. Null: there is none, or its text is removed. */
export const firstAnswerOf = ({ content }: Partial<Pick<Answer, 'content'>>): OtherAnswer | null =>
	content?.kind === 'readable' ? content.other : null;

/** Who came second to an answer that could not be delivered, and so has a draft. Null: nobody is known. */
export const secondAuthorOf = (answer: Pick<Answer, 'state' | 'content'>): Person | null =>
	isUndelivered(answer.state) ? (firstAnswerOf(answer)?.person ?? null) : null;

export const keptQuestionOf = ({ content }: Pick<Answer, 'content'>): KeptQuestion | null =>
	(content.kind === 'readable' ? content.asked : undefined) ?? null;

export const itemsOf = ({ content }: Answer) => (content.kind === 'readable' ? content.items : []);

/**
 * An item of an answer as everybody but its author reads it: secret values are removed, and credentials are masked.
 * `repeats`: credentials that the session names. Null: no read was compared yet, so every value counts as secret.
 */
export function forOthers({ value, ...item }: AnswerItem, repeats: Repeats = []): AnswerItem {
	if (value === null || value === '') return { ...item, value };
	const secret = item.secret || repeats === null;
	return { ...item, secret, value: secret ? '' : masked(value, new Set(repeats)).text };
}

/** What others read of an answer, by position. Null: the value is secret. */
export const valuesForOthers = ({ items, repeats }: Pick<NewAnswer, 'items' | 'repeats'>) =>
	items.map((item) => {
		const { value, secret } = forOthers(item, repeats);
		return secret ? null : value;
	});

/** `valuesForOthers` of a stored answer; empty when its texts are removed or unreadable. */
export const shownValuesOf = ({ content }: Pick<Answer, 'content'>) =>
	content.kind === 'readable' ? valuesForOthers(content) : [];

export const repeatsIn = ({ content }: Pick<Answer, 'content'>) => (content.kind === 'readable' ? content.repeats : []);

/** The credentials named in the session that the ordinary values of these items repeat. */
export const repeatsOf = (items: readonly Pick<AnswerItem, 'value' | 'secret'>[], session: Session): string[] =>
	repeatedIn(
		items.flatMap(({ value, secret }) => (secret ? [] : (value ?? []))),
		credentialsOf(session),
	);

/** Whether the agent may not run: the service saved the answer but reported a failure, and no read saw it continue. */
export function agentMayBeIdle({ state, agentOutcome, startFailed }: Partial<Answer>): boolean {
	return state === 'delivered' && startFailed === true && (agentOutcome ?? 'unseen') === 'unseen';
}

/** The texts that are not secret, by position. */
export function textsOf(answer: Answer): Readonly<Record<number, string>> {
	const texts = itemsOf(answer).map(({ value, secret }, position) => [position, secret ? '' : (value ?? '')] as const);
	return Object.fromEntries(texts.filter(([, text]) => text !== ''));
}

/** How long after its start a PUT may still arrive, in ms: time to leave, time to end, and the difference of clocks. */
export const mayLandForMs = (callTimeoutMs: number) => SEND_WITHIN_MS + callTimeoutMs + CLOCK_ALLOWANCE_MS;

/**
 * A PUT or a post leaves this process within this time after the store has noted it, or not at all. After that another
 * process may send it.
 */
export const SEND_WITHIN_MS = 2_000;
