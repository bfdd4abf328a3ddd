import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openSession } from '../support/open-session.ts';
import { expectNothingWrong } from '../watching/harness.ts';
import { handOverApp } from './hand-over-harness.ts';

/* What Slack does not tell, tells late or tells no more: who is in a private channel, and whether it is private. */

let app: Awaited<ReturnType<typeof handOverApp>>;

beforeEach(async () => {
	app = await handOverApp({ PERSON_BURST: '2', PERSON_READS_PER_MINUTE: '2' });
	await app.slack.invite('#secret', 'bob');
});
afterEach(async () => {
	app.slack.faults.clear();
	expectNothingWrong(app);
	await app[Symbol.asyncDispose]();
});

/** Resolves when the press or typing is handled. */
async function handled(what: string, act: () => Promise<unknown>): Promise<void> {
	const count = () => app.log.filter((line) => line.includes('"handled"') && line.includes(`"${what}"`)).length;
	const before = count();
	await act();
	await app.until(() => count() > before);
}

describe('a text that is ticked as secret', () => {
	it.each(['users.conversations', 'conversations.info'])(
		'is no draft any more, also while %s fails',
		async (method) => {
			const [doors = ''] = await app.askedIn('#secret', ['Doors'], ['Which door?']);
			if (method === 'conversations.info') await app.restart();
			const form = await openSession(app.app, doors, 'bob', '#secret');
			await handled('form.field', () => form.fill(0, 'behind-the-ivy-77'));
			const lift = app.slack.faults.add({ method, error: 'internal_error' });
			await app.clock.advance(6 * 60_000);
			const hide = ['Hide it, and remove it after delivery'];
			await handled('form.secret', () => form.choose('Keep this answer secret', hide));
			lift();
			await app.pass(10_000);
			const again = await openSession(app.app, doors, 'bob', '#secret');
			expect(again.value(0) ?? '').toBe('');
			expect(again.text()).not.toContain('ivy');
		},
	);
});
