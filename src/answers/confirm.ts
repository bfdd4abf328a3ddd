import type { Clock } from '../clock.ts';
import { codeOf } from '../errors.ts';
import { fingerprintOf } from '../questions/fingerprint.ts';
import { resumeOutcome } from '../questions/resume.ts';
import { sameText } from '../questions/same-text.ts';
import type { Session } from '../questions/session.ts';
import type { Aftermath, Answer } from './answer.ts';
import type { AnswerPatch, DeliveryService } from './ports.ts';

/** When to look whether the agent went on, in ms after the delivery. */
const LOOKS_MS = [2_000, 5_000, 15_000, 60_000, 600_000];

/**
 * Looks once whether the agent went on after a delivered answer, and says what to write: the aftermath when it is known,
 * else when to look again. A failing read only costs this look.
 */
export function createConfirmation({ service, clock }: { service: DeliveryService; clock: Clock }) {
	return {
		async look(answer: Answer, signal: AbortSignal): Promise<AnswerPatch> {
			let aftermath: Aftermath | 'notYet' = 'notYet';
			let lastError: string | null = null;
			try {
				const { session } = await service.read(answer.question.sessionId, { priority: 'delivery', signal });
				aftermath = aftermathOf(answer, session);
			} catch (error) {
				signal.throwIfAborted();
				lastError = codeOf(error);
			}
			if (aftermath === 'notYet') {
				const next = nextLook(answer, clock.now());
				if (next !== null) return { nextAttemptAt: next, lastError };
				aftermath = 'unseen';
			}
			return {
				aftermath,
				lastError,
				nextAttemptAt: clock.now(),
				...(aftermath === 'resumed' ? { state: 'resumed' as const } : {}),
			};
		},
	};
}

function nextLook(answer: Answer, now: number): number | null {
	const delivered = answer.deliveredAt ?? now;
	const next = LOOKS_MS.find((ms) => delivered + ms > now);
	return next === undefined ? null : delivered + next;
}

function aftermathOf(answer: Answer, session: Session): Aftermath | 'notYet' {
	if (isOverwritten(answer, session)) return 'overwritten';
	return resumeOutcome(answer.before ?? { status: session.status, assistantCount: 0 }, session);
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
