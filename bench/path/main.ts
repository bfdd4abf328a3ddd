import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { createFakeSlack, type FakeSlack } from '../../fake-slack/index.ts';
import { createFakeSessionService } from '../../sandbox/session-service/fake-session-service.ts';
import { NO_LIMITS_ENV } from '../../test/support/no-limits.ts';
import { flag, readOptions, text } from '../../test/support/options.ts';
import { freePort } from '../../test/support/postgres.ts';
import { startAppProcess } from '../figures/app-process.ts';
import { copyPrograms } from '../programs.ts';

/*
 * How many functions and files of `src` an act runs through, counted by V8 in the program's own process, without those
 * that run while nothing happens: how much somebody may have to read to follow it.
 */

const { former, list } = readOptions('npm run bench -- path', {
	former: text(null, 'counts the program of this commit beside it'),
	list: flag('prints the functions'),
});

const SETTLE_MS = 6_000;
const QUESTION = [{ title: 'Send the report?', description: 'One of: Yes, No', value: '' }];

interface Counted {
	readonly url: string;
	readonly functions: readonly {
		readonly functionName: string;
		readonly ranges: readonly { readonly startOffset: number; readonly count: number }[];
	}[];
}

/** Counts what a process runs, through its inspector. */
async function connect(port: number) {
	const targets = await fetch(`http://127.0.0.1:${port}/json/list`);
	const [target] = (await targets.json()) as { webSocketDebuggerUrl: string }[];
	const socket = new WebSocket(target?.webSocketDebuggerUrl ?? '');
	await new Promise((resolve, reject) => {
		socket.onopen = resolve;
		socket.onerror = reject;
	});
	const waiting = new Map<number, (result: unknown) => void>();
	socket.onmessage = ({ data }) => {
		const { id, result } = JSON.parse(String(data)) as { id: number; result: unknown };
		waiting.get(id)?.(result);
	};
	let calls = 0;
	const call = (method: string, params: object = {}) =>
		new Promise<unknown>((resolve) => {
			waiting.set(++calls, resolve);
			socket.send(JSON.stringify({ id: calls, method, params }));
		});
	await call('Profiler.enable');
	await call('Profiler.startPreciseCoverage', { callCount: true, detailed: false });
	return {
		/** The functions that ran since the last call, as `file:name:offset`. */
		async take(): Promise<ReadonlySet<string>> {
			const { result } = (await call('Profiler.takePreciseCoverage')) as { result: readonly Counted[] };
			const own = result.filter(({ url }) => /\/src\/[^?]*\.ts/.test(url));
			const ran = own.flatMap(({ url, functions }) =>
				functions.flatMap(({ functionName, ranges: [range] }) =>
					range === undefined || range.count === 0 || functionName === ''
						? []
						: [`${url.replace(/^.*\/src\//, '')}:${functionName}:${range.startOffset}`],
				),
			);
			return new Set(ran);
		},
		close: () => socket.close(),
	};
}

async function measure(entry: string) {
	await using stack = new AsyncDisposableStack();
	const directory = await mkdtemp(join(tmpdir(), 'handraise-path-'));
	stack.defer(() => rm(directory, { recursive: true, force: true }));
	const service = createFakeSessionService({ scenarios: [], startOnRead: false, rateLimit: false });
	await service.start();
	stack.defer(() => service.stop());
	const slack = await createFakeSlack();
	stack.defer(() => slack.close());
	const port = await freePort();
	const program = await startAppProcess({
		entry,
		logDirectory: directory,
		flags: [`--inspect=127.0.0.1:${port}`],
		env: {
			SLACK_BOT_TOKEN: slack.tokens.bot,
			SLACK_APP_TOKEN: slack.tokens.app,
			SLACK_API_URL: slack.apiUrl,
			SESSION_SERVICE_URL: service.url,
			SESSION_SERVICE_API_KEY: service.apiKey,
			DATA_DIR: directory,
			ENCRYPTION_KEY: randomBytes(32).toString('base64'),
			UNDO_SECONDS: '0',
			...NO_LIMITS_ENV,
		},
	});
	stack.defer(() => program.stop());
	await Promise.race([slack.connected(1), program.endedEarly]);
	const inspector = await connect(port);
	stack.defer(() => inspector.close());
	const id = 'path';
	service.sessions.put(id, { name: 'Report', status: 'active', messages: [{ role: 'user', content: 'Begin.' }] });
	const ask = () => {
		service.sessions.push(id, { role: 'assistant', content: 'I need a word.', human_input: QUESTION });
		service.sessions.setStatus(id, 'humanInput');
	};
	const ada = slack.as('ada');
	const posted = () =>
		until(slack, () => ada.messages('#agents').findLast((post) => post.buttons().some((label) => label === 'Yes')));
	await ada.command('#agents', `/session watch ${id}`);
	await pause(SETTLE_MS);
	await inspector.take();
	await pause(SETTLE_MS);
	const idle = await inspector.take();
	const acts: { what: string; ran: ReadonlySet<string> }[] = [];
	const took = async (what: string) => acts.push({ what, ran: without(await inspector.take(), idle) });
	ask();
	const post = await posted();
	await took("a read until the question's post");
	await pause(SETTLE_MS);
	await inspector.take();
	await post.press('Yes');
	await took('a press until its acknowledgement');
	await until(slack, () => service.log.puts(id).length > 0);
	const rest = without(await inspector.take(), idle);
	acts.push({ what: 'a press until the PUT', ran: new Set([...(acts.at(-1)?.ran ?? []), ...rest]) });
	return acts;
}

const until = <T>(slack: FakeSlack, look: () => T) => slack.changes.until(look, () => 'It does not come.', 60_000);
const without = (ran: ReadonlySet<string>, idle: ReadonlySet<string>) =>
	new Set(Array.from(ran).filter((one) => !idle.has(one)));
const filesOf = (ran: ReadonlySet<string>) => new Set(Array.from(ran, (one) => one.split(':')[0])).size;

await using copies = await copyPrograms(former);
console.log('| program | act | functions | files |\n|---|---|---|---|');
for (const { name, entry } of copies.programs) {
	for (const { what, ran } of await measure(entry)) {
		console.log(`| ${name} | ${what} | ${ran.size} | ${filesOf(ran)} |`);
		if (list) console.log(Array.from(ran).toSorted().join('\n'));
	}
}
