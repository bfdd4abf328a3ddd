import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createFakeSlack, type FakeSlack } from './fake-slack.ts';
import type { Json } from './json.ts';
import { createManualClock, type ManualClock } from './manual-clock.ts';
import { callSlack, inputModal, triggerInside } from './test-calls.ts';
import { viewForApp } from './views.ts';

let slack: FakeSlack;
let clock: ManualClock;

beforeEach(async () => {
	clock = createManualClock();
	slack = await createFakeSlack({ clock });
});
afterEach(() => slack.close());

async function open(view: Json = inputModal(), person = 'ada'): Promise<Json> {
	const answer = await callSlack(slack, 'views.open', { trigger_id: slack.trigger(person), view });
	expect(answer).toMatchObject({ ok: true });
	return answer.view as Json;
}
const update = (args: Json) => callSlack(slack, 'views.update', args);

describe('triggers', () => {
	it('accepts a trigger once, for three seconds', async () => {
		const trigger = slack.trigger('ada');
		await clock.advance(3000);
		const args = { trigger_id: trigger, view: inputModal() };
		expect(await callSlack(slack, 'views.open', args)).toMatchObject({ ok: true });
		expect(await callSlack(slack, 'views.open', args)).toMatchObject({ error: 'exchanged_trigger_id' });
		const late = slack.trigger('ada');
		await clock.advance(3001);
		const answer = await callSlack(slack, 'views.open', { trigger_id: late, view: inputModal() });
		expect(answer).toMatchObject({ error: 'expired_trigger_id' });
		const unknown = await callSlack(slack, 'views.open', { trigger_id: '1.2.3', view: inputModal() });
		expect(unknown).toMatchObject({ error: 'invalid_trigger_id' });
	});

	it('keeps a trigger when Slack refuses its view', async () => {
		const trigger = slack.trigger('ada');
		const bad = inputModal({ title: 'x'.repeat(25) });
		const refused = await callSlack(slack, 'views.open', { trigger_id: trigger, view: bad });
		expect(refused).toMatchObject({ error: 'invalid_arguments' });
		expect(slack.violations()).toHaveLength(1);
		const answer = await callSlack(slack, 'views.open', { trigger_id: trigger, view: inputModal() });
		expect(answer).toMatchObject({ ok: true });
	});

	it('accepts a trigger once in views.push too', async () => {
		await open();
		const args = { trigger_id: triggerInside(slack), view: inputModal() };
		expect(await callSlack(slack, 'views.push', args)).toMatchObject({ ok: true });
		expect(await callSlack(slack, 'views.push', args)).toMatchObject({ error: 'exchanged_trigger_id' });
	});

	it('opens the modal in the window that the trigger came from', async () => {
		await open();
		expect(slack.as('ada').modal()?.title()).toBe('Title');
		expect(slack.as('ada', 'second').modal()).toBeNull();
		expect(slack.as('grace').modal()).toBeNull();
		const second = slack.trigger('ada', { window: 'second' });
		await callSlack(slack, 'views.open', { trigger_id: second, view: inputModal({ title: 'Second' }) });
		expect(slack.as('ada').modal()?.title()).toBe('Title');
		expect(slack.as('ada', 'second').modal()?.title()).toBe('Second');
	});
});

describe('updates', () => {
	it('names the view by its id or by its external_id, not by both', async () => {
		const view = await open(inputModal({ extra: { external_id: 'mine' } }));
		const next = inputModal({ title: 'Two', extra: { external_id: 'mine' } });
		const both = await update({ view_id: view.id, external_id: 'mine', view: next });
		expect(both).toMatchObject({ error: 'invalid_arguments' });
		const none = await update({ view: next });
		expect(none).toMatchObject({ error: 'invalid_arguments' });
		expect(await update({ external_id: 'mine', view: next })).toMatchObject({ ok: true });
		expect(await update({ external_id: 'other', view: next })).toMatchObject({ error: 'not_found' });
		expect(slack.as('ada').modal()?.title()).toBe('Two');
		await slack.as('ada').modal()?.close();
		expect(await update({ view_id: view.id, view: next })).toMatchObject({ error: 'not_found' });
	});

	it('changes the hash with an update and refuses an older one', async () => {
		const view = await open();
		const first = await update({ view_id: view.id, hash: view.hash, view: inputModal({ title: 'Two' }) });
		expect(first).toMatchObject({ ok: true });
		expect((first.view as Json).hash).not.toBe(view.hash);
		const stale = await update({ view_id: view.id, hash: view.hash, view: inputModal({ title: 'Three' }) });
		expect(stale).toMatchObject({ error: 'hash_conflict' });
		const number = await update({ view_id: view.id, hash: 1, view: inputModal({ title: 'Three' }) });
		expect(number).toMatchObject({ error: 'hash_conflict' });
		expect(slack.as('ada').modal()?.title()).toBe('Two');
	});

	it('keeps a modal a modal, and a Home tab a Home tab', async () => {
		const home = { type: 'home', blocks: [{ type: 'divider' }] };
		const refused = {
			error: 'invalid_arguments',
			response_metadata: { messages: ['[ERROR] unsupported type: home [json-pointer:/view/type]'] },
		};
		const opened = await callSlack(slack, 'views.open', { trigger_id: slack.trigger('ada'), view: home });
		expect(opened).toMatchObject(refused);
		const view = await open();
		const pushed = await callSlack(slack, 'views.push', { trigger_id: triggerInside(slack), view: home });
		expect(pushed).toMatchObject(refused);
		expect(await update({ view_id: view.id, view: home })).toMatchObject(refused);
		const published = await callSlack(slack, 'views.publish', { user_id: 'U0ADA', view: home });
		const id = (published.view as Json).id;
		expect(await update({ view_id: id, view: inputModal() })).toMatchObject({ error: 'invalid_arguments' });
		expect(await update({ view_id: id, view: home })).toMatchObject({ ok: true });
		expect(slack.as('ada').modal()?.title()).toBe('Title');
		expect(slack.violations()).toHaveLength(4);
	});

	it('refuses an external_id that another view has', async () => {
		await open(inputModal({ extra: { external_id: 'one' } }));
		const args = { trigger_id: slack.trigger('grace'), view: inputModal({ extra: { external_id: 'one' } }) };
		expect(await callSlack(slack, 'views.open', args)).toMatchObject({ error: 'duplicate_external_id' });
		const other = await open(inputModal({ extra: { external_id: 'two' } }), 'grace');
		const taken = await update({ view_id: other.id, view: inputModal({ extra: { external_id: 'one' } }) });
		expect(taken).toMatchObject({ error: 'duplicate_external_id' });
	});

	it('keeps what was typed and ignores a new initial value while block_id and action_id stay the same', async () => {
		const view = await open(inputModal({ initial: 'first' }));
		const modal = await slack.as('ada').waitForModal();
		await update({ view_id: view.id, view: inputModal({ initial: 'second' }) });
		expect(modal.value('Answer')).toBe('first');
		await modal.fill('Answer', 'typed');
		const answer = await update({ view_id: view.id, view: inputModal({ initial: 'third' }) });
		expect(modal.value('Answer')).toBe('typed');
		// Typed values appear in interactions only.
		expect((answer.view as Json).state).toEqual({ values: {} });
		await update({ view_id: view.id, view: inputModal({ initial: 'fourth', id: 'other' }) });
		expect(modal.value('Answer')).toBe('fourth');
	});

	it('drops a kept choice that is no longer offered', async () => {
		const text = (words: string) => ({ type: 'plain_text', text: words });
		const select = (...names: string[]) =>
			inputModal({
				blocks: [
					{
						type: 'input',
						block_id: 'pick',
						label: text('Pick'),
						element: {
							type: 'static_select',
							action_id: 'one',
							options: names.map((name) => ({ text: text(name), value: name })),
						},
					},
				],
			});
		const view = await open(select('red', 'blue'));
		const modal = await slack.as('ada').waitForModal();
		await modal.choose('Pick', 'red');
		await update({ view_id: view.id, view: select('red', 'green') });
		expect(modal.value('Pick')).toBe('red');
		await update({ view_id: view.id, view: select('green', 'blue') });
		expect(modal.value('Pick')).toBeNull();
	});

	it('starts anew where another type of element takes the ids, and says nothing of what nobody chose', async () => {
		const label = { type: 'plain_text', text: 'Answer' };
		const field = (element: Json) =>
			inputModal({
				blocks: [{ type: 'input', block_id: 'answer', label, element: { action_id: 'value', ...element } }],
			});
		const view = await open();
		const modal = await slack.as('ada').waitForModal();
		await modal.fill('Answer', 'typed');
		await update({ view_id: view.id, view: field({ type: 'datepicker', initial_date: '2026-01-05' }) });
		expect(modal.value('Answer')).toBe('2026-01-05');
		const stored = slack.state.views[String(view.id)];
		if (!stored) throw new Error('The view is gone.');
		expect((viewForApp(slack, stored, true).state as Json).values).toEqual({
			answer: { value: { type: 'datepicker', selected_date: null } },
		});
	});

	it('omits untouched initial values from the state after an update', async () => {
		const view = await open(inputModal({ initial: 'first' }));
		const stored = slack.state.views[String(view.id)];
		if (!stored) throw new Error('The view is gone.');
		const values = () => (viewForApp(slack, stored, true).state as Json).values;
		expect(values()).toEqual({ answer: { value: { type: 'plain_text_input', value: 'first' } } });
		await update({ view_id: view.id, view: inputModal({ initial: 'second', id: 'other' }) });
		expect(values()).toEqual({});
		await slack.as('ada').modal()?.fill('Answer', 'typed');
		const typed = { other: { value: { type: 'plain_text_input', value: 'typed' } } };
		expect(values()).toEqual(typed);
		await update({ view_id: view.id, view: inputModal({ initial: 'third', id: 'other' }) });
		expect(values()).toEqual(typed);
	});

	it('submits untouched ticks as none after an update, although the client still shows them', async () => {
		const options = ['a', 'b'].map((value) => ({ text: { type: 'plain_text', text: value }, value }));
		const label = { type: 'plain_text', text: 'Answer' };
		const boxes = (type: string) => {
			const element = { type, action_id: 'value', options, initial_options: [options[0]] };
			return inputModal({ blocks: [{ type: 'input', block_id: type, label, optional: true, element }] });
		};
		const view = await open(boxes('checkboxes'));
		const values = () => {
			const stored = slack.state.views[String(view.id)];
			if (!stored) throw new Error('The view is gone.');
			return (viewForApp(slack, stored, true).state as Json).values;
		};
		expect(values()).toEqual({ checkboxes: { value: { type: 'checkboxes', selected_options: [options[0]] } } });
		for (const type of ['multi_static_select', 'checkboxes']) {
			await update({ view_id: view.id, view: boxes(type) });
			expect(slack.as('ada').modal()?.value('Answer')).toEqual(['a']);
			expect(values()).toEqual({ [type]: { value: { type, selected_options: [] } } });
		}
		const people = { type: 'multi_users_select', action_id: 'value', initial_users: ['U0GRACE'] };
		const block = { type: 'input', block_id: 'people', label, optional: true, element: people };
		await update({ view_id: view.id, view: inputModal({ blocks: [block] }) });
		expect(values()).toEqual({ people: { value: { type: 'multi_users_select', selected_users: [] } } });
		await update({ view_id: view.id, view: boxes('checkboxes') });
		await slack.as('ada').modal()?.choose('Answer', ['a', 'b']);
		await update({ view_id: view.id, view: boxes('checkboxes') });
		expect(values()).toEqual({ checkboxes: { value: { type: 'checkboxes', selected_options: options } } });
	});

	it('fails a view as a whole on an image that Slack cannot download', async () => {
		slack.settings.undownloadable = () => true;
		const image = { type: 'image', image_url: 'https://files.test/gone.png', alt_text: 'screen' };
		const view = inputModal({ blocks: [image] });
		const args = { trigger_id: slack.trigger('ada'), view };
		const answer = await callSlack(slack, 'views.open', args);
		expect(JSON.stringify(answer)).toContain('downloading image failed [json-pointer:/blocks/0/image_url]');
		expect(slack.as('ada').modal()).toBeNull();
	});
});

describe('a client that is reloaded', () => {
	it('removes the modals of a reloaded client from the screen, and keeps them for updates and external_id', async () => {
		const ada = slack.as('ada');
		const view = await open(inputModal({ extra: { external_id: 'one', notify_on_close: true } }));
		const modal = await ada.waitForModal();
		ada.reload();
		expect(ada.modal()).toBeNull();
		expect(modal.isOpen()).toBe(false);
		const again = inputModal({ title: 'Two', extra: { external_id: 'one' } });
		expect(await update({ view_id: view.id, view: again })).toMatchObject({ ok: true });
		expect(ada.modal()).toBeNull();
		await expect(modal.submit()).rejects.toThrow('no longer on top');
		const taken = { trigger_id: slack.trigger('ada'), view: inputModal({ extra: { external_id: 'one' } }) };
		expect(await callSlack(slack, 'views.open', taken)).toMatchObject({ error: 'duplicate_external_id' });
		const push = { trigger_id: slack.trigger('ada', { view: String(view.id) }), view: inputModal() };
		expect(await callSlack(slack, 'views.push', push)).toMatchObject({ error: 'not_found' });
		expect(slack.traffic.deliveries('view_closed')).toEqual([]);
	});

	it('keeps the modals of other windows and people', async () => {
		await open();
		slack.as('ada', 'second').reload();
		slack.as('grace').reload();
		expect(slack.as('ada').modal()?.title()).toBe('Title');
	});
});

describe('the stack', () => {
	it('holds three views, each with root and previous, and shows the one below when the top is closed', async () => {
		const root = await open();
		const push = (title: string) =>
			callSlack(slack, 'views.push', { trigger_id: triggerInside(slack), view: inputModal({ title }) });
		const second = (await push('Second')).view as Json;
		expect(second).toMatchObject({ root_view_id: root.id, previous_view_id: root.id, app_installed_team_id: 'T0ACME' });
		expect((await push('Third')).view).toMatchObject({ root_view_id: root.id, previous_view_id: second.id });
		expect(await push('Fourth')).toMatchObject({ error: 'push_limit_reached' });
		const ada = slack.as('ada');
		await ada.modal()?.close();
		expect(ada.modal()?.title()).toBe('Second');
		await ada.modal()?.close(true);
		expect(ada.modal()).toBeNull();
	});

	it('replaces the whole stack by a modal that is opened', async () => {
		const root = await open();
		await callSlack(slack, 'views.push', { trigger_id: triggerInside(slack), view: inputModal() });
		await open(inputModal({ title: 'New' }));
		const ada = slack.as('ada');
		expect(ada.modal()?.title()).toBe('New');
		expect(await update({ view_id: root.id, view: inputModal() })).toMatchObject({ error: 'not_found' });
		await ada.modal()?.close();
		expect(ada.modal()).toBeNull();
	});

	it('refuses a push while no modal is open', async () => {
		const args = { trigger_id: triggerInside(slack), view: inputModal() };
		expect(await callSlack(slack, 'views.push', args)).toMatchObject({ error: 'not_found' });
	});

	it('refuses a push with a trigger from outside the modal, also while one is open', async () => {
		await open();
		const args = { trigger_id: slack.trigger('ada'), view: inputModal() };
		expect(await callSlack(slack, 'views.push', args)).toMatchObject({ error: 'invalid_trigger_id' });
		expect(await callSlack(slack, 'views.open', args)).toMatchObject({ ok: true });
	});

	it('does not let a person use a covered view', async () => {
		await open();
		const ada = slack.as('ada');
		const below = await ada.waitForModal();
		await callSlack(slack, 'views.push', { trigger_id: triggerInside(slack), view: inputModal() });
		await expect(below.fill('Answer', 'x')).rejects.toThrow('no longer on top');
	});
});
