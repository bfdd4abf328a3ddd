import { type Clock, elapsedSince } from '../clock.ts';
import { codeOf } from '../errors.ts';
import { resumeOutcome } from '../questions/compare.ts';
import { fingerprintOf, sameText } from '../questions/fingerprint.ts';
import type { Session } from '../questions/session.ts';
import type { Aftermath, Answer } from './answer.ts';
import type { AnswerPatch, AnswerStore, DeliveryService } from './ports.ts';

/** When to look whether the agent went on, in ms after the delivery. */
const LOOKS_MS = [2_000, 5_000, 15_000, 60_000, 600_000];
/** What a look may wait for the budget beside its call: it holds up the next answer to the same session. */
const BUDGET_WITHIN_MS = 2_000;

interface Dependencies {
	readonly service: DeliveryService;
	readonly store: Pick<AnswerStore, 'delivered'>;
	readonly clock: Clock;
}

/**
 * Looks once whether the agent went on after a delivered answer, and says what to write: the aftermath when it is known,
 * else when to look again. A failing read, or one for which the budget has no room in time, only costs this look.
 */
export function createConfirmation({ service, store, clock }: Dependencies) {
	async function read(sessionId: string, signal: AbortSignal): Promise<Session> {
		const late = new AbortController();
		const done = new AbortController();
		clock.sleep(service.callTimeoutMs + BUDGET_WITHIN_MS, done.signal).then(
			() => late.abort(new Error('the look came too late')),
			() => {},
		);
		try {
			const both = AbortSignal.any([signal, late.signal]);
			const { session } = await service.read(sessionId, { priority: 'background', signal: both });
			return session;
		} finally {
			done.abort();
		}
	}

	/** By what has certainly passed: a clock that was set ends no looking early. */
	function nextLook({ deliveredAt }: Answer): number | null {
		const now = clock.now();
		const elapsed = elapsedSince(clock, deliveredAt ?? now);
		const next = LOOKS_MS.find((ms) => ms > elapsed);
		return next === undefined ? null : now + next - elapsed;
	}

	async function aftermathOf(answer: Answer, session: Session): Promise<Aftermath | 'notYet'> {
		if (isOverwritten(answer, session) && !(await wasAskedAgain(answer))) return 'overwritten';
		return resumeOutcome(answer.before ?? { status: session.status, assistantCount: 0 }, session);
	}

	/** The other text is a later answer of Handraise: the agent had asked the same once more. */
	async function wasAskedAgain({ id, question, fingerprint, deliveredAt }: Answer): Promise<boolean> {
		const answers = await store.delivered(question, fingerprint);
		return answers.some((other) => other.id !== id && (other.deliveredAt ?? 0) > (deliveredAt ?? 0));
	}

	return {
		async look(answer: Answer, signal: AbortSignal): Promise<AnswerPatch> {
			let aftermath: Aftermath | 'notYet' = 'notYet';
			let lastError: string | null = null;
			try {
				aftermath = await aftermathOf(answer, await read(answer.question.sessionId, signal));
			} catch (error) {
				signal.throwIfAborted();
				lastError = codeOf(error);
			}
			// What became of the last *Send again* stays.
			const noted = answer.startFailed ? {} : { lastError };
			if (aftermath === 'notYet') {
				const next = nextLook(answer);
				if (next !== null) return { nextAttemptAt: next, ...noted };
				aftermath = 'unseen';
			}
			return {
				aftermath,
				...noted,
				nextAttemptAt: clock.now(),
				...(aftermath === 'resumed' ? { state: 'resumed' as const, startFailed: false } : {}),
			};
		},
	};
}

/**
 * Another text stands where ours was delivered. Nothing there is no other text: it may be a reading from before the PUT,
 * or a service that clears what its agent has taken. Secret values were wiped on delivery and can not be compared.
 */
function isOverwritten(answer: Answer, session: Session): boolean {
	const items = session.messages[answer.question.messageIndex]?.humanInput;
	if (items === undefined || answer.content.kind !== 'readable' || fingerprintOf(items) !== answer.fingerprint) {
		return false;
	}
	return answer.content.items.some(({ value }, position) => {
		const there = items[position]?.value ?? '';
		return value !== null && value !== '' && there !== '' && !sameText(there, value);
	});
}
