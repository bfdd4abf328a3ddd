import { EventEmitter, once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { parseConfig, readSettings } from '../../config.ts';
import { startDeadline, within } from '../../kernel/clock.ts';
import { COMMAND } from '../../kernel/command-name.ts';
import { HandraiseError } from '../../kernel/errors.ts';
import { USERS_PAGE } from '../../slack/directory.ts';
import {
	at,
	createSlackCall,
	type Finding,
	findingsOf,
	type Invocation,
	inspect,
	type Json,
	jsonObject,
	notChecked,
	SLACK_WITHIN_MS,
	type SlackCall,
	wordsOf,
} from './check.ts';
import { checkProxy, checkSettings } from './environment.ts';
import { checkBotToken } from './slack.ts';

const CONNECT_MS = 30_000;
/** Of a page of `users.list`. */
const PEOPLE_COMPARED = 5;

/** What somebody does, by the name of what Slack then sends: the words when it came, and when not. */
const STEPS: Readonly<Record<string, readonly [seen: string, undone: string]>> = {
	press: ['press', 'nobody pressed within 5 minutes'],
	typing: ['word', 'nothing was typed before Send, or within 5 minutes'],
	command: ['command', `nobody typed ${COMMAND}, or the manifest in Slack names another command`],
	view_submission: ['Send', 'nobody pressed Send within 5 minutes'],
	app_home_opened: ['Home tab', 'Slack told of no opening of the Home tab'],
	app_mention: ['reply', 'Slack told of no mention in the thread'],
	thread_message: ['reply as a message', 'optional, for THREAD_REPLIES, and Slack sent no message event of the reply'],
	message: ['direct message', 'optional, and nobody wrote a direct message'],
	member_left_channel: ['leaving', 'optional, and nobody left the channel'],
	user_change: ['change', 'optional, and nobody changed their status'],
	member_joined_channel: ['joining', 'optional, and nobody joined the channel'],
};
/** Why requests that Slack signed may be refused. Others come from anybody. */
const BAD_SIGNATURES: readonly unknown[] = ['wrong_signature', 'stale', 'ahead'];

/** What the tries share. `found`: the first reply or request of each name. */
type Live = ReturnType<typeof createLive>;

function createLive(given: string, call: SlackCall, { clock, signal, lines: { log: say } }: Invocation) {
	const news = new EventEmitter();
	const found: Record<string, Json> = {};
	const posted: string[] = [];
	const limits: (string | null)[] = [];
	const undone: string[] = [];
	const refused = new AbortController();
	const over = AbortSignal.any([signal, refused.signal]);
	const whyOver = () => (typeof over.reason === 'string' ? over.reason : 'interrupted');

	/** Resolves to the reply, ok or not; repeats a limited call. Throws `notChecked`. */
	async function slack(method: string, args: Json): Promise<Json> {
		const reply = await call(method, args);
		if (reply.kind !== 'unreachable') return reply.data;
		if (reply.limitedSec === null) throw notChecked(reply.why);
		limits.push(reply.response.kind === 'response' ? reply.response.headers.get('retry-after') : null);
		await clock.sleep(reply.limitedSec * 1_000);
		return slack(method, args);
	}

	async function post(name: string, content: Json): Promise<Json> {
		// Stays when Slack does not answer, because the post may exist.
		const place = posted.push('') - 1;
		const metadata = { event_type: 'handraise_check', event_payload: { key: 'kept' } };
		const reply = await slack('chat.postMessage', { channel: found.root?.channel ?? given, metadata, ...content });
		posted.splice(place, 1, ...(reply.ok === true ? [String(reply.ts)] : []));
		if (reply.ok === true) found[name] = reply;
		return reply;
	}

	function onArrival(body: Json): void {
		// The other tab of the app's home has the same event.
		const tab = at(body, 'event.tab') === 'messages' ? 'messages_tab' : undefined;
		const inThread = at(body, 'event.channel_type') !== 'im' && at(body, 'event.type') === 'message';
		if (inThread && (at(body, 'event.subtype') !== undefined || at(body, 'event.thread_ts') === undefined)) return;
		const name = String(
			tab ??
				(inThread ? 'thread_message' : at(body, 'event.type')) ??
				at(body, 'actions.0.action_id') ??
				(body.command === undefined ? body.type : 'command'),
		);
		const [seen] = STEPS[name] ?? [];
		if (seen !== undefined && found[name] === undefined) say(`  ${seen}: seen`);
		found[name] ??= body;
		// Nobody can type any more.
		if (name === 'view_submission') found.typing ??= {};
		for (const waited of name === 'view_submission' ? ['typing', name] : [name]) news.emit(waited);
		if (BAD_SIGNATURES.includes(body.reason)) refused.abort(`a request was refused: ${body.reason}`);
	}

	/** A text that was found, by its path. Throws `notChecked`. */
	function need(path: string): string {
		if (over.aborted) throw notChecked(whyOver());
		const value = at(found, path);
		if (typeof value === 'string') return value;
		const name = path.split('.')[0] ?? '';
		const why = STEPS[name]?.[1] ?? `no ${name} came`;
		if (!why.startsWith('optional')) undone.push(why);
		throw notChecked(why);
	}

	async function wait(name: string, ms: number): Promise<void> {
		using deadline = startDeadline(clock, ms);
		const ended = AbortSignal.any([deadline.signal, over]);
		if (found[name] === undefined) await once(news, name, { signal: ended }).catch(() => {});
	}

	/** The first request with this name. Throws `notChecked` after `ms`. */
	async function arrival(name: string, ms: number): Promise<Json> {
		await wait(name, ms);
		need(`${name}.type`);
		return found[name] ?? {};
	}

	return { slack, post, onArrival, need, wait, arrival, over, whyOver, undone, found, posted, limits, say };
}

const plain = (text: string) => ({ type: 'plain_text', text });
const section = (text: string) => ({ type: 'section', text: plain(text) });

function messageOf(text: string, label: string) {
	const button = { type: 'button', action_id: 'press', text: plain(label), value: label };
	return { text, blocks: [section(text), { type: 'actions', elements: [button] }] };
}
export const ROOT = messageOf(
	'Handraise checks this Slack. The terminal says how. Delete this if it stays.',
	'No window',
);

function windowOf(...blocks: readonly object[]) {
	const [title, submit, close] = ['Handraise check', 'Send', 'Close'].map(plain);
	return { type: 'modal', callback_id: 'live', title, submit, close, blocks };
}

/** What tries throw when Slack does something else. */
const different = (seen: string) => new HandraiseError(seen, { code: 'different' });

type Assumptions = Readonly<Record<string, (live: Live) => Promise<void>>>;

const PERSON_MS = 300_000;
const ANY = Symbol('any value');
const words = (text: string, style?: object) => ({ type: 'text', text, ...style });
function richText(type: string, ...elements: readonly object[]) {
	return { type: 'rich_text', elements: [{ type: `rich_text_${type}`, elements }] };
}
/** What the screens show in rich text. The person is the app itself, so that nobody is notified. */
function everyElement(user_id: string) {
	const people = [{ type: 'user', user_id }, words(' waits, and\n\n'), words('so on', { style: { bold: true } })];
	const date = { type: 'date', timestamp: 1_767_603_600, format: '{date_short_pretty} {time}', fallback: '5 January' };
	const link = { type: 'link', url: 'https://example.com/', text: 'a link' };
	const code = words('code', { style: { code: true, strike: true } });
	return {
		type: 'rich_text',
		elements: [
			...richText('section', words('Since ', { style: { italic: true } }), date, code, link).elements,
			...richText('quote', ...people, date, link).elements,
			...richText('preformatted', words('a = 1\n  b'), link).elements.map((one) => ({ ...one, border: 1 })),
		],
	};
}

const LONG = 3_000;
/** Slack does not say how much rich text a message takes, and counts more than its text. */
const MOST_JSON = 12_000;

/** Blocks of rich text with this text again and again, whose JSON is just below the most. */
function fullBlocks(text: string): readonly object[] {
	const part = richText('section', words(text));
	const blocks: object[] = [];
	while (JSON.stringify([...blocks, part]).length < MOST_JSON - 200) blocks.push(part);
	const rest = MOST_JSON - 1 - JSON.stringify([...blocks, richText('section', words(''))]).length;
	return [...blocks, richText('section', words('x'.repeat(rest)))];
}

/** By what they show. */
const BLOCKS: Readonly<Record<string, (user: string) => object>> = {
	'markdown blocks': () => ({ type: 'markdown', text: '**bold**' }),
	'rich_text blocks': () => richText('section', words('rich')),
	'quotes, code, links, dates and people in rich text': everyElement,
	[`${LONG.toLocaleString('en')} characters of rich text`]: () => richText('section', words('long '.repeat(LONG / 5))),
	'table blocks': () => ({
		type: 'table',
		rows: [[{ type: 'raw_text', text: 'cell' }]],
		column_settings: [{ is_wrapped: true }],
	}),
};

function formOf(text: string, initial: object) {
	const onTyping = { dispatch_action_config: { trigger_actions_on: ['on_character_entered'] } };
	const element = { type: 'plain_text_input', action_id: 'typing', ...onTyping, ...initial };
	const field = { type: 'input', block_id: 'word', dispatch_action: true, optional: true };
	return windowOf(section(text), { ...field, label: { type: 'plain_text', text: 'Word' }, element });
}

/** Expects these values at their paths. A refusal is told in Slack's words. */
function expectIn(body: Json, expected: Json): void {
	if (body.ok === false && expected.error === undefined)
		throw different(`${body.error}: ${wordsOf(body).replace(/\.$/, '')}`);
	for (const [path, value] of Object.entries(expected)) {
		const seen = at(body, path);
		if (seen === undefined) throw different(path === 'error' ? 'Slack accepts it' : `${path} is missing`);
		if (value !== ANY && seen !== value) throw different(`${path} is ${typeof seen === 'string' ? seen : 'another'}`);
	}
}

const updateWindow = async ({ slack, need }: Live, view: object, hash: object = {}) =>
	slack('views.update', { view_id: need('window.view.id'), view, ...hash });

const replies = async ({ slack, need }: Live) =>
	slack('conversations.replies', { channel: need('root.channel'), ts: need('root.ts'), include_all_metadata: true });

async function expectBack(live: Live, ts: string, expected: Json): Promise<void> {
	const reply = await replies(live);
	if (reply.error === 'missing_scope') throw notChecked(`the optional scope ${reply.needed} is not granted`);
	const kept = { thread_ts: live.need('root.ts'), 'metadata.event_payload.key': 'kept' };
	expectIn(((reply.messages ?? []) as readonly Json[]).find((one) => one.ts === ts) ?? reply, { ...kept, ...expected });
}

/** `refused`: the blocks that this place does not take. */
function blocksIn(place: string, refused: readonly string[], show: (live: Live, block: object) => Promise<Json>) {
	const tries = Object.entries(BLOCKS).map(([what, blockOf]): [string, Assumptions[string]] => {
		const expected = refused.includes(what) ? { error: 'invalid_arguments' } : { ok: true };
		const name = `${place} ${'ok' in expected ? 'takes' : 'refuses'} ${what}`;
		return [name, async (live) => expectIn(await show(live, blockOf(live.need('auth.user_id'))), expected)];
	});
	return Object.fromEntries(tries);
}

/** In one new message. */
function sizeOf(what: string, text: string): Assumptions {
	return {
		[`A message takes rich text whose JSON is ${(MOST_JSON - 1).toLocaleString('en')} characters long, ${what}`]:
			async ({ post, need }) => {
				const place = { text: 'A long message.', thread_ts: need('root.ts') };
				expectIn(await post('long', { ...place, blocks: fullBlocks(text) }), { ok: true });
			},
	};
}

/** `isAsked`: the operator is asked to cause it. */
function event(type: string, isAsked: boolean, ...fields: readonly string[]): Assumptions {
	const paths = ['event_id', 'team_id', ...fields.map((field) => `event.${field}`)];
	return {
		[`The event ${type} carries ${fields.join(', ')}`]: async (live) => {
			const { need, wait, found } = live;
			need('press.type');
			if (isAsked) await wait(type, SLACK_WITHIN_MS);
			const bot = need('auth.user_id');
			if (type === 'app_mention' && found[type] === undefined) {
				const { messages = [] } = await replies(live);
				const isThere = (messages as readonly Json[]).some(({ text }) => String(text).includes(bot));
				if (isThere) throw different('none came within 10 s, and the reply is in the thread');
			}
			need(`${type}.type`);
			expectIn(found[type] ?? {}, Object.fromEntries(paths.map((path) => [path, ANY])));
		},
	};
}

/** What this program assumes of Slack, and how that is tried. Later ones use what earlier ones found. */
const ASSUMPTIONS: Assumptions = {
	'A reply can be shown in the channel and stays in its thread': async ({ post, need }) => {
		const reply = { thread_ts: need('root.ts'), reply_broadcast: true };
		const posted = await post('broadcast', { ...messageOf('Type the word, then press.', 'Press this'), ...reply });
		expectIn(posted, { 'message.thread_ts': reply.thread_ts });
	},
	'A later message has a higher ts': async ({ posted }) =>
		expectIn({ order: posted.join(', ') }, { order: posted.toSorted().join(', ') }),
	...blocksIn('A message', [], async ({ slack, need }, block) =>
		slack('chat.update', { channel: need('root.channel'), ts: need('root.ts'), text: 'A block.', blocks: [block] }),
	),
	...sizeOf('in one script', 'All of this counts. '.repeat(20)),
	...sizeOf('in another', '“Все это” считается: 数 🙂\n'.repeat(15)),
	'chat.update keeps the thread and the metadata': async (live) => {
		const [channel, ts] = [live.need('root.channel'), live.need('root.ts')];
		expectIn(await live.slack('chat.update', { channel, ts, ...ROOT }), { ok: true });
		await expectBack(live, ts, {});
	},
	'A button works on a reply that is shown in the channel': async ({ arrival, need, say }) => {
		const message = { 'message.ts': need('broadcast.ts'), 'message.thread_ts': need('root.ts') };
		say('Now you, in Slack, within 5 minutes:');
		say(`  1. Open the Home tab of the app. Return to the channel, and type ${COMMAND} there.`);
		say(`  2. Reply in their thread: @${need('auth.user')} blue`);
		say('  3. Press "Press this". If no window opens, press "No window" on the message above it.');
		say('  Optional: write the app a direct message. Change your status. Leave a public channel and join it again.');
		say('  4. Type blue into the window, and press Send.');
		const expected = { ...message, 'message.subtype': 'thread_broadcast', trigger_id: ANY, response_url: ANY };
		expectIn(await arrival('press', PERSON_MS), { 'actions.0.value': 'Press this', ...expected });
	},
	'A press carries the metadata of its message': async ({ found, need }) =>
		expectIn({ type: need('press.type'), ...found.press }, { 'message.metadata.event_payload.key': 'kept' }),
	'A window opens, and refuses an update with an old hash': async (live) => {
		const trigger_id = live.need('press.trigger_id');
		const opened = await live.slack('views.open', { trigger_id, view: windowOf(section('One moment.')) });
		expectIn(opened, { ok: true });
		live.found.window = opened;
		const hash = { hash: at(opened, 'view.hash') };
		expectIn(await updateWindow(live, windowOf(section('One more moment.')), hash), { ok: true });
		expectIn(await updateWindow(live, windowOf(section('Too late.')), hash), { error: 'hash_conflict' });
	},
	...blocksIn('A window', ['markdown blocks', 'table blocks'], (live, block) => updateWindow(live, windowOf(block))),
	'An update of a window keeps what was typed': async (live) => {
		expectIn(await updateWindow(live, formOf('Type blue.', {})), { ok: true });
		const typed = at(await live.arrival('typing', PERSON_MS), 'actions.0.value');
		expectIn(await updateWindow(live, formOf('Press Send.', { initial_value: 'red' })), { ok: true });
		const sent = at(await live.arrival('view_submission', PERSON_MS), 'view.state.values.word.typing.value');
		if (!String(sent).startsWith(String(typed))) throw different('Send came without what was typed');
	},
	'replace_original keeps the blocks, the thread and the metadata': async (live) => {
		const response = await fetch(live.need('press.response_url'), {
			method: 'POST',
			headers: { 'content-type': 'application/json' },
			body: JSON.stringify({ ...messageOf('Replaced.', 'Replaced'), replace_original: true }),
			signal: AbortSignal.timeout(SLACK_WITHIN_MS),
		});
		expectIn({ ok: response.ok, ...jsonObject(await response.text()) }, { ok: true });
		await expectBack(live, live.need('press.container.message_ts'), { 'blocks.0.text.text': 'Replaced.' });
	},
	...blocksIn('The Home tab', ['markdown blocks', 'table blocks'], async ({ slack, need, found }, block) => {
		const view = { type: 'home', blocks: [block] };
		found.home = await slack('views.publish', { user_id: need('press.user.id'), view });
		return found.home;
	}),
	[`The command ${COMMAND} comes to this app`]: async ({ wait, need, found }) => {
		need('press.type');
		await wait('command', SLACK_WITHIN_MS);
		need('command.command');
		const fields = { channel_id: ANY, user_id: ANY, text: ANY, trigger_id: ANY, response_url: ANY };
		expectIn(found.command ?? {}, { command: COMMAND, ...fields });
	},
	...event('app_home_opened', true, 'user', 'channel', 'tab'),
	...event('app_mention', true, 'user', 'channel', 'ts', 'thread_ts', 'text'),
	...event('thread_message', false, 'user', 'channel', 'ts', 'thread_ts', 'text', 'channel_type'),
	...event('message', false, 'user', 'channel', 'ts', 'text', 'channel_type'),
	...event('member_joined_channel', false, 'user', 'channel'),
	...event('member_left_channel', false, 'user', 'channel'),
	...event('user_change', false, 'user.id'),
	// Where many type or open their Homes at once, who they are is taken from the list.
	[`users.list gives ${USERS_PAGE} people at once, and tells of them what users.info tells`]: async ({ slack }) => {
		const list = await slack('users.list', { limit: USERS_PAGE });
		expectIn(list, { ok: true });
		const members = (list.members as readonly Json[] | undefined) ?? [];
		const listed = members.filter(({ deleted, is_bot: isBot }) => !deleted && !isBot).slice(0, PEOPLE_COMPARED);
		if (listed.length === 0) throw notChecked('the first page has no people');
		const facts = ['deleted', 'is_bot', 'team_id', 'enterprise_user.teams', 'is_restricted', 'is_ultra_restricted'];
		const told = (person: unknown) => ({ facts: JSON.stringify(facts.map((path) => at(person, path) ?? null)) });
		for (const person of listed) {
			const { user } = await slack('users.info', { user: String(person.id) });
			expectIn(told(person), told(user));
		}
	},
	'An update of a closed window is refused': async (live) => {
		live.need('view_submission.type');
		expectIn(await updateWindow(live, windowOf(section('Closed.'))), { error: 'not_found' });
	},
	'A limited call says when to try again': async ({ limits }) => {
		if (limits.length === 0) throw notChecked('no call was limited, and none is provoked');
		if (limits.includes(null)) throw different('Retry-After is missing');
	},
};

async function tryStep(check: string, holds: () => Promise<void>): Promise<Finding> {
	try {
		await holds();
		return { verdict: 'ok', check, text: 'as assumed.' };
	} catch (error) {
		// Messages of other errors may hold secrets.
		const { code, message } = error instanceof HandraiseError ? error : new HandraiseError('the check itself failed');
		if (code === 'not_checked') return { verdict: 'skipped', check, text: `not tried (${message}).` };
		return { verdict: 'failure', check, text: `different (${message}).` };
	}
}

async function cleanUp({ slack, found, posted }: Live): Promise<readonly Finding[]> {
	const { failure, okIfNone } = findingsOf('Clean-up');
	async function attempt(method: string, args: Json): Promise<string | null> {
		const reply = await slack(method, args).catch((error: Error) => ({ ok: false, error: error.message }));
		return reply.ok === true ? null : String(reply.error);
	}
	if (found.window !== undefined && found.view_submission === undefined) {
		const view = windowOf(section('Close this window.'));
		await attempt('views.update', { view_id: at(found, 'window.view.id'), view });
	}
	for (const ts of posted.toReversed()) {
		const channel = found.root?.channel;
		const why = ts === '' ? 'no answer, if it is there' : await attempt('chat.delete', { channel, ts });
		if (why !== null && why !== 'message_not_found')
			failure(`delete the message ${ts} of the app in the channel yourself (${why}).`);
	}
	if (found.home !== undefined) {
		const view = { type: 'home', blocks: [section('This tab fills when you open it while Handraise runs.')] };
		const why = await attempt('views.publish', { user_id: at(found, 'press.user.id'), view });
		if (why !== null) failure(`your Home tab shows a page of the check until Handraise fills it (${why}).`);
	}
	return okIfNone(
		"the app's messages are deleted. Yours stay, and your Home tab fills when you open it while Handraise runs.",
	);
}

/** Why the server cannot listen; null when it does. */
async function listen(server: Server, port: number, host: string | null): Promise<string | null> {
	const listening = once(server.listen({ port, ...(host !== null && { host }) }), 'listening');
	const problemOf = ({ code }: NodeJS.ErrnoException) => `The port ${port} cannot be used (${code})`;
	return listening.then(() => null, problemOf);
}

export async function* checkLive(channel: string, invocation: Invocation): AsyncGenerator<Finding> {
	const { env, clock, proxy, signal } = invocation;
	const reading = readSettings(env);
	if (reading.problems.length > 0) {
		return yield* checkSettings(findingsOf('Settings'), { problems: reading.problems });
	}
	yield* checkProxy(findingsOf('Proxy'), reading);
	const config = parseConfig(env);
	const call = createSlackCall(config.SLACK_API_URL, config.SLACK_BOT_TOKEN);
	const auth = await call('auth.test');
	const token = checkBotToken(findingsOf('Bot token'), auth);
	if (auth.kind !== 'ok' || token[0]?.verdict !== 'ok') return yield* token;
	const { failure } = findingsOf('Live check');
	const look = await inspect(config.DATABASE_URL, config.DATA_DIR);
	const server = createServer();
	const isInUse = look.kind === 'database' && look.inUse;
	const sign = isInUse ? 'Its database is in use' : await listen(server, config.PORT, config.HOST);
	if (sign !== null) return yield* failure(`stop Handraise first, it would get a part of what Slack sends. ${sign}.`);
	const live = createLive(channel, call, invocation);
	live.found.auth = auth.data;
	const { createArrivals } = await import('../../slack/bolt-app.ts');
	const { app, listener } = createArrivals({ config, proxy }, auth.data, live.onArrival);
	if (listener !== null) server.on('request', (request, response) => listener(request, response, () => {}));
	const late = (): never => {
		throw notChecked('Slack opens no connection');
	};
	try {
		await within(clock, Promise.race([app.start(), once(signal, 'abort').then(late)]), CONNECT_MS, late);
		const { ok, error } = await live.post('root', ROOT);
		if (ok !== true)
			return yield* failure(`the app cannot post into ${channel} (${error}): invite it there, or correct the name.`);
		const tries = Object.entries(ASSUMPTIONS);
		let count = 0;
		for (const [name, holds] of tries) {
			const finding = await tryStep(name, () => holds(live));
			if (finding.verdict === 'skipped') count++;
			yield finding;
		}
		const why = live.over.aborted ? live.whyOver() : live.undone[0];
		const todo = why?.includes('refused') ? "Correct SLACK_SIGNING_SECRET or this machine's clock, and run" : 'Run';
		if (why !== undefined) yield* failure(`${count} of ${tries.length} were not tried: ${why}. ${todo} it again.`);
	} catch (error) {
		yield* failure(error instanceof HandraiseError ? `${error.message}.` : 'it failed itself.');
	} finally {
		if (live.posted.length > 0) yield* await cleanUp(live);
		await app.stop();
		server.close().closeAllConnections();
	}
}
