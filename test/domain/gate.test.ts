import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { mergeForPut, putBodyOf } from '../../src/domain/compare.ts';
import type { ReadItem } from '../../src/domain/gate.ts';
import { guessInput } from '../../src/domain/input-kind.ts';
import { quickAnswerOf } from '../../src/domain/quick-answer.ts';
import { looksSecretAt } from '../../src/domain/secrecy.ts';
import { openQuestion } from '../../src/domain/session.ts';
import { anyCharacter } from '../support/any-text.ts';
import { runs } from '../support/runs.ts';
import { buildSession, saying, shownHashOf } from '../support/sessions.ts';
import { RECORDED } from './texts-of-1.0.0.ts';

const MARKS = '\u0301\u0316';
const item = (title: string, description = '', value = ''): ReadItem => ({ title, description, value });

function asked(items: readonly ReadItem[], content = 'I ask.') {
	const question = openQuestion(buildSession({ messages: [{ ...saying(content), humanInput: items }] }));
	if (question === null) throw new Error('nothing is open');
	return question;
}

const shownTitle = (title: string) => asked([item(title)]).items[0]?.title ?? '';
const shownContent = (content: string) => asked([item('a')], content).context;
const lengthOf = (text: string) => Array.from(text).length;

describe('what people and rules see of a text', () => {
	it.each([
		['an item', shownTitle, 8_000],
		['a message', shownContent, 20_000],
	])('is at most so many code points of %s, and says how much is missing', (_, shown, most) => {
		for (const unit of ['a', '😀', '漢', `e${'\u0301'.repeat(40)}`]) {
			const whole = unit.repeat(Math.floor((most * 30) / 31 / lengthOf(unit)));
			expect(shown(whole).replaceAll('\u034f', '')).toBe(whole);
			const text = unit.repeat(most);
			const cut = shown(`${text}!`);
			expect(lengthOf(cut)).toBeLessThanOrEqual(most);
			expect(lengthOf(cut)).toBeGreaterThan(most * 0.95);
			const [, start = '', missing = ''] = /^(.*)… \(([\d,]+) more characters\)$/su.exec(cut) ?? [];
			const kept = unit.includes('\u0301') ? start.replaceAll('\u034f', '') : start;
			expect(text.startsWith(kept)).toBe(true);
			expect(Number(missing.replaceAll(',', ''))).toBe(text.length + 1 - kept.length);
		}
	});

	it('is all of a text that is no longer', () => {
		expect(shownTitle('😀'.repeat(8_000))).toBe('😀'.repeat(8_000));
		expect(shownContent('😀'.repeat(20_000))).toBe('😀'.repeat(20_000));
	});

	it('has no run of more than 30 marks', () => {
		expect(shownTitle(`a${MARKS.repeat(15)}b`)).toBe(`a${MARKS.repeat(15)}b`);
		const runs = (text: string) => Array.from(text.matchAll(/(?:(?!\u034f)\p{M})+/gu), ([run]) => run.length);
		expect(Math.max(...runs(shownTitle(`a${MARKS.repeat(1_000)}`)))).toBe(30);
		expect(Math.max(...runs(shownContent(`a${MARKS.repeat(100_000)}`)))).toBe(30);
	});

	it('is bounded for every text of a session', () => {
		const long = 'x'.repeat(100_000);
		const session = buildSession({
			status: long,
			name: long,
			sessionDetails: long,
			files: [{ filename: long, signedUrl: null }],
			messages: [
				{ ...saying(long, long), actions: [{ kind: 'done', text: long }], humanInput: [item(long, long, long)] },
			],
		});
		const lengths: number[] = [];
		JSON.stringify(session, (name, value) => {
			if (name === 'sent') return null;
			if (typeof value === 'string') lengths.push(value.length);
			return value;
		});
		expect(Math.max(...lengths)).toBeLessThanOrEqual(20_000);
		expect(session.messages[0]?.humanInput[0]?.value.length).toBeLessThanOrEqual(8_000);
	});
});

describe('what the PUT sends', () => {
	it('is every item as the service sent it, be it cut or not examined', () => {
		const long = `${'e\u0301\ud800 '.repeat(3_000)}${MARKS.repeat(50)}`;
		const items = Array.from({ length: 120 }, (_, at) =>
			item(`${at}${at === 2 ? long : ''}`, at === 3 ? long : '', `${at}`),
		);
		const { sent } = asked([...items.slice(0, 50), item('open'), ...items.slice(50)]);
		const body = putBodyOf('s', 0, mergeForPut(sent, Array(51).fill('mine')), 1_000_000);
		const { humanInputResponse } = JSON.parse(body?.toString() ?? '');
		expect(humanInputResponse).toEqual(
			[...items.slice(0, 50), item('open', '', 'mine'), ...items.slice(50)].map((one) =>
				JSON.parse(JSON.stringify(one)),
			),
		);
	});

	it('is nothing when it has too many bytes', () => {
		const { sent } = asked([item('é'.repeat(50)), item('"'.repeat(20))]);
		const { length = 0 } = putBodyOf('s', 0, sent, 1_000) ?? {};
		expect(length).toBeGreaterThan(140);
		expect(putBodyOf('s', 0, sent, length)).toHaveLength(length);
		expect(putBodyOf('s', 0, sent, length - 1)).toBeNull();
		expect(putBodyOf('s', 0, sent, 60)).toBeNull();
	});
});

describe('a question of which a part was not read', () => {
	const plain = item('Which colour?', 'One of: red, blue');
	const secretOf = (items: readonly ReadItem[], content?: string) => {
		const question = asked(items, content);
		return question.items.map((_, position) => looksSecretAt(question, position));
	};

	it.each([
		['a title', item(`${'Which? '.repeat(1_200)}`)],
		['a description', item('Which colour?', `One of: red, blue\n${'It is a long story. '.repeat(420)}`)],
		['a run of marks in a description', item('Which colour?', `One of: red, blue\n${MARKS.repeat(4_000)}`)],
	])('is secret, and has no buttons: %s', (_, cut) => {
		expect(secretOf([cut])).toEqual([true]);
		expect(secretOf([plain, cut])).toEqual([false, true]);
		expect(guessInput(asked([cut]).items[0] ?? plain)).toEqual({ kind: 'line' });
		expect(quickAnswerOf(asked([cut]), () => false)).toBeNull();
	});

	it('is secret as a whole when the text above it is cut', () => {
		expect(secretOf([plain, plain], 'It is a long story. '.repeat(1_001))).toEqual([true, true]);
		expect(secretOf([plain, plain], 'It is a long story. '.repeat(1_000))).toEqual([false, false]);
	});

	it('is secret from the 91st item on', () => {
		const secret = secretOf(Array.from({ length: 95 }, () => plain));
		expect(secret).toEqual([...Array(90).fill(false), ...Array(5).fill(true)]);
	});

	it('is secret where its items are longer than any PUT can be', () => {
		const long = 'It is a long story. '.repeat(390);
		const secret = secretOf(Array.from({ length: 20 }, () => item('Which colour?', long)));
		expect([secret.indexOf(true), secret.slice(12).includes(false)]).toEqual([12, false]);
	});
});

describe('a long line', () => {
	const story = 'It was a long day at the office. ';
	it.each([
		['sentences', story],
		['words', 'aaaa bbbb '],
		['letters', 'ж'],
	])('is read to its end for secrets, after any number of %s', (_, unit) => {
		for (let length = 380; length < 8_000; length += length < 620 ? 7 : 997) {
			const start = unit.repeat(Math.ceil(length / unit.length)).slice(0, length);
			const text = `${start} Please enter the date of birth of the guest. ${start.slice(0, 7_900 - length)}`;
			expect([length, secretOfDescription(text)]).toEqual([length, true]);
		}
	});

	it('is one sentence when the secret is named far from where it is asked for', () => {
		for (let count = 1; count < 100; count += 3) {
			const long = ' and knows which hall it is, so that this was asked'.repeat(count);
			const text = `It is late${long} and please enter${long} the date of birth${long} on the form.`;
			expect([count, secretOfDescription(text)]).toEqual([count, true]);
		}
	});

	it.each([
		story,
		'aaaa bbbb ',
		'ж',
		'a lamp on the phone, ',
		'a status code of 500, ',
		'un code postal, ',
		'a QR code, ',
	])('is no secret by itself: %s', (unit) => {
		const text = unit.repeat(7_000 / unit.length);
		expect(secretOfDescription(text)).toBe(false);
		expect(secretOfDescription(`Please look at ${text}`)).toBe(false);
	});

	function secretOfDescription(description: string): boolean {
		return looksSecretAt(asked([item('Answer', description)]), 0);
	}
});

/** Recorded with the code of 1.0.0: what is stored and open has these. */
describe('fingerprint and hash of what is shown', () => {
	it.each([
		['nothing', '390feabc786e369e55b904251d643b52', '63cab8e921e413242a44bf4e8fdc999d'],
		['white space', 'd36affa4ac6c2cf16d8bc97a6af6e391', 'b7ff1550ad4e93e772c3f505dd621df8'],
		['odd Unicode', 'c1ddefa230d26053231d5dc74f42db30', 'bcc9f6f3733890fd0ebff09f657ef6a5'],
		['30 marks', '828ce185a509f32b67b4730948594842', 'e72d196812c2c4148d4d3e29d5d4e379'],
		['links', '92cdfe78e839d7e397f6ae91733ebcee', '913c3bd6348ac798f800b91e4d850562'],
		['8,000 characters', '3689d1f394b45c82cf2d0977f8f5e0a0', 'd54f2ca77f74c1fe22dfaf021a2d4c3f'],
		['8,001 characters', 'accdee66baa0fbdfea085ab9eba41454', '76d201e0892993b9501f3945f0429e76'],
		['20,001 characters', '93348c3d31e66337337fd76e0673e14f', 'd993df4658b07cf706109fc4d584a878'],
		['a long link', '6d057c52df1e573370b9b7bfaeaf6475', 'e084c3e0d79e9223e69033cb41802ddc'],
		['a long word', '6bbae419c199cf47e71e1d733de6846d', '0b63e208565c8fdaa057b1a1c90447c2'],
		['long white space', '24585d0aff8d627d887b4e14bfb8d7c9', 'bf791ae9ee5885249413ef13e98a95b2'],
		['much of everything', '78685accc2eb097d57aafe0fdb94f07c', '154c76415908ea4a729821cef7b473e3'],
		['91 items', 'c0d6c6ffaceda5a300ce1c7526002b6c', '4c8eb4dc1ad2cb682623966e9c7dc3d4'],
		['1,000 items', '22403e3c02269377a545d99b410099f3', '29d848647f34d90f1367cdaec5934fb3'],
	])('are those of 1.0.0: %s', (name, fingerprint, shownHash) => {
		const { content, items } = RECORDED[name] ?? { content: '', items: [] };
		const question = asked(
			items.map((one) => ({ ...one, value: '' })),
			content,
		);
		expect([question.fingerprint, question.shownHash]).toEqual([fingerprint, shownHash]);
	});

	it('are recorded for all texts', () => {
		expect(Object.keys(RECORDED)).toHaveLength(14);
	});

	it('are those of whole texts, however long', () => {
		const unit = fc.oneof(
			fc.string({ unit: anyCharacter, minLength: 1, maxLength: 12 }),
			fc.constantFrom(
				...' |\n |\u3000|e\u0301|\u1100\u1161|\u1161|\u11a8|\u{16d63}\u{16d67}x|\u0301\u0316a'.split('|'),
				'\u{1d165}x',
			),
			fc.constantFrom(...'https://a.example/x?b=1&sig=2&|&amp;sig=3|;Signature=4|&token=|HTTPS://|?|"|…'.split('|')),
		);
		const long = fc
			.array(fc.tuple(fc.array(unit, { minLength: 1, maxLength: 3 }), fc.integer({ min: 1, max: 30_000 })), {
				maxLength: 6,
			})
			.map((parts) =>
				parts
					.map(([units, count]) => units.join('').repeat(count))
					.join('')
					.slice(0, 400_000),
			)
			// Only of longer runs is the hash another one.
			.map((text) => text.replace(/(\p{M}{1,30})\p{M}*/gu, '$1'));
		fc.assert(
			fc.property(long, fc.array(fc.tuple(long, long), { maxLength: 2 }), (content, pairs) => {
				const humanInput = pairs.map(([title, description]) => item(title, description));
				expect(shownHashOf({ content, humanInput })).toBe(plainHashOf([content, ...pairs.flat()]));
			}),
			{ numRuns: runs(60) },
		);
	});

	it('are linear in a million marks on one letter', () => {
		const hash = shownHashOf({ content: `e${MARKS.repeat(500_000)}`, humanInput: [] });
		expect(hash).not.toBe(shownHashOf({ content: `e${MARKS.repeat(499_999)}`, humanInput: [] }));
	});
});

/** As 1.0.0 made it. */
function plainHashOf(texts: readonly string[]): string {
	const hash = createHash('sha256');
	for (const text of texts) {
		const shown = withoutSignatures(text).normalize('NFC').replace(/\s+/g, ' ').trim();
		hash.update(`${shown.length}:`).update(shown, 'utf16le');
	}
	return hash.digest('hex').slice(0, 32);
}

function withoutSignatures(text: string): string {
	const signature =
		/[?&;](?:X-Amz-(?:Signature|Credential|Security-Token)|X-Goog-(?:Signature|Credential)|Signature|Key-Pair-Id|sig)=/i;
	const ofSigning =
		/^(?:X-[^=]*|AWSAccessKeyId|GoogleAccessId|Signature|Expires|Policy|Key-Pair-Id|Hash-Algorithm|sig|s[eiprstv]|spr|sip|srt|sk(?:oid|tid|[estv])|(?:[a-z]+[_-]?)?token|api[_-]?key|secret|password)=/i;
	if (!text.includes('?')) return text;
	return text.replace(/https?:\/\/[^\s<>"'`|\\^{}[\]()]+/gi, (url) => {
		if (!signature.test(url)) return url;
		const parameters = url.replace(/(?<=[?&;#])[^?&;#]+/g, (part) => (ofSigning.test(part) ? '…' : part));
		return parameters.replace(/…(?:(?:&amp;|[&;])…)+/g, '…');
	});
}

describe('a long text that is divided', () => {
	/** By each character that joins one before it in NFC: what it makes, decomposed. */
	const joined = new Map<string, readonly string[]>();
	for (let point = 0; point <= 0x10ffff; point++) {
		if (point >= 0xd800 && point <= 0xdfff) continue;
		const [first = '', ...later] = String.fromCodePoint(point).normalize('NFD');
		for (const one of later) joined.set(one, [first, ...later]);
	}

	it('is divided before no character that joins another one', () => {
		expect(joined.size).toBeGreaterThan(100);
		for (const characters of joined.values()) {
			for (const earlier of [0, 1]) {
				const start = 'x'.repeat(65_536 - (characters[0]?.length ?? 0) - earlier);
				const content = `${start}${characters.join('')}y`;
				expect([characters, shownHashOf({ content, humanInput: [] })]).toEqual([characters, plainHashOf([content])]);
			}
		}
	});
});
