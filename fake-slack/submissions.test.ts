import type { App } from '@slack/bolt';
import { afterEach, describe, expect, it } from 'vitest';
import { type RunningApp, startBoltApp, TRANSPORTS, type TransportName } from './bolt-app.ts';
import { createFakeSlack, type FakeSlack } from './fake-slack.ts';
import type { Json } from './json.ts';
import { createManualClock, type ManualClock } from './manual-clock.ts';
import { callSlack, inputModal, triggerInside } from './test-calls.ts';

const TROUBLE = 'We had some trouble connecting. Try again?';

let slack: FakeSlack;
let clock: ManualClock;
let running: RunningApp;

afterEach(async () => {
	await running.stop();
	await slack.close();
});

/** Starts an app that acknowledges submissions with `answer`; `null` never acknowledges. */
async function start(
	transport: TransportName,
	answer: Json | null | undefined,
	extra?: (app: App) => void,
): Promise<void> {
	clock = createManualClock();
	slack = await createFakeSlack({ clock });
	running = await startBoltApp(slack, transport, (app) => {
		app.view(/.*/, async ({ ack }) => {
			if (answer === null) return;
			// The fake has to cope with what the types of Bolt forbid.
			await (ack as (response?: unknown) => Promise<void>)(answer);
		});
		extra?.(app);
	});
}

async function open(view: Json = inputModal()): Promise<void> {
	const answer = await callSlack(slack, 'views.open', { trigger_id: slack.trigger('ada'), view });
	if (answer.ok !== true) throw new Error(JSON.stringify(answer));
}

async function submit(value = 'yes') {
	const modal = await slack.as('ada').waitForModal();
	await modal.fill('Answer', value);
	return modal.submit();
}

describe.each(TRANSPORTS)('the answer to a submission, over %s', (transport) => {
	it('closes the view and shows the one below on an empty acknowledgement', async () => {
		await start(transport, undefined);
		await open();
		await callSlack(slack, 'views.push', { trigger_id: triggerInside(slack), view: inputModal({ title: 'Top' }) });
		expect((await submit()).outcome).toBe('closed');
		expect(slack.as('ada').modal()?.title()).toBe('Title');
	});

	it('refuses an acknowledgement with half a surrogate pair as no JSON', async () => {
		await start(transport, { response_action: 'errors', errors: { answer: 'no \ud83d' } });
		await open();
		const pressed = submit();
		await slack.changes.until(
			() => slack.violations().length > 0,
			() => 'Nothing was refused.',
		);
		if (transport === 'socket') await clock.advance(3000);
		expect(await pressed).toMatchObject({ outcome: 'trouble', trouble: TROUBLE });
	});

	it('sends a trigger with a submission, which opens another modal', async () => {
		await start(transport, undefined);
		await open(inputModal({ extra: { private_metadata: 'mine', callback_id: 'asked', external_id: 'one' } }));
		await submit();
		const { trigger_id: trigger, view } = slack.traffic.deliveries('view_submission')[0]?.request ?? {};
		expect(view).toMatchObject({
			private_metadata: 'mine',
			callback_id: 'asked',
			external_id: 'one',
			team_id: 'T0ACME',
			app_id: 'A0APP',
			bot_id: 'B0BOT',
		});
		const args = { trigger_id: trigger, view: inputModal() };
		expect(await callSlack(slack, 'views.open', args)).toMatchObject({ ok: true });
	});

	it('closes the whole stack on clear', async () => {
		await start(transport, { response_action: 'clear' });
		await open();
		await callSlack(slack, 'views.push', { trigger_id: triggerInside(slack), view: inputModal({ title: 'Top' }) });
		expect((await submit()).outcome).toBe('closed');
		expect(slack.as('ada').modal()).toBeNull();
	});

	it('replaces the view on update, and keeps its id', async () => {
		await start(transport, { response_action: 'update', view: inputModal({ title: 'Saved' }) });
		await open();
		const { id } = await slack.as('ada').waitForModal();
		expect((await submit()).outcome).toBe('updated');
		expect(slack.as('ada').modal()).toMatchObject({ id });
		expect(slack.as('ada').modal()?.title()).toBe('Saved');
	});

	it('puts a view on top on push', async () => {
		await start(transport, { response_action: 'push', view: inputModal({ title: 'More' }) });
		await open();
		expect((await submit()).outcome).toBe('pushed');
		expect(slack.as('ada').modal()?.title()).toBe('More');
	});

	it('shows errors under their fields until something is typed', async () => {
		await start(transport, { response_action: 'errors', errors: { answer: 'Not like that.' } });
		await open();
		expect(await submit()).toMatchObject({ outcome: 'fieldErrors', errors: { Answer: 'Not like that.' } });
		const modal = await slack.as('ada').waitForModal('! Not like that.');
		await modal.fill('Answer', 'like this');
		expect(modal.text()).not.toContain('Not like that.');
	});

	it.each([
		['errors for a block that is no input', { response_action: 'errors', errors: { nowhere: 'x' } }],
		['an invalid view', { response_action: 'update', view: inputModal({ title: 'x'.repeat(25) }) }],
		['an unknown action', { response_action: 'dance' }],
		['a foreign object', { ok: true }],
		['a Home tab', { response_action: 'push', view: { type: 'home', blocks: [] } }],
	])('%s shows trouble and keeps what was typed', async (_what, answer) => {
		await start(transport, answer);
		await open();
		expect(await submit('kept')).toEqual({ outcome: 'trouble', errors: {}, trouble: TROUBLE });
		const modal = await slack.as('ada').waitForModal(TROUBLE);
		expect(modal.value('Answer')).toBe('kept');
		expect(slack.violations()).toHaveLength(1);
	});

	it('shows trouble for a picture that Slack cannot download', async () => {
		const picture = { type: 'image', image_url: 'https://files.test/gone.png', alt_text: 'screen' };
		await start(transport, { response_action: 'update', view: inputModal({ blocks: [picture] }) });
		slack.settings.undownloadable = () => true;
		await open();
		expect(await submit()).toMatchObject({ outcome: 'trouble' });
	});

	it('shows errors and trouble until the view is replaced or submitted again', async () => {
		let answer: Json = { response_action: 'errors', errors: { answer: 'Not like that.' } };
		await start(transport, undefined, (app) => {
			app.use(async ({ ack, next }) => (ack ? (ack as (response?: unknown) => Promise<void>)(answer) : next()));
		});
		await open();
		const modal = await slack.as('ada').waitForModal();
		const replace = () => callSlack(slack, 'views.update', { view_id: modal.id, view: inputModal() });
		await submit();
		await replace();
		expect(modal.text()).not.toContain('Not like that.');
		answer = { response_action: 'dance' };
		expect(await modal.submit()).toMatchObject({ trouble: TROUBLE });
		await replace();
		expect(modal.text()).not.toContain(TROUBLE);
		await modal.submit();
		answer = { response_action: 'errors', errors: { answer: 'Not like that.' } };
		expect(await modal.submit()).toMatchObject({ outcome: 'fieldErrors', trouble: null });
	});

	it('shows trouble after three seconds without an acknowledgement, and sends the same view again', async () => {
		await start(transport, null);
		await open();
		for (const text of ['one', 'two']) {
			const pressed = submit(text);
			await slack.changes.until(
				() => slack.traffic.deliveries('view_submission').at(-1)?.acked === null,
				() => 'Nothing is under way.',
			);
			await clock.advance(3000);
			expect((await pressed).trouble).toBe(TROUBLE);
		}
		const views = slack.traffic.deliveries('view_submission').map((entry) => entry.request.view as Json);
		expect(views).toHaveLength(2);
		expect(views[1]?.id).toBe(views[0]?.id);
		expect(slack.violations()).toEqual([]);
	});

	it('does not ask the app when Slack itself finds a field wrong', async () => {
		await start(transport, undefined);
		await open();
		const modal = await slack.as('ada').waitForModal();
		expect(await modal.submit()).toMatchObject({ outcome: 'fieldErrors' });
		await modal.fill('Answer', 'x'.repeat(3001));
		expect(await modal.submit()).toMatchObject({ errors: { Answer: 'Please enter 3000 characters or fewer.' } });
		expect(slack.traffic.deliveries('view_submission')).toEqual([]);
	});
});

describe('closing a modal', () => {
	it('tells the app of a closed modal only with notify_on_close, once for each view of a cleared stack', async () => {
		const closed: boolean[] = [];
		await start('socket', undefined, (app) => {
			app.view({ type: 'view_closed', callback_id: 'told' }, async ({ ack, body }) => {
				if (body.type === 'view_closed') closed.push(body.is_cleared);
				await ack();
			});
		});
		const ada = slack.as('ada');
		await open();
		await ada.modal()?.close();
		expect(slack.traffic.deliveries('view_closed')).toEqual([]);
		const told = inputModal({ extra: { notify_on_close: true, callback_id: 'told' } });
		await open(told);
		await ada.modal()?.close();
		await open(told);
		await callSlack(slack, 'views.push', { trigger_id: triggerInside(slack), view: told });
		await ada.modal()?.close(true);
		expect(closed).toEqual([false, true, true]);
	});

	it('closes the whole stack with clear_on_close, and refuses a submission without a submit', async () => {
		await start('socket', undefined);
		const text = { type: 'plain_text', text: 'Top' };
		const top = { type: 'modal', title: text, clear_on_close: true, blocks: [{ type: 'divider' }] };
		await open();
		await callSlack(slack, 'views.push', { trigger_id: triggerInside(slack), view: top });
		const modal = await slack.as('ada').waitForModal('Top');
		await expect(modal.submit()).rejects.toThrow('no Submit');
		await modal.close();
		expect(slack.as('ada').modal()).toBeNull();
	});
});

describe('dispatch_action', () => {
	const input = (element: Json, dispatch: boolean) =>
		inputModal({
			blocks: [
				{
					type: 'input',
					block_id: 'answer',
					dispatch_action: dispatch,
					label: { type: 'plain_text', text: 'Answer' },
					element: { type: 'plain_text_input', action_id: 'value', ...element },
				},
			],
		});

	it.each([
		['nothing without it', input({}, false), []],
		['Enter by default', input({}, true), ['second']],
		[
			'typing when configured',
			input({ dispatch_action_config: { trigger_actions_on: ['on_character_entered'] } }, true),
			['first'],
		],
	])('tells of %s', async (_what, view, heard) => {
		const values: unknown[] = [];
		await start('socket', undefined, (app) => {
			app.action('value', async ({ ack, action }) => {
				values.push('value' in action ? action.value : null);
				await ack();
			});
		});
		await open(view);
		const modal = await slack.as('ada').waitForModal();
		await modal.fill('Answer', 'first');
		const target = { viewId: modal.id, blockId: 'answer', actionId: 'value', enter: true };
		await slack.perform({ user: 'U0ADA', window: 'main' }, { do: 'fillInModal', ...target, held: 'second' });
		expect(values).toEqual(heard);
	});

	it('tells of choices at once, and also of those outside input blocks without dispatch_action', async () => {
		const chosen: unknown[] = [];
		await start('socket', undefined, (app) => {
			app.action(/.*/, async ({ ack, action }) => {
				if ('selected_date' in action) chosen.push([action.action_id, action.selected_date]);
				await ack();
			});
		});
		const picker = (id: string) => ({ type: 'datepicker', action_id: id });
		const text = (words: string) => ({ type: 'plain_text', text: words });
		const dated = (id: string, dispatch: boolean) => ({
			type: 'input',
			label: text(id),
			dispatch_action: dispatch,
			element: picker(id),
		});
		const outside = { type: 'section', text: text('outside'), accessory: picker('outside') };
		await open(inputModal({ blocks: [dated('quiet', false), dated('loud', true), outside] }));
		const modal = await slack.as('ada').waitForModal();
		for (const index of [0, 1, 2]) await modal.choose(index, '2026-01-05');
		expect(chosen).toEqual([
			['loud', '2026-01-05'],
			['outside', '2026-01-05'],
		]);
		const { view } = slack.traffic.deliveries('block_actions').at(-1)?.request ?? {};
		const values = Object.values(((view as Json).state as Json).values as Json);
		expect(values).toContainEqual({ quiet: { type: 'datepicker', selected_date: '2026-01-05' } });
	});
});
