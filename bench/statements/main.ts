import { randomBytes } from 'node:crypto';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { asking, item } from '../../fake-session-service/builders.ts';
import { createFakeSessionService } from '../../fake-session-service/fake-session-service.ts';
import { createFakeSlack, type FakeSlack } from '../../fake-slack/index.ts';
import { connectionEnv } from '../../sandbox/connection-env.ts';
import { NO_LIMITS_ENV } from '../../test/support/no-limits.ts';
import { amount, count, flag, readOptions, text } from '../../test/support/options.ts';
import { startPostgres } from '../../test/support/postgres.ts';
import { startAppProcess } from '../figures/app-process.ts';
import { median } from '../figures/stats.ts';
import { copyPrograms } from '../programs.ts';

/*
 * What the program asks PostgreSQL, counted in the server's own log (`log_statement=all`): while nothing happens, and
 * from an act of a person until Slack shows that the answer has arrived, less what nothing would have cost meanwhile.
 */

const { minutes, rounds, former, list } = readOptions('npm run bench -- statements', {
	minutes: amount(1, 'of each measurement while nothing happens'),
	rounds: count(5, 'acts of each kind', { least: 1 }),
	former: text(null, 'measures the program of this commit beside it'),
	list: flag('prints each statement of the last act of each kind'),
});

const SETTLE_MS = 8_000;
const QUESTION = item('Send the report?', 'One of: Yes, No');
const ARRIVED = /delivered|continued/i;
/** How many it is; BEGIN, COMMIT, ROLLBACK and SET are in none of both. */
interface Count {
	readonly statements: number;
	readonly transactions: number;
}

interface Cost extends Count {
	readonly shown: readonly string[];
}

const logDirectory = await mkdtemp(join(tmpdir(), 'handraise-statements-'));
const logFile = join(logDirectory, 'log');
await writeFile(logFile, '');
const postgres = await startPostgres({ log: logFile });

const lengthOf = async () => (await readFile(logFile)).length;

/** The statements in the log behind this place. */
async function since(place: number): Promise<readonly string[]> {
	const added = (await readFile(logFile)).subarray(place).toString('utf8');
	return Array.from(added.matchAll(/ LOG: {2}(?:statement|execute [^:]*): (.*(?:\n\t.*)*)/g), ([, one = '']) =>
		one.replaceAll(/\s+/g, ' ').trim(),
	);
}

const BEGIN = /^(?:begin|start transaction)/i;
const isFrame = (statement: string) => BEGIN.test(statement) || /^(?:commit|rollback|set )/i.test(statement);

function counted(statements: readonly string[]): Count {
	const begun = statements.filter((one) => BEGIN.test(one)).length;
	return { statements: statements.filter((one) => !isFrame(one)).length, transactions: begun };
}

function print(what: string, statements: readonly string[] = []): void {
	console.log(`\n${what}:\n${statements.map((one) => one.slice(0, 300)).join('\n')}\n`);
}

async function measure(entry: string) {
	await using stack = new AsyncDisposableStack();
	const directory = await mkdtemp(join(tmpdir(), 'handraise-statements-'));
	stack.defer(() => rm(directory, { recursive: true, force: true }));
	const service = createFakeSessionService({ scenarios: [], startOnRead: false, rateLimit: false });
	await service.start();
	stack.defer(() => service.stop());
	const slack = await createFakeSlack();
	stack.defer(() => slack.close());
	const program = await startAppProcess({
		entry,
		logDirectory: directory,
		env: {
			...connectionEnv({ slack, service }),
			DATABASE_URL: await postgres.createDatabase(),
			ENCRYPTION_KEY: randomBytes(32).toString('base64'),
			UNDO_SECONDS: '0',
			...NO_LIMITS_ENV,
		},
	});
	stack.defer(() => program.stop());
	await Promise.race([slack.connected(1), program.endedEarly]);

	async function idle(): Promise<number> {
		await pause(SETTLE_MS);
		const place = await lengthOf();
		await pause(minutes * 60_000);
		const asked = await since(place);
		if (list) print('idle', asked);
		return counted(asked).statements / (minutes * 60);
	}

	const nothing = await idle();
	const id = 'statements';
	service.sessions.put(id, { name: 'Report', status: 'active', messages: [{ role: 'user', content: 'Begin.' }] });
	const ask = () => {
		service.sessions.push(id, asking('I need a word.', [QUESTION]));
		service.sessions.setStatus(id, 'humanInput');
	};
	const goOn = () => {
		service.sessions.setStatus(id, 'active');
		service.sessions.push(id, { role: 'assistant', content: 'Thank you.' });
	};
	const ada = slack.as('ada');
	await ada.command('#agents', `/session watch ${id}`);

	/** The newest post of a question, once it takes answers. */
	const posted = () => until(slack, () => ada.messages('#agents').findLast((post) => post.buttons().includes('Yes')));

	ask();
	await posted();
	const watched = await idle();

	/** What an act costs until `isDone`. */
	async function cost(act: () => Promise<unknown>, isDone: () => boolean): Promise<Cost> {
		await pause(SETTLE_MS);
		const place = await lengthOf();
		const begunAt = performance.now();
		await act();
		await until(slack, isDone);
		const seconds = (performance.now() - begunAt) / 1_000;
		const shown = await since(place);
		const { statements, transactions } = counted(shown);
		return { statements: Math.max(0, statements - watched * seconds), transactions, shown };
	}

	const presses: Cost[] = [];
	const forms: Cost[] = [];
	for (let round = 0; round < rounds; round += 1) {
		const post = await posted();
		const isPressed = () => ARRIVED.test(post.text());
		presses.push(await cost(() => post.press('Yes'), isPressed));
		goOn();
		await pause(SETTLE_MS);
		ask();
		await posted();
		await ada.command('#agents', `/session ${id}`);
		const modal = await until(slack, () => {
			const found = ada.modal();
			return found?.text().includes('Send the report?') ? found : undefined;
		});
		await modal.choose(0, 'Yes');
		const isSubmitted = () => ARRIVED.test(ada.modal()?.text() ?? '');
		forms.push(await cost(() => modal.submit(), isSubmitted));
		await ada.modal()?.close(true);
		goOn();
		await pause(SETTLE_MS);
		ask();
	}
	return { nothing, watched, presses, forms };
}

const until = <T>(slack: FakeSlack, look: () => T) =>
	slack.changes.until(look, () => 'Slack does not show it.', 60_000);
const medianOf = (counts: readonly Count[], key: keyof Count) => median(counts.map((one) => one[key])).toFixed(0);

try {
	await using copies = await copyPrograms(former);
	console.log(
		'| program | a second, no watch | a second, one watched open question | a press until "delivered": statements, transactions | a submission until its receipt |\n|---|---|---|---|---|',
	);
	for (const { name, entry } of copies.programs) {
		const { nothing, watched, presses, forms } = await measure(entry);
		const acts = [presses, forms].map((own) => `${medianOf(own, 'statements')}, ${medianOf(own, 'transactions')}`);
		console.log(`| ${name} | ${nothing.toFixed(1)} | ${watched.toFixed(1)} | ${acts.join(' | ')} |`);
		if (!list) continue;
		print('a press', presses.at(-1)?.shown);
		print('a form', forms.at(-1)?.shown);
	}
} finally {
	await postgres.close();
	await rm(logDirectory, { recursive: true, force: true });
}
