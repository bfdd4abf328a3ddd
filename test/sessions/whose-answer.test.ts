import { OUTSIDE } from '../../src/screens/question-post.ts';
import { answeredBy, describe, discoveringApp, expect, forCase, it, line, openButtons, REMINDER } from '../kit.ts';

const CHECKING = `ada answered · ${line('delivering', { lastError: 'unavailable' }).slice(2).toLowerCase()}`;

/** Ada has given an answer to a question, the PUT has failed with a 500, and the post has lost its buttons. */
async function settled({ discovered = false, press = '', saves = false, page = '' }) {
	const app = await forCase(discoveringApp({ env: { UNDO_SECONDS: '0', REMIND_AFTER: '5s' } }));
	if (discovered) await app.watchAll();
	const id = discovered ? app.session() : await app.watched();
	app.ask(id, [{ title: 'Shall I buy it?', description: 'yes/no', value: '' }]);
	const post = await app.threadSays(id, 'Shall I buy it?');
	const reminder = await app.threadSays(id, REMINDER);
	app.service.faults.add({ kind: 'error', method: 'PUT', saves, times: 1 });
	await post.press(press || 'Other answer…');
	if (press === '') {
		const form = await app.slack.as('ada').waitForModal((modal) => modal.submitText() !== null);
		await form.choose(0, 'Yes');
		await form.submit();
	}
	await app.until(() => app.service.log.puts(id).length > 0);
	if (page !== '') app.service.sessions.answerAsPage(id, [page]);
	await app.until(() => openButtons(post)?.length === 0);
	return { app, id, posts: [post, reminder] };
}

describe('a question that is settled while nobody knows whether the answer from Slack arrived', () => {
	it.each(['', 'discovered', 'after a restart'])('says so, then that it was answered outside: %s', async (how) => {
		const { app, posts } = await settled({ discovered: how === 'discovered', page: 'No' });
		for (const post of posts) await app.until(() => post.text().includes(CHECKING));
		if (how === 'after a restart') await app.restart();
		for (const post of posts) await app.until(() => post.text().includes(OUTSIDE));
		// The other's value was never shown as hers.
		for (const post of posts) expect([post.text(), ...post.editHistory()].join('\n')).not.toContain('ada: ');
	});

	it('says who answered once that is known', async () => {
		const { app, posts } = await settled({ saves: true });
		for (const post of posts) await app.until(() => answeredBy('ada', 'Yes').test(post.text()));
	});

	it('says what somebody chose until another answer turns out to be the first', async () => {
		const { app, posts } = await settled({ press: 'Yes', page: 'No' });
		for (const post of posts) await app.until(() => post.text().includes('ada: Yes · '));
		for (const post of posts) await app.until(() => post.text().includes(OUTSIDE));
	});
});
