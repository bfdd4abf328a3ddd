import type { Fault } from '../../../../fake-session-service/faults.ts';
import { until } from '../../until.ts';
import { savedOf } from '../receipt-watch.ts';
import type { FaultKind } from '../turn.ts';

/**
 * From the start of the process: the start takes some seconds on a busy machine, and an answer's next attempt takes
 * some more.
 */
const DELIVERED_WITHIN_MS = 20_000;

/**
 * The program restarts while Slack refuses connections or is silent. Accepted answers must be delivered without Slack.
 */
export const slackAtStart: FaultKind = {
	stores: ['sqlite', 'postgres'],
	async run({ harness, random, size, beginAll, press }) {
		const { service, slack, replicas } = harness;
		const rounds = await beginAll(size);
		const refusal: Fault = { kind: 'unauthorized', method: 'GET' };
		const refusals = rounds.map(({ sessionId }) => service.faults.add({ ...refusal, sessionId }));
		await Promise.all(rounds.map((round) => press(round)));
		await Promise.all(replicas.map((replica) => replica.terminate()));
		for (const id of refusals) service.faults.clear(id);

		const isSilent = random.chance(0.5);
		const comeBack = isSilent ? slack.faults.hold('*') : slack.faults.add({ method: '*', drop: true });
		const launched = replicas.map((replica) => replica.launch());
		const isThere = (round: (typeof rounds)[number]) => savedOf(harness, round).length > 0;
		await until(() => rounds.every(isThere), DELIVERED_WITHIN_MS);
		for (const round of rounds) {
			round.troubles.push(`the program was started while Slack ${isSilent ? 'was silent' : 'refused connections'}`);
			if (!isThere(round)) round.untimely.push(`it was not delivered within ${DELIVERED_WITHIN_MS} ms without Slack`);
		}
		comeBack();
		await Promise.all(launched.map(({ ready }) => ready));
		return rounds.length;
	},
};
