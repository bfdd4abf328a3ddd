import type { Core } from '../../core.ts';
import { isAnsweredSince, type Person } from '../../questions/answer.ts';
import { type HandedQuestion, type HandOver, holderOf, obstacleTo } from '../../questions/hand-over.ts';
import type { MayAct, Refusal } from '../../slack/access-policy.ts';
import type { AnswerStore } from '../answer/answer-store.ts';
import { activeHolder } from '../watch/facts.ts';
import type { HandOverStore } from './hand-over-store.ts';

/** The question of a *Hand over* or *Give back*, and where its person sees it. */
export type PressedQuestion = Pick<HandOver, 'fingerprint' | 'channelId'> & { readonly sessionId: string };

/** Hands questions over to people, and back. `onNews` is called after something was stored. */
export function createHandOvers(
	{ store: { handOvers: store, answers }, serviceUrl, clock }: Core<{ handOvers: HandOverStore; answers: AnswerStore }>,
	{ mayAct, onNews }: { readonly mayAct: MayAct; readonly onNews: () => void },
) {
	function questionOf({ teamId }: Person, { sessionId, fingerprint }: PressedQuestion): HandedQuestion {
		return { teamId, session: { service: serviceUrl, sessionId }, fingerprint };
	}

	/** The question as it is asked in its channel; else who has answered it. */
	async function askedIn({ teamId, session, fingerprint }: HandedQuestion, channelId: string) {
		const shown = await store.watchedIn({ teamId, channelId }, session);
		const question = shown?.view.question ?? null;
		if (shown === null || question === null) return { by: null };
		const standing = await answers.standing({ ...session, messageIndex: question.messageIndex });
		const isSame = question.fingerprint === fingerprint;
		if (isSame && question.openCount > 0 && !isAnsweredSince(standing, shown.checkedAt)) return { ...shown, question };
		return { by: isSame ? standing : null };
	}

	/** The id of the newest hand-over if its person may not answer in its channel any more. */
	async function replaceable(handOver: HandOver | null, { userId }: Person): Promise<string | null> {
		const held = holderOf(handOver);
		if (held === null || held.to === userId) return null;
		return (await activeHolder(held, mayAct)) === null ? held.id : null;
	}

	return {
		/** The question, if this person can hand it over to somebody; else why not. `by`: the answer that settles it, if it is one of ours. */
		async begin(person: Person, pressed: PressedQuestion) {
			const handed = questionOf(person, pressed);
			const asked = await askedIn(handed, pressed.channelId);
			if ('by' in asked) return { kind: 'closed', by: asked.by } as const;
			const handOver = await store.handOverOf(handed);
			const replaces = await replaceable(handOver, person);
			const kind = obstacleTo({ id: '', from: person.userId, to: '', replaces }, handOver);
			if (kind !== null && handOver !== null) return { kind, handOver } as const;
			const { watch, view, question } = asked;
			return { kind: 'possible', question, sessionName: view.name, discreet: watch.discreet } as const;
		},

		/** `viewId`: of the window in which `to` was chosen. `refusal`: why they may not answer. */
		async handOver(
			person: Person,
			pressed: PressedQuestion,
			{ viewId, to, refusal }: { viewId: string; to: string; refusal: Promise<Refusal | null> },
		) {
			const { channelId } = pressed;
			const { userId: from } = person;
			if (to === from) return { kind: 'refused', refusal: 'self' } as const;
			const handed = questionOf(person, pressed);
			// Both ask Slack, and the window waits three seconds.
			const holder = store.handOverOf(handed).then((handOver) => replaceable(handOver, person));
			const [why, replaces] = await Promise.all([refusal, holder]);
			if (why !== null) return { kind: 'refused', refusal: why } as const;
			const asked = await askedIn(handed, channelId);
			if ('by' in asked) return { kind: 'closed', by: asked.by } as const;
			const wish = { ...handed, id: viewId, watchId: asked.watch.id, channelId, from, to, replaces };
			const result = await store.handOver(wish, clock.now());
			onNews();
			return result.kind === 'closed' ? ({ kind: 'closed', by: null } as const) : result;
		},

		async giveBack(person: Person, pressed: PressedQuestion) {
			const given = { ...questionOf(person, pressed), userId: person.userId };
			const result = await store.giveBack(given, clock.now());
			onNews();
			return result;
		},
	};
}

export type HandOvers = ReturnType<typeof createHandOvers>;
type Begun = Awaited<ReturnType<HandOvers['begin']>>;
export type QuestionToHandOver = Pick<Extract<Begun, { kind: 'possible' }>, 'question' | 'sessionName' | 'discreet'>;
export type HandOverObstacle = Exclude<Begun, { kind: 'possible' }>;
