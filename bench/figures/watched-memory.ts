import { cp, mkdtemp } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { watchLive } from '../watching-live/play.ts';
import { BARE_APP } from './app-process.ts';
import type { BenchContext } from './context.ts';
import { OWN_ENTRY } from './harness.ts';
import type { Figure } from './report.ts';
import { interleaved, median, Rounds } from './stats.ts';

const WATCHES = 1_000;
/** Enough to read each session about once in the time of a measurement. */
const REQUESTS_PER_MINUTE = 1_000;
const SAMPLE_MS = 2_000;
/** One minute. The median of the second half counts. */
const SAMPLES = 30;
const GOAL_MIB = 160;
const MOST_MIB = 180;

/** Resident memory while 1,000 watched sessions are read, beside a bare app with commands. */
export async function measureWatchedMemory({ rounds: count }: BenchContext): Promise<Figure> {
	await using live = await watchLive(OWN_ENTRY, { watches: WATCHES, lengthMs: 120_000 });
	const { slack } = live;
	const state = slack.snapshot();
	const rounds = new Rounds();
	await interleaved(count, [OWN_ENTRY, BARE_APP], async (entry) => {
		const data = await mkdtemp(join(live.directory, 'data-'));
		await cp(live.dataDir, data, { recursive: true });
		slack.restore(state);
		const program = await live.start(REQUESTS_PER_MINUTE, entry, data);
		const ended = new AbortController();
		try {
			void live.play(ended.signal);
			const samples: number[] = [];
			while (samples.length < SAMPLES) {
				await pause(SAMPLE_MS);
				if (entry === BARE_APP) await slack.as('ada').command('#agents', '/session x');
				samples.push(await program.memory());
			}
			rounds.add(entry, median(samples.slice(SAMPLES / 2)));
		} finally {
			ended.abort();
			await program.stop();
		}
	});
	return {
		what: `Resident memory while ${WATCHES} watched sessions are read, median (range)`,
		handraise: rounds.mebibytes(OWN_ENTRY),
		reference: `bare app ${rounds.mebibytes(BARE_APP)}`,
		goal: `${GOAL_MIB} MiB, at most ${MOST_MIB} MiB`,
		met: rounds.median(OWN_ENTRY) <= MOST_MIB,
	};
}
