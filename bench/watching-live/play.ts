import { setTimeout as pause } from 'node:timers/promises';
import { asking, done, item, task } from '../../fake-session-service/builders.ts';
import type { FakeSessionService } from '../../fake-session-service/fake-session-service.ts';
import type { FakeSlack } from '../../fake-slack/index.ts';
import type { Script } from './population.ts';

const PER_CHANNEL = 10;

/** An action of an agent or a person, ms after the start. */
interface Action {
	readonly at: number;
	readonly do: () => void;
}

/** A question that was asked, with the words that must appear. */
export interface Asked {
	readonly sessionId: string;
	readonly words: string;
	/** Milliseconds since the epoch. */
	readonly at: number;
}

const sessionId = (index: number): string => `live-${index}-x`;

/** Adds a session for each script to the service, at its beginning. */
export function putSessions(service: FakeSessionService, scripts: readonly Script[]): void {
	for (const [index, script] of scripts.entries()) {
		service.sessions.put(sessionId(index), {
			status: script.awake[0]?.[0] === 0 ? 'active' : 'paused',
			name: `Task ${index}`,
			maxSteps: 1_000,
			messages: [task('Work through the list.'), done('I begin.')],
			files: [],
		});
	}
}

/** Somebody watches this many of these sessions, ten to a channel (`#live0`, …). Resolves when the cards stand. */
export async function watchSessions(slack: FakeSlack, watches: number): Promise<void> {
	const { state } = slack;
	const ada = slack.as('ada');
	for (let from = 0; from < watches; from += PER_CHANNEL) {
		const name = `live${from / PER_CHANNEL}`;
		const kind = { isPrivate: false, isIm: false, isArchived: false, isExtShared: false };
		state.channels.push({ id: `C0${name.toUpperCase()}`, name, members: [ada.user, state.app.botUser], ...kind });
		const ids = Array.from({ length: Math.min(PER_CHANNEL, watches - from) }, (_, at) => sessionId(from + at));
		await ada.command(`#${name}`, `/session watch ${ids.join(' ')}`);
	}
	const cards = () => state.messages.filter((one) => one.user === state.app.botUser && one.ephemeralFor === undefined);
	await slack.changes.until(
		() => cards().length >= watches,
		() => `${cards().length} of ${watches} cards were posted.`,
		180_000,
	);
}

/** Runs the agents of all scripts in real time until the signal is aborted. `asked` gets what they ask. */
export async function playScripts(
	service: FakeSessionService,
	scripts: readonly Script[],
	asked: Asked[],
	signal: AbortSignal,
): Promise<void> {
	const actions = scripts.flatMap((script, index) => actionsOf(service, script, sessionId(index), asked));
	actions.sort((one, other) => one.at - other.at);
	const start = performance.now();
	for (const action of actions) {
		const wait = start + action.at - performance.now();
		if (wait > 1) await pause(wait, undefined, { signal }).catch(() => {});
		if (signal.aborted) return;
		action.do();
	}
}

function actionsOf(service: FakeSessionService, script: Script, id: string, asked: Asked[]): Action[] {
	const { sessions } = service;
	const actions: Action[] = [];
	for (const [from, until] of script.awake) {
		actions.push({ at: from, do: () => sessions.setStatus(id, 'active') });
		actions.push({ at: until, do: () => sessions.setStatus(id, 'paused') });
	}
	for (const [step, at] of script.steps.entries()) {
		const answeredAt = script.questions.get(step);
		if (answeredAt === undefined) {
			actions.push({ at, do: () => void sessions.push(id, done(`I did number ${step}.`, { click: { index: step } })) });
			continue;
		}
		const words = `Question ${step} of ${id}?`;
		actions.push({
			at,
			do() {
				sessions.push(id, asking('I need to know something.', [item(words)]));
				sessions.setStatus(id, 'humanInput');
				asked.push({ sessionId: id, words, at: Date.now() });
			},
		});
		actions.push({ at: answeredAt, do: () => void sessions.answerAsPage(id, [`Answer ${step}`]) });
	}
	return actions;
}
