import fc from 'fast-check';
import { expect, it } from 'vitest';
import { pick } from '../../../../src/core/basics.ts';
import { type Answer, hasArrived, isBlocking, itemsOf, mayHaveArrived } from '../../../../src/questions/answer.ts';
import { EMPTY_MS } from '../../../../src/questions/asked.ts';
import { filledAt } from '../../../../src/questions/session.ts';
import type { Store } from '../../../../src/stores.ts';
import { makeDataDir, open } from '../../../database/support.ts';
import { putDatabase } from '../../../support/made-database.ts';
import { addWatch } from '../support.ts';
import { type Agent, type AgentAct, createAgent, type Manner } from './agent.ts';
import { createProgram, type Fate, type Stores } from './program.ts';

/**
 * Without it the same histories in every run: a rare one must not fail somebody else's change.
 * `AGENTS=100000` looks for new ones.
 */
const SOUGHT = Number(process.env.AGENTS ?? 0);

const GAPS_MS = [0, 0, 500, 2_000, 5_000, 9_000, 11_000, 29_000, 31_000, 61_000, 61_000, 130_000];
const FATES: readonly Fate[] = ['saved', 'saved', 'saved', 'savedUnknown', 'landsLate', 'lost'];
const OURS = [
	...Array<'read'>(12).fill('read'),
	...Array<'deliver'>(5).fill('deliver'),
	...Array<'work'>(4).fill('work'),
	...Array<'dashboard'>(2).fill('dashboard'),
	'answer',
	'begin',
	'beginJudged',
	'noteRead',
	'restart',
	'pause',
	'giveBack',
] as const;
const AGENTS = [
	...Array<'take'>(4).fill('take'),
	'ask',
	'ask',
	'keep',
	'writeBack',
	'beat',
	'beat',
	'workOn',
	'askSame',
	'askSame',
	'askAnew',
	'askAnew',
	'change',
	'die',
	'end',
] as const satisfies readonly AgentAct[];
const KINDS = [...OURS, ...AGENTS];
type Act = readonly [kind: (typeof KINDS)[number], gapMs: number, n: number];

const anyAct: fc.Arbitrary<Act> = fc.tuple(fc.constantFrom(...KINDS), fc.constantFrom(...GAPS_MS), fc.nat(59));
const anyManner: fc.Arbitrary<Manner & Watched> = fc.record({
	isWatched: fc.constantFrom(true, true, true, true, false),
	isVisible: fc.constantFrom(true, true, true, false),
	itemCount: fc.constantFrom(1, 1, 2, 3),
});
const anyActs = fc.array(anyAct, { minLength: 4, maxLength: 24, size: 'max' });

const isAgents = (kind: Act[0]): kind is (typeof AGENTS)[number] => (AGENTS as readonly string[]).includes(kind);

type Program = ReturnType<typeof createProgram>;
type Found = NonNullable<Awaited<ReturnType<Program['read']>>>;

function hold(holds: boolean, what: string): void {
	if (!holds) throw new Error(what);
}

/** How a session is read: by a channel's watch, or only by people and for its answers. */
interface Watched {
	readonly isWatched: boolean;
}

async function play(
	stores: Stores,
	sessionId: string,
	{ isWatched, ...manner }: Manner & Watched,
	acts: readonly Act[],
): Promise<void> {
	const agent = createAgent(sessionId, manner);
	const program = createProgram(stores, sessionId, agent);
	const watch = isWatched ? await addWatch(stores.current.watches, { sessionId }) : null;
	const promises = createPromises(program, watch?.id ?? '');
	for (const [kind, gapMs, n] of [['ask', 0, 0], ['read', 0, 0], ...acts] as Act[]) {
		program.pass(gapMs);
		if (isAgents(kind)) {
			agent.play(kind, n);
			continue;
		}
		const isOfWatch = kind === 'read' || kind === 'begin' || kind === 'beginJudged';
		const found = kind === 'read' && isWatched ? await program.read() : null;
		if (isOfWatch && !isWatched) await program.noteRead();
		else if (kind !== 'read') await ours(kind, n, program, agent);
		await promises.words(agent);
		if (found !== null) await promises.asked(found);
	}
}

async function ours(kind: Exclude<(typeof OURS)[number], 'read'>, n: number, program: Program, agent: Agent) {
	switch (kind) {
		case 'deliver':
		case 'answer':
			await program.answer(n % 4 > 0, n % 3 === 0, n % 5 === 0 ? 20_000 : 86_400_000);
			if (kind === 'deliver') await program.work(FATES[n % FATES.length] ?? 'saved');
			break;
		case 'work':
			await program.work(FATES[n % FATES.length] ?? 'saved');
			break;
		case 'dashboard': {
			const index = agent.newestIndex();
			const values = agent.valuesAt(index);
			const isPart = n % 3 === 0;
			if (!agent.isOver())
				program.save(
					index,
					values.map(
						(value, position) => value || (isPart && position > 0 ? '' : `theirs ${program.now()}.${position}`),
					),
				);
			break;
		}
		case 'begin':
		case 'beginJudged':
			await program.begin(kind === 'beginJudged');
			break;
		case 'noteRead':
			await program.noteRead();
			break;
		case 'restart':
			await program.restart();
			break;
		case 'pause':
		case 'giveBack':
			agent[kind]();
	}
}

/** What is promised, whatever happens. */
function createPromises(program: Program, watchId: string) {
	/** Since when all reads show that it waits for the same, and nothing of ours has arrived. */
	let waiting = { since: '', at: 0 };
	/** The messages in which a value was known, and the times. */
	const known = new Set<string>();
	let wasOpen = false;

	const open = async () => (await program.rows()).filter(({ settledAt }) => settledAt === null);

	/** The answers that arrived, or may have. */
	async function arrived(): Promise<readonly Answer[]> {
		const answers = await program.answers();
		return answers.filter((answer) => hasArrived(answer.state) || mayHaveArrived(answer));
	}

	return {
		async words(agent: Agent): Promise<void> {
			hold((await open()).length <= 1, 'two questions are open');
			for (const answer of await program.answers()) {
				for (const { value } of itemsOf(answer)) {
					const saves = program.saves(value ?? '');
					hold(!saves.some(({ wasTaken }) => wasTaken), 'what the agent has taken is sent again');
					const [first] = saves;
					const hasWritten = first === undefined || agent.count() > first.messageCount;
					hold(answer.state !== 'resumed' || hasWritten, 'an agent that wrote no message has continued');
				}
			}
		},

		/** After a read that was stored. */
		async asked(found: Found): Promise<void> {
			const { played, session, readAt } = found;
			expect(await program.again(found)).toEqual([]);
			const [row] = await open();
			const digest = await program.digest();
			const { answered: _, open: openItems = [], ...asked } = digest?.question ?? {};
			expect(row === undefined ? null : pick(row, 'messageIndex', 'fingerprint', 'shownHash')).toEqual(
				openItems.length > 0 ? asked : null,
			);
			const ours = await arrived();
			const index = played.index;
			const { fingerprint } = session.messages[index] ?? {};
			const place = `${index} ${fingerprint}`;
			const toThis = ours.filter((one) => one.question.messageIndex === index && one.fingerprint === fingerprint);
			const time = `time ${played.time}`;
			hold(!(played.works && known.has(time) && !wasOpen && row !== undefined), 'what was taken is asked');
			wasOpen = row !== undefined;
			// It is older than what arrived, and says nothing.
			if (found.arrival < (await program.arrivals()) || ours.some(({ endedAt }) => (endedAt ?? 0) > readAt)) return;
			const filled = filledAt(session, index);
			if (toThis.length > 0 || filled.length > 0) known.add(place).add(time);
			for (const position of filled) known.add(`${place} ${position}`);
			const left = toThis.flatMap(({ leftEmpty }) => leftEmpty);
			const missing = played.waitsFor.filter((position) => !left.includes(position));
			// The first value that a read shows begins the time anew.
			const since = `${place} ${played.time} ${ours.map(({ id }) => id)} ${known.size}`;
			if (missing.length === 0) waiting = { since: '', at: 0 };
			else if (waiting.since !== since) waiting = { since, at: readAt };
			const isLong = readAt - waiting.at >= EMPTY_MS || !known.has(place);
			const isHeld = (await program.answers()).some(({ state }) => isBlocking(state));
			if (missing.length === 0 || !isLong || isHeld) return;
			hold(
				missing.every((position) => openItems.includes(position)),
				'an agent that waits is not asked',
			);
			const posts = (await program.posts()).filter((post) => post.watchId === watchId && post.questionId === row?.id);
			hold(posts.length === 1, 'a question has no post');
		},
	};
}

it('asks for whoever waits visibly, and says no more than is known, whatever agents do', async () => {
	const directory = makeDataDir();
	await putDatabase(directory.path);
	const openStore = () => open({ dataDir: directory.path });
	const stores: Stores = { current: await openStore(), open: openStore };
	let count = 0;
	try {
		await fc.assert(
			fc.asyncProperty(anyManner, anyActs, async (manner, acts) => {
				count += 1;
				try {
					await play(stores, `s${count}`, manner, acts);
				} finally {
					await clear(stores.current);
				}
			}),
			SOUGHT > 0 ? { numRuns: SOUGHT } : { numRuns: 200, seed: 77 },
		);
	} finally {
		await stores.current.close();
		await directory.remove();
	}
}, 3_600_000);

async function clear(store: Store): Promise<void> {
	const tables = ['ladders', 'posts', 'questions', 'watches', 'watched_sessions', 'answers'] as const;
	await store.db.write(async (trx) => {
		for (const table of tables) await trx.deleteFrom(table).execute();
	});
}
