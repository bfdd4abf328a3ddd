import { createManualClock, type ManualClock } from '../../fake-slack/index.ts';
import type { AnswerStore } from '../../src/delivery/answer-store.ts';
import { createDelivery } from '../../src/delivery/deliver.ts';
import { ourAnswers } from '../../src/delivery/earlier-answers.ts';
import { createAnswerWorker } from '../../src/delivery/worker.ts';
import type { Answer } from '../../src/domain/answer.ts';
import type { ReadItem, ReadSession } from '../../src/domain/gate.ts';
import type { Person } from '../../src/domain/person.ts';
import type { SentItem } from '../../src/domain/session.ts';
import { NO_ANSWERS } from '../../src/domain/session-snapshot.ts';
import type { Clock } from '../../src/kernel/clock.ts';
import { nextTurn } from '../../src/kernel/slices.ts';
import { createServiceHealth } from '../../src/service/health.ts';
import { type SessionServiceClient, SessionServiceError } from '../../src/service/service.ts';
import { createReadNotes } from '../../src/sessions/read-notes.ts';
import type { Place, Refusal } from '../../src/slack/access-policy.ts';
import { createRecordingLog, item, makeDataDir, open, SERVICE, submission, T0 } from '../store/support.ts';
import { coreOf } from '../support/core.ts';
import { putDatabase } from '../support/made-database.ts';
import { fingerprintOf, readSession, saying, shownHashOf, throughGate, unanswered } from '../support/sessions.ts';

export const CALL_TIMEOUT_MS = 20_000;

const ITEMS = [unanswered('Which one?')];

export function asking(sessionId: string): ReadSession {
	return readSession({ sessionId, messages: [saying('Do it.', 'user'), { ...saying('I ask.'), humanInput: ITEMS }] });
}

/** What an answer stores of the question of `asking`. */
function hashesOf({ messages: [, question = saying('')] }: ReadSession) {
	return { fingerprint: fingerprintOf(question.humanInput), shownHash: shownHashOf(question) };
}

/** A call to the service. `at`: milliseconds after the start. */
export interface Call {
	readonly kind: 'read' | 'put';
	readonly sessionId: string;
	readonly at: number;
}

/** A call that fails so. */
export function failing(...error: ConstructorParameters<typeof SessionServiceError>): () => never {
	return () => {
		throw new SessionServiceError(...error);
	};
}

/** The failures of a PUT after which nobody knows whether it was saved, and of one that says so itself. */
export const RESET = ['unavailable', 'reset', { outcomeUnknown: true }] as const;
export const STATUS_500 = ['unavailable', '500', { outcomeUnknown: true, status: 500 }] as const;

/** What a PUT sends is what the next read finds. */
const sentAsRead = (items: readonly SentItem[]) => items as unknown as readonly ReadItem[];

type Service = Pick<SessionServiceClient, 'callTimeoutMs' | 'deliveryReadMs' | 'read' | 'reserveDelivery'>;

/** Answers in a real SQLite store, workers, and a fake service or `client`; all on one manual clock. */
export async function createHarness({
	clock = createManualClock(T0),
	client,
}: {
	clock?: ManualClock;
	client?: Service;
} = {}) {
	const dataDir = makeDataDir();
	await putDatabase(dataDir.path);
	const store = await open({ dataDir: dataDir.path, clock });
	const sessions = new Map<string, ReadSession>();
	const calls: Call[] = [];
	const workers: { stop(): Promise<void> }[] = [];
	const log = createRecordingLog();
	const health = createServiceHealth({ clock });
	/** Tests replace these to throw, wait or change what the service has. */
	const on: {
		/** Why the author of an answer may not send it; null: they may. */
		check: (person: Person, channelId: string) => Promise<Refusal | null>;
		read: (sessionId: string) => unknown;
		/** While a PUT waits for a connection. */
		connect: () => unknown;
		put: (sessionId: string) => unknown;
	} = { check: async () => null, read: () => undefined, connect: () => undefined, put: () => undefined };

	function current(sessionId: string): ReadSession {
		return sessions.get(sessionId) ?? asking(sessionId);
	}

	async function read(sessionId: string) {
		calls.push({ kind: 'read', sessionId, at: clock.now() - T0 });
		const readAt = clock.now();
		const arrival = await store.answers.arrivals({ service: SERVICE, sessionId });
		const session = current(sessionId);
		await on.read(sessionId);
		const cost = { tookMs: 0, byteCount: 0, isOther: false };
		return { session: throughGate(session), readAt, arrival, since: readAt, endedAt: readAt, ...cost };
	}

	function save(sessionId: string, messageIndex: number, items: readonly ReadItem[]): void {
		const session = current(sessionId);
		sessions.set(sessionId, {
			...session,
			messages: session.messages.map((message, index) =>
				index === messageIndex ? { ...message, humanInput: [...items] } : message,
			),
		});
	}

	const sessionService: Service = client ?? {
		callTimeoutMs: CALL_TIMEOUT_MS,
		deliveryReadMs: 60_000 + CALL_TIMEOUT_MS,
		read: (sessionId) => read(sessionId),
		reserveDelivery: async () => ({
			read,
			async putAnswers(sessionId, messageIndex, items, maySend) {
				await on.connect();
				if (maySend?.() === false) throw new SessionServiceError('timed_out', 'too late to be sent');
				calls.push({ kind: 'put', sessionId, at: clock.now() - T0 });
				await on.put(sessionId);
				save(sessionId, messageIndex, sentAsRead(items));
			},
			[Symbol.dispose]() {},
		}),
	};

	function coreFor(answers: AnswerStore, ownClock: Clock = clock) {
		return coreOf({
			store: { ...store, answers },
			sessionService,
			serviceUrl: SERVICE,
			clock: ownClock,
			log,
			metrics: { delivery: { attempt() {}, conflict() {}, readToPut() {}, delivered() {} } },
		});
	}

	/** As in the program, of sessions that nobody watches. */
	const noteRead = createReadNotes(coreFor(store.answers), async (found, isWatched) => {
		const { secrecy: _marks, ...ours } = await ourAnswers(store.answers, {
			serviceUrl: SERVICE,
			reading: found,
			isWatched,
		});
		return { ...ours, disclosure: NO_ANSWERS.disclosure };
	});

	const delivering = {
		noteRead,
		policy: {
			async checkAbsent(person: Person, { channelId }: Place) {
				return { refusal: await on.check(person, channelId ?? '') };
			},
			checkNamed: async () => ({ refusal: null }),
		},
		random: () => 1,
	};

	function createWorker(answers: AnswerStore = store.answers, ownClock: Clock = clock, { missed } = health) {
		const worker = createAnswerWorker(coreFor(answers, ownClock), { ...delivering, missed });
		workers.push(worker);
		return worker;
	}

	/** Accepts an answer to the session's question. */
	async function accept(sessionId: string, giveUpAt = T0 + 86_400_000): Promise<Answer> {
		const result = await store.answers.accept(
			submission({ sessionId, ...hashesOf(asking(sessionId)), items: [item('blue')], giveUpAt }),
		);
		return result.answer;
	}

	/** Waits until started work, including commits, has run. Comparisons take turns: each turn here comes after those of all that wait. */
	async function settle(): Promise<void> {
		for (let turn = 0; turn < 20; turn++) await nextTurn();
	}

	return {
		clock,
		store,
		settle,
		/** Moves the clock from one sleeper to the next and lets the work of each run. */
		async pass(ms: number): Promise<void> {
			const end = clock.now() + ms;
			await settle();
			while (clock.now() < end) {
				await clock.advance(Math.min(end, clock.nextWake ?? end) - clock.now());
				await settle();
			}
		},
		calls,
		health,
		dataDir: dataDir.path,
		log,
		on,
		save,
		/** The session as the service has it. */
		session: current,
		setSession: (session: ReadSession) => void sessions.set(session.sessionId, session),
		createWorker,
		/** One attempt under `token`. */
		deliver: (answer: Answer, token: string) =>
			createDelivery(coreFor(store.answers), {
				...delivering,
				missed: health.missed,
			})(answer, token, new AbortController().signal),
		accept,
		/** An answer to the question of `s1`, which a worker delivers. */
		async deliverOne({ answers, giveUpAt }: { answers?: AnswerStore; giveUpAt?: number } = {}): Promise<Answer> {
			const answer = await accept('s1', giveUpAt);
			createWorker(answers).start();
			return answer;
		},
		get: async (id: string): Promise<Answer> => {
			const answer = await store.answers.get(id);
			if (answer === null) throw new Error(`there is no answer ${id}`);
			return answer;
		},
		times: (kind: Call['kind'], sessionId = 's1') =>
			calls.filter((call) => call.kind === kind && call.sessionId === sessionId).map((call) => call.at),
		async [Symbol.asyncDispose]() {
			const stopped = Promise.all(workers.map((worker) => worker.stop()));
			await clock.advance(60_000);
			await stopped;
			await store.close();
			await dataDir.remove();
		},
	};
}

export type Harness = Awaited<ReturnType<typeof createHarness>>;
