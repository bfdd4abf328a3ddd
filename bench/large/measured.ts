import { setImmediate as turn } from 'node:timers/promises';
import type * as EarlierAnswers from '../../src/delivery/earlier-answers.ts';
import type * as Housekeeping from '../../src/operator/housekeeping.ts';
import type * as PersonStore from '../../src/operator/person-store.ts';
import type { Store } from '../../src/stores.ts';
import { NO_LIMITS } from '../../test/sessions/support.ts';
import { type open, submission } from '../../test/store/support.ts';
import { median } from '../figures/stats.ts';
import { BIG, fill, type Modules, PEOPLE, SERVICE, type Sizes, sessionAsking, TEAM } from './fill.ts';

/** What this process is told: the program to measure, where its database is, and how large it is to be. */
export interface Task {
	/** The directory of its sources. */
	readonly source: string;
	readonly databaseUrl: string | null;
	readonly dataDir: string;
	readonly sizes: Sizes;
	readonly rounds: number;
}

/** In milliseconds; medians of the rounds. */
interface Times {
	/** The longest time in which nothing else had its turn. */
	readonly blockedMs: number;
	/** The processor time of the main thread in the longest one: other programs on the machine hardly change it. */
	readonly ranMs: number;
	readonly tookMs: number;
}

export interface Figure extends Times {
	readonly name: string;
	/** Whether somebody may wait for it. */
	readonly kind: 'hot' | 'housekeeping';
}

const DAY_MS = 86_400_000;
const task = JSON.parse(process.argv[2] ?? '') as Task;
const load = (file: string): Promise<unknown> => import(`${task.source}/${file}`);
const modules = {
	database: await load('store/database.ts'),
	rows: await load('delivery/rows-store.ts'),
} as Modules;
const { ourAnswers } = (await load('delivery/earlier-answers.ts')) as typeof EarlierAnswers;
const { REMOVALS } = (await load('operator/housekeeping.ts')) as typeof Housekeeping;
const { createPersonStore } = (await load('operator/person-store.ts')) as typeof PersonStore;
const { openStore } = (await load('stores.ts')) as { openStore: typeof open };

const note = (...words: unknown[]) => process.stderr.write(`${words.join(' ')}\n`);

function ran(): number {
	const { user, system } = process.threadCpuUsage();
	return (user + system) / 1_000;
}

/** The longest time between two turns of the event loop during `work`, and how long it took. */
async function observed(work: () => Promise<unknown>) {
	globalThis.gc?.();
	await turn();
	let last = performance.now();
	let lastRan = ran();
	let [blockedMs, ranMs] = [0, 0];
	let isOver = false;
	const watching = (async () => {
		while (!isOver) {
			await turn();
			const [now, nowRan] = [performance.now(), ran()];
			[blockedMs, ranMs] = [Math.max(blockedMs, now - last), Math.max(ranMs, nowRan - lastRan)];
			[last, lastRan] = [now, nowRan];
		}
	})();
	const begun = performance.now();
	await work();
	const tookMs = performance.now() - begun;
	await turn();
	isOver = true;
	await watching;
	return { blockedMs, ranMs, tookMs } satisfies Times;
}

const key =
	task.databaseUrl === null ? {} : { databaseUrl: task.databaseUrl, pool: { size: 10, statementMs: 300_000 } };
const options = { dataDir: task.dataDir, encryptionKey: Buffer.alloc(32, 7).toString('base64'), ...key };
const silent = { debug() {}, info() {}, warn() {}, error() {}, child: () => silent };
const store: Store = await openStore({ ...options, log: silent, clock: { now: Date.now } as never });
const now = Date.now();
const begun = performance.now();
await fill(store, modules, task.sizes, now);
note(`filled in ${((performance.now() - begun) / 1_000).toFixed(0)} s`);

const figures: Figure[] = [];
async function measure(
	name: string,
	work: (round: number) => Promise<unknown>,
	{ kind = 'hot', rounds = task.rounds }: { kind?: Figure['kind']; rounds?: number } = {},
): Promise<void> {
	const seen: Times[] = [];
	for (let round = 0; round < rounds; round++) seen.push(await observed(() => work(round)));
	const medianOf = (of: keyof Times) => median(seen.map((one) => one[of]));
	const times = { blockedMs: medianOf('blockedMs'), ranMs: medianOf('ranMs'), tookMs: medianOf('tookMs') };
	figures.push({ name, kind, ...times });
	note(name, ...Object.values(times).map((value) => value.toFixed(1)));
}

const session = sessionAsking(BIG);
const big = { service: SERVICE, sessionId: BIG };
const ada = { teamId: TEAM, userId: 'U1' };
/** It lapses at once, so that each round finds the same rows. */
const lease = () => ({ token: crypto.randomUUID(), ms: 0 });
const { answers, inboxes, posts, reminders, sessions, watches } = store;

await measure('what our answers mean for a read', () =>
	ourAnswers(answers, { serviceUrl: SERVICE, reading: { session, readAt: now, arrival: task.sizes.session } }),
);
await measure('watches of that read', () => watches.ofSession(big));
await measure('arrivals before that read', () => answers.arrivals(big));
await measure('open questions of inboxes', () => inboxes.openQuestions(SERVICE, TEAM));
await measure("a person's answers in their inbox", async () => {
	await inboxes.ownAnswers(SERVICE, ada, { failedSince: now - DAY_MS, limit: 5 });
	await inboxes.lastAnswers(SERVICE, ada, 15);
});
await measure('drafts of an inbox', () => inboxes.drafts(SERVICE, ada, 5));
await measure('`/metrics`: answers by state', () => answers.stats());
await measure('taking due posts', () => posts.takeDue(lease(), 10, now));
await measure('taking due first posts', () => posts.takeDue(lease(), 10, now, { updates: false }));
await measure('when the next post is due', async () => {
	await posts.nextDueAt();
	await posts.nextDueAt({ updates: false });
});
await measure('taking due answers', async () => {
	await answers.nextDueAt(SERVICE);
	await answers.takeDue(SERVICE, lease(), 64, now);
});
await measure('taking due reads', async () => {
	await sessions.nextDueAt(SERVICE);
	await sessions.takeDue(SERVICE, lease(), 2, now + 100_000);
});
await measure('what the reminders of a channel are decided from', () =>
	reminders.factsOf(SERVICE, { kind: 'channel', teamId: TEAM, channelId: 'C1' }, now),
);
await measure('the limit of watches', () =>
	watches.limitOf({ teamId: TEAM, channelId: 'C1', service: SERVICE, createdBy: 'U1' } as never, NO_LIMITS),
);
await measure('history of that session', () => answers.history({ ...big, teamId: TEAM }, { offset: 0, limit: 10 }));
await measure('accepting an answer in that session', async (round) => {
	const question = { ...big, messageIndex: 50_000 + round };
	const given = submission({ id: `new${round}`, submissionKey: `new${round}`, person: ada, question, acceptedAt: now });
	await answers.accept(given);
	await answers.withdraw(given.id, ada, now);
});
await measure('channels that posts go to', () => posts.activeChannels());

const people = createPersonStore(store.cipher, 7);
await measure(
	'forgetting a person',
	(round) => store.db.write((trx) => people.forget({ trx, now }, `U${PEOPLE - 1 - round}`)),
	{ kind: 'housekeeping' },
);
await measure(
	'the first page of what is stored of a person',
	() => store.db.write((trx) => people.page(trx, 'U1', { table: 'answers', after: '' })),
	{ kind: 'housekeeping' },
);
const once = { kind: 'housekeeping', rounds: 1 } as const;
await measure('removing values of a third of the answers', () => answers.removeValues(now - 120 * DAY_MS, now), once);
await measure('forgetting the authors of half of them', () => answers.forgetAuthors(now - 90 * DAY_MS), once);
const removeEnded = async () => {
	for (const [, removeOf] of REMOVALS) await removeOf(store.db, now - 6.9 * DAY_MS);
};
await measure('removing questions, posts and watches of hours', removeEnded, once);

await store.close();
process.send?.(figures);
process.disconnect?.();
