import fc from 'fast-check';
import type { ReadItem, ReadMessage } from '../../src/domain/gate.ts';
import type { Session } from '../../src/domain/session.ts';
import { buildSession, saying } from '../support/sessions.ts';

/** A message that asks for one item per value. The titles repeat on purpose. */
export function asking(values: readonly string[], title = 'Title'): ReadMessage {
	return { ...saying('I have a question'), humanInput: values.map((value) => ({ title, description: '', value })) };
}

export const anyStatus = fc.constantFrom(
	'',
	...'active humanInput inactive paused stopped completed failed Active constructor'.split(' '),
);

const anyItem: fc.Arbitrary<ReadItem> = fc.record({
	title: fc.constantFrom('', 'a', 'b'),
	description: fc.constantFrom('', 'a'),
	value: fc.constantFrom('', '', 'x', 'y'),
});

const anyMessage: fc.Arbitrary<ReadMessage> = fc.record({
	role: fc.constantFrom('assistant', 'assistant', 'user', 'critic'),
	content: fc.string({ maxLength: 5 }),
	actions: fc.array(
		fc.oneof(
			fc.record({ kind: fc.constant('done' as const), text: fc.constantFrom('', 'r1', 'r2') }),
			fc.constant({ kind: 'click' as const, text: '' }),
		),
		{ maxLength: 2 },
	),
	humanInput: fc.oneof(fc.constant([]), fc.array(anyItem, { maxLength: 4 })),
});

export const anySession: fc.Arbitrary<Session> = fc
	.record({ status: anyStatus, messages: fc.array(anyMessage, { maxLength: 8 }), maxSteps: fc.integer() })
	.map((fields) => buildSession(fields));
