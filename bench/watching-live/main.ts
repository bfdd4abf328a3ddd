import { spawn } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { availableParallelism, cpus, loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { createFakeSessionService, type FakeSessionService } from '../../fake-session-service/fake-session-service.ts';
import { createFakeSlack } from '../../fake-slack/index.ts';
import { copySource } from '../../test/faults/source-copy.ts';
import { isCard } from '../../test/faults/watches/fleet.ts';
import { NO_LIMITS_ENV } from '../../test/support/no-limits.ts';
import { amount, count, flag, readOptions, text } from '../../test/support/options.ts';
import { createRandom } from '../../test/support/random.ts';
import { type AppProcess, START_LINE, startAppProcess, takesRequests } from '../figures/app-process.ts';
import { quantile } from '../figures/stats.ts';
import { measureCases } from './cases.ts';
import { type Asked, playScripts, putSessions, watchSessions } from './play.ts';
import { defaultPopulation, writeScripts } from './population.ts';
import { countSlackCalls } from './slack-calls.ts';

const values = readOptions('npm run bench -- watching-live', {
	watches: count(300, 'watched sessions', { least: 1 }),
	minutes: amount(5, 'of the measurement'),
	seed: count(1, 'of the random choices'),
	commit: text(null, 'takes the program from a commit instead of the working tree'),
	list: flag('the service lists its sessions'),
	cases: text(null, 'instead, in virtual time: the cases whose names contain this'),
});
const { watches, minutes } = values;
if (values.cases !== null) {
	await measureCases(values.cases);
	process.exit();
}

const LIMIT = 250;
/** Until the first reads of all are done. */
const WARM_UP_MS = 60_000;
/** By then every session has been read again. */
const LAST_LOOKS_MS = 180_000;
const SAMPLE_MS = 2_000;
const SCRAPE_MS = 15_000;
/** Somebody opens a session that nobody watches. */
const PERSON_EVERY_MS = 5_000;
const PERSON_SESSION = 'opened';
const LONGEST_PERSON_READ_MS = 30_000;
/** With a list, what took longer is told: the request that was late. */
const SLOW_MS = 3_000;
const BARE_APP = fileURLToPath(new URL('../figures/bare-app.ts', import.meta.url));

const IDLE = fileURLToPath(new URL('idle.ts', import.meta.url));

const directory = await mkdtemp(join(tmpdir(), 'handraise-live-'));
const loads: string[] = [];
const load = () =>
	loadavg()
		.map((one) => one.toFixed(1))
		.join(' ');
const scripts = writeScripts(
	defaultPopulation,
	watches,
	minutes * 60_000 + WARM_UP_MS + 60_000,
	createRandom(values.seed),
);
const slack = await createFakeSlack({ trafficLimit: 20_000 });
const bareSlack = await createFakeSlack();
const programs: AppProcess[] = [];

async function start(entry: string, fake: typeof slack, env: Readonly<Record<string, string>> = {}) {
	const program = await startAppProcess({
		...(entry === BARE_APP ? {} : START_LINE),
		entry,
		logDirectory: directory,
		env: {
			SLACK_BOT_TOKEN: fake.tokens.bot,
			SLACK_APP_TOKEN: fake.tokens.app,
			SLACK_API_URL: fake.apiUrl,
			...env,
		},
	});
	programs.push(program);
	await fake.connected(1);
	return program;
}

/** A service at this address, with a list or not, with the scripts' sessions at their beginning. */
async function startService(port: number | undefined, rateLimit: false | { limit: number; windowMs: number }) {
	const service = createFakeSessionService({
		rateLimit,
		startOnRead: false,
		scenarios: [],
		list: { mode: values.list ? 'on' : 'off' },
		...(port === undefined ? {} : { port }),
	});
	await service.start();
	putSessions(service, scripts);
	return service;
}

/** Watches everything without a budget. Resolves when the cards stand. */
async function watchEverything(entry: string): Promise<number> {
	await using stack = new AsyncDisposableStack();
	const service = await startService(undefined, false);
	stack.defer(() => service.stop());
	const program = await start(entry, slack, envFor(service.url, 100_000));
	stack.defer(() => program.stop());
	await watchSessions(slack, watches);
	return Number(new URL(service.url).port);
}

function envFor(serviceUrl: string, requestsPerMinute: number): Record<string, string> {
	return {
		SESSION_SERVICE_URL: serviceUrl,
		SESSION_SERVICE_API_KEY: 'sandbox-key',
		SESSION_SERVICE_RPM: String(requestsPerMinute),
		...NO_LIMITS_ENV,
		DATA_DIR: join(directory, 'data'),
	};
}

async function scrape(program: AppProcess): Promise<(name: string) => number> {
	const text = await fetch(`${program.url}/metrics`).then((response) => response.text());
	return (name) => Number(new RegExp(`^${name} (\\S+)$`, 'm').exec(text)?.[1]);
}

async function every(ms: number, until: number, act: () => Promise<void>): Promise<void> {
	while (performance.now() < until) {
		await pause(Math.min(ms, Math.max(1, until - performance.now())));
		await act();
	}
}

/** Milliseconds from the command to the request that it leads to. */
async function personReadMs(service: FakeSessionService): Promise<number> {
	const from = Date.now();
	await slack.as('ada').command('#live0', `/session ${PERSON_SESSION}`);
	while (Date.now() < from + LONGEST_PERSON_READ_MS) {
		const read = service.log.reads(PERSON_SESSION).find(({ at }) => at >= from);
		if (read !== undefined) return read.at - from;
		await pause(20);
	}
	return Number.POSITIVE_INFINITY;
}

async function measure(entry: string, port: number): Promise<string[]> {
	await using stack = new AsyncDisposableStack();
	const service = await startService(port, { limit: LIMIT, windowMs: 60_000 });
	stack.defer(() => service.stop());
	const program = await start(entry, slack, envFor(service.url, LIMIT));
	await takesRequests(program);
	const bare = await start(BARE_APP, bareSlack);
	const ended = new AbortController();
	stack.defer(() => ended.abort());
	service.sessions.put(PERSON_SESSION, { status: 'active', messages: [] });
	const asked: Asked[] = [];
	slack.settings.realRates = true;
	void playScripts(service, scripts, asked, ended.signal);
	const bareAtStart = await bare.memory();
	await pause(WARM_UP_MS);

	const idle = spawn(process.execPath, [IDLE, String(SCRAPE_MS)], { stdio: ['ignore', 'pipe', 'inherit'] });
	stack.defer(() => void idle.kill());
	const idleLags: number[] = [];
	createInterface({ input: idle.stdout }).on('line', (line) => void idleLags.push(Number(line)));
	// The first reading empties the earlier counts.
	await scrape(program);
	const from = Date.now();
	const until = performance.now() + minutes * 60_000;
	const calls = countSlackCalls(slack);
	const before = await scrape(program);
	const cpuBefore = before('process_cpu_seconds_total');
	const bytesBefore = before('handraise_list_bytes_total');
	const memory: number[] = [];
	const lags: number[] = [];
	const personReads: number[] = [];
	const bareUser = bareSlack.as('ada');
	await Promise.all([
		every(SAMPLE_MS, until, async () => void memory.push(await program.memory())),
		every(SCRAPE_MS, until, async () => {
			lags.push((await scrape(program))('nodejs_eventloop_lag_p99_seconds') * 1000);
			loads.push(load());
		}),
		every(PERSON_EVERY_MS, until, async () => void personReads.push(await personReadMs(service))),
		// About as many Slack calls as watching makes, so that the bare app is not idle.
		every(1_000, until, async () => void (await bareUser.command('#agents', '/session x'))),
	]);
	const seconds = (Date.now() - from) / 1000;
	const figures = await scrape(program);
	const cpu = figures('process_cpu_seconds_total') - cpuBefore;
	const heap = figures('nodejs_heap_size_used_bytes') / 2 ** 20;
	const external = figures('nodejs_external_memory_bytes') / 2 ** 20;
	const { counts, calls: all, changes, limited } = calls();
	const lists = service.log.lists().filter(({ at }) => at >= from);
	const reads = [...service.log.reads().filter(({ at }) => at >= from), ...lists];
	const bareMemory = await bare.memory();
	const perMinute = Array.from({ length: Math.max(1, Math.floor(minutes)) }, (_, minute) => {
		const at = from + minute * 60_000;
		return reads.filter((read) => read.at >= at && read.at < at + 60_000).length;
	});
	const questions = asked.filter(({ at }) => at >= from && at < from + seconds * 1000);
	const delays = () =>
		questions.map(({ words, at }) => {
			const post = slack.state.messages.find(
				(one) => !isCard(one) && JSON.stringify([one.blocks, one.history]).includes(words),
			);
			return post === undefined ? Number.POSITIVE_INFINITY : Number(post.ts) * 1000 - at;
		});
	// A question of the last moment counts too.
	const end = performance.now() + LAST_LOOKS_MS;
	while (delays().includes(Number.POSITIVE_INFINITY) && performance.now() < end) await pause(1_000);
	const seen = delays();
	for (const [index, { words, at }] of questions.entries()) {
		if (seen[index] !== Number.POSITIVE_INFINITY) continue;
		process.stderr.write(`never seen: "${words}", asked ${((at - from) / 1000).toFixed(0)} s after the beginning\n`);
	}
	for (const [index, { sessionId: id, at }] of questions.entries()) {
		const delay = seen[index] ?? 0;
		if (!values.list || delay < SLOW_MS || delay === Number.POSITIVE_INFINITY) continue;
		const after = (entries: readonly { at: number }[]) =>
			(entries.find((entry) => entry.at >= at)?.at ?? Number.NaN) - at;
		const [list, read] = [after(service.log.lists()), after(service.log.reads(id))];
		process.stderr.write(
			`slow: next list after ${list} ms, next read after ${read} ms, post after ${delay.toFixed(0)} ms\n`,
		);
	}
	const max = (numbers: readonly number[]) => Math.max(...numbers);
	const mib = (value: number) => `${value.toFixed(0)} MiB`;
	const ratio = quantile(memory, 0.5) / bareMemory;
	return [
		'| figure | value | goal |',
		'|---|---|---|',
		`| requests to the service a minute, mean (most in one) | ${(reads.length / (seconds / 60)).toFixed(0)} (${max(perMinute)}) | ≤ ${LIMIT} |`,
		`| of these lists | ${lists.length} | |`,
		`| of all answered 304 | ${((100 * reads.filter(({ status }) => status === 304).length) / reads.length).toFixed(0)} % | |`,
		`| somebody opens a session: from the command to the request, median / p95 / longest of ${personReads.length} | ${[0.5, 0.95, 1].map((share) => `${quantile(personReads, share).toFixed(0)} ms`).join(' / ')} | |`,
		`| 429s of the service | ${reads.filter(({ status }) => status === 429).length} | 0 |`,
		`| questions asked; seen in the thread after, median / p95 / longest | ${seen.length}; ${[0.5, 0.95, 1].map((share) => `${(quantile(seen, share) / 1000).toFixed(1)} s`).join(' / ')} | all |`,
		...(values.list
			? [`| bytes of lists | ${((figures('handraise_list_bytes_total') - bytesBefore) / 1e6).toFixed(1)} MB | |`]
			: []),
		`| calls that write to Slack, for each message that changed | ${all} for ${changes}: ${(all / changes).toFixed(2)} | ≤ 1.2 |`,
		`| 429s of Slack (its real tiers) | ${limited} | 0 |`,
		`| resident memory, median (most) | ${mib(quantile(memory, 0.5))} (${mib(max(memory))}) | ≤ 1.5 × bare: ${ratio.toFixed(2)} × |`,
		`| of this used by the JavaScript heap, and outside of it | ${mib(heap)}, ${mib(external)} | |`,
		`| resident memory of a bare Bolt app with a command a second (at its start) | ${mib(bareMemory)} (${mib(bareAtStart)}) | |`,
		`| CPU of one core | ${((100 * cpu) / seconds).toFixed(1)} % | |`,
		`| event-loop delay p99, median of ${lags.length} scrapes (longest) | ${quantile(lags, 0.5).toFixed(0)} ms (${max(lags).toFixed(0)} ms) | < 50 ms |`,
		`| the same of a process beside it that does nothing | ${quantile(idleLags, 0.5).toFixed(0)} ms (${max(idleLags).toFixed(0)} ms) | |`,
		`| calls by outcome | ${[...counts].map(([name, count]) => `${name} ${count}`).join(', ')} | |`,
	];
}

try {
	await using source = await copySource({ commit: values.commit });
	const loadBefore = load();
	process.stderr.write(`watching ${watches} sessions\n`);
	const port = await watchEverything(source.entry);
	process.stderr.write(`measuring for ${minutes} min\n`);
	const table = await measure(source.entry, port);
	const worst = loads.toSorted((one, other) => Number.parseFloat(other) - Number.parseFloat(one))[0];
	console.log(
		[
			`${watches} watched sessions (${defaultPopulation.name})${values.list ? ', a service with a list,' : ''} for ${minutes} min, seed ${values.seed}; ${availableParallelism()} × ${cpus()[0]?.model}, Node ${process.version}`,
			`Load of the machine (1, 5, 15 min) before ${loadBefore}, after ${load()}, highest ${worst}`,
			'',
			...table,
		].join('\n'),
	);
} finally {
	await Promise.all(programs.map((program) => program.stop()));
	await slack.close();
	await bareSlack.close();
	await rm(directory, { recursive: true, force: true });
}
