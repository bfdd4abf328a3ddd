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
		[
			{ type: 'number_input', is_decimal_allowed: true, max_value: '9' },
			'9.5',
			'Please enter a number less than or equal to 9.',
		],
		[
			{ type: 'number_input', is_decimal_allowed: true, min_value: '1' },
			'0.5',
			'Please enter a number greater than or equal to 1.',
		],
		[{ type: 'plain_text_input', max_length: 3 }, 'four', 'Please enter 3 characters or fewer.'],
		[{ type: 'plain_text_input', min_length: 5 }, 'four', 'Please enter at least 5 characters.'],
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
			element('moment', 'datetimepicker'),
			element('who', 'multi_users_select', { max_selected_items: 2 }),
			element('where', 'conversations_select'),
			element('words', 'plain_text_input'),
		];
		await callSlack(slack, 'views.open', { trigger_id: slack.trigger('ada'), view: inputModal({ blocks }) });
		const modal = await slack.as('ada').waitForModal();
		await expect(modal.fill('answer', 'Yes')).rejects.toThrow('a static_select: choose in it');
		await expect(modal.enter('day', '2026-01-05')).rejects.toThrow('a datepicker: choose in it');
		await expect(modal.choose('words', 'Yes')).rejects.toThrow('a plain_text_input: fill it');
		await expect(modal.choose('day', 'tomorrow')).rejects.toThrow('a date as YYYY-MM-DD, not "tomorrow"');
		for (const day of ['2026-13-45', '2027-02-29']) await expect(modal.choose('day', day)).rejects.toThrow(day);
		await expect(modal.choose('hour', '9')).rejects.toThrow('a time as HH:mm');
		await expect(modal.choose('moment', '2026-01-05')).rejects.toThrow('seconds since the epoch');
		await expect(modal.choose('who', ['grace', 'nobody'])).rejects.toThrow('nobody called nobody');
		await expect(modal.choose('who', ['ada', 'grace', 'gus'])).rejects.toThrow('3 cannot be chosen: the limit is 2');
		await expect(modal.choose('where', '#nowhere')).rejects.toThrow('no channel #nowhere');
		expect(modal.fields().flatMap((one) => one.value ?? [])).toEqual([]);
		expect(modal.text()).not.toContain('> ');
		await modal.choose('who', ['grace', 'U0GUS']);
		await modal.choose('where', '#general');
		expect([modal.value('who'), modal.value('where')]).toEqual([['U0GRACE', 'U0GUS'], 'C0GENERAL']);
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
			{ ...input('papers', { type: 'file_input' }), optional: true },
			{ ...input('more', { type: 'file_input' }), optional: true },
		];
		const view = inputModal({ blocks });
		await callSlack(slack, 'views.open', { trigger_id: slack.trigger('ada'), view });
		const modal = await slack.as('ada').waitForModal('( ) Yes');
		await expect(modal.choose('radio', 'Maybe')).rejects.toThrow('Options: Yes | No');
		await modal.choose('radio', 'Yes');
		await modal.choose('boxes', ['Yes', 'No']);
		await modal.choose('day', '2026-01-05');
		await modal.choose('who', '@grace');
		await modal.choose('papers', ['plan.pdf']);
		expect(modal.fields().map((one) => one.value)).toEqual([
			'Yes',
			['Yes', 'No'],
			'2026-01-05',
			'U0GRACE',
			['plan.pdf'],
			[],
		]);
		await modal.submit();
		expect(running.heard[0]).toMatchObject({
			view: {
				state: {
					values: {
						radio: { value: { type: 'radio_buttons', selected_option: { value: 'yes' } } },
						boxes: { value: { type: 'checkboxes', selected_options: [{ value: 'yes' }, { value: 'no' }] } },
						day: { value: { type: 'datepicker', selected_date: '2026-01-05' } },
						who: { value: { type: 'users_select', selected_user: 'U0GRACE' } },
						papers: { value: { type: 'file_input', files: [{ id: expect.any(String), name: 'plan.pdf' }] } },
						more: { value: { type: 'file_input', files: [] } },
					},
				},
			},
		});
	});
});
