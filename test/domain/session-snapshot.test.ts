import fc from 'fast-check';
import { expect, it } from 'vitest';
import { looksSecretAt } from '../../src/domain/secrecy.ts';
import type { Session } from '../../src/domain/session.ts';
import { asShownBy, questionSnapshotAt, snapshotOf, storedQuestionOf } from '../../src/domain/session-snapshot.ts';
import { assistant, session, T0 } from '../sessions/support.ts';
import { anyCharacter } from '../support/any-text.ts';
import { runs } from '../support/runs.ts';

const texts = fc.oneof(fc.string({ unit: anyCharacter, maxLength: 4_000 }), fc.constant('😀'.repeat(3_000)));

const sessions: fc.Arbitrary<Session> = fc
	.record({
		status: fc.constantFrom('active', 'humanInput', 'paused', 'odd'),
		name: texts,
		messages: fc.array(
			fc.record({
				role: fc.constantFrom('assistant', 'user', 'odd'),
				content: texts,
				actions: fc.array(
					fc.oneof(
						fc.record({ kind: fc.constant('done' as const), text: texts }),
						fc.record({ kind: fc.constant('other' as const), text: texts }),
					),
					{ maxLength: 12 },
				),
				humanInput: fc.array(fc.record({ title: texts, description: texts, value: texts }), { maxLength: 50 }),
			}),
			{ maxLength: 12 },
		),
	})
	.map((drawn) =>
		session({
			...drawn,
			lastScreenshotUrl: 'https://signed.example/canary-link',
			files: [{ filename: 'a', signedUrl: 'https://signed.example/canary-link' }],
		}),
	);

/** The length of all strings in a value. */
function charactersIn(value: unknown): number {
	if (typeof value === 'string') return value.length;
	if (typeof value !== 'object' || value === null) return 0;
	return Object.values(value).reduce((sum: number, part) => sum + charactersIn(part), 0);
}

it('a snapshot contains a bounded part of any session, without links and variables', () => {
	fc.assert(
		fc.property(sessions, (drawn) => {
			const snapshot = snapshotOf(drawn, T0);
			expect(JSON.stringify(snapshot)).not.toMatch(/canary/);
			expect(charactersIn(snapshot)).toBeLessThan(45_000);
			expect(snapshot.steps.length).toBeLessThanOrEqual(4);
			for (const item of snapshot.question?.items ?? []) expect(item.title.length).toBeLessThanOrEqual(300);
		}),
		{ numRuns: runs(60) },
	);
	// It reads 60 hostile sessions, at most some 300 kB each.
}, 180_000);

it('cuts text between characters and marks the cut', () => {
	const snapshot = snapshotOf(session({ name: '😀'.repeat(200) }), T0);
	expect(snapshot.name).toBe(`${'😀'.repeat(82)}… (236 more characters)`);
	expect(snapshotOf(session({ name: 'short' }), T0).name).toBe('short');
});

it('counts all that is missing of a text of which a part was not read', () => {
	const [title, content] = ['x'.repeat(9_000), 'y'.repeat(30_000)];
	const snapshot = snapshotOf(session({ status: 'humanInput', messages: [assistant(content, title)] }), T0);
	const missing = (text = '') => Number(/… \(([\d,]+) more characters\)$/.exec(text)?.[1]?.replaceAll(',', ''));
	const shown = (text = '', letter = '') => text.split(letter).length - 1;
	const item = snapshot.question?.items[0]?.title;
	expect(missing(item) + shown(item, 'x')).toBe(9_000);
	expect(missing(snapshot.question?.context) + shown(snapshot.question?.context, 'y')).toBe(30_000);
	expect(missing(snapshot.steps[0]?.text) + shown(snapshot.steps[0]?.text, 'y')).toBe(30_000);
});

it('shows again what `auto` showed, and hides of a question that was stored with `always` what it did not', () => {
	const asked = {
		...assistant('Which?', 'Table'),
		humanInput: [{ title: 'Table', description: 'One of: A 12 34, B 5', value: 'A 12 34' }],
	};
	const stored = questionSnapshotAt(session({ messages: [asked, assistant('Next?', 'Name')] }), 0, {
		closedItems: () => new Set(),
		disclosure: () => 'shown',
	});
	const [item] = stored?.items ?? [];
	if (stored === null || item === undefined) throw new Error('not stored');
	const shownBy = (changes: object) =>
		asShownBy('auto', { ...stored, items: [{ ...item, ...changes }] }).items[0]?.value;
	expect(shownBy({})).toBe('A 12 34');
	// No rule reads it again: it is drawn often.
	expect(shownBy({ description: '' })).toBe('A 12 34');
	expect(shownBy({ shownByAuto: false })).toBeNull();
	expect(asShownBy('never', stored).items[0]?.value).toBeNull();
});

it('counts all items of a question and keeps the first 30, with which of them are open', () => {
	const titles = Array.from({ length: 40 }, (_, index) => `Item ${index}`);
	const snapshot = snapshotOf(session({ status: 'humanInput', messages: [assistant('?', ...titles)] }), T0);
	expect(snapshot.question).toMatchObject({ openCount: 40 });
	expect(snapshot.question?.items).toHaveLength(30);
	expect(snapshot.question?.items.every(({ open }) => open)).toBe(true);
});

const storedOf = (...titles: string[]) =>
	snapshotOf(session({ status: 'humanInput', messages: [assistant('Well.', ...titles)] }), T0);

it('asks a stored question as it was asked, and whatever was marked as secret stays so', () => {
	const snapshot = storedOf('Colour?', 'Size?');
	const { question, isWhole } = storedQuestionOf(snapshot) ?? {};
	expect(isWhole).toBe(true);
	expect(question).toMatchObject({ openItems: [0, 1], messageIndex: 0, context: 'Well.' });
	expect(question?.fingerprint).toBe(snapshot.question?.fingerprint);
	const marked = snapshot.question?.items.map((item, at) => ({ ...item, secret: at === 1 })) ?? [];
	const asked = snapshot.question && { ...snapshot.question, items: marked };
	const secret = storedQuestionOf({ ...snapshot, question: asked });
	expect(secret && [0, 1].map((at) => looksSecretAt(secret.question, at))).toEqual([false, true]);
});

it('knows that a stored question is cut, and asks none of which items are missing, or that is answered', () => {
	expect(storedQuestionOf(storedOf(`${'word '.repeat(100)}?`))).toMatchObject({ isWhole: false });
	expect(storedQuestionOf(storedOf(...Array.from({ length: 31 }, (_, at) => `Item ${at}`)))).toBeNull();
	const snapshot = storedOf('Colour?');
	const answered = snapshot.question && { ...snapshot.question, openCount: 0 };
	expect(storedQuestionOf({ ...snapshot, question: answered })).toBeNull();
});
