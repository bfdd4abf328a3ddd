import type { Fault } from '../../../fake-session-service/faults.ts';
import type { Random } from '../../support/random.ts';
import type { Harness } from '../harness.ts';
import type { Round } from './round.ts';

/** A fault without the session it is for. */
type Trouble = Fault extends infer One ? (One extends Fault ? Omit<One, 'sessionId' | 'times'> : never) : never;

/** How the service can fail a PUT, saving it or not, always within the call's time-out. */
function putTroubles(callTimeoutMs: number): readonly Trouble[] {
	const soon = Math.round(callTimeoutMs / 4);
	return [
		{ kind: 'error', saves: true },
		{ kind: 'error', saves: false },
		{ kind: 'error', status: 503, saves: true, saveAfterMs: soon },
		{ kind: 'reset', saves: true },
		{ kind: 'reset', saves: false },
		{ kind: 'reset', saves: true, saveAfterMs: soon },
		{ kind: 'hang', saves: true },
		{ kind: 'hang', saves: true, saveAfterMs: soon },
		{ kind: 'hang', saves: false },
		{ kind: 'late', ms: soon * 2 },
		{ kind: 'slow', ms: soon * 2 },
		{ kind: 'garbage' },
		{ kind: 'broken-http' },
		{ kind: 'truncated' },
		{ kind: 'cut-off' },
		{ kind: 'html', saves: true },
		{ kind: 'html', saves: false },
		{ kind: 'wrong-types', saves: true },
		{ kind: 'foreign-json', saves: true },
		{ kind: 'rate-limited', retryAfterSeconds: 1 },
		{ kind: 'unauthorized' },
	];
}

const readTroubles: readonly Trouble[] = [
	{ kind: 'error' },
	{ kind: 'reset' },
	{ kind: 'garbage' },
	{ kind: 'slow', ms: 80 },
	{ kind: 'html' },
];

/** Arms the service's part of `armTroubles`. */
export function armServiceTroubles(
	{ service, callTimeoutMs }: Harness,
	{ sessionId, troubles }: Pick<Round, 'sessionId' | 'troubles'>,
	{ random, slowPut }: { random: Random; slowPut: boolean },
): void {
	const arm = (method: string, trouble: Trouble) => {
		service.faults.add({ ...trouble, method, sessionId, times: random.chance(0.8) ? 1 : 2 } as Fault);
		troubles.push(`${method} ${JSON.stringify(trouble)}`);
	};
	if (slowPut && random.chance(0.7)) {
		arm('PUT', { kind: random.pick(['late', 'slow'] as const), ms: Math.round(callTimeoutMs / 2) });
	} else if (random.chance(0.45)) {
		arm('PUT', random.pick(putTroubles(callTimeoutMs)));
	}
	if (random.chance(0.15)) arm('GET', random.pick(readTroubles));
}

/** The connection of one PUT breaks at once, and the PUT is saved just before the call's time-out. */
export function resetThatLandsLate(random: Random, callTimeoutMs: number): Fault & { kind: 'reset' } {
	const saveAfterMs = Math.round(callTimeoutMs * (0.6 + random.uniform() * 0.3));
	return { kind: 'reset', method: 'PUT', saves: true, saveAfterMs, times: 1 };
}

/**
 * Arms the trouble for this round, for about half of all rounds. `slowPut`: most PUTs are slow, so that many are under
 * way at once. Returns what was armed, for the report.
 */
export function armTroubles(harness: Harness, round: Round, how: { random: Random; slowPut: boolean }): void {
	const { slack } = harness;
	const { random } = how;
	armServiceTroubles(harness, round, how);
	if (random.chance(0.15)) {
		slack.faults.duplicateNext('view_submission');
		round.troubles.push('a submission delivered twice');
	}
	if (random.chance(0.1)) {
		const afterEffect = random.chance(0.5);
		slack.faults.add({
			method: 'views.update',
			times: 1,
			afterEffect,
			...(random.chance(0.5) ? { status: 500 } : { drop: true }),
		});
		round.troubles.push('a view update fails');
	}
}
