import { answererApp, describe, expect, ONLY, WHO, withApp } from '../../kit.ts';

const it = withApp(answererApp);

describe('who may answer in a channel', () => {
	it('are those whom it names: others read whom to ask where they pressed, and still read', async ({ app }) => {
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

	it('are all again when somebody whom it names empties the list', async ({ app }) => {
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

	it('must be those whom an escalation mentions', async ({ app }) => {
		const { errors } = await app.save({ [WHO]: ['ada', 'grace'], 'Escalate after': '1 h', Mention: ['grace', 'cleo'] });
		expect(Object.values(errors).join()).toContain('cleo is not among the people who may answer here.');
		await app.slack.as('ada').modal()?.close();
		await app.names(['ada', 'grace']);
		expect(await app.save({ 'Escalate after': '1 h', Mention: ['grace'] })).toMatchObject({ outcome: 'updated' });
	});

	it('do not lose themselves unasked: a list without whoever saves it is saved only after they confirmed it', async ({
		app,
	}) => {
		const form = await app.openSettings();
		await form.choose('Remind after', '1 h');
		await form.choose(WHO, ['grace']);
		expect((await app.submit(form)).outcome).toBe('pushed');
		const asked = await app.windowSays('You will not be able to answer here or change this list.');
		expect(asked.text()).toContain('After that, only @grace can change it.');
		expect(asked.text()).toContain('npm run settings -- clear C0AGENTS');
		await asked.close();
		await app.pass(5_000);
		expect(app.changes()).toEqual([]);
		// Back in the form, with all that was chosen.
		expect([form.value('Remind after'), form.value(WHO)]).toEqual(['1 h', ['U0GRACE']]);
		expect((await app.submit(form)).outcome).toBe('pushed');
		const again = await app.windowSays('You will not be able to answer here or change this list.');
		expect((await app.submit(again)).outcome).toBe('updated');
		expect(again.text()).toContain('✅ Saved.');
		expect(await app.told(1)).toMatch(/Remind after: default \(15 min\) → 1 h[\s\S]*Who may answer: .* → only grace/);
		// The form below is closed with it.
		await again.close();
		expect(app.slack.as('ada').modal()).toBeNull();
		const after = await app.openSettings();
		expect(after.text()).toContain('The two lists below do not name you');
		expect([after.value('Remind after'), after.value(WHO)]).toEqual(['1 h', ['U0GRACE']]);
	});

	it('are asked nothing when a list names them, is emptied, or stays as it was without them', async ({ app }) => {
		await app.names(['grace']);
		const { outcome } = await app.save({ 'Remind after': '1 h' });
		expect(outcome).toBe('updated');
		await app.slack.as('ada').modal()?.close();
		expect(await app.save({ [WHO]: ['grace', 'cleo'] }, { who: 'grace' })).toMatchObject({ outcome: 'updated' });
		await app.slack.as('grace').modal()?.close();
		expect(await app.save({ [WHO]: [] }, { who: 'cleo' })).toMatchObject({ outcome: 'updated' });
	});

	it('keep what somebody else saved between the question and its confirmation', async ({ app }) => {
		const form = await app.openSettings();
		await form.choose(WHO, ['grace']);
		await app.submit(form);
		const asked = await app.windowSays('You will not be able to answer here');
		await app.save({ 'Remind after': '2 h' }, { who: 'cleo' });
		await app.told(1);
		expect((await app.submit(asked)).outcome).toBe('updated');
		expect(asked.text()).toContain('@cleo changed this meanwhile: look again.');
		expect([asked.value('Remind after'), asked.value(WHO)]).toEqual(['2 h', []]);
		await asked.choose(WHO, ['grace']);
		expect((await app.submit(asked)).outcome).toBe('pushed');
		const again = await app.windowSays('You will not be able to answer here');
		expect((await app.submit(again)).outcome).toBe('updated');
		expect(await app.told(2)).toContain('only grace');
	});

	it('read at the confirmation why nothing is saved, and come back to their choices', async ({ app }) => {
		const form = await app.openSettings();
		await form.choose(WHO, ['grace']);
		await app.submit(form);
		const asked = await app.windowSays('You will not be able to answer here');
		for (const one of app.slack.state.people) if (one.name === 'grace') one.deleted = true;
		await app.pass(6 * 60_000);
		expect((await app.submit(asked)).outcome).toBe('updated');
		expect(asked.text()).toMatch(/grace.* has a deactivated account[\s\S]*Nothing was saved/);
		await asked.close();
		expect(form.value(WHO)).toEqual(['U0GRACE']);
		await app.pass(5_000);
		expect(app.changes()).toEqual([]);
	});

	it('are read in the settings by others, who see before they try that they cannot change them', async ({ app }) => {
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

	it('do not hold up others who change the reminders when one of them has left', async ({ app }) => {
		await app.names(['grace', 'bob']);
		for (const one of app.slack.state.people) if (one.name === 'bob') one.deleted = true;
		await app.pass(6 * 60_000);
		expect(await app.save({ 'Remind after': '5 min' }, { who: 'cleo' })).toMatchObject({ outcome: 'updated' });
		const change = await app.told(2);
		expect(change).toContain('5 min');
		expect(change).not.toContain('Who may answer');
		await app.slack.as('cleo').modal()?.close();
		await app.names(['grace', 'dan'], 'grace');
		expect(await app.told(3)).toContain('only dan, grace');
	});
});
