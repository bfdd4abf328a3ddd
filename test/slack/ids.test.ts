import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
	ACTIONS,
	CALLBACKS,
	decodeChoice,
	decodeMetadata,
	decodeSnooze,
	decodeTarget,
	decodeThreadReply,
	encodeChoice,
	encodeMetadata,
	encodeTarget,
	fieldBlockId,
	newMetadata,
	type ViewMetadata,
} from '../../src/slack/ids.ts';
import { runs } from '../support/runs.ts';
import { hostileText } from './support/hostile-text.ts';

describe('ids', () => {
	it('gives every action and callback a unique id', () => {
		for (const ids of [Object.values(ACTIONS), Object.values(CALLBACKS)]) expect(new Set(ids).size).toBe(ids.length);
	});

	it('reads how 2.0.0 snoozes for an hour, and not until tomorrow', () => {
		expect(decodeSnooze('["snooze","1h","hash"]')).toEqual({ length: '1h', hash: 'hash' });
		expect(decodeSnooze('["snooze","tomorrow","hash"]')).toBeNull();
	});

	it('puts message, question, position and kind of field into a block_id, and nothing else', () => {
		const shownHash = 'fedcba9876543210';
		const shown = newMetadata({
			sessionId: 's',
			messageIndex: 12,
			fingerprint: '0123456789abcdef',
			shownHash,
			withOptions: [4],
		});
		expect(fieldBlockId(shown, 3, 'guessed')).toBe('q.12.01234567.3.guessed');
		expect(fieldBlockId(shown, 3, 'plain')).toBe('q.12.01234567.3.plain');
		expect(fieldBlockId(shown, 4, 'other')).toBe('q.12.01234567.4.other.fedcba98');
		expect(fieldBlockId(shown, 4, 'guessed')).toBe('q.12.01234567.4.guessed.fedcba98');
	});
});

describe('button values', () => {
	it.each([
		{ sessionId: '3f9a2c1d', messageIndex: null },
		{ sessionId: 'a:b:\nc', messageIndex: 0 },
		{ sessionId: '7:x', messageIndex: 99 },
	])('decodes the target that it encoded: %j', (target) => {
		expect(decodeTarget(encodeTarget(target))).toEqual(target);
	});

	it('decodes the choice that it encoded', () => {
		const place = { sessionId: 's', messageIndex: 3, channelId: 'C1', readAt: 1, arrival: 2 };
		const choice = { ...place, fingerprint: 'f', shownHash: 'e', position: 0, title: 'Go on?', option: 'Yes' };
		expect(decodeChoice(encodeChoice(choice))).toEqual(choice);
	});

	it('decodes no buttons that know of no arrivals', () => {
		expect(decodeChoice('["choice","s",3,"f","e",0,"Go on?","Yes",1,"C1"]')).toBeNull();
		expect(decodeThreadReply('["reply","d","s",3,1,"C1","1.2","1.3"]')).toBeNull();
	});

	it.each([undefined, '', 'null', '{}', '[]', '["target","s"]', '["target","s",-1]', '["question","s","1"]'])(
		'decodes %j to null',
		(value) => {
			expect(decodeTarget(value)).toBeNull();
		},
	);
});

const fresh = newMetadata({ sessionId: '3f9a2c1d', formId: 'form-1' });
const key = (maxLength: number) => hostileText.map((text) => text.slice(0, maxLength));
const positions = fc.uniqueArray(fc.nat(99_999), { maxLength: 90 }).map((some) => some.sort((a, b) => a - b));

const metadata: fc.Arbitrary<ViewMetadata> = fc.record({
	sessionId: key(60),
	messageIndex: fc.option(fc.nat(100_000)),
	fingerprint: fc.option(fc.stringMatching(/^[0-9a-f]{0,32}$/)),
	shownHash: fc.option(fc.stringMatching(/^[0-9a-f]{0,32}$/)),
	formId: key(12),
	page: fc.nat(1000),
	plainText: fc.boolean(),
	partial: fc.boolean(),
	readAt: fc.nat(),
	arrival: fc.option(fc.nat(1_000), { nil: null }),
	sessionName: key(60),
	ownText: fc.boolean(),
	showsHidden: fc.boolean(),
	origin: fc.record(
		{ channelId: fc.option(key(20)), threadTs: fc.option(key(20)), isCopy: fc.constant<true>(true) },
		{ requiredKeys: ['channelId', 'threadTs'] },
	),
	putOverheadBytes: fc.nat(100_000),
	fields: positions,
	offered: positions,
	shown: fc.constantFrom(null, 'guessed', 'plain'),
	asText: fc.array(fc.nat(5), { maxLength: 0 }),
	withOptions: positions,
	secret: fc.array(fc.nat(5), { maxLength: 0 }),
	boxed: fc.boolean(),
	covered: fc.array(fc.nat(5), { maxLength: 0 }),
	veiled: fc.array(fc.nat(5), { maxLength: 0 }),
	optional: fc.array(fc.nat(5), { maxLength: 0 }),
	again: fc.boolean(),
	offerLimit: fc.nat(3000),
	offset: fc.nat(1000),
});

describe("a view's metadata", () => {
	it('cuts the name of a session between characters', () => {
		const { sessionName } = newMetadata({ sessionId: '', sessionName: `${'x'.repeat(59)}😀` });
		expect(sessionName).toBe(`${'x'.repeat(59)}…`);
	});

	it('decodes the metadata that it encoded', () => {
		expect(decodeMetadata(encodeMetadata(fresh))).toEqual(fresh);
		fc.assert(
			fc.property(metadata, (given) => {
				// What an older version had not masked is masked.
				const { sessionName } = newMetadata({ sessionId: '', sessionName: given.sessionName });
				expect(decodeMetadata(encodeMetadata(given))).toEqual({ ...given, sessionName });
			}),
			{ numRuns: runs(300) },
		);
	});

	it('encodes 90 scattered fields of a huge message, all secret and offered, within the limit', () => {
		const scattered = Array.from({ length: 90 }, (_, at) => 10_000 + at * 2);
		const full = {
			...fresh,
			sessionId: 'x'.repeat(400),
			fields: scattered,
			offered: scattered,
			asText: scattered,
			secret: scattered,
		};
		const text = encodeMetadata(full);
		// Slack takes no more.
		expect(text.length).toBeLessThanOrEqual(3_000);
		expect(decodeMetadata(text)).toEqual(full);
	});

	it.each([
		['nothing', undefined],
		['no JSON', 'x'],
		['another version', encodeMetadata(fresh).replace('"view 5"', '"view 4"')],
		['a missing field', encodeMetadata(fresh).replace('"3f9a2c1d",', '')],
		['a foreign type', encodeMetadata(fresh).replace('"form-1",0', '"form-1","0"')],
		['a negative page', encodeMetadata(fresh).replace('"form-1",0', '"form-1",-1')],
		['positions that are none', encodeMetadata(fresh).replace('[]', '["1-x"]')],
		['null', 'null'],
	])('decodes %s to null', (_what, text) => {
		expect(decodeMetadata(text)).toBeNull();
	});
});
