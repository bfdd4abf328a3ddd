import { COMMAND } from '../../kernel/command-name.ts';
import { HandraiseError } from '../../kernel/errors.ts';
import { USERS_PAGE } from '../../slack/directory.ts';
import { unescaped } from '../../slack/rich-text.ts';
import { notChecked } from './check.ts';
import { BLOCKS, formOf, fullBlocks, MOST_JSON, messageOf, ROOT, section, windowOf } from './live-blocks.ts';
import type { Live } from './live-exchange.ts';
import { at, type Json, jsonObject, SLACK_WITHIN_MS, wordsOfErrors } from './requests.ts';

/** How many people of a page of `users.list` are looked up one by one. */
const PEOPLE_COMPARED = 5;

/** What tries throw when Slack does something else. */
const different = (seen: string) => new HandraiseError(seen, { code: 'different' });

type Assumptions = Readonly<Record<string, (live: Live) => Promise<void>>>;

/** How long a person may take for a step. */
const PERSON_MS = 300_000;
/** What the person types beside the word. */
const SMILE = '🙂';
/** What the window shows while the person presses Send. */
const SHOWN = 'Press Send. <R&D>';
const ANY = Symbol('any value');

/** Expects these values at their paths. A refusal is told in Slack's words. */
function expectIn(body: Json, expected: Json): void {
	if (body.ok === false && expected.error === undefined)
		throw different(`${body.error}: ${wordsOfErrors(body).replace(/\.$/, '')}`);
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

/** That Slack takes one message of the longest rich text. `what`: in which script it is. */
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

/** What this program assumes of Slack, and how each is tried. Later tries use what earlier ones found. */
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
		say(`  2. Reply in their thread: @${need('auth.user')} blue ${SMILE}`);
		say('  3. Press "Press this". If no window opens, press "No window" on the message above it.');
		say('  Optional: write the app a direct message. Change your status. Leave a public channel and join it again.');
		say(`  4. Type blue & ${SMILE} into the window, and press Send.`);
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
		expectIn(await updateWindow(live, formOf(SHOWN, { initial_value: 'red' })), { ok: true });
		const sent = at(await live.arrival('view_submission', PERSON_MS), 'view.state.values.word.typing.value');
		if (!String(sent).startsWith(String(typed))) throw different('Send came without what was typed');
	},
	'What is typed into a window arrives as it was typed': async ({ found, need }) => {
		need('view_submission.type');
		const sent = String(at(found, 'view_submission.view.state.values.word.typing.value'));
		if (!/&|:|\p{Emoji_Presentation}/u.test(sent)) throw notChecked(`nobody typed & and ${SMILE}`);
		if (/&amp;|:\w+:/.test(sent)) throw different('& or an emoji comes in another spelling');
	},
	'What a window shows comes back as it was, or with & and < escaped': async ({ found, need }) => {
		need('view_submission.type');
		if (at(found, 'typing.type') === undefined) throw notChecked('nothing was typed before Send');
		const back = String(at(found, 'view_submission.view.blocks.0.text.text'));
		expectIn({ shown: unescaped(back) }, { shown: SHOWN });
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
	'An emoji in a reply comes as an element with its code points': async ({ found }) => {
		if (found.app_mention === undefined) throw notChecked('Slack told of no mention in the thread');
		const elements = at(found, 'app_mention.event.blocks.0.elements.0.elements') as readonly Json[] | undefined;
		const emoji = elements?.find(({ type }) => type === 'emoji');
		if (emoji === undefined && !/:|\p{Emoji_Presentation}/u.test(String(at(found, 'app_mention.event.text'))))
			throw notChecked(`nobody typed ${SMILE}`);
		expectIn(emoji ?? {}, { name: ANY, unicode: '1f642' });
	},
	...event('message', false, 'user', 'channel', 'ts', 'text', 'channel_type'),
	...event('member_joined_channel', false, 'user', 'channel'),
	...event('member_left_channel', false, 'user', 'channel'),
	...event('user_change', false, 'user.id'),
	// The program asks for the list where many people type or open their Homes at once.
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
