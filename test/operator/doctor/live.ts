import { createManualClock, type ManualClock, type Posted } from '../../../fake-slack/index.ts';
import { type Env, type Harness, nobody, omit, type Report } from './harness.ts';

interface Operation {
	readonly transport?: 'socket' | 'http';
	readonly env?: Env;
	readonly clock?: ManualClock;
	readonly channel?: string;
	/** What the operator does when told to. */
	readonly by?: (harness: Harness) => Promise<unknown>;
	readonly signal?: AbortSignal;
}

/** Runs `doctor live` while somebody does as it says. Times out on the manual clock where nothing else happens. */
export async function operate(harness: Harness, operation: Operation = {}): Promise<Report> {
	const { transport = 'socket', env = {}, clock = createManualClock(), channel = '#agents', by = obedient } = operation;
	const { slack, secrets } = harness;
	const told = Promise.withResolvers<void>();
	const port = new URL(await nobody()).port;
	const http: Env = { SLACK_APP_TOKEN: '', SLACK_SIGNING_SECRET: secrets.signingSecret, PORT: port };
	if (transport === 'http') slack.setRequestUrl(`http://127.0.0.1:${port}/slack/events`);
	const report = harness.doctor({ ...(transport === 'http' ? http : {}), ...env }, ['live', channel], {
		clock,
		...(operation.signal === undefined ? {} : { signal: operation.signal }),
		onLine: (line) => line.startsWith('Now you') && told.resolve(),
	});
	// When the operator is done, only time can end a wait.
	const acting = told.promise.then(() => by(harness));
	let isDone = false;
	const ended = report.finally(() => {
		isDone = true;
	});
	await Promise.race([ended, acting]);
	while (!isDone) await clock.advance(10_000);
	return report;
}

/** Does the steps that the command prints, and `press`es as if that had an effect. */
export async function obedient(harness: Harness): Promise<void> {
	await introduce(harness);
	await press(harness, 'Press this');
	await fill(harness);
}

/** Opens the Home tab, types the command and the word. */
export async function introduce(harness: Harness): Promise<void> {
	await openHome(harness);
	await command(harness);
	await mention(harness);
}

export const openHome = async ({ slack }: Harness) => slack.as('ada').openApp('home');

export const command = async ({ slack }: Harness) => slack.as('ada').command('#agents', '/session');

export async function mention({ slack }: Harness): Promise<void> {
	const ada = slack.as('ada');
	await ada.mention('#agents', 'blue', { thread: await ada.waitForMessage('#agents', hasButton('Press this')) });
}

export async function press({ slack }: Harness, label: string): Promise<void> {
	await (await slack.as('ada').waitForMessage('#agents', hasButton(label))).press(label);
}

const hasButton = (label: string) => (post: Posted) => post.buttons().includes(label);

/** Types into the window and sends it. */
export async function fill({ slack }: Harness): Promise<void> {
	const ada = slack.as('ada');
	await (await ada.waitForModal('Type blue')).fill('Word', 'blue');
	await (await ada.waitForModal('Press Send')).submit();
}

export function verdicts(lines: readonly string[]) {
	return {
		asAssumed: lines.filter((line) => line.endsWith(': as assumed.')),
		different: lines.filter((line) => line.startsWith('✗')),
		notTried: lines.filter((line) => line.startsWith('-')),
	};
}

interface Planted {
	readonly what: string;
	readonly plant?: (harness: Harness) => unknown;
	readonly env?: (harness: Harness) => Promise<Env>;
	readonly by?: (harness: Harness) => Promise<unknown>;
	/** The lines with `✗`, all of them. */
	readonly shows: readonly RegExp[];
}

/** Calls `change` after each call of this method, or use of a response_url, took effect. */
function after({ slack }: Harness, name: string, change: () => void): void {
	let seen = 0;
	slack.changes.listen(() => {
		const done = slack.traffic.all().filter((entry) => entry.name === name && entry.doneAt !== null).length;
		if (done === seen) return;
		seen = done;
		change();
	});
}

const replaced = ({ slack }: Harness) => slack.state.messages.filter(({ text }) => text === 'Replaced.');
const hasBlock = (type: string) => (args: Readonly<Record<string, unknown>>) =>
	JSON.stringify(args).includes(`"type":"${type}"`);
const hasBorder = (args: Readonly<Record<string, unknown>>) => JSON.stringify(args).includes('"border":1');
const isLong = ({ text }: Readonly<Record<string, unknown>>) => text === 'A long message.';

/** Ways in which Slack could differ from what the program assumes. */
export const PLANTED: readonly Planted[] = [
	{
		what: 'replace_original drops the metadata',
		plant: (harness) =>
			after(harness, 'response_url', () => {
				for (const message of replaced(harness)) delete message.metadata;
			}),
		shows: [/^✗ replace_original keeps .*: different \(metadata\.event_payload\.key is missing\)\.$/],
	},
	{
		what: 'replace_original takes the message out of its thread',
		plant: (harness) =>
			after(harness, 'response_url', () => {
				for (const message of replaced(harness)) delete message.threadTs;
			}),
		shows: [/^✗ replace_original keeps .*: different \(thread_ts is missing\)\.$/],
	},
	{
		what: 'a button on a reply that is shown in the channel does nothing',
		by: async (harness) => {
			await introduce(harness);
			await press(harness, 'No window');
			await fill(harness);
		},
		shows: [/^✗ A button works on a reply .*: different \(actions\.0\.value is No window\)\.$/],
	},
	{
		what: 'a press carries no metadata',
		by: async (harness) => {
			await introduce(harness);
			for (const message of harness.slack.state.messages) delete message.metadata;
			await press(harness, 'Press this');
			await fill(harness);
		},
		shows: [
			/^✗ A press carries the metadata .*: different \(message\.metadata\.event_payload\.key is missing\)\.$/,
			/^✗ replace_original keeps .*: different \(metadata\.event_payload\.key is missing\)\.$/,
		],
	},
	{
		what: 'the update of a closed window succeeds',
		plant: ({ slack }) =>
			slack.faults.add({
				method: 'views.update',
				when: (args) => JSON.stringify(args).includes('Closed.'),
				answer: {},
			}),
		shows: [/^✗ An update of a closed window is refused: different \(Slack accepts it\)\.$/],
	},
	{
		what: 'an old hash is accepted',
		plant: ({ slack }) =>
			slack.faults.add({
				method: 'views.update',
				when: (args) => JSON.stringify(args).includes('Too late.'),
				answer: {},
			}),
		shows: [/^✗ A window opens, and refuses an update with an old hash: different \(Slack accepts it\)\.$/],
	},
	{
		what: 'an update of a window replaces what was typed',
		plant: (harness) =>
			after(harness, 'views.update', () => {
				for (const { input } of Object.values(harness.slack.state.views)) {
					if (input.values.word?.typing !== undefined) input.values.word.typing.value = 'red';
				}
			}),
		shows: [/^✗ An update of a window keeps what was typed: different \(Send came without what was typed\)\.$/],
	},
	{
		what: 'messages take no tables',
		plant: ({ slack }) => slack.faults.add({ method: 'chat.update', when: hasBlock('table'), error: 'invalid_blocks' }),
		shows: [/^✗ A message takes table blocks: different \(invalid_blocks: it does not say why\)\.$/],
	},
	{
		what: 'windows take markdown',
		plant: ({ slack }) => slack.faults.add({ method: 'views.update', when: hasBlock('markdown'), answer: {} }),
		shows: [/^✗ A window refuses markdown blocks: different \(Slack accepts it\)\.$/],
	},
	{
		what: 'windows take no borders',
		plant: ({ slack }) =>
			slack.faults.add({ method: 'views.update', when: hasBorder, times: 1, error: 'invalid_arguments' }),
		shows: [/^✗ A window takes quotes, code, .*: different \(invalid_arguments: it does not say why\)\.$/],
	},
	{
		what: 'messages take less rich text',
		plant: ({ slack }) => slack.faults.add({ method: 'chat.postMessage', when: isLong, error: 'msg_blocks_too_long' }),
		shows: ['one script', 'another'].map(
			(which) =>
				new RegExp(
					`^✗ A message takes rich text whose JSON is 11,999 .*, in ${which}: different \\(msg_blocks_too_long:`,
				),
		),
	},
	{
		what: 'a later message has a lower ts',
		plant: (harness) => {
			harness.slack.state.lastTs = '9000000000.000000';
			after(harness, 'chat.postMessage', () => {
				harness.slack.state.lastTs = '0';
			});
		},
		shows: [/^✗ A later message has a higher ts: different \(order is 9000000000\.\d+, \d+\.\d+\)\.$/],
	},
	{
		what: 'a mention brings no event',
		plant: ({ slack }) => {
			slack.settings.events = slack.settings.events.filter((event) => event !== 'app_mention');
		},
		shows: [
			/^✗ The event app_mention carries .*: different \(none came within 10 s, and the reply is in the thread\)\.$/,
		],
	},
	{
		what: 'the manifest in Slack has another command',
		plant: ({ slack }) => {
			slack.settings.commands = [{ command: '/other', escaped: false }];
		},
		by: async (harness) => {
			await harness.slack.as('ada').command('#agents', '/other');
			await obedient(harness);
		},
		shows: [/^✗ The command \/session comes to this app: different \(command is \/other\)\.$/],
	},
	{
		what: 'an event names no channel',
		plant: ({ slack }) => {
			slack.settings.events = slack.settings.events.filter((event) => event !== 'app_mention');
		},
		by: async (harness) => {
			const event = { type: 'app_mention', user: 'U0ADA', text: 'blue', ts: '1.000001', thread_ts: '1.000000' };
			const payload = { type: 'event_callback', team_id: 'T0ACME', event_id: 'Ev1', event };
			await harness.slack.deliver({ kind: 'events_api', name: 'app_mention', payload, acceptsPayload: false });
			await obedient(harness);
		},
		shows: [/^✗ The event app_mention carries .*: different \(event\.channel is missing\)\.$/],
	},
	{
		what: 'messages cannot be deleted',
		plant: ({ slack }) => slack.faults.add({ method: 'chat.delete', error: 'cant_delete_message' }),
		shows: Array.from(
			{ length: 4 },
			() => /^✗ Clean-up: delete the message \d+\.\d+ of the app in the channel yourself \(cant_delete_message\)\.$/,
		),
	},
	{
		what: 'a limited call does not say when to try again',
		env: (harness) => {
			harness.slack.faults.rateLimit('views.publish', { times: 1 });
			return harness.slackBehind({ headers: (headers) => omit(headers, 'retry-after') });
		},
		shows: [/^✗ A limited call says when to try again: different \(Retry-After is missing\)\.$/],
	},
	{
		what: 'the response_url does not answer',
		plant: ({ slack }) => slack.faults.add({ method: 'response_url', status: 500 }),
		shows: [/^✗ replace_original keeps .*: different \(/],
	},
];
