import { FRESH_MS, type MayAct, type Refusal } from '../answers/access-policy.ts';
import { type Answer, isAnsweredSince, type Person } from '../answers/answer.ts';
import type { Clock } from '../clock.ts';
import type { AnswerStore } from '../store/answer-store.ts';
import type { NewAnnouncement } from '../watches/announcements.ts';
import type { QuestionView, SessionSnapshot } from '../watches/session-snapshot.ts';
import type { ChannelKey, SessionKey, Watch } from '../watches/watch.ts';

/** The newest hand-over of an open question. All times are milliseconds since the epoch. */
export interface HandOver {
	/** The id of the window in which the person was chosen: a repeated submission is recognised by it. */
	readonly id: string;
	readonly teamId: string;
	readonly session: SessionKey;
	readonly fingerprint: string;
	/** The watch whose question it is, and its channel. */
	readonly watchId: string;
	readonly channelId: string;
	/** Slack user ids. */
	readonly from: string;
	readonly to: string;
	/** How often the question was handed over. */
	readonly count: number;
	readonly handedOverAt: number;
	/** Null while `to` has it. */
	readonly givenBackAt: number | null;
}

/** A question can be handed over so often by those who may answer it. After that, somebody answers it or gives it back. */
export const MOST_HAND_OVERS = 3;

/** How many questions somebody hands over, and gets from all others together, in `HAND_OVER_WINDOW_MS` at most. */
export const MOST_IN_WINDOW = { from: 10, to: 20 } as const;
export const HAND_OVER_WINDOW_MS = 10 * 60_000;

/** A hand-over that somebody wants, with the direct message about it. */
export interface NewHandOver
	extends Pick<HandOver, 'id' | 'teamId' | 'session' | 'fingerprint' | 'watchId' | 'channelId' | 'from' | 'to'> {
	/** The id of a hand-over whose person may not answer any more: anybody may replace it, whatever its count. */
	readonly replaces: string | null;
	/** Its key names `from` alone: by that their hand-overs are counted. */
	readonly announcement: NewAnnouncement;
}

export type HandOverResult =
	| { readonly kind: 'handedOver'; readonly handOver: HandOver }
	/** Somebody else has the question. */
	| { readonly kind: 'taken'; readonly handOver: HandOver }
	/** It was handed over too often. */
	| { readonly kind: 'limit'; readonly handOver: HandOver }
	/** It is not open any more, or not watched there. */
	| { readonly kind: 'closed' }
	| ({ readonly kind: 'tooMany' } & TooManyHandOvers);

/** `from` handed over too many questions, or `to` got too many, until `againInMs` from now. */
export interface TooManyHandOvers {
	readonly who: 'from' | 'to';
	readonly againInMs: number;
}

export type GiveBackResult =
	/** `repeated`: it was given back before. */
	| { readonly kind: 'givenBack'; readonly handOver: HandOver; readonly repeated: boolean }
	/** Somebody else has it. */
	| { readonly kind: 'notYours'; readonly handOver: HandOver }
	| { readonly kind: 'closed' };

/** A question of a session in one workspace. */
export interface HandedQuestion {
	readonly teamId: string;
	readonly session: SessionKey;
	readonly fingerprint: string;
}

/**
 * The stored hand-overs, one for a question. Every method is one transaction; throws `StoreUnavailableError` (code
 * `store_unavailable`, retryable). A hand-over is over when its question is answered, changed or closed, or not watched any
 * more: the store of watches forgets it when it queues the `settle` of the question's posts, and queues the same `settle`
 * for the direct message.
 */
export interface HandOverStore {
	/**
	 * Hands a question over, all or nothing: queues the direct message, settles that of whoever had it, and has posts and
	 * cards drawn again. Of two at the same moment one wins. Idempotent by `id` and `to`.
	 */
	handOver(wish: NewHandOver, now: number): Promise<HandOverResult>;
	/** Gives a question back for `userId`, and queues what `told` returns for the hand-over that is over. Idempotent. */
	giveBack(
		question: HandedQuestion & { readonly userId: string },
		options: { now: number; told: (handOver: HandOver) => NewAnnouncement },
	): Promise<GiveBackResult>;
	/**
	 * Whether a person has a question of a session in a channel, or had one when it was settled: not when they gave it back
	 * or others handed it on. Of several, the newest hand-over to them counts.
	 */
	holds(person: Person, channelId: string, session: SessionKey): Promise<boolean>;
	/** The newest hand-over of this question, also one that was given back. */
	handOverOf(question: HandedQuestion): Promise<HandOver | null>;
	/**
	 * The watch of a session in a channel that has not ended, with what its card shows and when the session was last read;
	 * null when there is none.
	 */
	watchedIn(
		channel: ChannelKey,
		session: SessionKey,
	): Promise<{ readonly watch: Watch; readonly view: SessionSnapshot; readonly checkedAt: number | null } | null>;
}

/** What `from` may do with the question; `null`: they may hand it over. */
export function obstacleTo(
	{ id, from, to, replaces }: Pick<NewHandOver, 'id' | 'from' | 'to' | 'replaces'>,
	current: HandOver | null,
): 'handedOver' | 'taken' | 'limit' | null {
	if (current === null) return null;
	if (current.id === id && current.to === to) return 'handedOver';
	// It goes no round with somebody who may not answer.
	if (current.id === replaces) return null;
	if (current.givenBackAt === null && current.to !== from) return 'taken';
	return current.count >= MOST_HAND_OVERS ? 'limit' : null;
}

/**
 * The target of the direct message about a hand-over: to the person who has the question, or, once they gave it back, to
 * whoever had handed it over.
 */
export function targetOfHandOver({
	id,
	teamId,
	from,
	to,
	givenBackAt,
}: Pick<HandOver, 'id' | 'teamId' | 'from' | 'to' | 'givenBackAt'>) {
	return { kind: 'person', teamId, userId: givenBackAt === null ? to : from, topic: id } as const;
}

/** The question of a *Hand over* or *Give back*, and where its person sees it. */
export interface PressedQuestion {
	readonly sessionId: string;
	readonly fingerprint: string;
	/** The channel that watches the session. */
	readonly channelId: string;
}

export type HandOverOutcome =
	| Exclude<HandOverResult, { kind: 'closed' }>
	/** `by`: the answer that settles it, if it is one of ours. */
	| { readonly kind: 'closed'; readonly by: Answer | null }
	/** The chosen person may not answer. */
	| { readonly kind: 'refused'; readonly refusal: Refusal | 'self' };

export type HandOverObstacle = Exclude<HandOverOutcome, { kind: 'refused' | 'tooMany' }>;

/** A question that somebody is about to hand over. */
export interface QuestionToHandOver {
	readonly question: QuestionView;
	readonly sessionName: string;
	/** Whether its watch says only that an agent asks. */
	readonly discreet: boolean;
}

interface Dependencies {
	readonly store: HandOverStore;
	readonly serviceUrl: string;
	readonly answers: Pick<AnswerStore, 'standing'>;
	readonly mayAct: MayAct;
	/** Called after something was stored. */
	readonly onNews: () => void;
	readonly clock: Clock;
}

/** Hands questions over to people, and back. */
export function createHandOvers({ store, serviceUrl, answers, mayAct, onNews, clock }: Dependencies) {
	function questionOf({ teamId }: Person, { sessionId, fingerprint }: PressedQuestion): HandedQuestion {
		return { teamId, session: { service: serviceUrl, sessionId }, fingerprint };
	}

	/** The question as it is asked in its channel; else who has answered it. */
	async function askedIn({ teamId }: Person, { sessionId, fingerprint, channelId }: PressedQuestion) {
		const session = { service: serviceUrl, sessionId };
		const shown = await store.watchedIn({ teamId, channelId }, session);
		const question = shown?.view.question ?? null;
		if (shown === null || question === null) return { by: null };
		const { messageIndex } = question;
		const standing = await answers.standing({ service: serviceUrl, sessionId, messageIndex });
		const isSame = question.fingerprint === fingerprint;
		if (isSame && question.openCount > 0 && !isAnsweredSince(standing, shown.checkedAt)) return { ...shown, question };
		return { by: isSame ? standing : null };
	}

	/** The id of the newest hand-over if its person may not answer in its channel any more. */
	async function replaceable(handOver: HandOver | null, { userId }: Person): Promise<string | null> {
		if (handOver === null || handOver.givenBackAt !== null || handOver.to === userId) return null;
		const { id, teamId, to, channelId } = handOver;
		const refusal = await mayAct({ teamId, userId: to }, channelId, FRESH_MS);
		return refusal === null || refusal === 'could_not_check' ? null : id;
	}

	return {
		/** The question, if this person can hand it over to somebody; else why not. */
		async begin(
			person: Person,
			pressed: PressedQuestion,
		): Promise<HandOverObstacle | ({ readonly kind: 'possible' } & QuestionToHandOver)> {
			const asked = await askedIn(person, pressed);
			if ('by' in asked) return { kind: 'closed', by: asked.by };
			const handOver = await store.handOverOf(questionOf(person, pressed));
			const replaces = await replaceable(handOver, person);
			const kind = obstacleTo({ id: '', from: person.userId, to: '', replaces }, handOver);
			if (kind !== null && handOver !== null) return { kind, handOver };
			const { watch, view, question } = asked;
			return { kind: 'possible', question, sessionName: view.name, discreet: watch.discreet };
		},

		/** @param viewId of the window in which `to` was chosen */
		async handOver(
			person: Person,
			pressed: PressedQuestion,
			{ viewId, to, refusal }: { viewId: string; to: string; refusal: Promise<Refusal | null> },
		): Promise<HandOverOutcome> {
			const { sessionId, channelId } = pressed;
			const { teamId, userId: from } = person;
			if (to === from) return { kind: 'refused', refusal: 'self' };
			const handed = questionOf(person, pressed);
			// Both ask Slack, and the window waits three seconds.
			const holder = store.handOverOf(handed).then((handOver) => replaceable(handOver, person));
			const [why, replaces] = await Promise.all([refusal, holder]);
			if (why !== null) return { kind: 'refused', refusal: why };
			const asked = await askedIn(person, pressed);
			if ('by' in asked) return { kind: 'closed', by: asked.by };
			const { watch, view, question } = asked;
			const watchId = watch.id;
			const target = targetOfHandOver({ id: viewId, teamId, from, to, givenBackAt: null });
			const content = { kind: 'handedOver', watchId, sessionId, from, question, readAt: view.seenAt } as const;
			const announcement = { target, key: `handedOver:${from}`, content };
			const wish = { ...handed, id: viewId, watchId, channelId, from, to, replaces, announcement };
			const result = await store.handOver(wish, clock.now());
			onNews();
			return result.kind === 'closed' ? { kind: 'closed', by: null } : result;
		},

		async giveBack(person: Person, pressed: PressedQuestion): Promise<GiveBackResult> {
			const { userId } = person;
			const { sessionId, fingerprint } = pressed;
			const handed = questionOf(person, pressed);
			const current = await store.handOverOf(handed);
			const shown = current === null ? null : await store.watchedIn(current, handed.session);
			const question = shown?.view.question ?? null;
			if (shown === null || question?.fingerprint !== fingerprint) return { kind: 'closed' };
			const readAt = shown.view.seenAt;
			const result = await store.giveBack(
				{ ...handed, userId },
				{
					now: clock.now(),
					told(handOver) {
						const { watchId } = handOver;
						const content = { kind: 'givenBack', watchId, sessionId, by: userId, question, readAt } as const;
						return { target: targetOfHandOver(handOver), key: 'givenBack', content };
					},
				},
			);
			onNews();
			return result;
		},
	};
}

export type HandOvers = ReturnType<typeof createHandOvers>;
