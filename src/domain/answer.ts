import { randomBytes } from 'node:crypto';
import { z } from 'zod';
import { CLOCK_ALLOWANCE_MS } from '../kernel/clock.ts';
import type { BeforePut } from './compare.ts';
import { credentialsOf, masked, repeatedIn } from './masking.ts';
import { FORGOTTEN, PERSON, type Person } from './person.ts';
import { positions, type QuestionKey, type Session } from './session.ts';

/** Identifies a press of Submit, however often Slack repeats it. A view can show several forms in turn. */
export const submissionKeyOf = (viewId: string, formId: string) => `${viewId}:${formId}`;

export const forgottenName = () => `${FORGOTTEN}${randomBytes(8).toString('hex')}`;
export const SOMEBODY = 'Somebody';

export const isSamePerson = (one: Person, other: Person) => one.userId === other.userId && one.teamId === other.teamId;

export const ORIGIN = z.object({
	channelId: z.string().nullable(),
	/** The thread of the question or card in that channel. */
	threadTs: z.string().nullable(),
	/** It was opened from a copy of a question, in an inbox or a direct message. */
	isCopy: z.literal(true).exactOptional(),
});
/** Where a form was opened. Both are null in a DM. */
export type Origin = Readonly<z.infer<typeof ORIGIN>>;

/**
 * What they mean: "States of an answer" in `docs/reliability.md`. `deliver.ts` takes an answer from `accepted` (not
 * sent, or certainly not saved) to `delivering` (a PUT may have begun), and from there to `delivered`, back, or to a
 * failed state; `confirm.ts` from `delivered` to `resumed`. In `accept.ts` its author takes a failed one back to
 * `accepted` (`tryAgain`), or one that is not delivered to `withdrawn`. A newer answer makes a waiting one
 * `conflicted`. An answer that comes second is stored as `conflicted`, and stays so: when the first one ends without
 * having arrived, its text is a draft (`FirstEnding`).
 */
export type AnswerState = (typeof ANSWER_STATES)[number];

/** A question can have only one answer in these states at a time. */
export const BLOCKING_STATES = ['accepted', 'delivering'] as const;
export const ARRIVED_STATES = ['delivered', 'resumed'] as const;
/** In these states an answer is sent again only when its author asks for it. */
export const FAILED_STATES = ['waiting', 'conflicted', 'changed', 'refused', 'ended'] as const;
export const ANSWER_STATES = [...BLOCKING_STATES, ...ARRIVED_STATES, ...FAILED_STATES, 'withdrawn'] as const;

/** One item of the question as the author saw it, with their value. */
export interface AnswerItem {
	/** As shown above the field, maybe cut. The PUT takes titles from the service. */
	readonly title: string;
	/** '' when the author left it empty on purpose; null when the item already had a value, or this one was wiped. */
	readonly value: string | null;
	/** Never shown again, and wiped when the answer ends. */
	readonly secret: boolean;
	readonly wiped: boolean;
}

export const OTHER_ANSWER = z.object({
	/** Like `person` null when it came from outside Handraise, for example from the dashboard. */
	answerId: z.string().nullable(),
	person: PERSON.nullable(),
	/** By position; null for secret values. */
	values: z.array(z.string().nullable()).readonly(),
	at: z.number().nullable(),
	/** Its text is exactly what the second person wanted to send. */
	same: z.boolean(),
});
/** The first answer, for the receipt of the second person. Of one that was not delivered: who came second to it. */
export type OtherAnswer = Readonly<z.infer<typeof OTHER_ANSWER>>;

/**
 * `unseen`: no sign of the agent after two minutes. `overwritten`: somebody elsewhere replaced the text. `lost`: the
 * answer is not in the field any more, and the agent asks again; `replaced`: after that, another answer arrived.
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

/** Of these the author has to learn even with a closed window. */
export const BAD_OUTCOMES: readonly AgentOutcome[] = ['overwritten', 'failed', 'stopped', 'lost'];

const STATE = z.enum(ANSWER_STATES);
export const TIMELINE_ENTRY = z.object({
	state: STATE,
	at: z.number(),
	/** Of `conflicted`: somebody else's answer, an earlier one of its author, or one that its author sent instead. */
	lostTo: z.enum(['other', 'own', 'ownInstead']).optional(),
	/** Of `delivered`: counts what arrived in the session, whatever the clock says. */
	arrival: z.int().exactOptional(),
});
export type TimelineEntry = Readonly<z.infer<typeof TIMELINE_ENTRY>>;

/**
 * What the ordinary values repeat of the passwords and the like that the session names, as the newest read that was
 * compared showed. Null: none was compared yet; left out by 1.1.0, which did not compare.
 */
export type Repeats = readonly string[] | null | undefined;

export const KEPT_QUESTION = z.object({
	context: z.string(),
	items: z.array(z.object({ title: z.string(), description: z.string() })).readonly(),
});
/** A question's texts, masked and cut as channels see them: what was approved stays readable. */
export type KeptQuestion = Readonly<z.infer<typeof KEPT_QUESTION>>;

/** The decrypted values. `removed`: after the retention time. `unreadable`: encrypted with another key. */
export type AnswerContent =
	| {
			readonly kind: 'readable';
			readonly items: readonly AnswerItem[];
			readonly other: OtherAnswer | null;
			readonly repeats?: Repeats;
			/** Of the session, as its author saw it; empty: not known. */
			readonly sessionName?: string;
			/** What it answers, as it was asked when it was sent; left out: not delivered, or by a former version. */
			readonly asked?: KeptQuestion;
	  }
	| { readonly kind: 'removed' }
	| { readonly kind: 'unreadable' };

/** How long the reply to a press that came second may take before a receipt tells its author instead. */
export const TOLD_WITHIN_MS = 10_000;

/** What no query filters by: written only when its author presses a button. */
export const SUBMISSION = z.object({
	/** Empty for a one-press answer. */
	viewId: z.string(),
	origin: ORIGIN,
	/** When the session of the form was read. The author has not seen later deliveries. */
	formReadAt: z.number(),
	/** The newest arrival that its author may have seen then; null: not known, so `formReadAt` decides. */
	arrivalSeen: z.int().nullable(),
	/** The positions that it fills or leaves empty on purpose. */
	positions,
	/** Those left empty on purpose, which count as answered. */
	leftEmpty: positions,
	/** When the access policy last allowed a press of its author to send it. */
	checkedAt: z.number(),
	/** Of what the author saw (`shownHashOf`); null when the form or button is of a version that had none. */
	shownHash: z.string().nullable(),
});
type Submission = Readonly<z.infer<typeof SUBMISSION>>;

/** What an answer has from its submission on. All times are milliseconds since the epoch. */
export interface SubmittedAnswer extends Omit<Submission, 'positions' | 'checkedAt'> {
	readonly id: string;
	readonly submissionKey: string;
	/** Of a one-press answer: its author may take it back until then, unless the PUT has begun; it is sent after that. */
	readonly press: { readonly undoUntil: number } | null;
	readonly person: Person;
	readonly question: QuestionKey;
	readonly fingerprint: string;
	readonly acceptedAt: number;
	/** When to stop trying and ask the author. */
	readonly giveUpAt: number;
}

export interface Answer extends SubmittedAnswer, Submission {
	readonly content: AnswerContent;
	/** The positions that the author marked as secret, also once values are gone; null: the form had no box for it. */
	readonly secretPositions: readonly number[] | null;
	readonly state: AnswerState;
	readonly attempts: number;
	/** How often the author replaced the text before sending began. */
	readonly editCount: number;
	/** When the worker's next step is due; null when nothing is left to do. */
	readonly nextAttemptAt: number | null;
	/** Set before a PUT begins, cleared when certainly nothing was saved. In a failed state: it may have arrived. */
	readonly putStartedAt: number | null;
	readonly before: BeforePut | null;
	readonly deliveredAt: number | null;
	readonly agentOutcome: AgentOutcome | null;
	readonly endedAt: number | null;
	readonly lastError: string | null;
	readonly timeline: readonly TimelineEntry[];
	/** The service asked for a pause until this time. */
	readonly notBefore: number | null;
	/** Attempts in a row that found no such session. */
	readonly missingCount: number;
	/** The first of them; null: none. */
	readonly missingSince: number | null;
	/** The service saved it but reported a failure, most likely because it could not start the agent. */
	readonly startFailed: boolean;
	/** The row of the question that it answers; null: it ended before 2.0.0. */
	readonly questionId: string | null;
}

export interface NewAnswer extends SubmittedAnswer {
	readonly items: readonly AnswerItem[];
	readonly repeats?: Repeats;
	readonly sessionName?: string;
	/** The form had the box for secret answers. Without it, `secret` of the items is a guess. */
	readonly boxed: boolean;
}

export type AcceptResult =
	/** Committed. Waiting answers to the same question are `conflicted` now. */
	| { readonly kind: 'accepted'; readonly answer: Answer }
	/** The same submission again. `edited`: its text was replaced, because nothing was sent yet. */
	| { readonly kind: 'repeated'; readonly answer: Answer; readonly edited: boolean }
	/** The same submission with another text, after sending began. The first text stays. */
	| { readonly kind: 'tooLate'; readonly answer: Answer }
	/** Another answer is live or was delivered since the form was read. This one is stored as `conflicted`. */
	| { readonly kind: 'taken'; readonly by: Answer; readonly answer: Answer };

type Unpatched = keyof Submission | 'questionId' | 'content' | 'secretPositions' | 'editCount' | 'endedAt' | 'timeline';
/** The fields that a step may write. A change of the state appends to the timeline. */
export type AnswerPatch = Partial<Omit<Answer, keyof SubmittedAnswer | Unpatched>> & {
	readonly other?: OtherAnswer;
	readonly repeats?: readonly string[];
	readonly asked?: KeptQuestion;
};

/** What happened to a question. `delivered`: its session will change soon. `choice`, `undo`: of a one-press answer. */
export type QuestionChange = 'claim' | 'answer' | 'delivered' | 'choice' | 'undo';

/** After this long the author is told that delivery takes long: they have probably closed the modal. */
export const TAKES_LONG_MS = 30_000;

/** When its session is read after it has arrived, in ms: the agent takes a moment to go on. */
export const EARLY_READS_MS = [2_000, 5_000, 15_000, 60_000] as const;

/** When its sending was due at first. */
export function firstDueAt({ press, acceptedAt }: Pick<Answer, 'press' | 'acceptedAt'>): number {
	return press?.undoUntil ?? acceptedAt;
}

/**
 * `lastError` of a second answer whose first one ended without having arrived, so that its text is a draft now.
 * `first_over`: the session was over; `first_unknown`: the first may have arrived.
 */
const FIRST_ENDINGS = ['first_failed', 'first_over', 'first_unknown'] as const;
export type FirstEnding = (typeof FIRST_ENDINGS)[number];

/** `lastError` of an answer whose text is encrypted with another key. */
export const UNREADABLE_VALUES = 'values_unreadable';

/** `lastError` of a `changed` answer whose question is asked at another place of the session now. */
export const QUESTION_MOVED = 'question_moved';

/** How the answer ended to which this one lost; null while that is on its way, and once it has arrived. */
export function firstEndingOf({ state, lastError }: Pick<Answer, 'state' | 'lastError'>): FirstEnding | null {
	return state === 'conflicted' ? (FIRST_ENDINGS.find((ending) => ending === lastError) ?? null) : null;
}

/** What an author is told of an answer, to compare. */
export const toldOf = (answer: Pick<Answer, 'state' | 'agentOutcome' | 'lastError'>): string =>
	[answer.state, answer.agentOutcome ?? '', firstEndingOf(answer) ?? ''].join(' ').trim();

const isOneOf = (states: readonly string[]) => (state: string) => states.includes(state);

/** True while the answer can still reach the service without its author. */
export const isBlocking = isOneOf(BLOCKING_STATES);
export const hasArrived = isOneOf(ARRIVED_STATES);
/** Not delivered, and its author decides whether to try again. */
export const isFailed = isOneOf(FAILED_STATES);

/** It failed without another answer, another question or the end of the session: others may be asked to answer. */
export const isUndelivered = isOneOf(['waiting', 'refused']);

/** Whether the answer is on its way, or was delivered after its session's read at `readAt` (null: never) began. */
export function isAnsweredSince(answer: Answer | null, readAt: number | null): boolean {
	if (answer === null) return false;
	return isBlocking(answer.state) || (answer.deliveredAt !== null && answer.deliveredAt >= (readAt ?? 0));
}

/** Whether the answer is no longer sent and nobody knows whether an earlier PUT arrived. */
export function mayHaveArrived({ state, putStartedAt }: Pick<Answer, 'state'> & Partial<Answer>): boolean {
	return putStartedAt != null && (isFailed(state) || state === 'withdrawn');
}

/** When it first arrived, and which arrival of its session that is; undefined when it has not. */
export const arrivalOf = (timeline: readonly TimelineEntry[]) => timeline.find(({ arrival }) => arrival !== undefined);

/** The positions that an answer fills. */
export const filledBy = ({ positions: all, leftEmpty }: Pick<Answer, 'positions' | 'leftEmpty'>) =>
	all.filter((position) => !leftEmpty.includes(position));

/** Whether reads may still show what became of a delivered answer. */
export function isAwaited({ state, agentOutcome }: Pick<Answer, 'state' | 'agentOutcome'>): boolean {
	return state === 'delivered' && (agentOutcome === null || agentOutcome === 'unseen');
}

/** A press that came second and was never sent: nothing is left to do about it. */
export const isSecondChoice = ({ press, state, putStartedAt }: Answer) =>
	press !== null && state === 'conflicted' && putStartedAt === null;

export function secretOf(items: readonly Pick<AnswerItem, 'secret'>[]): number[] {
	return items.flatMap(({ secret }, position) => (secret ? [position] : []));
}

export function sessionNameOf({ content }: Pick<Answer, 'content'>): string {
	return content.kind === 'readable' ? masked(content.sessionName ?? '').text : '';
}

/** The answer that was there before this one, as its author may read it; null: none, or its text is gone. */
export const firstOf = ({ content }: Partial<Pick<Answer, 'content'>>): OtherAnswer | null =>
	content?.kind === 'readable' ? content.other : null;

/** Who came second to an answer that could not be delivered, and has a draft now; null: nobody is known. */
export const secondOf = (answer: Pick<Answer, 'state' | 'content'>): Person | null =>
	isUndelivered(answer.state) ? (firstOf(answer)?.person ?? null) : null;

export const keptQuestionOf = ({ content }: Pick<Answer, 'content'>): KeptQuestion | null =>
	(content.kind === 'readable' ? content.asked : undefined) ?? null;

export const itemsOf = ({ content }: Answer) => (content.kind === 'readable' ? content.items : []);

/**
 * An item of an answer as anybody but its author reads it: without a secret value, and without what looks like a
 * credential or is named as one in the session. Until a read of that was compared, each value counts as secret.
 */
export function forOthers({ value, ...item }: AnswerItem, repeats: Repeats = []): AnswerItem {
	if (value === null || value === '') return { ...item, value };
	const secret = item.secret || repeats === null;
	return { ...item, secret, value: secret ? '' : masked(value, new Set(repeats)).text };
}

/** By position, what others read of an answer. Null: nothing. */
export const valuesForOthers = ({ items, repeats }: Pick<NewAnswer, 'items' | 'repeats'>) =>
	items.map((item) => {
		const { value, secret } = forOthers(item, repeats);
		return secret ? null : value;
	});

/** `valuesForOthers` of a stored answer; none where its texts are gone. */
export const shownValuesOf = ({ content }: Pick<Answer, 'content'>) =>
	content.kind === 'readable' ? valuesForOthers(content) : [];

export const repeatsIn = ({ content }: Pick<Answer, 'content'>) => (content.kind === 'readable' ? content.repeats : []);

/** What the ordinary values of these items repeat of the credentials that the session names. */
export const repeatsOf = (items: readonly Pick<AnswerItem, 'value' | 'secret'>[], session: Session): string[] =>
	repeatedIn(
		items.flatMap(({ value, secret }) => (secret ? [] : (value ?? []))),
		credentialsOf(session),
	);

/** The service saved the answer but reported a failure, and nobody has seen the agent continue. */
export function agentMayStand({ state, agentOutcome, startFailed }: Partial<Answer>): boolean {
	return state === 'delivered' && startFailed === true && (agentOutcome ?? 'unseen') === 'unseen';
}

export function textsOf(answer: Answer): Readonly<Record<number, string>> {
	const texts = itemsOf(answer).map(({ value, secret }, position) => [position, secret ? '' : (value ?? '')] as const);
	return Object.fromEntries(texts.filter(([, text]) => text !== ''));
}

/** How long a PUT may still land after it began, in ms: the times to leave and to end, and the difference of clocks. */
export const mayLandForMs = (callTimeoutMs: number) => SEND_WITHIN_MS + callTimeoutMs + CLOCK_ALLOWANCE_MS;

/**
 * A PUT, or the call of a post, leaves this process within this time after the store has noted it, or not at all:
 * others may make it later.
 */
export const SEND_WITHIN_MS = 2_000;
