import { cp, mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { createFakeSessionService } from '../../fake-session-service/fake-session-service.ts';
import { createFakeSlack } from '../../fake-slack/index.ts';
import { connectionEnv } from '../../sandbox/connection-env.ts';
import { NO_LIMITS_ENV } from '../../test/support/no-limits.ts';
import { createRandom } from '../../test/support/random.ts';
import { playScripts, putSessions, watchSessions } from '../watching-live/play.ts';
import { defaultPopulation, writeScripts } from '../watching-live/population.ts';
import { START_LINE, type StartLine, startAppProcess } from './app-process.ts';
import type { BenchContext } from './context.ts';
import { ENTRIES } from './harness.ts';
import { type Figure, load } from './report.ts';
import { quantile, Rounds } from './stats.ts';

const WATCHES = 1_000;
/** Enough to read each session about once in the time of a measurement. */
const REQUESTS_PER_MINUTE = '1000';
const SAMPLE_MS = 2_000;
/** One minute. The median of the second half counts. */
const SAMPLES = 30;
const GOAL_MIB = 160;
const MOST_MIB = 180;

const PROGRAMS: Readonly<Record<string, StartLine & { readonly program: keyof typeof ENTRIES }>> = {
	'as npm start': { ...START_LINE, program: 'handraise' },
	'as 1.0.0': { flags: ['--max-semi-space-size=16'], variables: {}, program: 'handraise' },
	bare: { flags: [], variables: {}, program: 'bare' },
};

/** Resident memory while 1,000 watched sessions are read, beside the start line of 1.0.0 and a bare app with commands. */
export async function measureWatchedMemory(context: BenchContext): Promise<Figure[]> {
	await using stack = new AsyncDisposableStack();
	const directory = await mkdtemp(join(context.directory, 'handraise-memory-'));
	stack.defer(() => rm(directory, { recursive: true, force: true }));
	const slack = await createFakeSlack({ trafficLimit: 5_000 });
	stack.defer(() => slack.close());
	const service = createFakeSessionService({
		rateLimit: false,
		startOnRead: false,
		scenarios: [],
		list: { mode: 'off' },
	});
	await service.start();
	stack.defer(() => service.stop());
	const scripts = writeScripts(defaultPopulation, WATCHES, 120_000, createRandom(1));

	/** Runs a program with data of its own between Slack and the service. */
	async function run(
		{ program, ...line }: (typeof PROGRAMS)[string],
		{ data, rpm }: { readonly data: string; readonly rpm: string },
		act: (memory: () => Promise<number>) => Promise<void>,
	): Promise<void> {
		putSessions(service, scripts);
		const env = { ...connectionEnv({ slack, service }), ...NO_LIMITS_ENV, SESSION_SERVICE_RPM: rpm, DATA_DIR: data };
		const process = await startAppProcess({ ...line, entry: ENTRIES[program], env, logDirectory: directory });
		try {
			await Promise.race([slack.connected(program === 'bare' ? 1 : 2), process.endedEarly]);
			await act(process.memory);
		} finally {
			await process.stop();
		}
	}

	const watched = join(directory, 'watched');
	const [first] = Object.values(PROGRAMS);
	if (first !== undefined) await run(first, { data: watched, rpm: '100000' }, () => watchSessions(slack, WATCHES));
	const state = slack.snapshot();
	const rounds = new Rounds();
	const names = Object.keys(PROGRAMS);
	for (let round = 0; round < context.rounds; round++) {
		for (const name of round % 2 === 0 ? names : names.toReversed()) {
			const line = PROGRAMS[name];
			if (line === undefined) continue;
			const data = await mkdtemp(join(directory, 'data-'));
			await cp(watched, data, { recursive: true });
			slack.restore(state);
			await run(line, { data, rpm: REQUESTS_PER_MINUTE }, async (memory) => {
				const ended = new AbortController();
				void playScripts(service, scripts, [], ended.signal);
				const samples: number[] = [];
				while (samples.length < SAMPLES) {
					await pause(SAMPLE_MS);
					if (line.program === 'bare') await slack.as('ada').command('#agents', '/session x');
					samples.push(await memory());
				}
				ended.abort();
				rounds.add(name, quantile(samples.slice(SAMPLES / 2), 0.5));
			});
		}
	}

	const shown = (name: string) =>
		`${rounds.median(name).toFixed(0)} MiB (${rounds
			.range(name)
			.map((value) => value.toFixed(0))
			.join(' to ')})`;
	return [
		{
			what: `Resident memory while ${WATCHES} watched sessions are read, median (range)`,
			handraise: shown('as npm start'),
			reference: `with the start line of 1.0.0 ${shown('as 1.0.0')}; bare app ${shown('bare')}`,
			goal: `${GOAL_MIB} MiB, at most ${MOST_MIB} MiB`,
			met: rounds.median('as npm start') <= MOST_MIB,
			load: load(),
		},
	];
}
