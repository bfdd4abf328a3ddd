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
	await ada.mention('#agents', 'blue 🙂', { thread: await ada.waitForMessage('#agents', hasButton('Press this')) });
}

export async function press({ slack }: Harness, label: string): Promise<void> {
	await (await slack.as('ada').waitForMessage('#agents', hasButton(label))).press(label);
}

const hasButton = (label: string) => (post: Posted) => post.buttons().includes(label);

/** Types into the window and sends it. */
export async function fill({ slack }: Harness): Promise<void> {
	const ada = slack.as('ada');
	await (await ada.waitForModal('Type blue')).fill('Word', 'blue & 🙂');
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
const isLong = ({ text }: Readonly<Record<string, unknown>>) => text === 'A long message.';

/** Slack does this with a call. */
const doing = (fault: Parameters<Harness['slack']['faults']['add']>[0], ...shows: RegExp[]): Planted => ({
	plant: ({ slack }) => slack.faults.add(fault),
	shows,
});
/** The message that was replaced loses this. */
const losing = (field: 'metadata' | 'threadTs', missing: string): Planted => ({
	plant: (harness) =>
		after(harness, 'response_url', () => {
			for (const message of replaced(harness)) delete message[field];
		}),
	shows: [new RegExp(`^✗ replace_original keeps .*: different \\(${missing} is missing\\)\\.$`)],
});
const says = (words: string) => (args: Readonly<Record<string, unknown>>) => JSON.stringify(args).includes(words);

/** Ways in which Slack could differ from what the program assumes. */
export const PLANTED: Readonly<Record<string, Planted>> = {
	'replace_original drops the metadata': losing('metadata', 'metadata\\.event_payload\\.key'),
	'replace_original takes the message out of its thread': losing('threadTs', 'thread_ts'),
	'a button on a reply that is shown in the channel does nothing': {
		by: async (harness) => {
			await introduce(harness);
			await press(harness, 'No window');
			await fill(harness);
		},
		shows: [/^✗ A button works on a reply .*: different \(actions\.0\.value is No window\)\.$/],
	},
	'a press carries no metadata': {
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
	'the update of a closed window succeeds': doing(
		{ method: 'views.update', when: says('Closed.'), answer: {} },
		/^✗ An update of a closed window is refused: different \(Slack accepts it\)\.$/,
	),
	'an old hash is accepted': doing(
		{ method: 'views.update', when: says('Too late.'), answer: {} },
		/^✗ A window opens, and refuses an update with an old hash: different \(Slack accepts it\)\.$/,
	),
	'an update of a window replaces what was typed': {
		plant: (harness) =>
			after(harness, 'views.update', () => {
				for (const { input } of Object.values(harness.slack.state.views)) {
					if (input.values.word?.typing !== undefined) input.values.word.typing.value = 'red';
				}
			}),
		shows: [/^✗ An update of a window keeps what was typed: different \(Send came without what was typed\)\.$/],
	},
	'what is typed comes back escaped': {
		plant: (harness) =>
			after(harness, 'views.update', () => {
				for (const { input } of Object.values(harness.slack.state.views)) {
					if (typeof input.values.word?.typing?.value === 'string')
						input.values.word.typing.value = input.values.word.typing.value.replace(/&(?!amp;)/, '&amp;');
				}
			}),
		shows: [
			/^✗ An update of a window keeps what was typed: different \(Send came without what was typed\)\.$/,
			/^✗ What is typed into a window .*: different \(& or an emoji comes in another spelling\)\.$/,
		],
	},
	'what a window shows comes back in another spelling': {
		plant: (harness) =>
			after(harness, 'views.update', () => {
				for (const { payload } of Object.values(harness.slack.state.views)) {
					const [first] = payload.blocks as { text?: { text: string } }[];
					if (first?.text !== undefined) first.text.text = first.text.text.replace('<R&D>', '');
				}
			}),
		shows: [/^✗ What a window shows comes back .*: different \(shown is Press Send\. \)\.$/],
	},
	'a reply has its emoji in the text alone': {
		by: async (harness) => {
			await openHome(harness);
			await command(harness);
			const ada = harness.slack.as('ada');
			const thread = await ada.waitForMessage('#agents', hasButton('Press this'));
			const blocks = [{ type: 'rich_text', elements: [] }];
			await ada.say('#agents', { text: '<@U0BOT> blue :slightly_smiling_face:', blocks }, { thread });
			await press(harness, 'Press this');
			await fill(harness);
		},
		shows: [/^✗ An emoji in a reply comes as an element .*: different \(name is missing\)\.$/],
	},
	'messages take no tables': doing(
		{ method: 'chat.update', when: says('"type":"table"'), error: 'invalid_blocks' },
		/^✗ A message takes table blocks: different \(invalid_blocks: it does not say why\)\.$/,
	),
	'windows take markdown': doing(
		{ method: 'views.update', when: says('"type":"markdown"'), answer: {} },
		/^✗ A window refuses markdown blocks: different \(Slack accepts it\)\.$/,
	),
	'windows take no borders': doing(
		{ method: 'views.update', when: says('"border":1'), times: 1, error: 'invalid_arguments' },
		/^✗ A window takes quotes, code, .*: different \(invalid_arguments: it does not say why\)\.$/,
	),
	'messages take less rich text': doing(
		{ method: 'chat.postMessage', when: isLong, error: 'msg_blocks_too_long' },
		/^✗ A message takes rich text whose JSON is 11,999 .*, in one script: different \(msg_blocks_too_long:/,
		/^✗ A message takes rich text whose JSON is 11,999 .*, in another: different \(msg_blocks_too_long:/,
	),
	'a later message has a lower ts': {
		plant: (harness) => {
			harness.slack.state.lastTs = '9000000000.000000';
			after(harness, 'chat.postMessage', () => {
				harness.slack.state.lastTs = '0';
			});
		},
		shows: [/^✗ A later message has a higher ts: different \(order is 9000000000\.\d+, \d+\.\d+\)\.$/],
	},
	'a mention brings no event': {
		plant: ({ slack }) => {
			slack.settings.events = slack.settings.events.filter((event) => event !== 'app_mention');
		},
		shows: [
			/^✗ The event app_mention carries .*: different \(none came within 10 s, and the reply is in the thread\)\.$/,
		],
	},
	'the manifest in Slack has another command': {
		plant: ({ slack }) => {
			slack.settings.commands = [{ command: '/other', escaped: false }];
		},
		by: async (harness) => {
			await harness.slack.as('ada').command('#agents', '/other');
			await obedient(harness);
		},
		shows: [/^✗ The command \/session comes to this app: different \(command is \/other\)\.$/],
	},
	'an event names no channel': {
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
	'messages cannot be deleted': doing(
		{ method: 'chat.delete', error: 'cant_delete_message' },
		...Array(4).fill(
			/^✗ Clean-up: delete the message \d+\.\d+ of the app in the channel yourself \(cant_delete_message\)\.$/,
		),
	),
	'a limited call does not say when to try again': {
		env: (harness) => {
			harness.slack.faults.rateLimit('views.publish', { times: 1 });
			return harness.slackBehind({ headers: (headers) => omit(headers, 'retry-after') });
		},
		shows: [/^✗ A limited call says when to try again: different \(Retry-After is missing\)\.$/],
	},
	'the response_url does not answer': doing(
		{ method: 'response_url', status: 500 },
		/^✗ replace_original keeps .*: different \(/,
	),
};
