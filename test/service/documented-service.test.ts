import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { mergeForPut, putBodyOf } from '../../src/domain/compare.ts';
import { gated } from '../../src/domain/gate.ts';
import { openQuestion, type SentItem } from '../../src/domain/session.ts';
import { runInSlices } from '../../src/kernel/slices.ts';
import { previewOf } from '../../src/screens/preview.ts';
import { isPutSuccess, listQuery, readListResponse, readSessionResponse } from '../../src/service/schema.ts';

const text = (name: string) => readFileSync(new URL(`../../${name}`, import.meta.url), 'utf8');
const jsonIn = (name: string) => Array.from(text(name).matchAll(/```json\n([\s\S]*?)```/g), ([, json = '']) => json);
const MOST_BYTES = 100_000;

const [SESSION = '', PUT = '', REPLY = '', WHOLE_REPLY = '', LIST = '', ...others] = jsonIn('docs/service.md');

async function sessionIn(json: string) {
	const read = await runInSlices(readSessionResponse(JSON.parse(json), json, 'another'));
	if (read === null) throw new Error('the documented session cannot be read');
	return runInSlices(gated(read));
}

/** The body of the PUT that carries these answers to the open question of a session. */
async function bodyFor(json: string, values: readonly string[]): Promise<unknown> {
	const session = await sessionIn(json);
	const question = openQuestion(session);
	if (question === null) throw new Error('the documented session asks nothing');
	const items: SentItem[] = mergeForPut(question.sent, values);
	return JSON.parse(String(putBodyOf(session.sessionId, question.messageIndex, items, MOST_BYTES)));
}

it('reads the documented session, and sends the documented PUT', async () => {
	expect(await bodyFor(SESSION, ['LH 1173', 'A window seat, please'])).toEqual(JSON.parse(PUT));
});

it('takes the documented responses, and the list', () => {
	expect(others).toEqual([]);
	expect([REPLY, WHOLE_REPLY].map((json) => isPutSuccess(JSON.parse(json)))).toEqual([true, true]);
	expect(readListResponse(JSON.parse(LIST), { limit: 200, page: 1 })?.sessions).toHaveLength(1);
	const query = new URLSearchParams(/\/query\?(\S+)`/.exec(text('docs/service.md'))?.[1]);
	expect(Object.fromEntries(query)).toEqual(
		Object.fromEntries(new URLSearchParams(listQuery({ limit: 200, page: 1 }))),
	);
});

it('gives the question of the README its buttons, and sends what it says', async () => {
	const [asked = '', sent = ''] = jsonIn('README.md');
	expect(previewOf(asked).buttons).toEqual(['LH 1173', 'TP 570']);
	const session = { sessionId: '3f9a2c1d', messages: [JSON.parse(asked)] };
	const body = await bodyFor(JSON.stringify({ session }), ['LH 1173']);
	expect(body).toMatchObject({ humanInputResponse: [JSON.parse(sent)] });
});
