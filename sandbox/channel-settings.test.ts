import { afterAll, beforeAll, expect, it } from 'vitest';
import { type Harness, openHarness, type } from './harness.ts';
import { seriousFindings } from './serious-findings.ts';

let harness: Harness;
beforeAll(async () => {
	harness = await openHarness();
});
afterAll(() => harness?.close());

it('lets a person set the reminders of a channel, see an error at its field, mend it and save', async () => {
	const page = await harness.window('ada', { channel: 'C0AGENTS' });
	await type(page, '/session settings');
	const dialog = page.getByRole('dialog', { name: 'Channel settings' });
	const days = dialog.getByRole('group', { name: 'Quiet hours' });
	await days.getByRole('checkbox', { name: 'Sun' }).check();
	const remind = dialog.getByRole('combobox', { name: 'Remind after' });
	expect(await remind.inputValue()).toMatch(/^Default/);
	await remind.click();
	await remind.fill('30');
	await page.keyboard.press('Enter');
	const zone = dialog.getByRole('textbox', { name: 'Time zone' });
	await zone.fill('Berlin');
	await dialog
		.getByRole('group', { name: 'Mention', exact: false })
		.first()
		.getByRole('checkbox', { name: 'Grace Hopper' })
		.check();
	expect(await seriousFindings(page)).toEqual([]);
	await dialog.getByRole('button', { name: 'Save' }).click();
	await dialog.getByText('I do not know this time zone.').waitFor();
	expect(await remind.inputValue()).toBe('30 min');
	await zone.fill('Europe/Berlin');
	await dialog.getByRole('button', { name: 'Save' }).click();
	await dialog.getByText('Saved. The channel is told what changed.').waitFor();
	await dialog.getByRole('button', { name: 'Close' }).last().click();
	await page.getByText('changed the reminders of this channel').first().waitFor();
	const posts = harness.sandbox.slack.state.messages.map(({ text }) => text).join('\n');
	expect(posts).toContain('Quiet hours*: none → Sun 20:00 to 08:00 (Europe/Berlin)');
	expect(posts).toContain('Mention*: nobody → 1 person');
	expect(harness.complaints).toEqual([]);
	expect(harness.problems).toEqual([]);
	expect(harness.sandbox.slack.violations()).toEqual([]);
});
