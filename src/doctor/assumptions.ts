import { HandraiseError } from '../errors.ts';
import { notChecked } from './check.ts';
import { type Assumptions, type Live, messageOf, ROOT, section, windowOf } from './live.ts';
import { at, type Json, jsonObject } from './request.ts';
import { wordsOf } from './views.ts';

/** What tries throw when Slack does something else. */
const different = (seen: string) => new HandraiseError(seen, { code: 'different' });

const PERSON_MS = 300_000;
const EVENT_MS = 10_000;
const ANY = Symbol('any value');
const BLOCKS = [
	{ type: 'markdown', text: '**bold**' },
	{ type: 'rich_text', elements: [{ type: 'rich_text_section', elements: [{ type: 'text', text: 'rich' }] }] },
	{ type: 'table', rows: [[{ type: 'raw_text', text: 'cell' }]] },
];

function formOf(text: string, initial: object) {
	const onTyping = { dispatch_action_config: { trigger_actions_on: ['on_character_entered'] } };
	const element = { type: 'plain_text_input', action_id: 'typing', ...onTyping, ...initial };
	const field = { type: 'input', block_id: 'word', dispatch_action: true, optional: true };
	return windowOf(section(text), { ...field, label: { type: 'plain_text', text: 'Word' }, element });
}

/** Expects these values at their paths. A refusal is told in Slack's words. */
function expectIn(body: Json, expected: Json): void {
	if (body.ok === false && expected.error === undefined)
		throw different(`${body.error}: ${wordsOf({ data: body }).replace(/\.$/, '')}`);
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
	const messages = (reply.messages ?? []) as readonly Json[];
	const kept = { thread_ts: live.need('root.ts'), 'metadata.event_payload.key': 'kept' };
	expectIn(messages.find((one) => one.ts === ts) ?? reply, { ...kept, ...expected });
}

/** `refused`: the types of blocks that this place does not take. */
function blocksIn(place: string, refused: readonly string[], show: (live: Live, block: object) => Promise<Json>) {
	const tries = BLOCKS.map((block): [string, Assumptions[string]] => {
		const expected = refused.includes(block.type) ? { error: 'invalid_arguments' } : { ok: true };
		const name = `${place} ${'ok' in expected ? 'takes' : 'refuses'} ${block.type} blocks`;
		return [name, async (live) => expectIn(await show(live, block), expected)];
	});
	return Object.fromEntries(tries);
}

/** `isAsked`: the operator is asked to cause it. */
function event(type: string, isAsked: boolean, ...fields: readonly string[]): Assumptions {
	const paths = ['event_id', 'team_id', ...fields.map((field) => `event.${field}`)];
	const name = `The event ${type} carries ${fields.join(', ')}`;
	return {
		[name]: async (live) => {
			const { need, wait, found } = live;
			need('press.type');
			if (isAsked) await wait(type, EVENT_MS);
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
export const ASSUMPTIONS: Assumptions = {
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
	'chat.update keeps the thread and the metadata': async (live) => {
		const [channel, ts] = [live.need('root.channel'), live.need('root.ts')];
		expectIn(await live.slack('chat.update', { channel, ts, ...ROOT }), { ok: true });
		await expectBack(live, ts, {});
	},
	'A button works on a reply that is shown in the channel': async ({ arrival, need, say }) => {
		const message = { 'message.ts': need('broadcast.ts'), 'message.thread_ts': need('root.ts') };
		say('Now you, in Slack, within 5 minutes:');
		say('  1. Open the Home tab of the app, and return to the new messages in the channel.');
		say(`  2. Reply in their thread: @${need('auth.user')} blue`);
		say('  3. Press "Press this". If no window opens, press "No window" on the message above it.');
		say('  Optional: write the app a direct message. If the channel is public, leave it and join it again.');
		say('  4. Type blue into the window, and press Send.');
		const expected = { ...message, 'message.subtype': 'thread_broadcast', trigger_id: ANY, response_url: ANY };
		expectIn(await arrival('press', PERSON_MS), { 'actions.0.value': 'Press this', ...expected });
	},
	'A window opens, and refuses an update with an old hash': async (live) => {
		const trigger_id = live.need('press.trigger_id');
		const opened = await live.slack('views.open', { trigger_id, view: windowOf(section('One moment.')) });
		expectIn(opened, { ok: true });
		live.found.window = opened;
		const hash = { hash: at(opened, 'view.hash') };
		expectIn(await updateWindow(live, windowOf(section('One more moment.')), hash), { ok: true });
		expectIn(await updateWindow(live, windowOf(section('Too late.')), hash), { error: 'hash_conflict' });
	},
	...blocksIn('A window', ['markdown', 'table'], (live, block) => updateWindow(live, windowOf(block))),
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
			signal: AbortSignal.timeout(EVENT_MS),
		});
		expectIn({ ok: response.ok, ...jsonObject(await response.text()) }, { ok: true });
		await expectBack(live, live.need('press.container.message_ts'), { 'blocks.0.text.text': 'Replaced.' });
	},
	...blocksIn('The Home tab', ['markdown', 'table'], async ({ slack, need, found }, block) => {
		found.home = await slack('views.publish', {
			user_id: need('press.user.id'),
			view: { type: 'home', blocks: [block] },
		});
		return found.home;
	}),
	...event('app_home_opened', true, 'user', 'channel', 'tab'),
	...event('app_mention', true, 'user', 'channel', 'ts', 'thread_ts', 'text'),
	...event('message', false, 'user', 'channel', 'ts', 'text', 'channel_type'),
	...event('member_joined_channel', false, 'user', 'channel'),
	...event('member_left_channel', false, 'user', 'channel'),
	'An update of a closed window is refused': async (live) => {
		live.need('view_submission.type');
		expectIn(await updateWindow(live, windowOf(section('Closed.'))), { error: 'not_found' });
	},
	'A limited call says when to try again': async ({ limits }) => {
		if (limits.length === 0) throw notChecked('no call was limited, and none is provoked');
		if (limits.includes(null)) throw different('Retry-After is missing');
	},
};
