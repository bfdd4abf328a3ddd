import type { Core } from '../core.ts';
import type { Answer } from '../domain/answer.ts';
import { HandraiseError } from '../kernel/errors.ts';
import { type AccessPolicy, type AccessVerdict, NOT_CHECKED } from '../slack/access-policy.ts';

/** An attempt that begins within this time after its author was allowed to send it asks the access policy nothing. */
export const CHECK_COUNTS_MS = 60_000;
/** At most this many ask at once. While Slack hangs, the worker's other places are for answers that need not ask. */
const MAX_ASKING = 16;

/** Asks the access policy whether somebody may still answer. */
export type Policy = Pick<AccessPolicy, 'checkAbsent' | 'checkNamed'>;

/** Checks before a PUT that its author may still answer. */
export function createAuthorCheck({ sessionService, clock }: Core, policy: Policy) {
	const checkHoldsMs = CHECK_COUNTS_MS + sessionService.deliveryReadMs;
	const asking = atMost(MAX_ASKING);

	return {
		/**
		 * Asks whether the author may still answer: lists of channels always, the rest if `checkedAt` is older than
		 * `CHECK_COUNTS_MS`. Resolves to when that was asked, or to `checkedAt`.
		 * @throws HandraiseError with the refusal as its code; `not_checked` (retryable) when Slack does not tell
		 */
		async check({ person, origin, question }: Answer, checkedAt: number): Promise<number> {
			const now = clock.now();
			const isDue = Math.abs(now - checkedAt) >= CHECK_COUNTS_MS;
			const { sessionId: answers } = question;
			const ask = () => policy.checkAbsent(person, { channelId: origin.channelId ?? '', answers }, 'late');
			const asked = isDue ? asking<AccessVerdict>(ask, NOT_CHECKED) : policy.checkNamed(person, answers, 'send');
			const { refusal, retryAt = null } = await asked;
			if (refusal === null) return isDue ? now : checkedAt;
			const code = refusal === 'could_not_check' ? 'not_checked' : refusal;
			throw new HandraiseError('the author of an answer may not send it, or that is not known', { code, retryAt });
		},

		/** @throws HandraiseError `timed_out` (retryable) when the read after the check took longer than that holds */
		assertChecked(checkedAt: number): void {
			if (Math.abs(clock.now() - checkedAt) <= checkHoldsMs) return;
			const details = { code: 'timed_out', retryable: true };
			throw new HandraiseError('reading a session took longer than the check of an author holds', details);
		},
	};
}

/** Runs at most `count` calls at once. Further ones resolve to `instead`. */
function atMost(count: number) {
	let runningCount = 0;
	return async <Value>(call: () => Promise<Value>, instead: Value): Promise<Value> => {
		if (runningCount >= count) return instead;
		runningCount++;
		return call().finally(() => runningCount--);
	};
}
