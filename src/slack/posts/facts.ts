import { FRESH_MS, type MayAct } from '../../answers/access-policy.ts';
import type { Core } from '../../core.ts';
import type { HandOver } from '../../inbox/hand-over.ts';
import type { DueAnnouncement, SendOutcome } from '../../watches/announcements.ts';
import type { ReminderEntry } from '../../watches/kinds.ts';
import type { QuestionView } from '../../watches/session-snapshot.ts';
import type { Watch } from '../../watches/watch.ts';
import type { MessageContent } from '../blocks/parts.ts';

/**
 * A new post. Null when what it says is not so any more; an outcome when it cannot be posted. `isShownInChannel`: a
 * reply is shown in the channel too. `leftOut`: reminders whose question somebody has answered, which may be taken back.
 */
export type Drawn =
	| {
			readonly message: MessageContent;
			readonly isShownInChannel?: boolean;
			readonly leftOut?: readonly ReminderEntry[];
	  }
	| SendOutcome
	| null;

/** Reads what is stored about a question that a card or a post shows, and who may still read or answer it. */
export function createQuestionFacts({ serviceUrl, store, clock }: Core, mayAct: MayAct) {
	const { answers, claims, watches, handOvers } = store;

	const keyOf = (sessionId: string, messageIndex: number) => ({ service: serviceUrl, sessionId, messageIndex });

	/** The newest hand-over, also when its person has given the question back. */
	function handOverOf({ teamId, session }: Watch, fingerprint: string): Promise<HandOver | null> {
		return handOvers.handOverOf({ teamId, session, fingerprint });
	}

	/** Why somebody may not act in a channel now, or null. */
	function refusal(person: Parameters<MayAct>[0], channelId: string | null) {
		return mayAct(person, channelId, FRESH_MS);
	}

	return {
		handOverOf,
		refusal,
		shownOf: watches.shownOf,

		standing: (sessionId: string, messageIndex: number) => answers.standing(keyOf(sessionId, messageIndex)),

		/** The newest answer to it whose author was not allowed to send it any more. */
		refused: (sessionId: string, { messageIndex, fingerprint }: QuestionView) =>
			answers.refused(keyOf(sessionId, messageIndex), fingerprint),

		/** Who is answering, and until when at least: nothing draws a card or post again at that time. */
		async claimed(sessionId: string, messageIndex: number) {
			const active = await claims.active(keyOf(sessionId, messageIndex), clock.now());
			return {
				claims: active.map(({ person }) => person.userId),
				claimedUntil: active.length === 0 ? null : Math.min(...active.map(({ until }) => until)),
			};
		},

		/** The hand-over by which somebody has the question now. */
		async holderOf(watch: Watch, fingerprint: string): Promise<HandOver | null> {
			const handOver = await handOverOf(watch, fingerprint);
			return handOver?.givenBackAt === null ? handOver : null;
		},

		/** Null when its person may not answer any more, so that nobody has the question. */
		async unlessRefused(handOver: HandOver | null): Promise<HandOver | null> {
			if (handOver === null) return null;
			const { teamId, to, channelId } = handOver;
			const refused = await refusal({ teamId, userId: to }, channelId);
			return refused === null || refused === 'could_not_check' ? handOver : null;
		},

		/** The announcement with the watch whose question was handed over; null when that watch is forgotten. */
		async withWatch(due: DueAnnouncement, watchId: string): Promise<DueAnnouncement> {
			const shown = (await watches.shownOf([watchId])).get(watchId);
			return { ...due, watch: shown?.watch ?? null, view: shown?.view ?? null };
		},
	};
}

export type QuestionFacts = ReturnType<typeof createQuestionFacts>;
