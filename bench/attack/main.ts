import { copySource } from '../../test/faults/source-copy.ts';
import { readOptions, someOf, text } from '../../test/support/options.ts';
import { quantile } from '../figures/stats.ts';
import { machine } from '../machine.ts';
import { createArena, repeat, SERVICE_MS } from './arena.ts';
import { hostileService } from './hostile-service.ts';
import { httpFloods } from './http-floods.ts';
import { peopleFloods } from './people-floods.ts';
import { pressFloods } from './press-floods.ts';
import { type Scenario, unless } from './scenario.ts';
import { switchingFlood } from './switching-flood.ts';
import { textAttacks } from './text-attacks.ts';

const SCENARIOS: readonly Scenario[] = [
	...httpFloods,
	...peopleFloods,
	...pressFloods,
	...switchingFlood,
	...hostileService,
	...textAttacks,
];
const NAMES = SCENARIOS.map(({ name }) => name);
const PATHS = ['/healthz', '/readyz', '/metrics'] as const;
/** The longest time for a health or metrics response, under any load. */
const CHECKED_WITHIN_MS = 2_000;
/** How often somebody opens a session before the attack, and at least during it. */
const OPENINGS = 8;
const SETTLE_MS = 2_000;

const values = readOptions('npm run bench -- attack', {
	only: someOf(NAMES, 'these attacks alone'),
	commit: text(null, 'takes the program from a commit instead of the working tree'),
});

/** Median and maximum. */
const spread = (sample: readonly number[]) => [0.5, 1].map((share) => words(quantile(sample, share))).join(' / ');
const words = (ms: number) => (ms === Number.POSITIVE_INFINITY ? 'never' : ms.toFixed(0));

async function run(scenario: Scenario, entry: string): Promise<{ row: string; broken: readonly string[] }> {
	const { transport, feltMs, growthMiB, openEveryMs = 500, env = {} } = scenario;
	await using arena = await createArena({ entry, transport, env });
	const before = new AbortController();
	before.abort();
	// The first ones meet a cold program.
	await repeat(arena.open, { everyMs: 50, times: 3, signal: before.signal });
	const usual = await repeat(arena.open, { everyMs: 50, times: OPENINGS, signal: before.signal });
	const memoryBefore = await arena.program.memory();
	arena.peak();

	const over = new AbortController();
	let checks = 0;
	const attacking = scenario.attack(arena).finally(() => over.abort());
	const [felt, checked, { did, broken }] = await Promise.all([
		repeat(arena.open, { everyMs: openEveryMs, times: OPENINGS, signal: over.signal }),
		repeat(() => arena.check(PATHS[checks++ % PATHS.length] ?? '/healthz'), {
			everyMs: 250,
			times: PATHS.length,
			signal: over.signal,
		}),
		attacking,
	]);
	await repeat(async () => {}, { everyMs: SETTLE_MS, times: 1, signal: over.signal });
	const peak = arena.peak();

	const worst = quantile(felt, 1) - quantile(usual, 1);
	const growth = peak - memoryBefore;
	const promises = [
		...broken,
		...unless(worst <= feltMs, `others felt ${words(worst)} ms more, promised are ${feltMs} ms`),
		...unless(growth <= growthMiB, `memory grew by ${growth.toFixed(0)} MiB, promised are ${growthMiB} MiB`),
		...unless(quantile(checked, 1) <= CHECKED_WITHIN_MS, `a health check took ${words(quantile(checked, 1))} ms`),
	];
	const cells = [
		scenario.name,
		did,
		spread(usual),
		`${spread(felt)} (${felt.length})`,
		words(quantile(checked, 1)),
		`${memoryBefore.toFixed(0)}, ${peak.toFixed(0)}`,
		promises.length === 0 ? 'kept' : `**broken**: ${promises.join('; ')}`,
	];
	return { row: `| ${cells.join(' | ')} |`, broken: promises };
}

const rows: string[] = [];
let brokenCount = 0;
await using source = await copySource({ commit: values.commit });
for (const scenario of SCENARIOS.filter(({ name }) => values.only.includes(name))) {
	const start = performance.now();
	let { row, broken } = await run(scenario, source.entry);
	if (broken.length > 0) {
		// Other work on this machine sometimes delays everything: a promise counts as broken when it is broken twice.
		process.stderr.write(`runs again, because ${broken.join('; ')}\n`);
		({ row, broken } = await run(scenario, source.entry));
	}
	rows.push(row);
	brokenCount += broken.length;
	process.stderr.write(`${((performance.now() - start) / 1000).toFixed(0)} s ${row}\n`);
}
console.log(
	[
		`${machine()}.`,
		`The session service takes ${SERVICE_MS} ms. Milliseconds from /session to its content: median / worst.`,
		'',
		'| attack | what was done | without it | meanwhile (times) | slowest health check, ms | resident MiB before, most | promises |',
		'|---|---|---|---|---|---|---|',
		...rows,
		'',
		brokenCount === 0 ? 'All promises were kept.' : `${brokenCount} promises were broken.`,
	].join('\n'),
);
process.exitCode = brokenCount === 0 ? 0 : 1;
