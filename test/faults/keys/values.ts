import { sql } from 'kysely';
import type { Store } from '../../../src/stores.ts';
import { CONNECTIONS, inTurns, item, submission, valuesOf } from '../../store/support.ts';
import type { Random } from '../../support/random.ts';

const MARK = 'kept under the former key';

/**
 * Stores as many answers, a fourth of them with a secret, and drafts. The answers are for another session service, so that
 * the program leaves them alone.
 */
export async function fill(store: Store, count: number, random: Random) {
	const texts = Array.from({ length: count }, (_, index) => `${MARK} ${index} ${'x'.repeat(random.whole(0, 800))}`);
	const answers = texts.map((text, index) => {
		const secret = index % 4 === 0 ? [item(`${MARK}, secret ${index}`, { secret: true })] : [];
		const times = { acceptedAt: Date.now(), giveUpAt: Date.now() + 86_400_000 };
		return submission({ sessionId: `kept-${index}`, items: [item(text), ...secret], ...times });
	});
	const width = store.db.dialect === 'sqlite' ? 200 : CONNECTIONS;
	await inTurns(answers, width, (answer) => store.answers.accept(answer));
	// Rows grow and move, as during a delivery: SQLite keeps copies of them in unused parts of pages.
	await inTurns(answers, width, ({ id }) => {
		const text = 'x'.repeat(random.whole(0, 600));
		return store.db.writeOne((trx) => sql`update answers set last_error = ${text} where id = ${id}`.execute(trx));
	});
	const drafts = answers.map(({ id, person, question, fingerprint }, index) => {
		const values = { 0: `${texts[index]}, not sent` };
		return { formId: `form-${id}`, person, question, fingerprint, shownHash: null, values, updatedAt: Date.now() };
	});
	await inTurns(drafts, width, (draft) => store.drafts.save(draft));
	return {
		count: 2 * count,
		/** How many of them cannot be read, or are not what they were. */
		async lost(from: Store): Promise<number> {
			const read = await inTurns(answers, CONNECTIONS, async ({ id, items }) => {
				const values = items.map(({ value }) => value);
				return String(valuesOf(await from.answers.get(id))) === String(values);
			});
			const typed = await inTurns(drafts, CONNECTIONS, async ({ formId, values }) => {
				return (await from.drafts.get(formId))?.values[0] === values[0];
			});
			return [...read, ...typed].filter((isSame) => !isSame).length;
		},
	};
}
