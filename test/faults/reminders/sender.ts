import { randomUUID } from 'node:crypto';
import type { Clock } from '../../../src/core/clock.ts';
import type { AnswerStore } from '../../../src/features/answer/answer-store.ts';
import type { Answer, AnswerPatch } from '../../../src/questions/answer.ts';
import type { Random } from '../../support/random.ts';
import type { Asked } from './history.ts';
import { createLoop } from './loop.ts';
import type { Service } from './service.ts';

interface Options {
	readonly answers: AnswerStore;
	readonly serviceUrl: string;
	readonly service: Service;
	readonly questionOf: (answer: Answer) => Asked;
	/** The answer is not on its way any more, and did not arrive. */
	readonly onFailed: (answer: Answer) => void;
	readonly onChange: (answer: Answer, what: 'answer' | 'delivered') => void;
	readonly clock: Clock;
	readonly random: Random;
}

const LEASE_MS = 20_000;
const AGAIN_MS = 15_000;
/** The share of answers that the service refuses. */
const REFUSED = 0.04;

/** Takes stored answers through their states, as the program's worker does, without its reads. */
export function createSender({ answers, serviceUrl, service, questionOf, onFailed, onChange, clock, random }: Options) {
	async function step(answer: Answer, token: string): Promise<void> {
		const write = (patch: AnswerPatch) => answers.update(answer, token, patch, { now: clock.now(), release: true });
		const end = { nextAttemptAt: null };
		if (answer.state === 'accepted') {
			const nextAttemptAt = clock.now() + Math.round(random.between(100, 2_500));
			await write({ state: 'delivering', nextAttemptAt });
		} else if (answer.state === 'delivering') {
			if (service.isAway) {
				await write({ nextAttemptAt: clock.now() + AGAIN_MS });
				return;
			}
			const outcome = random.chance(REFUSED) ? 'refused' : service.answer(questionOf(answer), answer.id);
			await clock.sleep(Math.round(random.between(50, 600)));
			const arrived = outcome === 'answered' || outcome === 'same';
			if (arrived) {
				const now = clock.now();
				await write({ state: 'delivered', deliveredAt: now, nextAttemptAt: now + 5_000 });
			} else {
				await write({ ...end, state: outcome === 'refused' ? 'refused' : 'conflicted' });
				onFailed(answer);
			}
			onChange(answer, arrived ? 'delivered' : 'answer');
			return;
		} else await write(answer.state === 'delivered' ? { ...end, state: 'resumed', agentOutcome: 'resumed' } : end);
		onChange(answer, 'answer');
	}

	async function turn(): Promise<number> {
		const token = randomUUID();
		const due = await answers.takeDue(serviceUrl, { token, ms: LEASE_MS }, 100, clock.now());
		for (const answer of due) loop.begin(step(answer, token));
		const dueAt = await answers.nextDueAt(serviceUrl);
		return dueAt === null ? 3_600_000 : Math.max(10, dueAt - clock.now());
	}

	const loop = createLoop(clock, turn);
	return loop;
}
