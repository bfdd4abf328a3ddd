import { asking } from '../../../../fake-session-service/builders.ts';
import type { MessageJson, SessionJson } from '../../../../fake-session-service/json.ts';
import type { Harness } from '../../harness.ts';
import { onceFor } from '../moments.ts';
import { ASKED_AT, type Round } from '../round.ts';
import type { FaultKind } from '../turn.ts';

/** Longer than the service takes for a PUT that it does not save. */
const UNSAVED_MS = 30;

const GOES_ON: MessageJson = { role: 'assistant', content: 'Thank you, that will do.' };
const ASKS_ON: MessageJson = asking('One more thing.', ['And who shall read it?']);

/** How an agent changes its session before the next read; `messages` are copies. */
const MOVES: readonly ((messages: MessageJson[]) => SessionJson)[] = [
	(messages) => ({ status: 'active', messages: [...cleared(messages), GOES_ON] }),
	(messages) => ({ status: 'humanInput', messages: [...cleared(messages), ASKS_ON] }),
	(messages) => ({ status: 'completed', messages: cleared(messages) }),
	(messages) => ({ messages: messages.toSpliced(ASKED_AT, 0, { role: 'system', content: 'Resumed.' }) }),
	(messages) => ({ status: 'humanInput', messages: [...messages, ASKS_ON] }),
	(messages) => ({ status: 'completed', messages }),
];

/** A service whose agents clear a question after they have taken its answer. */
function cleared(messages: readonly MessageJson[]): MessageJson[] {
	return messages.map((message) => ({ ...message, human_input: [] }));
}

/**
 * A PUT is saved and its response is lost. Before the program reads again, the agent goes on: the question is gone, has
 * moved or is an old one, or the session is over.
 */
export const changedUnknown: FaultKind = {
	stores: ['sqlite', 'postgres'],
	async run({ harness, random, size, beginAll, press }) {
		const rounds = await beginAll(size, { fate: 'moved on' });
		const first = random.whole(0, MOVES.length - 1);
		await Promise.all(
			rounds.map(async (round, index) => {
				const saves = random.chance(0.85);
				const trouble = random.pick([{ kind: 'error' }, { kind: 'error', status: 503 }, { kind: 'reset' }] as const);
				const { sessionId } = round;
				harness.service.faults.add({ ...trouble, saves, method: 'PUT', sessionId, times: 1 });
				const move = MOVES[(first + index) % MOVES.length] ?? MOVES[0];
				onceFor(harness, saves ? 'saved' : 'put', sessionId, () => {
					if (saves) goOn(harness, round, move);
					else setTimeout(() => goOn(harness, round, move), UNSAVED_MS);
				});
				await press(round);
			}),
		);
		return rounds.length;
	},
};

function goOn({ service }: Harness, round: Round, move: (typeof MOVES)[number] | undefined): void {
	const next = move?.(structuredClone(service.sessions.get(round.sessionId).messages ?? [])) ?? {};
	service.sessions.patch(round.sessionId, next);
	round.troubles.push(`the agent went on: ${JSON.stringify(next).slice(0, 300)}`);
}
