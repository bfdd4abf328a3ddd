import type { AnswerStore } from '../delivery/answer-store.ts';
import { isAnsweredSince } from '../domain/answer.ts';
import { type HandedQuestion, type HandOver, holderOf, obstacleTo } from '../domain/hand-over.ts';
import type { Person } from '../domain/person.ts';
import { activeHolder, handOverOf } from '../screens/facts.ts';
import type { WatchStore } from '../sessions/watch-store.ts';
import type { Refusal } from '../slack/access-policy.ts';
import type { HandlerContext } from '../slack/context.ts';
import type { createHandOverStore } from './hand-over-store.ts';

/** The question of a *Hand over* or *Give back*, and where its person sees it. */
export type PressedQuestion = Pick<HandOver, 'fingerprint' | 'channelId'> & { readonly sessionId: string };

export interface HandOverStores {
	readonly handOvers: ReturnType<typeof createHandOverStore>;
	readonly answers: AnswerStore;
	readonly watches: WatchStore;
}

/** Hands questions over to people, and back. */
export function createHandOvers(core: HandlerContext<HandOverStores>) {
	const { serviceUrl, clock, mayAct } = core;
	const { handOvers: store, answers, watches } = core.store;

	function keyOf({ teamId }: Person, { sessionId, fingerprint }: PressedQuestion): HandedQuestion {
		return { teamId, session: { service: serviceUrl, sessionId }, fingerprint };
	}

	/** The question as asked in its channel, with its newest hand-over. `closed`: who has answered it, if known. */
	async function askedIn({ teamId, session, fingerprint }: HandedQuestion, channelId: string) {
		const watched = await watches.find({ teamId, channelId }, session);
		const shown = watched && (await watches.shownOf([watched.id])).get(watched.id);
		const question = shown?.snapshot?.question ?? null;
		if (shown?.snapshot == null || question?.fingerprint !== fingerprint) return { kind: 'closed', by: null } as const;
		const standing = await answers.standing({ ...session, messageIndex: question.messageIndex });
		const isOpen = question.openCount > 0 && !isAnsweredSince(standing, shown.checkedAt);
		if (!isOpen) return { kind: 'closed', by: standing } as const;
		const asked = { question, sessionName: shown.snapshot.name, discreet: shown.style.discreet };
		return { kind: 'possible', ...asked, watchId: shown.watch.id, handOver: handOverOf(shown) } as const;
	}

	/** The id of the newest hand-over if its person may not answer in its channel any more. */
	async function replaceable(asked: Awaited<ReturnType<typeof askedIn>>, { userId }: Person, sessionId: string) {
		const held = asked.kind === 'possible' ? holderOf(asked.handOver) : null;
		if (held === null || held.to === userId) return null;
		return (await activeHolder(held, sessionId, mayAct)) === null ? held.id : null;
	}

	return {
		/** The question, if this person can hand it over; else why not. */
		async begin(person: Person, pressed: PressedQuestion) {
			const asked = await askedIn(keyOf(person, pressed), pressed.channelId);
			if (asked.kind === 'closed') return asked;
			const { handOver } = asked;
			const replaces = await replaceable(asked, person, pressed.sessionId);
			const kind = obstacleTo({ from: person.userId, replaces }, handOver);
			return kind === null || handOver === null ? asked : ({ kind, handOver } as const);
		},

		/** `viewId`: of the window in which `to` was chosen. `refusal`: why they may not answer. */
		async handOver(
			person: Person,
			pressed: PressedQuestion,
			chosen: { viewId: string; to: string; note: string | null; refusal: Promise<Refusal | null> },
		) {
			const { viewId, to, note, refusal } = chosen;
			const { channelId } = pressed;
			const { userId: from } = person;
			if (to === from) return { kind: 'refused', refusal: 'self' } as const;
			const handed = keyOf(person, pressed);
			// Both ask Slack, and the window waits three seconds.
			const holder = askedIn(handed, channelId).then((asked) => replaceable(asked, person, pressed.sessionId));
			const [why, replaces] = await Promise.all([refusal, holder]);
			if (why !== null) return { kind: 'refused', refusal: why } as const;
			const asked = await askedIn(handed, channelId);
			if (asked.kind === 'closed') return asked;
			const wish = { ...handed, id: viewId, watchId: asked.watchId, channelId, from, to, note, replaces };
			const result = await store.handOver(wish, clock.now());
			return result.kind === 'closed' ? ({ kind: 'closed', by: null } as const) : result;
		},

		giveBack: (person: Person, pressed: PressedQuestion) =>
			store.giveBack({ ...keyOf(person, pressed), userId: person.userId }, clock.now()),
	};
}

type HandOvers = ReturnType<typeof createHandOvers>;
type Begun = Awaited<ReturnType<HandOvers['begin']>>;
type HandedOver = Awaited<ReturnType<HandOvers['handOver']>>;
export type QuestionToHandOver = Pick<Extract<Begun, { kind: 'possible' }>, 'question' | 'sessionName' | 'discreet'>;
export type TooManyHandOvers = Extract<HandedOver, { kind: 'tooMany' }>;
export type HandOverObstacle = Exclude<Begun | HandedOver, { kind: 'possible' | 'refused' | 'tooMany' }>;
