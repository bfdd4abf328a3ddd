import { describe, expect, it } from 'vitest';
import {
	ACTIONS,
	CALLBACKS,
	decodeChoice,
	decodeReply,
	decodeTarget,
	encodeChoice,
	encodeTarget,
	fieldBlockId,
	newMetadata,
} from '../../src/slack/ids.ts';

describe('ids', () => {
	it('gives every action and callback a unique id', () => {
		for (const ids of [Object.values(ACTIONS), Object.values(CALLBACKS)]) expect(new Set(ids).size).toBe(ids.length);
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

	it('decodes buttons of 1.0.0, which know of no arrivals', () => {
		const choice = decodeChoice('["choice","s",3,"f","e",0,"Go on?","Yes",1,"C1"]');
		expect(choice).toMatchObject({ option: 'Yes', readAt: 1, channelId: 'C1', arrival: null });
		const reply = decodeReply('["reply","d","s",3,1,"C1","1.2","1.3"]');
		expect(reply).toMatchObject({ id: 'd', messageTs: '1.3', arrival: null });
	});

	it.each([undefined, '', 'null', '{}', '[]', '["target","s"]', '["target","s",-1]', '["question","s","1"]'])(
		'decodes %j to null',
		(value) => {
			expect(decodeTarget(value)).toBeNull();
		},
	);
});
