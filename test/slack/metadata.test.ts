import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { decodeMetadata, encodeMetadata, newMetadata, type ViewMetadata } from '../../src/slack/ids.ts';
import { hostileText } from './support/hostile-text.ts';

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
	offerLimit: fc.nat(3000),
	offset: fc.nat(1000),
});

describe("a view's metadata", () => {
	it('decodes the metadata that it encoded', () => {
		expect(decodeMetadata(encodeMetadata(fresh))).toEqual(fresh);
		fc.assert(
			fc.property(metadata, (given) => {
				expect(decodeMetadata(encodeMetadata(given))).toEqual(given);
			}),
			{ numRuns: 300 },
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
