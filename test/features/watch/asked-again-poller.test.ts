import { expect, it } from 'vitest';
import type { ReadMessage } from '../../../src/questions/gate.ts';
import { saying } from '../../support/sessions.ts';
import { assistant, createWatchedHarness, pass, session } from './support.ts';

const started = session().messages;
const note = saying('A summary', 'system');

function code(value = '', title = 'Colour'): ReadMessage {
	return { ...assistant('Which one?'), humanInput: [{ title, description: '', value }] };
}

function logIn(user: string, password: string): ReadMessage {
	const item = (title: string, value: string) => ({ title, description: '', value });
	return { ...assistant('Log in'), humanInput: [item('User', user), item('Code', password)] };
}

const asking = { status: 'humanInput', messages: [...started, code()] };
const answered = { messages: [...started, code('blue')] };
const gone = { messages: started };
const moved = { status: 'humanInput', messages: [note, ...started, code()] };

/** A watched session. `heardAfter` changes it and returns what is announced. */
async function watched() {
	const harness = await createWatchedHarness({ ms: 5_000 });
	const { clock, put, announced } = harness;
	await announced();
	async function heardAfter(change: Parameters<typeof put>[0]) {
		put(change);
		await pass(clock, 32_000);
		// First posts and updates come in any order.
		return (await announced())
			.map((content) => (content.kind === 'settled' ? `${content.how} ${content.messageIndex}` : content.kind))
			.toSorted();
	}
	return { ...harness, heardAfter };
}

it('announces a question each time its answer is cleared and it is asked again', async () => {
	const { heardAfter } = await watched();
	expect(await heardAfter(asking)).toEqual(['question']);
	expect(await heardAfter(answered)).toEqual(['answered 2']);
	expect(await heardAfter(asking)).toEqual(['question']);
	expect(await heardAfter(answered)).toEqual(['answered 2']);
	expect(await heardAfter(asking)).toEqual(['question']);
});

it('announces a question again that is asked again after the history was rewound', async () => {
	const { heardAfter } = await watched();
	expect(await heardAfter(asking)).toEqual(['question']);
	expect(await heardAfter(answered)).toEqual(['answered 2']);
	expect(await heardAfter(gone)).toEqual([]);
	expect(await heardAfter(asking)).toEqual(['question']);
	expect(await heardAfter({ status: 'humanInput', messages: started })).toEqual(['closed 2']);
	expect(await heardAfter(asking)).toEqual(['question']);
});

it('announces a question again each time one item is cleared and the agent asks for it', async () => {
	const { heardAfter } = await watched();
	const at = (status: string, ...values: [string, string]) => ({ status, messages: [...started, logIn(...values)] });
	expect(await heardAfter(at('humanInput', '', ''))).toEqual(['question']);
	expect(await heardAfter(at('active', 'ann', '1'))).toEqual(['answered 2']);
	expect(await heardAfter(at('active', 'ann', ''))).toEqual([]);
	expect(await heardAfter(at('humanInput', 'ann', ''))).toEqual(['question']);
	expect(await heardAfter(at('active', 'ann', '2'))).toEqual(['answered 2']);
	expect(await heardAfter(at('humanInput', 'ann', ''))).toEqual(['question']);
});

it('announces a question each time it changes to another one and back', async () => {
	const { heardAfter } = await watched();
	const other = (value = '') => ({ messages: [...started, code(value, 'Colour, in English')] });
	expect(await heardAfter(asking)).toEqual(['question']);
	expect(await heardAfter({ status: 'humanInput', ...other() })).toEqual(['changed 2', 'question']);
	expect(await heardAfter(asking)).toEqual(['changed 2', 'question']);
	expect(await heardAfter(answered)).toEqual(['answered 2']);
	expect(await heardAfter({ status: 'humanInput', ...other() })).toEqual(['question']);
	expect(await heardAfter(other('blue'))).toEqual(['answered 2']);
	expect(await heardAfter(asking)).toEqual(['question']);
});

it('announces a question again that is asked in the same words after the first was trimmed', async () => {
	const { heardAfter } = await watched();
	expect(await heardAfter(asking)).toEqual(['question']);
	expect(await heardAfter(answered)).toEqual(['answered 2']);
	const trimmed = started.slice(1);
	expect(await heardAfter({ status: 'humanInput', messages: [...trimmed, code('blue'), code()] })).toEqual([
		'question',
	]);
	expect(await heardAfter({ messages: [...trimmed, code('blue'), code('red')] })).toEqual(['answered 2']);
	expect(await heardAfter({ status: 'humanInput', messages: [code('red'), code()] })).toEqual(['question']);
});

it('an open question that moves to another index is not announced again, and is settled at the new index', async () => {
	const { heardAfter, store, clock } = await watched();
	expect(await heardAfter(asking)).toEqual(['question']);
	expect(await heardAfter(moved)).toEqual(['redraw']);
	expect(await heardAfter(asking)).toEqual(['redraw']);
	expect(await heardAfter(moved)).toEqual(['redraw']);
	const answeredThere = { messages: [note, ...started, code('blue')] };
	expect(await heardAfter(answeredThere)).toEqual(['answered 3']);
	// It moves again, and is not announced again.
	expect(await heardAfter(answered)).toEqual([]);
	expect(await store.takePosts({ token: 'x', ms: 1 }, 10, clock.now())).toEqual([]);
});

it('a question that moves updates the card', async () => {
	const { heardAfter, db, watch } = await watched();
	await heardAfter(asking);
	const wanted = async () => {
		const card = db.read
			.selectFrom('posts')
			.select('wanted')
			.where('watchId', '=', watch.id)
			.where('kind', '=', 'card');
		return (await card.executeTakeFirstOrThrow()).wanted;
	};
	const before = await wanted();
	await heardAfter(moved);
	expect(await wanted()).toBeGreaterThan(before);
	const open = await db.read.selectFrom('questions').selectAll().where('settledAt', 'is', null).executeTakeFirst();
	expect(open).toMatchObject({ messageIndex: 3 });
});

it('closes a removed question although an older one with the same words remains', async () => {
	const { heardAfter } = await watched();
	await heardAfter(answered);
	const again = [...started, code('blue'), code()];
	expect(await heardAfter({ status: 'humanInput', messages: again })).toEqual(['question']);
	expect(await heardAfter(answered)).toEqual(['closed 3']);
});

it('announces an answer once, although its message is missing in one read', async () => {
	const { heardAfter } = await watched();
	await heardAfter(asking);
	expect(await heardAfter(answered)).toEqual(['answered 2']);
	expect(await heardAfter(gone)).toEqual([]);
	expect((await heardAfter(answered)).filter((what) => what !== 'answered 2')).toEqual([]);
});

it('two replicas announce a question once each time it is asked', async () => {
	const { heardAfter, start } = await watched();
	start();
	expect(await heardAfter(asking)).toEqual(['question']);
	expect(await heardAfter(answered)).toEqual(['answered 2']);
	expect(await heardAfter(asking)).toEqual(['question']);
});

it('announces no question again after the digest was damaged', async () => {
	const { heardAfter, db } = await watched();
	await heardAfter(asking);
	const forget = () => db.write((trx) => trx.updateTable('watched_sessions').set({ digest: '{"v":9}' }).execute());
	await forget();
	expect(await heardAfter(asking)).toEqual(['redraw']);
	expect(await heardAfter(answered)).toEqual(['answered 2']);
	await forget();
	// Asked again, this question is announced.
	expect(await heardAfter(asking)).toEqual(['question']);
	await forget();
	// What became of it cannot be told, but its post is not open any more.
	expect(await heardAfter(answered)).toEqual(['answered 2']);
});
