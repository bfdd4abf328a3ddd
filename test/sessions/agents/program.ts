import { createConfirmation } from '../../../src/delivery/confirm.ts';
import { createDelivery } from '../../../src/delivery/deliver.ts';
import { ourAnswers } from '../../../src/delivery/earlier-answers.ts';
import { createWrite } from '../../../src/delivery/put.ts';
import { awaitsAgentOutcome, isBlocking } from '../../../src/domain/answer.ts';
import { evidence } from '../../../src/domain/asked.ts';
import { askingMessageIndex, filledAt, questionAt, type SentItem, type Session } from '../../../src/domain/session.ts';
import { NO_ANSWERS } from '../../../src/domain/session-snapshot.ts';
import { stringOf } from '../../../src/domain/texts.ts';
import type { Lease } from '../../../src/kernel/lease-loop.ts';
import { SessionServiceError } from '../../../src/service/service.ts';
import { changesQuestion } from '../../../src/sessions/poller.ts';
import { createReadNotes } from '../../../src/sessions/read-notes.ts';
import { createReading } from '../../../src/sessions/reading.ts';
import type { TakenSession } from '../../../src/store/watched-sessions.ts';
import type { Store } from '../../../src/stores.ts';
import { createRecordingLog, item, submission } from '../../store/support.ts';
import { coreOf } from '../../support/core.ts';
import { SERVICE, T0 } from '../support.ts';
import type { Agent } from './agent.ts';

const LEASE: Lease = { token: 'agents', ms: 21_000 };
const NO_COST = { tookMs: 0, byteCount: 0, isOther: false } as const;
/** So long after it began, the service may still save a PUT whose response was lost. */
const LANDS_WITHIN_MS = 20_000;

/** What becomes of a PUT. */
export type Fate = 'saved' | 'savedUnknown' | 'landsLate' | 'lost';

interface Begun {
	readonly taken: TakenSession;
	readonly found: Awaited<ReturnType<ReturnType<typeof createProgram>['readNow']>>;
	/** How it was judged as soon as it had ended; null: it has not. */
	ours: Ours | null;
}
type Ours = Awaited<ReturnType<typeof judge>>;

async function judge(store: Store, found: { session: Session; readAt: number; arrival: number }, isWatched: boolean) {
	const { secrecy: _marks, ...ours } = await ourAnswers(store.answers, {
		serviceUrl: SERVICE,
		reading: found,
		isWatched,
	});
	return { ...ours, disclosure: NO_ANSWERS.disclosure };
}

/** A value was saved. `wasTaken`: the agent had read it, as everybody could see. */
interface Save {
	readonly messageCount: number;
	readonly status: string;
	readonly wasTaken: boolean;
}

/** The store of the process that runs. */
export interface Stores {
	current: Store;
	open(): Promise<Store>;
}

/**
 * The parts of the program that read a session, judge it, answer it and store all that, on a real store. Of the service
 * only the agent is played.
 */
export function createProgram(stores: Stores, sessionId: string, agent: Agent) {
	let store = stores.current;
	const session = { service: SERVICE, sessionId };
	let now = T0;
	let fate: Fate = 'saved';
	let late: { readonly at: number; readonly messageIndex: number; readonly values: string[] } | null = null;
	let begun: Begun | null = null;
	let count = 0;
	/** When each read began, whoever it was for. */
	const reads: number[] = [];
	/** The messages that a read showed with a value. */
	const shown = new Set<string>();
	/** The messages and positions that ever had a value. */
	const filled = new Set<string>();
	/** What became of the PUTs of an answer; by its value. */
	const saves = new Map<string, readonly Save[]>();
	const clock = { now: () => now, sleep: () => new Promise<void>(() => {}) };

	function save(messageIndex: number, values: readonly string[]): void {
		const before = agent.valuesAt(messageIndex);
		agent.put(messageIndex, values);
		for (const [position, value] of values.entries()) {
			if (value === '' || before[position] === value) continue;
			filled.add(`${messageIndex} ${position}`);
			const [first] = saves.get(value) ?? [];
			const hasGoneOn = agent.status() === 'active' && first?.status !== 'active';
			// Of an agent that takes an answer and shows nothing of that, nobody can tell.
			const wasTaken = first !== undefined && agent.hasRead(value) && (hasGoneOn || agent.count() > first.messageCount);
			const one = { messageCount: agent.count(), status: agent.status(), wasTaken };
			saves.set(value, [...(saves.get(value) ?? []), one]);
		}
	}

	async function readNow() {
		const arrival = await store.answers.arrivals(session);
		const index = agent.newestIndex();
		const read = agent.session();
		if (filledAt(read, index).length > 0) shown.add(`${index} ${read.messages[index]?.fingerprint}`);
		const played = {
			/** Which read of the session it is. */
			number: reads.push(now) - 1,
			index,
			time: agent.time(),
			waitsFor: agent.waitsFor(),
			works: agent.works(),
		};
		return { session: read, readAt: now, since: now, endedAt: now, arrival, played, ...NO_COST };
	}

	const sessionService = {
		callTimeoutMs: LANDS_WITHIN_MS,
		deliveryReadMs: 80_000,
		read: readNow,
		reserveDelivery: async () => ({
			read: readNow,
			async putAnswers(_id: string, messageIndex: number, items: readonly SentItem[]) {
				const values = items.map(({ value }) => stringOf(value));
				if (fate === 'landsLate') late = { at: now, messageIndex, values };
				if (fate === 'saved' || fate === 'savedUnknown') save(messageIndex, values);
				if (fate !== 'saved') throw new SessionServiceError('unavailable', 'reset', { outcomeUnknown: true });
			},
			[Symbol.dispose]() {},
		}),
	};

	/** All that a start of the program makes anew. */
	function start() {
		const core = coreOf({
			store,
			clock,
			serviceUrl: SERVICE,
			log: createRecordingLog(),
			sessionService,
			metrics: { delivery: { attempt() {}, conflict() {}, readToPut() {}, delivered() {} } },
		});
		const allowed = async () => ({ refusal: null });
		const policy = { checkAbsent: allowed, checkNamed: allowed };
		const noteRead = createReadNotes(core, (found, isWatched) =>
			judge(store, found as Parameters<typeof judge>[1], isWatched),
		);
		const missed = async () => ({ code: null, run: { code: null, count: 0, since: null } }) as never;
		return {
			write: createWrite(core),
			noteRead,
			reading: createReading(core, () => null),
			deliver: createDelivery(core, { policy, missed, noteRead, random: () => 1 }),
			confirm: createConfirmation(core, noteRead),
		};
	}
	let parts = start();

	/** Null: its watch has ended with the session. */
	async function beginRead(): Promise<Begun | null> {
		const [taken] = await store.sessions.takeDue(SERVICE, LEASE, 1, now + 1e9);
		if (taken === undefined && !agent.isOver()) throw new Error('the session is not read any more');
		return taken === undefined ? null : { taken, found: await readNow(), ours: null };
	}

	/** Stores a read of the watch; false: something else was stored meanwhile. */
	async function record({ taken, found, ours }: Begun): Promise<boolean> {
		const watches = await store.watches.ofSession(session);
		const { update, watches: told } = parts.reading.succeeded(
			taken,
			found,
			watches,
			ours ?? (await judge(store, found, true)),
		);
		const outcome = { update, watches: told, now, isNews: changesQuestion(taken, update) };
		const { lastReadAt } = taken;
		return store.reads.record({ session, token: LEASE.token, lastReadAt }, outcome);
	}

	return {
		readNow,
		save,
		saves: (value: string) => saves.get(value) ?? [],
		wasShownFilled: (messageIndex: number, fingerprint: string | undefined) =>
			shown.has(`${messageIndex} ${fingerprint}`),
		wasFilled: (messageIndex: number, position: number) => filled.has(`${messageIndex} ${position}`),
		now: () => now,
		/** When that read began. */
		readAt: (number: number) => reads[number] ?? now,
		pass(ms: number): void {
			const landsAt = late === null ? null : Math.min(late.at + LANDS_WITHIN_MS - 1, now + ms);
			now += ms;
			if (late === null || landsAt === null || landsAt > now) return;
			// The service refuses what overlaps with a write of the agent, and saves nothing.
			if (!agent.isOver() && agent.valuesAt(late.messageIndex).length === late.values.length)
				save(late.messageIndex, late.values);
			late = null;
		},
		/** A read of the watch begins. `isJudged`: and what it means is looked up. */
		async begin(isJudged: boolean): Promise<void> {
			begun ??= await beginRead();
			if (isJudged && begun !== null) begun.ours ??= await judge(store, begun.found, true);
		},
		/** Reads for the watch, or stores the read that has begun. Returns it; null: it was not stored. */
		async read() {
			const one = begun ?? (await beginRead());
			begun = null;
			return one !== null && (await record(one)) ? one.found : null;
		},
		/** Reads for a person. */
		noteRead: async () => parts.noteRead(await readNow()),
		/** Somebody answers in a form. `isNoted`: its read was stored. `leavesEmpty`: not its last open item. */
		async answer(isNoted: boolean, leavesEmpty: boolean, giveUpMs: number): Promise<void> {
			const found = await readNow();
			if (isNoted) await parts.noteRead(found);
			const watched = await store.sessions.watched(session);
			const { closedItems } = await judge(store, found, watched !== null);
			const question = questionAt(found.session, askingMessageIndex(found.session) ?? -1, closedItems);
			if (question === null || question.openItems.length === 0) return;
			count += 1;
			const last = question.openItems.length > 1 && leavesEmpty ? question.openItems.at(-1) : null;
			const { messageIndex, fingerprint, shownHash, openItems } = question;
			const valueAt = (position: number) =>
				position === last ? '' : openItems.includes(position) ? `ours ${count}.${position}` : null;
			await store.answers.accept(
				submission({
					sessionId,
					question: { ...session, messageIndex },
					fingerprint,
					shownHash,
					items: question.items.map((_, position) => item(valueAt(position))),
					leftEmpty: last == null ? [] : [last],
					formReadAt: now,
					arrivalSeen: found.arrival,
					acceptedAt: now,
					giveUpAt: now + giveUpMs,
				}),
			);
		},
		/** The worker's next step. `becomes`: of a PUT, if it comes to that. */
		async work(becomes: Fate): Promise<void> {
			fate = becomes;
			const [answer] = await store.answers.takeDue(SERVICE, LEASE, 1, now);
			if (answer === undefined) return;
			const { token } = LEASE;
			const { signal } = new AbortController();
			if (isBlocking(answer.state)) await parts.deliver(answer, token, signal);
			else if (awaitsAgentOutcome(answer)) {
				const checked = await parts.confirm(answer, signal);
				if (checked !== null) await parts.write(answer, token, checked);
			}
			const after = await store.answers.get(answer.id);
			const isDone = after !== null && !isBlocking(after.state) && !awaitsAgentOutcome(after);
			if (isDone) await store.answers.update(after, token, { nextAttemptAt: null }, { now });
			await store.answers.release([{ id: answer.id, token }]);
		},
		/** The process is killed, and another one opens the database. */
		async restart(): Promise<void> {
			await store.close();
			store = await stores.open();
			stores.current = store;
			parts = start();
			begun = null;
			await store.sessions.release([LEASE.token]);
		},
		/** The times that the agent asked, the newest last. */
		async rows() {
			const rows = store.db.read.selectFrom('questions').selectAll().where('sessionId', '=', sessionId);
			const ordered = await rows.orderBy('number').execute();
			return ordered.map((row) => ({ ...row, evidence: evidence.parse(JSON.parse(row.evidence ?? '')) }));
		},
		async answers() {
			const rows = await store.db.read.selectFrom('answers').select('id').where('sessionId', '=', sessionId).execute();
			const answers = await Promise.all(rows.map(({ id }) => store.answers.get(id)));
			return answers.filter((one) => one !== null);
		},
		posts: () =>
			store.db.read
				.selectFrom('posts')
				.select(['questionId', 'watchId'])
				.where('sessionId', '=', sessionId)
				.where('kind', '=', 'question')
				.execute(),
		arrivals: () => store.answers.arrivals(session),
		digest: async () => (await store.sessions.watched(session))?.digest ?? null,
		/** What a program would write that starts now and reads the same once more. */
		async again(found: Awaited<ReturnType<typeof readNow>>) {
			const { occurrences, outcomes } = await judge(store, found, true);
			return [...occurrences.changes, ...outcomes];
		},
	};
}

export type Program = ReturnType<typeof createProgram>;
export type Found = NonNullable<Awaited<ReturnType<Program['read']>>>;
