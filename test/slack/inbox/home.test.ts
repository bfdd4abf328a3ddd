import { it } from 'vitest';
import { expectNothingWrong, watchingApp } from '../watching/harness.ts';

it('shows the questions that wait, and follows them without a press', async () => {
	await using app = await watchingApp();
	const { slack } = app;
	const id = await app.watched({ name: 'Order chairs' });
	const ada = slack.as('ada');
	const says = (words: string) =>
		app.until(
			() => ada.home()?.text().includes(words),
			() => ada.home()?.text() ?? 'no Home',
		);
	await ada.openApp('home');
	await says('No question waits for you.');
	app.ask(id, ['Which colour?']);
	await says('1 question waits for you');
	await ada.home()?.press('Answer');
	const modal = await app.until(() => ada.modal());
	await app.until(() => ada.modal()?.text().includes('Which colour?'));
	await app.pass(4000);
	await modal.fill(0, 'grey');
	await modal.submit();
	await says('No question waits for you.');
	await app.pass(15000);
	expectNothingWrong(app);
});
