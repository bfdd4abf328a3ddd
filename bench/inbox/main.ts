import { mkdtemp, rm } from 'node:fs/promises';
import { availableParallelism, cpus, loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { createFakeSlack, type FakeSlack } from '../../fake-slack/index.ts';
import { connectionEnv } from '../../sandbox/connection-env.ts';
import { createFakeSessionService } from '../../sandbox/session-service/fake-session-service.ts';
import { NO_LIMITS_ENV } from '../../test/support/no-limits.ts';
import { count, readOptions } from '../../test/support/options.ts';
import { startPostgres } from '../../test/support/postgres.ts';
import { type AppProcess, startAppProcess } from '../figures/app-process.ts';
import { preciseClock } from '../figures/precise-clock.ts';
import { ms, quantile } from '../figures/stats.ts';
import { ENCRYPTION_KEY, OPEN_CHANNELS, PEOPLE, QUESTIONS, storeQuestions, workspace } from './fill.ts';

const { opens } = readOptions('npm run bench -- inbox', {
	opens: count(60, 'people who open it', { least: 1, most: PEOPLE }),
});

const GOAL_MS = 300;
/** The program fills about 60 inboxes a minute; a faster pace would measure Slack's rate. */
const EVERY_MS = 1_100;
const MAIN = fileURLToPath(new URL('../../src/main.ts', import.meta.url));
const BARE_APP = fileURLToPath(new URL('../figures/bare-app.ts', import.meta.url));

interface Subject {
	readonly name: string;
	readonly slack: FakeSlack;
	readonly process: AppProcess;
	/** By kind of opening: ms from the event to the call that shows the Home tab, without Slack's own time. */
	readonly took: { first: number[]; again: number[] };
}

async function start(name: string, entry: string, env: Readonly<Record<string, string>>, slack: FakeSlack) {
	const process = await startAppProcess({
		entry,
		logDirectory: directory,
		env: { ...env, SLACK_BOT_TOKEN: slack.tokens.bot, SLACK_APP_TOKEN: slack.tokens.app, SLACK_API_URL: slack.apiUrl },
	});
	await Promise.race([slack.connected(1), process.endedEarly]);
	return { name, slack, process, took: { first: [], again: [] } } satisfies Subject;
}

/** Somebody opens the Home tab. Resolves to the milliseconds beyond Slack's own time. */
async function openHome({ slack }: Subject, person: string): Promise<number> {
	const from = slack.traffic.all().at(-1)?.seq ?? 0;
	const { user } = slack.as(person);
	const since = () => slack.traffic.all().filter((entry) => entry.seq > from);
	const shown = () =>
		since().find(({ name, request }) => name === 'views.publish' && (request as { user_id?: string }).user_id === user);
	await slack.as(person).openApp('home');
	const publish = await slack.changes.until(
		() => (shown()?.doneAt == null ? undefined : shown()),
		() => `${person} got no Home tab.`,
		30_000,
	);
	const opened = since().find(({ name }) => name === 'app_home_opened');
	if (opened === undefined) throw new Error('Slack did not tell that the Home tab was opened.');
	const ofSlack = since()
		.filter(
			({ direction, at, doneAt }) => direction === 'call' && doneAt !== null && at >= opened.at && doneAt <= publish.at,
		)
		.map(({ at, doneAt }) => [at, doneAt ?? at] as const);
	return publish.at - opened.at - covered(ofSlack);
}

/** Milliseconds in which at least one of the spans runs. */
function covered(spans: readonly (readonly [from: number, to: number])[]): number {
	let until = Number.NEGATIVE_INFINITY;
	let total = 0;
	for (const [from, to] of [...spans].sort(([one], [other]) => one - other)) {
		total += Math.max(0, to - Math.max(from, until));
		until = Math.max(until, to);
	}
	return total;
}

const directory = await mkdtemp(join(tmpdir(), 'handraise-bench-inbox-'));
const service = createFakeSessionService({ rateLimit: false, startOnRead: false, scenarios: [] });
await service.start();
const postgres = await startPostgres();
const subjects: Subject[] = [];
try {
	const newSlack = () =>
		createFakeSlack({ clock: preciseClock, waitMs: 30_000, trafficLimit: 20_000, workspace: workspace() });
	const databaseUrl = await postgres.createDatabase();
	for (const [name, env] of [
		['SQLite', { DATA_DIR: join(directory, 'data') }],
		['PostgreSQL', { DATABASE_URL: databaseUrl }],
	] as const) {
		const slack = await newSlack();
		const stored = { databaseUrl: 'DATABASE_URL' in env ? env.DATABASE_URL : null, dataDir: join(directory, 'data') };
		await storeQuestions({ ...stored, service, people: opens });
		const connection = { ...connectionEnv({ slack, service, transport: 'socket' }), ...NO_LIMITS_ENV };
		subjects.push(await start(name, MAIN, { ...connection, ...env, ENCRYPTION_KEY }, slack));
	}
	subjects.push(await start('bare app', BARE_APP, {}, await newSlack()));
	const first = subjects[0]?.slack;
	console.log(`${QUESTIONS} open questions; ${opens} people open their Home tab twice, one after another …`);
	for (let person = 0; person < opens; person++) {
		const order = person % 2 === 0 ? subjects : subjects.toReversed();
		for (const kind of ['first', 'again'] as const) {
			for (const subject of order) subject.took[kind].push(await openHome(subject, `person${person}`));
			await pause(EVERY_MS);
		}
	}
	const home = first?.as('person0').home()?.text() ?? '';
	const waiting = /(\d+) questions for you/.exec(home)?.[1];
	const expected = (QUESTIONS * OPEN_CHANNELS.theirs) / OPEN_CHANNELS.all;
	if (Number(waiting) !== expected) throw new Error(`${waiting} questions are shown, not ${expected}`);

	console.log(
		`${cpus()[0]?.model}, ${availableParallelism()} cores, load ${loadavg()
			.map((one) => one.toFixed(1))
			.join(' ')}`,
	);
	console.log(
		`${expected} of the ${QUESTIONS} questions are shown. From the event to views.publish, without Slack's time, p50 / p95:`,
	);
	for (const { name, took } of subjects) {
		const of = (kind: keyof typeof took) => `${ms(quantile(took[kind], 0.5))} / ${ms(quantile(took[kind], 0.95))} ms`;
		console.log(`  ${name}: first ${of('first')}, again ${of('again')}`);
	}
	const worst = Math.max(
		...subjects
			.filter(({ name }) => name !== 'bare app')
			.flatMap(({ took }) => [quantile(took.first, 0.95), quantile(took.again, 0.95)]),
	);
	console.log(`goal p95 ≤ ${GOAL_MS} ms: ${worst <= GOAL_MS ? 'met' : 'NOT met'}`);
} finally {
	await Promise.all(subjects.map(({ process }) => process.stop()));
	await Promise.all(subjects.map(({ slack }) => slack.close()));
	await service.stop();
	await postgres.close();
	await rm(directory, { recursive: true, force: true });
}
