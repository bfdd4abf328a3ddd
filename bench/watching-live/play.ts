import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { asking, done, item, task } from '../../fake-session-service/builders.ts';
import { createFakeSessionService, type FakeSessionService } from '../../fake-session-service/fake-session-service.ts';
import { createFakeSlack, type FakeSlack } from '../../fake-slack/index.ts';
import { connectionEnv } from '../../sandbox/connection-env.ts';
import { NO_LIMITS_ENV } from '../../test/support/no-limits.ts';
import { createRandom, type Random } from '../../test/support/random.ts';
import { type AppProcess, BARE_APP, startAppProcess } from '../figures/app-process.ts';

const PER_CHANNEL = 10;
const QUESTION_PER_STEP = 1 / 60;
/** The shortest time until a question is answered, and the mean. */
const ANSWERED_MS = [30_000, 90_000] as const;
/** Of those that are not always at work: steps of a burst, and the time between two bursts. Means. */
const [BURST_STEPS, QUIET_MS] = [12, 3 * 3_600_000];

/** An action of an agent or a person, ms after the start. */
interface Action {
	readonly at: number;
	do(asked: Asked[]): void;
}

/** A question that was asked, with the words that must appear. */
export interface Asked {
	readonly words: string;
	/** Milliseconds since the epoch. */
	readonly at: number;
}

const sessionId = (index: number): string => `live-${index}-x`;

/**
 * A fake Slack whose people watch so many sessions of a fake service. The program at `entry` has been told so, without limits, and
 * has stopped. One in ten of the sessions is always at work, the others are quiet and resume sometimes.
 */
export async function watchLive(
	entry: string,
	{ watches, lengthMs, seed = 1, list = false }: { watches: number; lengthMs: number; seed?: number; list?: boolean },
) {
	await using stack = new AsyncDisposableStack();
	const directory = await mkdtemp(join(tmpdir(), 'handraise-live-'));
	stack.defer(() => rm(directory, { recursive: true, force: true }));
	const slack = await createFakeSlack({ trafficLimit: 20_000 });
	stack.defer(() => slack.close());
	const service = createFakeSessionService({
		rateLimit: false,
		startOnRead: false,
		scenarios: [],
		list: { mode: list ? 'on' : 'off' },
	});
	await service.start();
	stack.defer(() => service.stop());
	const ids = Array.from({ length: watches }, (_, index) => sessionId(index));
	const random = createRandom(seed);
	const actions = ids
		.flatMap((id, index) => actionsOf(service, id, { isBusy: index * 10 < watches, lengthMs, random: random.fork() }))
		.sort((one, other) => one.at - other.at);
	const dataDir = join(directory, 'data');

	/** Starts a program while all sessions are at their beginning. */
	async function start(requestsPerMinute: number, program = entry, data = dataDir): Promise<AppProcess> {
		for (const [index, id] of ids.entries()) {
			const messages = [task('Work through the list.'), done('I begin.')];
			service.sessions.put(id, { status: 'paused', name: `Task ${index}`, maxSteps: 1_000, messages, files: [] });
		}
		const env = {
			...connectionEnv({ slack, service }),
			...NO_LIMITS_ENV,
			SESSION_SERVICE_RPM: String(requestsPerMinute),
			DATA_DIR: data,
		};
		const started = await startAppProcess({ entry: program, env, logDirectory: directory });
		await Promise.race([slack.connected(program === BARE_APP ? 1 : 2), started.endedEarly]);
		return started;
	}

	const quick = await start(100_000);
	try {
		await watchAll(slack, ids);
	} finally {
		await quick.stop();
	}

	/** Runs the agents in real time until the signal is aborted. `asked` gets what they ask. */
	async function play(signal: AbortSignal, asked: Asked[] = []): Promise<void> {
		const begun = performance.now();
		for (const action of actions) {
			const wait = begun + action.at - performance.now();
			if (wait > 1) await pause(wait, undefined, { signal }).catch(() => {});
			if (signal.aborted) return;
			action.do(asked);
		}
	}

	const owned = stack.move();
	return { slack, service, directory, dataDir, start, play, [Symbol.asyncDispose]: () => owned.disposeAsync() };
}

/** Somebody watches these sessions, ten to a channel (`#live0`, …). Resolves when the cards stand. */
async function watchAll(slack: FakeSlack, all: readonly string[]): Promise<void> {
	const { state } = slack;
	const ada = slack.as('ada');
	for (let from = 0; from < all.length; from += PER_CHANNEL) {
		const name = `live${from / PER_CHANNEL}`;
		const kind = { isPrivate: false, isIm: false, isArchived: false, isExtShared: false };
		state.channels.push({ id: `C0${name.toUpperCase()}`, name, members: [ada.user, state.app.botUser], ...kind });
		await ada.command(`#${name}`, `/session watch ${all.slice(from, from + PER_CHANNEL).join(' ')}`);
	}
	const cards = () => state.messages.filter((one) => one.user === state.app.botUser && one.ephemeralFor === undefined);
	await slack.changes.until(
		() => cards().length >= all.length,
		() => `${cards().length} of ${all.length} cards were posted.`,
		180_000,
	);
}

/** What the agent of a session does, and who answers it. */
function actionsOf(
	{ sessions }: FakeSessionService,
	id: string,
	{ isBusy, lengthMs, random }: { isBusy: boolean; lengthMs: number; random: Random },
): Action[] {
	const gapMs = 1_000 * Math.exp(random.between(Math.log(3), Math.log(20)));
	const spread = random.between(0.15, 0.5);
	const quietMs = () => random.exponential(QUIET_MS);
	const actions: Action[] = [];
	let step = 0;
	for (let at = isBusy ? random.between(0, gapMs) : quietMs(); at < lengthMs; at += quietMs()) {
		actions.push({ at, do: () => sessions.setStatus(id, 'active') });
		const last = isBusy ? Number.POSITIVE_INFINITY : step + 1 + random.exponential(BURST_STEPS - 1);
		for (; step < last && at < lengthMs; step++) {
			const number = step;
			at += random.logNormal(gapMs, spread);
			if (!random.chance(QUESTION_PER_STEP)) {
				const did = done(`I did number ${number}.`, { click: { index: number } });
				actions.push({ at, do: () => void sessions.push(id, did) });
				continue;
			}
			const words = `Question ${number} of ${id}?`;
			actions.push({
				at,
				do(asked) {
					sessions.push(id, asking('I need to know something.', [item(words)]));
					sessions.setStatus(id, 'humanInput');
					asked.push({ words, at: Date.now() });
				},
			});
			at += ANSWERED_MS[0] + random.exponential(ANSWERED_MS[1] - ANSWERED_MS[0]);
			actions.push({ at, do: () => void sessions.answerAsPage(id, [`Answer ${number}`]) });
		}
		actions.push({ at, do: () => sessions.setStatus(id, 'paused') });
	}
	return actions;
}
