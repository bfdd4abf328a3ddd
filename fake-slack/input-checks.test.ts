import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { startHearingApp } from './bolt-app.ts';
import { createFakeSlack, type FakeSlack } from './fake-slack.ts';
import type { Json } from './json.ts';
import { callSlack, inputModal } from './test-calls.ts';

let slack: FakeSlack;
let running: Awaited<ReturnType<typeof startHearingApp>>;

beforeEach(async () => {
	slack = await createFakeSlack();
	running = await startHearingApp(slack);
});
afterEach(async () => {
	await running.stop();
	await slack.close();
});

const plain = (text: string) => ({ type: 'plain_text', text });
const post = (args: Json) => callSlack(slack, 'chat.postMessage', { channel: 'C0AGENTS', text: 'card', ...args });

describe('what Slack checks before it sends a modal', () => {
	const field = (element: Json, optional = false) => ({
		type: 'input',
		block_id: 'field',
		optional,
		label: plain('Field'),
		element: { action_id: 'value', ...element },
	});

	it.each([
		[{ type: 'email_text_input' }, 'ada', 'Please enter a valid email address.'],
		[{ type: 'url_text_input' }, 'example', 'Please enter a valid URL.'],
		[{ type: 'url_text_input' }, 'ftp://example.com', 'Please enter a valid URL.'],
		[{ type: 'number_input', is_decimal_allowed: false }, 'two', 'Please enter a number.'],
		[{ type: 'number_input', is_decimal_allowed: false }, '2.5', 'Please enter a whole number.'],
		[{ type: 'plain_text_input', max_length: 3 }, 'four', 'Please enter 3 characters or fewer.'],
	])('%j refuses %s', async (element, value, error) => {
		const view = inputModal({ blocks: [field(element, true)] });
		await callSlack(slack, 'views.open', { trigger_id: slack.trigger('ada'), view });
		const modal = await slack.as('ada').waitForModal();
		await modal.fill('Field', value);
		expect(await modal.submit()).toMatchObject({ outcome: 'fieldErrors', errors: { Field: error } });
		expect(running.heard).toEqual([]);
	});

	it('accepts an empty optional field', async () => {
		const view = inputModal({ blocks: [field({ type: 'number_input', is_decimal_allowed: false }, true)] });
		await callSlack(slack, 'views.open', { trigger_id: slack.trigger('ada'), view });
		await slack.as('ada').modal()?.submit();
		expect(running.heard).toMatchObject([
			{ view: { state: { values: { field: { value: { type: 'number_input', value: null } } } } } },
		]);
	});

	it('names the team of a person of another organisation, and the app’s own in the view and where they press', async () => {
		await callSlack(slack, 'views.open', { trigger_id: slack.trigger('eve'), view: inputModal() });
		const modal = await slack.as('eve').waitForModal();
		await modal.fill('Answer', 'hello');
		await modal.submit();
		expect(running.heard[0]).toMatchObject({
			user: { id: 'U0EVE', team_id: 'T0OTHER' },
			team: { id: 'T0OTHER' },
			view: { app_installed_team_id: 'T0ACME' },
		});
		const button = { type: 'button', action_id: 'go', text: plain('Go') };
		await post({ channel: 'C0SHARED', blocks: [{ type: 'actions', elements: [button] }] });
		await (await slack.as('eve').waitForMessage('#shared', 'Go')).press('Go');
		expect(running.heard[1]).toMatchObject({ user: { team_id: 'T0OTHER' }, team: { id: 'T0ACME' } });
	});

	it('lets nobody enter a value that Slack’s client would refuse', async () => {
		const options = [{ text: plain('Yes'), value: 'yes' }];
		const element = (id: string, type: string, extra: Json = {}) => ({
			...field({ type, ...extra }, true),
			block_id: id,
			label: plain(id),
		});
		const blocks = [
			element('answer', 'static_select', { options }),
			element('boxes', 'checkboxes', { options }),
			element('day', 'datepicker'),
			element('hour', 'timepicker'),
			element('who', 'multi_users_select', { max_selected_items: 2 }),
			element('words', 'plain_text_input'),
		];
		await callSlack(slack, 'views.open', { trigger_id: slack.trigger('ada'), view: inputModal({ blocks }) });
		const modal = await slack.as('ada').waitForModal();
		await expect(modal.fill('answer', 'Yes')).rejects.toThrow('a static_select: choose in it');
		await expect(modal.fill('day', '2026-01-05')).rejects.toThrow('a datepicker: choose in it');
		await expect(modal.choose('words', 'Yes')).rejects.toThrow('a plain_text_input: fill it');
		await expect(modal.choose('day', 'tomorrow')).rejects.toThrow('a date as YYYY-MM-DD, not "tomorrow"');
		for (const day of ['2026-13-45', '2027-02-29']) await expect(modal.choose('day', day)).rejects.toThrow(day);
		await expect(modal.choose('hour', '9')).rejects.toThrow('a time as HH:mm');
		await expect(modal.choose('who', ['grace', 'nobody'])).rejects.toThrow('nobody called nobody');
		await expect(modal.choose('who', ['ada', 'grace', 'gus'])).rejects.toThrow('3 cannot be chosen: the limit is 2');
		expect(modal.fields().flatMap((one) => one.value ?? [])).toEqual([]);
		expect(modal.text()).not.toContain('> ');
		await modal.choose('who', ['grace', 'U0GUS']);
		expect(modal.value('who')).toEqual(['U0GRACE', 'U0GUS']);
		await expect(slack.as('ada').command('#agents', 'hello')).rejects.toThrow('"hello" is a message');
	});

	it('sends choices as Slack does', async () => {
		const options = ['Yes', 'No'].map((name) => ({ text: plain(name), value: name.toLowerCase() }));
		const input = (id: string, element: Json) => ({
			type: 'input',
			block_id: id,
			label: plain(id),
			element: { action_id: 'value', ...element },
		});
		const blocks = [
			input('radio', { type: 'radio_buttons', options }),
			input('boxes', { type: 'checkboxes', options }),
			input('day', { type: 'datepicker' }),
			input('who', { type: 'users_select' }),
		];
		const view = inputModal({ blocks });
		await callSlack(slack, 'views.open', { trigger_id: slack.trigger('ada'), view });
		const modal = await slack.as('ada').waitForModal('( ) Yes');
		await expect(modal.choose('radio', 'Maybe')).rejects.toThrow('Options: Yes | No');
		await modal.choose('radio', 'Yes');
		await modal.choose('boxes', ['Yes', 'No']);
		await modal.choose('day', '2026-01-05');
		await modal.choose('who', '@grace');
		expect(modal.fields().map((one) => one.value)).toEqual(['Yes', ['Yes', 'No'], '2026-01-05', 'U0GRACE']);
		await modal.submit();
		expect(running.heard[0]).toMatchObject({
			view: {
				state: {
					values: {
						radio: { value: { type: 'radio_buttons', selected_option: { value: 'yes' } } },
						boxes: { value: { type: 'checkboxes', selected_options: [{ value: 'yes' }, { value: 'no' }] } },
						day: { value: { type: 'datepicker', selected_date: '2026-01-05' } },
						who: { value: { type: 'users_select', selected_user: 'U0GRACE' } },
					},
				},
			},
		});
	});
});
