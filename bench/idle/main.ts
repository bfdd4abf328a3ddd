import { randomBytes } from 'node:crypto';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { availableParallelism, cpus, tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { createFakeSlack } from '../../fake-slack/index.ts';
import { createFakeSessionService } from '../../sandbox/session-service/fake-session-service.ts';
import { copySource } from '../../test/faults/source-copy.ts';
import { NO_LIMITS_ENV } from '../../test/support/no-limits.ts';
import { amount, count, counts, readOptions, text } from '../../test/support/options.ts';
import { type OwnPostgres, startPostgres } from '../../test/support/postgres.ts';
import { startAppProcess } from '../figures/app-process.ts';
import { quantile } from '../figures/stats.ts';

const {
	watches: sizes,
	minutes,
	rounds,
	former: formerCommit,
} = readOptions('npm run bench -- idle', {
	watches: counts([0, 10, 300], 'watched sessions, one measurement for each number'),
	minutes: amount(1, 'of each measurement'),
	rounds: count(3, 'interleaved rounds', { least: 1 }),
	former: text(null, 'measures the program of this commit beside it'),
});

const SETTLE_MS = 10_000;
const PER_COMMAND = 10;
/** Requests a minute that the service allows an address, and enough for watching everything at once. */
const LIMIT = 250;
const QUICK = 100_000;
const HOOK = fileURLToPath(new URL('count-queries.ts', import.meta.url));

/** What a program costs while nothing happens. */
interface Cost {
	readonly queriesPerSecond: number;
	readonly cpuMsPerMinute: number;
}

/** One run of the program at `entry` with so many watched sessions that never change. */
async function measure(entry: string, watches: number, postgres: OwnPostgres | null): Promise<Cost> {
	await using stack = new AsyncDisposableStack();
	const directory = await mkdtemp(join(tmpdir(), 'handraise-idle-'));
	stack.defer(() => rm(directory, { recursive: true, force: true }));
	const service = createFakeSessionService({ scenarios: [], startOnRead: false, rateLimit: false });
	await service.start();
	stack.defer(() => service.stop());
	const slack = await createFakeSlack();
	stack.defer(() => slack.close());
	const file = join(directory, 'queries');
	const database =
		postgres === null
			? {}
			: { DATABASE_URL: await postgres.createDatabase(), ENCRYPTION_KEY: randomBytes(32).toString('base64') };
	const start = async (requestsPerMinute: number) => {
		const program = await startAppProcess({
			entry,
			flags: ['--import', HOOK],
			logDirectory: directory,
			env: {
				SLACK_BOT_TOKEN: slack.tokens.bot,
				SLACK_APP_TOKEN: slack.tokens.app,
				SLACK_API_URL: slack.apiUrl,
				SESSION_SERVICE_URL: service.url,
				SESSION_SERVICE_API_KEY: service.apiKey,
				SESSION_SERVICE_RPM: String(requestsPerMinute),
				DATA_DIR: join(directory, 'data'),
				QUERY_COUNT_FILE: file,
				...database,
				...NO_LIMITS_ENV,
			},
		});
		stack.defer(() => program.stop());
		await Promise.race([slack.connected(1), program.endedEarly]);
		return program;
	};
	if (watches > 0) {
		const quick = await start(QUICK);
		await watch(slack, service, watches);
		await quick.stop();
	}
	const program = await start(LIMIT);
	await pause(SETTLE_MS);
	const before = { queries: Number(await readFile(file, 'utf8')), ran: await program.ran() };
	await pause(minutes * 60_000);
	const queries = Number(await readFile(file, 'utf8')) - before.queries;
	const ran = (await program.ran()) - before.ran;
	return { queriesPerSecond: queries / (minutes * 60), cpuMsPerMinute: ran / minutes };
}

/** Watches so many sessions, and waits until their cards stand. */
async function watch(
	slack: Awaited<ReturnType<typeof createFakeSlack>>,
	service: ReturnType<typeof createFakeSessionService>,
	watches: number,
): Promise<void> {
	const ids = Array.from({ length: watches }, (_, index) => `idle${index}`);
	for (const id of ids) service.sessions.put(id, { status: 'active', messages: [] });
	const ada = slack.as('ada');
	const { state } = slack;
	for (let from = 0; from < watches; from += PER_COMMAND) {
		const kind = { isPrivate: false, isIm: false, isArchived: false, isExtShared: false };
		const members = [ada.user, state.app.botUser];
		state.channels.push({ id: `C0IDLE${from}`, name: `idle${from}`, members, ...kind });
		await ada.command(`#idle${from}`, `/session watch ${ids.slice(from, from + PER_COMMAND).join(' ')}`);
	}
	const cards = () => state.messages.filter((one) => one.user === state.app.botUser && one.ephemeralFor === undefined);
	await slack.changes.until(
		() => cards().length >= watches,
		() => `${cards().length} of ${watches} cards were posted.`,
		300_000,
	);
}

const median = (costs: readonly Cost[], key: keyof Cost) =>
	quantile(
		costs.map((cost) => cost[key]),
		0.5,
	);

const postgres = await startPostgres();
try {
	await using now = await copySource();
	await using former = formerCommit === null ? null : await copySource({ commit: formerCommit });
	const programs = [
		...(former === null ? [] : [{ name: formerCommit ?? '', entry: former.entry }]),
		{ name: 'working tree', entry: now.entry },
	];
	console.log(
		`Nothing happens for ${minutes} min; medians of ${rounds} rounds in turn; ${availableParallelism()} × ${cpus()[0]?.model}, Node ${process.version}\n`,
	);
	console.log('| database | watches | program | queries a second | processor time a minute |\n|---|---|---|---|---|');
	for (const server of [null, postgres]) {
		for (const watches of sizes) {
			const costs = programs.map((): Cost[] => []);
			for (let round = 0; round < rounds; round += 1) {
				for (const [index, { entry }] of programs.entries()) {
					costs[index]?.push(await measure(entry, watches, server));
				}
			}
			for (const [index, { name }] of programs.entries()) {
				const own = costs[index] ?? [];
				const [queries, ran] = [median(own, 'queriesPerSecond'), median(own, 'cpuMsPerMinute')];
				const database = server === null ? 'SQLite' : 'PostgreSQL';
				console.log(`| ${database} | ${watches} | ${name} | ${queries.toFixed(1)} | ${ran.toFixed(0)} ms |`);
			}
		}
	}
} finally {
	await postgres.close();
}
