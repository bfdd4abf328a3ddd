import { randomUUID } from 'node:crypto';
import { firstFound } from '../../support/found.ts';
import { type Asked, createHistory } from './history.ts';
import { questionIdsIn } from './messages.ts';
import { createPeople, TEAM } from './people.ts';
import { type DaylightSavingChange, randomSettings } from './periods.ts';
import { type Process, type ProcessOptions, startProcess } from './process.ts';
import { createService, SERVICE_URL } from './service.ts';
import { createSlack } from './slack.ts';
import { createVirtualTime } from './virtual-time.ts';

/** `storeOptions`: of an empty database. */
export interface RunOptions extends Pick<ProcessOptions, 'program' | 'storeOptions' | 'random'> {
	/** In the middle of the run. */
	readonly change: DaylightSavingChange;
	readonly questionCount: number;
	/** The process is stopped or killed about this often. */
	readonly restartEveryMs: number;
	readonly onProgress?: (line: string) => void;
}

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const QUESTIONS_PER_HOUR = 1_200;
const SHORTEST_MS = HOUR / 5;
const CHANNELS = 40;
/** In a short run. */
const FEW_CHANNELS = 4;
const SHORT_RUN = 500;
const SESSIONS_PER_CHANNEL = 12;
/** In a short run, or more: where a session changes its question six times, it gets one post for all of them. */
const FEW_SESSIONS = 4;
const QUESTIONS_OF_SESSION = 3;
const MOST_OF_SESSION = 5;
/** Questions that are open at the end stay open so long, and their reminders fall due. */
const LEFT_OPEN_MS = HOUR;
/** The same in a short run: longer than the default until the escalation. */
const SHORT_LEFT_OPEN_MS = 45 * MINUTE;
/** Until the cards are there and every session was read; and from the end of the last session until nothing happens. */
const QUIET_MS = 5 * MINUTE;
/** The same in a short run. */
const SHORT_QUIET_MS = 2 * MINUTE;
const OUTAGE_EVERY_MS = 3 * HOUR;
const SETTINGS_EVERY_MS = 10 * MINUTE;
/** Slack takes no posts for a moment, so reminders wait in the outbox. */
const LIMITED_EVERY_MS = MINUTE;
const LIMITED_MS = 6_000;
/** Writes and posts between storing a reminder and noting its post. */
const POINTS_OF_A_REMINDER = 14;
const NO_LIMITS = { person: 1_000_000, channel: 1_000_000, all: 1_000_000 };

/** Lets agents ask and people answer around a change of daylight-saving time, and returns what happened. */
export async function runReminders(options: RunOptions) {
	const { program, change, questionCount, random } = options;
	const lengthMs = Math.max(SHORTEST_MS, (questionCount / QUESTIONS_PER_HOUR) * HOUR);
	const isShort = questionCount < SHORT_RUN;
	const quietMs = isShort ? SHORT_QUIET_MS : QUIET_MS;
	const start = Math.round(change.at - quietMs - lengthMs * 0.55);
	const askFrom = start + quietMs;
	const askTo = askFrom + lengthMs;
	const channelCount = isShort ? FEW_CHANNELS : CHANNELS;
	const channelIds = Array.from({ length: channelCount }, (_, index) => `C${index + 1}`);
	const fewSessions = Math.max(FEW_SESSIONS, Math.ceil(questionCount / channelCount / QUESTIONS_OF_SESSION));
	const sessionCount = channelCount * (isShort ? fewSessions : SESSIONS_PER_CHANNEL);
	const sessionIds = Array.from({ length: sessionCount }, (_, index) => `s${index + 1}`);

	const time = createVirtualTime(start);
	const history = createHistory();
	/** What the program's metric of late reminders got. */
	const lateMs: number[] = [];
	const service = createService({ now: time.now, questions: history.questions });
	const slack = createSlack(history.posts, (post) => questionIdsIn(post).forEach(people.see), random.fork());
	let current: Process | null = null;
	let onKilled: () => void = () => {};
	let isRestarting = false;
	let isOver = false;

	const startAgain = () =>
		startProcess({
			program,
			storeOptions: options.storeOptions,
			time,
			service,
			slack,
			reads: history.reads,
			questionOf: (answer) => people.questionOf(answer),
			onFailed: (answer) => people.failed(answer),
			onLate: (ms) => lateMs.push(ms),
			onKilled: () => onKilled(),
			random: random.fork(),
		});

	async function running(): Promise<Process> {
		while (current === null) await time.sleep(200);
		return current;
	}

	const people = createPeople({ program, time, service, random: random.fork() }, history, running);

	async function addWatch(sessionId: string, channelId: string): Promise<void> {
		const id = randomUUID();
		const target = { kind: 'watch', watchId: id, teamId: TEAM, channelId } as const;
		const view = program.snapshotOf(service.sessionOf(sessionId), time.now());
		const watch = {
			id,
			teamId: TEAM,
			channelId,
			session: { service: SERVICE_URL, sessionId },
			createdBy: 'UANN',
			createdAt: time.now(),
			card: { target, key: 'card', content: { kind: 'card' as const } },
			view,
			found: firstFound(view),
			limits: NO_LIMITS,
		};
		await people.despiteKills(({ watches }) => watches.add(watch));
	}

	/** The schedule would read a session that works within a minute or so. */
	async function readSoon(sessionId: string, withinMs = 60_000): Promise<void> {
		await time.sleep(random.between(0, withinMs));
		const now = time.now();
		await people.despiteKills(({ db }) =>
			db.writeOne((trx) => {
				const scheduled = trx.updateTable('watched_sessions').where('nextReadAt', 'is not', null);
				return scheduled.where('sessionId', '=', sessionId).set({ nextReadAt: now, readBy: now }).execute();
			}),
		);
	}

	const titleOf = (id: string) =>
		random.pick([
			`Which colour for ${id} ?`,
			`May I delete ${id} <!channel> <@U999>?`,
			`What is the number of ${id} ?`,
			`${id} : should I go on? <!here>`,
		]);

	/** An idle session asks; or one whose question nobody has answered asks something else. */
	function ask(): void {
		const counts = Map.groupBy(history.questions, (question) => question.sessionId);
		const askers = sessionIds.filter((sessionId) => !isShort || (counts.get(sessionId) ?? []).length < MOST_OF_SESSION);
		const idle = askers.filter((sessionId) => service.openQuestionOf(sessionId) === null);
		const busy = askers.filter((sessionId) => service.openQuestionOf(sessionId) !== null);
		const replaces = idle.length === 0 || (busy.length > 0 && random.chance(0.08));
		const sessionId = random.pick(replaces ? busy : idle);
		const isChange = replaces && random.chance(0.3);
		const question: Asked = isChange ? service.change(sessionId, titleOf) : service.ask(sessionId, titleOf);
		void people.meet(question);
		void readSoon(sessionId);
	}

	async function beAway(forMs: number): Promise<void> {
		if (service.isAway) return;
		service.isAway = true;
		history.outages.push({ from: time.now(), to: time.now() + forMs });
		await time.sleep(forMs);
		service.isAway = false;
		// The schedule would read many sessions, so one meets the service soon.
		void readSoon(random.pick(sessionIds), 1_000);
	}

	/** Ends the process and starts it again. */
	async function restart(how: 'stopped' | 'killed' | 'killed around a reminder'): Promise<void> {
		const process = current;
		if (process === null || isRestarting) return;
		isRestarting = true;
		if (how === 'killed around a reminder') {
			const killed = Promise.withResolvers<void>();
			onKilled = () => {
				current = null;
				killed.resolve();
			};
			process.aim(random.whole(1, POINTS_OF_A_REMINDER));
			await Promise.race([killed.promise, time.sleep(10 * MINUTE)]);
			onKilled = () => {};
		}
		current = null;
		const from = time.now();
		if (how === 'stopped') await process.stop();
		else await process.kill();
		await time.sleep(random.between(500, 4_000));
		current = await startAgain();
		isRestarting = false;
		void people.hearOfFailed();
		history.stops.push({ from, to: time.now(), how: how === 'stopped' ? 'stopped' : 'killed' });
	}

	async function changeSettings(channelId: string): Promise<void> {
		const settings = randomSettings(random, change);
		const channel = { teamId: TEAM, channelId };
		await people.despiteKills(async ({ channelSettings }) => {
			const { settings: before, revision } = await channelSettings.read(channel);
			const content = { kind: 'settingsChanged', by: 'UANN', before, after: settings } as const;
			const post = { target: { kind: 'channel', ...channel }, key: `settings:${randomUUID()}`, content } as const;
			const person = { teamId: TEAM, userId: 'UANN' };
			const now = time.now();
			await channelSettings.write(channel, { settings, revision, person, post, now });
		});
		history.settings.push({ channelId, at: time.now(), settings });
	}

	/** About one `event` every `everyMs`, and at least one. */
	function nowAndThen(everyMs: number, event: () => void): void {
		const count = Math.max(1, Math.round(lengthMs / everyMs));
		for (let index = 0; index < count; index += 1) time.at(random.between(askFrom, askTo), event);
	}

	function planQuestions(): void {
		for (let left = questionCount; left > 0; ) {
			const isBurst = random.chance(0.004);
			const count = Math.min(left, isBurst ? random.whole(20, sessionIds.length / 3) : 1);
			const at = random.between(askFrom, askTo);
			for (let index = 0; index < count; index += 1) time.at(at + random.between(0, 20_000), ask);
			left -= count;
		}
	}

	current = await startAgain();
	void (async () => {
		for (const channelId of channelIds) await changeSettings(channelId);
		for (const sessionId of sessionIds) {
			service.add(sessionId);
			const others = random.chance(0.15) ? [random.pick(channelIds)] : [];
			const watching = [...new Set([random.pick(channelIds), ...others])];
			history.channelsOf.set(sessionId, watching);
			for (const channelId of watching) await addWatch(sessionId, channelId);
		}
	})();
	planQuestions();
	nowAndThen(OUTAGE_EVERY_MS, () => void beAway(random.between(5, Math.min(90, lengthMs / MINUTE / 6)) * MINUTE));
	nowAndThen(options.restartEveryMs, () => {
		void restart(random.pick(['stopped', 'killed', 'killed around a reminder', 'killed around a reminder']));
	});
	nowAndThen(LIMITED_EVERY_MS, () => {
		slack.limit(true);
		time.at(time.now() + LIMITED_MS, () => slack.limit(false));
	});
	nowAndThen(SETTINGS_EVERY_MS, () => void changeSettings(random.pick(channelIds)));
	for (let at = askFrom; at < askTo; at += HOUR) {
		time.at(at, () => options.onProgress?.(`${new Date(at).toISOString()}, ${history.questions.length} questions`));
	}
	// What is open then ends with its session.
	const endAt = askTo + (isShort ? SHORT_LEFT_OPEN_MS : LEFT_OPEN_MS);
	time.at(endAt, () => {
		for (const sessionId of sessionIds) {
			service.end(sessionId);
			void readSoon(sessionId);
		}
	});
	time.at(endAt + quietMs, () => {
		isOver = true;
	});
	await time.pass(() => isOver);
	history.endedAt = time.now();
	let isStopped = false;
	void running()
		.then((process) => process.stop())
		.then(() => {
			isStopped = true;
		});
	await time.pass(() => isStopped);
	return { history, lateMs, virtualMs: time.now() - start };
}

export type RunResult = Awaited<ReturnType<typeof runReminders>>;
