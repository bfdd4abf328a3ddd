import type { Core } from '../core.ts';
import {
	type AcceptResult,
	type Answer,
	type NewAnswer,
	type Repeats,
	repeatsOf,
	UNREADABLE_VALUES,
} from '../domain/answer.ts';
import { isSamePerson, type Person } from '../domain/person.ts';
import type { QuestionKey } from '../domain/session.ts';
import { uptimeOf } from '../kernel/clock.ts';
import { codeOf, HandraiseError } from '../kernel/errors.ts';
import type { PressedOption } from '../slack/ids.ts';
import { GIVE_UP_MS } from '../store/schema/answers.ts';
import type { AnswerStore } from './answer-store.ts';

/** What was pressed. `isWritten`: its author wrote it in a thread; otherwise it stood on a button. */
export type Pressed = Omit<PressedOption, 'channelId' | 'shownHash'> &
	Pick<NewAnswer, 'shownHash' | 'sessionName'> & { readonly isWritten?: boolean };

export type Submission = Omit<NewAnswer, 'id' | 'press' | 'question' | 'acceptedAt' | 'giveUpAt' | 'repeats'> & {
	readonly question: Omit<QuestionKey, 'service'>;
	/** How long a one-press answer can be taken back before it is sent; null for a form. */
	readonly undoMs: number | null;
	/** Everybody who sees the question has read it on a button. */
	readonly isOnButton: boolean;
};

/** After a longer failure there is no time for a second try: Slack waits 3 s for the acknowledgement. */
const ASK_AGAIN_WITHIN_MS = 1_000;

/** What people do with their answers. Everything is committed when the promise resolves. */
export function createAnswers(core: Core<{ answers: AnswerStore }>) {
	const { serviceUrl, clock, log, metrics, config } = core;
	const { answers: store } = core.store;

	/** Repeats the write once if its reply was lost; the submission key then finds a committed answer. */
	async function acceptDespiteLostReply(answer: NewAnswer): Promise<AcceptResult> {
		const start = uptimeOf(clock);
		try {
			return await store.accept(answer);
		} catch (error) {
			if (!(error instanceof HandraiseError && 'commitUnknown' in error && error.commitUnknown)) throw error;
			log.warn('accept_reply_lost', { code: codeOf(error) });
			// Retryable: pressing again repeats the same submission, so nothing is sent twice.
			const unknown = new HandraiseError('lost the reply of the database while storing an answer', {
				code: 'acceptance_unknown',
				retryable: true,
				cause: error,
			});
			if (uptimeOf(clock) - start > ASK_AGAIN_WITHIN_MS) throw unknown;
			return await store.accept(answer).catch(() => {
				throw unknown;
			});
		}
	}

	/**
	 * What the values repeat of credentials, by the latest read: there is no time for another. Without one: nothing
	 * for a text on a button, which everybody has read, else null, for nobody knows.
	 */
	function repeatsSeen({ question: { sessionId }, items, isOnButton }: Submission): Repeats {
		const reading = core.sessionService.latest(sessionId);
		if (reading !== null) return repeatsOf(items, reading.session);
		return isOnButton ? [] : null;
	}

	/** Acknowledge only after this. @throws `store_unavailable`: nothing is stored; `acceptance_unknown`: perhaps */
	async function submit(submitted: Submission): Promise<AcceptResult> {
		const { undoMs, isOnButton: _, question, ...submission } = submitted;
		const now = clock.now();
		const result = await acceptDespiteLostReply({
			...submission,
			repeats: repeatsSeen(submitted),
			question: { service: serviceUrl, ...question },
			id: crypto.randomUUID(),
			press: undoMs === null ? null : { undoUntil: now + undoMs },
			acceptedAt: now,
			giveUpAt: now + GIVE_UP_MS,
		});
		metrics.answers.submitted(result.kind);
		return result;
	}

	/** The result of a change of `own`. `changed` null: it was too late. */
	async function changedOrTooLate(own: Answer, changed: Answer | null) {
		return { isDone: changed !== null, answer: changed ?? (await store.get(own.id)) ?? own };
	}

	return {
		async own(id: string | undefined, person: Person): Promise<Answer | null> {
			const answer = id === undefined ? null : await store.get(id);
			return answer !== null && isSamePerson(person, answer.person) ? answer : null;
		},

		async authorOf(id: string | undefined): Promise<Person | null> {
			return id === undefined ? null : ((await store.get(id))?.person ?? null);
		},

		submit,

		/** Like `submit`, for one press, which its author can take back for `UNDO_SECONDS`. */
		submitPress(pressed: Pressed, by: Pick<Submission, 'submissionKey' | 'person' | 'origin'>): Promise<AcceptResult> {
			const { sessionId, messageIndex, fingerprint, shownHash, position, title, option, readAt, arrival } = pressed;
			const { sessionName = '', isWritten = false } = pressed;
			const item = { title: '', value: null, secret: false, wiped: false };
			return submit({
				...by,
				fingerprint,
				shownHash,
				viewId: '',
				undoMs: config.UNDO_SECONDS * 1_000,
				isOnButton: !isWritten,
				question: { sessionId, messageIndex },
				sessionName,
				items: [...Array.from({ length: position }, () => item), { ...item, title, value: option }],
				leftEmpty: [],
				boxed: false,
				formReadAt: readAt,
				arrivalSeen: arrival,
			});
		},

		tryAgain({ id, person }: Answer) {
			const now = clock.now();
			return store.retry(id, person, now, now + GIVE_UP_MS);
		},

		/** Sends answers that waited only for the right encryption key. Returns how many. */
		async sendReadableAgain(): Promise<number> {
			const readable = (await store.waitingBecause(UNREADABLE_VALUES)).filter(
				({ content }) => content.kind === 'readable',
			);
			const now = clock.now();
			for (const { id, person } of readable) await store.retry(id, person, now, now + GIVE_UP_MS);
			if (readable.length > 0) log.info({ answers: readable.length }, 'answers can be read again and are sent');
			return readable.length;
		},

		/** Sends answers that failed with these codes now. Never rejects. */
		async hasten(codes: readonly string[]): Promise<void> {
			try {
				await store.hasten(serviceUrl, codes, clock.now());
			} catch (error) {
				log.warn('hasten_failed', { code: codeOf(error) });
			}
		},

		/** For its author. `onlyUnsent`: not one that may have arrived. */
		async withdraw(own: Answer, options = { onlyUnsent: false }) {
			return changedOrTooLate(own, await store.withdraw(own.id, own.person, clock.now(), options));
		},
	};
}

export type Answers = ReturnType<typeof createAnswers>;
