import { afterEach, describe, expect, it } from 'vitest';
import { type AnswererApp, answererApp, ONLY, WHO } from './answerers-harness.ts';
import { expectNothingWrong } from './harness.ts';

let app: AnswererApp;
const start = async (...options: Parameters<typeof answererApp>) => {
	app = await answererApp(...options);
};
afterEach(async () => {
	app.slack.faults.clear();
	expectNothingWrong(app);
	await app[Symbol.asyncDispose]();
});

describe('who may answer in a channel', () => {
	it('are those whom it names: others read whom to ask where they pressed, and still read', async () => {
		await start();
		await app.names(['ada', 'grace']);
		const { id, post } = await app.asked();
		expect(post.text()).toContain(ONLY('ada and grace'));
		await app.press(post, 'cleo', 'LH 1173');
		await app.refused('cleo', 'Only ada and grace may answer.');
		await app.press(post, 'cleo', 'Other answer…');
		const modal = await app.slack.as('cleo').waitForModal('Only ada and grace may answer.');
		expect(modal.fields()).toEqual([]);
		expect(modal.text()).toContain('Which flight?');
		expect(app.service.log.puts(id)).toEqual([]);
		await app.press(post, 'grace', 'LH 1173');
		await app.until(() => app.service.log.effectivePuts(id).length === 1);
	});

	it('are all again when somebody whom it names empties the list', async () => {
		await start();
		await app.names(['ada', 'grace']);
		const { id, post } = await app.asked();
		const { errors } = await app.save({ [WHO]: ['cleo'] }, { who: 'cleo' });
		expect(JSON.stringify(errors)).toContain('This list did not name you, so you cannot change it');
		await app.slack.as('cleo').modal()?.close();
		await app.names([], 'grace');
		await app.until(() => !post.text().includes('may answer'));
		await app.press(post, 'cleo', 'LH 1173');
		await app.until(() => app.service.log.effectivePuts(id).length === 1);
	});

	it('must be those whom an escalation mentions', async () => {
		await start();
		const { errors } = await app.save({ [WHO]: ['ada', 'grace'], 'Escalate after': '1 h', Mention: ['grace', 'cleo'] });
		expect(Object.values(errors).join()).toContain('cleo is not among the people who may answer here.');
		await app.slack.as('ada').modal()?.close();
		await app.names(['ada', 'grace']);
		expect(await app.save({ 'Escalate after': '1 h', Mention: ['grace'] })).toMatchObject({ outcome: 'updated' });
	});

	it('are told when they take themselves off the list', async () => {
		await start();
		const { modal } = await app.save({ [WHO]: ['grace'] });
		expect(modal.text()).toContain('does not name you, so you may neither answer nor change it.');
	});

	it('are read in the settings by others, who see before they try that they cannot change them', async () => {
		await start();
		const note = 'The two lists below do not name you';
		expect((await app.openSettings({ who: 'cleo' })).text()).not.toContain(note);
		await app.names(['ada', 'grace']);
		expect((await app.openSettings({ who: 'grace' })).text()).not.toContain(note);
		const modal = await app.openSettings({ who: 'cleo' });
		expect(modal.text()).toContain(note);
		const { updates } = modal.view();
		await modal.choose(WHO, []);
		await app.until(() => modal.view().updates !== updates);
		expect(modal.text()).toContain(note);
	});

	it('do not hold up others who change the reminders when one of them has left', async () => {
		await start();
		await app.names(['grace', 'bob']);
		for (const one of app.slack.state.people) if (one.name === 'bob') one.deleted = true;
		await app.pass(6 * 60_000);
		expect(await app.save({ 'Remind after': '5 min' }, { who: 'cleo' })).toMatchObject({ outcome: 'updated' });
		expect(await app.told(2)).toContain('5 min');
		await app.slack.as('cleo').modal()?.close();
		await app.names(['grace', 'dan'], 'grace');
		expect(await app.told(3)).toContain('only dan, grace');
	});
});
