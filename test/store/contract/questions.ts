import { describe, expect, it } from 'vitest';
import type { QuestionDigest } from '../../../src/domain/session.ts';
import type { FoundChange } from '../../support/found.ts';
import type { Subject } from '../contract.ts';
import { removeEnded, storeActs, submission, T0 } from '../support.ts';
import { KEY, news, read, watchActs } from './watch-acts.ts';

const QUESTION: QuestionDigest = { messageIndex: 0, fingerprint: 'which', shownHash: 'text', answered: [], open: [0] };
const OTHER: QuestionDigest = { ...QUESTION, messageIndex: 2, fingerprint: 'other' };

const asked = (question = QUESTION): FoundChange => ({ kind: 'asked', question, settled: null });
const settled = (how: 'answered' | 'closed'): FoundChange => ({ kind: 'settled', how });

/** The questions of watched sessions, as reads change them. */
export function describeQuestions(subject: Subject): void {
	const { accepted, moved, setRows } = storeActs(subject);
	const { store, added, recorded, questionRows: rows } = watchActs(subject);

	/** Records a read that began at `readAt`, and returns all stored questions. */
	async function readWith(questions: readonly FoundChange[], readAt = T0) {
		const update = read({ lastReadAt: readAt, nextRead: { at: readAt, by: readAt }, questions });
		await recorded([], update, { takenAt: readAt });
		return rows();
	}

	async function answered(deliveredAt: number) {
		const question = { ...KEY, messageIndex: 0 };
		const { fingerprint } = QUESTION;
		const answer = submission({ question, fingerprint, formReadAt: deliveredAt });
		const { id } = await accepted(answer);
		await moved(id, 'delivering', 'delivered');
		await setRows('answers', { deliveredAt }, { id });
		return id;
	}

	describe('questions', () => {
		it('are numbered in the order of asking, one open at a time, keep when they were found, and move without another row', async () => {
			await added();
			await readWith([asked()]);
			const found = await readWith([settled('closed'), asked(OTHER)], T0 + 1_000);
			expect(found).toMatchObject([
				{
					number: 1,
					fingerprint: 'which',
					askedAt: T0,
					settledAt: T0 + 1_000,
					settledHow: 'closed',
					answerId: null,
				},
				{ number: 2, fingerprint: 'other', askedAt: T0 + 1_000, settledAt: null },
			]);
			const moved = { ...OTHER, messageIndex: 4 };
			const [, last, ...more] = await readWith([{ kind: 'updated', question: moved }], T0 + 2_000);
			expect([last, more]).toMatchObject([{ messageIndex: 4, askedAt: T0 + 1_000 }, []]);
		});

		it('name our answer that settled them, not one that came before they were asked', async () => {
			await added();
			await answered(T0 + 5);
			await readWith([asked()], T0 + 10);
			const first = (await readWith([settled('answered')], T0 + 20)).at(-1);
			expect(first).toMatchObject({ settledHow: 'answered', answerId: null });
			await readWith([asked()], T0 + 30);
			const id = await answered(T0 + 35);
			expect((await readWith([settled('answered')], T0 + 40)).at(-1)).toMatchObject({ answerId: id });
		});

		it('that were answered between two reads name our answer too', async () => {
			await added();
			await readWith([], T0 + 10);
			const id = await answered(T0 + 15);
			const found = await readWith([settled('answered')], T0 + 20);
			expect(found).toMatchObject([{ askedAt: 0, settledAt: T0 + 20, settledHow: 'answered', answerId: id }]);
			const other = await readWith([{ kind: 'asked', question: OTHER, settled: 'answered' }], T0 + 30);
			expect(other.at(-1)).toMatchObject({ askedAt: T0 + 30, settledAt: T0 + 30, answerId: null });
		});

		it('are settled with the last watch of their session, and removed with what remains of it', async () => {
			const watch = await added();
			const second = await added({ channelId: 'C2' });
			await readWith([asked()]);
			await recorded([news(watch, { end: 'noChange' })]);
			expect(await rows()).toMatchObject([{ settledAt: null }]);
			await recorded([news(second, { end: 'noChange' })]);
			expect(await rows()).toMatchObject([{ settledHow: 'unwatched' }]);
			await removeEnded(store().db, T0);
			expect(await rows()).toHaveLength(1);
			await removeEnded(store().db, T0 + 1);
			expect(await rows()).toEqual([]);
		});
	});
}
