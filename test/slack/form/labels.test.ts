import { expect, watchingApp, withApp } from '../../kit.ts';

const it = withApp(watchingApp);

it('shows a title with & and < in the receipt as the agent wrote it, though Slack gives labels back escaped', async ({
	app,
}) => {
	const ada = app.slack.as('ada');
	const id = app.session();
	app.ask(id, ['R&D <budget>?', 'Which colour?']);
	await ada.command('#agents', `/session ${id}`);
	const form = await ada.waitForModal('Which colour?');
	await form.fill('R&D <budget>?', 'a & <b> &amp; 😀');
	await form.fill('Which colour?', 'blue');
	expect((await form.submit()).outcome).toBe('updated');
	await app.until(() => ada.modal()?.text().includes('R&D <budget>?'));
	expect(ada.modal()?.text()).not.toContain('R&amp;D');
	await app.until(() => app.service.log.effectivePuts(id).length === 1);
	expect(JSON.stringify(app.service.log.effectivePuts(id))).toContain('a & <b> &amp; 😀');
});
