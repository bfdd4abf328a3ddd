import fc from 'fast-check';
import { it } from 'vitest';
import type { Store } from '../../../src/stores.ts';
import { makeDataDir, open } from '../../store/support.ts';
import { putDatabase } from '../../support/made-database.ts';
import { runs } from '../../support/runs.ts';
import { addWatch } from '../support.ts';
import { type Agent, type AgentAct, createAgent, type Manner } from './agent.ts';
import { createProgram, type Fate, type Program, type Stores } from './program.ts';
import { createPromises } from './promises.ts';

/**
 * Without it the same histories in every run: a rare one must not fail somebody else's change.
 * `AGENTS=100000` looks for new ones.
 */
const SOUGHT = Number(process.env.AGENTS ?? 0);

const GAPS_MS = [0, 0, 500, 2_000, 5_000, 9_000, 11_000, 29_000, 31_000, 61_000, 61_000, 130_000];
const FATES: readonly Fate[] = ['saved', 'saved', 'saved', 'savedUnknown', 'landsLate', 'lost'];
/** Each so often. */
const weighted = <Kind extends string>(counts: Readonly<Record<Kind, number>>) =>
	Object.entries<number>(counts).flatMap(([kind, count]) => Array<Kind>(count).fill(kind as Kind));
/** What may bring a value. */
const VALUES = weighted({ deliver: 3, work: 2, dashboard: 2, answer: 1, noteRead: 1 });
const READS = weighted({ read: 6, work: 2, noteRead: 1, begin: 1, beginJudged: 1 });
const OTHERS = ['restart', 'pause', 'giveBack'] as const;
const OURS = [...VALUES, ...READS, ...OTHERS];
const AGENTS = weighted({
	take: 4,
	ask: 2,
	keep: 1,
	writeBack: 1,
	beat: 2,
	workOn: 1,
	askSame: 2,
	askAnew: 2,
	change: 1,
	die: 1,
	end: 1,
}) satisfies readonly AgentAct[];
type Kind = (typeof OURS)[number] | (typeof AGENTS)[number];
type Act = readonly [kind: Kind, gapMs: number, n: number];

const anyOf = (kinds: readonly Kind[]): fc.Arbitrary<Act> =>
	fc.tuple(fc.constantFrom(...kinds), fc.constantFrom(...GAPS_MS), fc.nat(59));
/** Perhaps a value arrives and is seen, the agent does what it likes, and reads show that for a while. */
const anyRound = fc
	.tuple(
		fc.array(anyOf(VALUES), { maxLength: 2 }),
		fc.array(anyOf(READS), { maxLength: 1 }),
		fc.array(anyOf(AGENTS), { minLength: 1, maxLength: 2 }),
		fc.array(anyOf(READS), { minLength: 1, maxLength: 3 }),
	)
	.map((parts) => parts.flat());
const anyOther = anyOf([...OURS, ...AGENTS]).map((act) => [act]);
const anyActs = fc
	.array(fc.oneof({ weight: 3, arbitrary: anyRound }, { weight: 1, arbitrary: anyOther }), {
		minLength: 1,
		maxLength: 6,
		size: 'max',
	})
	.map((rounds) => rounds.flat());
const anyManner: fc.Arbitrary<Manner & Watched> = fc.record({
	isWatched: fc.constantFrom(true, true, true, true, false),
	isVisible: fc.constantFrom(true, true, true, false),
	itemCount: fc.constantFrom(1, 1, 2, 3),
});
const isAgents = (kind: Act[0]): kind is (typeof AGENTS)[number] => (AGENTS as readonly string[]).includes(kind);

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
	const promises = createPromises(program, agent, watch?.id ?? '');
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
		if (found !== null) await promises.asked(found);
		await promises.words();
	}
}

async function ours(kind: Exclude<(typeof OURS)[number], 'read'>, n: number, program: Program, agent: Agent) {
	switch (kind) {
		case 'deliver':
		case 'answer':
			await program.answer(n % 4 > 0, n % 2 === 0, n % 5 === 0 ? 20_000 : 86_400_000);
			if (kind === 'deliver') await program.work(FATES[n % FATES.length] ?? 'saved');
			break;
		case 'work':
			await program.work(FATES[n % FATES.length] ?? 'saved');
			break;
		case 'dashboard': {
			const index = agent.newestIndex();
			const values = agent.valuesAt(index);
			const isPart = n % 2 === 0;
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
			SOUGHT > 0 ? { numRuns: SOUGHT } : { numRuns: runs(200), seed: 77 },
		);
	} finally {
		await stores.current.close();
		await directory.remove();
	}
}, 3_600_000);

async function clear(store: Store): Promise<void> {
	const tables = ['posts', 'questions', 'watches', 'watched_sessions', 'answers'] as const;
	await store.db.write(async (trx) => {
		for (const table of tables) await trx.deleteFrom(table).execute();
	});
}
