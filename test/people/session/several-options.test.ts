import type { ItemJson } from '../../../fake-session-service/json.ts';
import { itemsOf } from '../../../fake-session-service/log.ts';
import { NOTE_LABEL } from '../../../src/slack/form/build.ts';
import { FIELD_ERRORS } from '../../../src/slack/form/fields.ts';
import {
	type App,
	answerFields,
	asking,
	DELIVERED,
	DRAFT_RESTORED,
	expect,
	item,
	keepSecret,
	type Modal,
	openSession,
	startApp,
	withApp,
} from '../../kit.ts';

const it = withApp(() => startApp({ transport: 'http' }));
const TOPPINGS = item('Which toppings? Select all that apply.', '- Ham\n- Olives\n- Basil');
const SHOPS = item('Which shops? Select all that apply.', '- Acme, Inc.\n- Bolt\n- Nut, Ltd.');
const ROOMS = item('Pick 2 rooms', Array.from({ length: 12 }, (_, at) => `- Room ${at + 1}`).join('\n'));

/** A session that asks these items, and Ada's window with the form. */
async function asked(app: App, ...items: ItemJson[]): Promise<{ id: string; modal: Modal }> {
	const id = 'several-options';
	app.service.sessions.put(id, { status: 'humanInput', messages: [asking('Say which.', items)] });
	return { id, modal: await openSession(app, id) };
}

const until = (app: App, test: () => boolean) => app.slack.changes.until(test, () => 'nothing happened');

/** Presses a button and waits until the view has its new content. */
async function press(app: App, modal: Modal, label: string): Promise<void> {
	const { hash } = modal.view();
	expect(await modal.press(label)).toBe(true);
	await until(app, () => modal.view().hash !== hash);
}

const valuesIn = (modal: Modal) => answerFields(modal).map((field) => field.value);

/** Sends the form; `values` is what arrives, once. */
async function sends(app: App, { id, modal }: { id: string; modal: Modal }, values: readonly string[]): Promise<void> {
	expect((await modal.submit()).outcome).toBe('updated');
	await app.slack.as('ada').waitForModal(DELIVERED);
	const puts = app.service.log.savedPuts(id);
	expect(puts.map((put) => itemsOf(put).map(({ value }) => value))).toEqual([values]);
}

it('sends what is ticked, in the order of the item', async ({ app }) => {
	const { id, modal } = await asked(app, TOPPINGS);
	const options = ['Ham', 'Olives', 'Basil'];
	expect(answerFields(modal)[0]).toMatchObject({ kind: 'checkboxes', options });
	await modal.choose(0, ['Basil', 'Ham']);
	await sends(app, { id, modal }, ['Ham, Basil']);
});

it.for([
	['behind what is ticked', ['Ham', 'Olives'], 'Ham, Olives. Thin, please'],
	['as it is without a tick', [], 'Thin, please'],
] as const)(
	'sends the note at the end %s, with the last question that has options',
	async ([, ticked, sent], { app }) => {
		const graces = { ...TOPPINGS, title: 'Which for Grace? Select all that apply.' };
		const form = await asked(app, TOPPINGS, graces, item('Anything else?'));
		await form.modal.choose(0, ['Basil']);
		await form.modal.choose(1, ticked);
		await form.modal.fill(2, 'Napkins');
		await form.modal.fill(3, 'Thin, please');
		await sends(app, form, ['Basil', sent, 'Napkins']);
	},
);

it('sends options with a comma one a line, and a note below them', async ({ app }) => {
	const form = await asked(app, SHOPS, { ...SHOPS, title: 'Which later? Select all that apply.' });
	await form.modal.choose(0, ['Nut, Ltd.', 'Acme, Inc.']);
	await form.modal.choose(1, ['Bolt', 'Nut, Ltd.']);
	await form.modal.fill(2, 'By Friday');
	await press(app, form.modal, 'Refresh');
	await sends(app, form, ['Acme, Inc.\nNut, Ltd.', 'Bolt\nNut, Ltd.\nBy Friday']);
});

it('offers more than ten in a list, and keeps them over plain text, paging and a refresh', async ({ app }) => {
	const form = await asked(app, ROOMS);
	expect(answerFields(form.modal)[0]).toMatchObject({ kind: 'multi_static_select' });
	await form.modal.choose(0, ['Room 12', 'Room 2']);
	await press(app, form.modal, 'Type freely');
	expect(valuesIn(form.modal)).toEqual(['Room 2, Room 12']);
	await press(app, form.modal, 'Suggested fields');
	await press(app, form.modal, 'Refresh');
	expect(valuesIn(form.modal)).toEqual([['Room 2', 'Room 12'], null]);
	await sends(app, form, ['Room 2, Room 12']);
});

it('sends a part with others, asks for what is missing, and refuses nothing at all', async ({ app }) => {
	const form = await asked(app, TOPPINGS, item('Anything else?'), SHOPS);
	const { modal } = form;
	await modal.choose(0, ['Ham']);
	await modal.choose(0, []);
	await modal.fill(1, 'Napkins');
	// Only the last one may be empty for Slack: the note below may be its answer.
	expect((await modal.submit()).errors).toEqual({ [`${TOPPINGS.title}`]: 'Please complete this required field.' });
	await modal.choose(0, ['Ham']);
	expect((await modal.submit()).errors).toEqual({ [`${SHOPS.title}`]: FIELD_ERRORS.missingHere });
	await modal.choose(0, []);
	await press(app, modal, 'Skip some questions');
	await modal.fill(1, '');
	expect((await modal.submit()).errors).toEqual({ [`${TOPPINGS.title}`]: FIELD_ERRORS.allEmpty });
	await modal.choose(2, ['Bolt', 'Acme, Inc.']);
	await sends(app, form, ['', '', 'Acme, Inc.\nBolt']);
});

it('ticks what a draft has, and sends it although Slack leaves out what nobody touches', async ({ app }) => {
	const { id, modal: first } = await asked(app, TOPPINGS);
	await first.choose(0, ['Basil', 'Ham']);
	await first.fill(NOTE_LABEL, 'Thin');
	await first.close();
	const modal = await openSession(app, id);
	expect(modal.text()).toMatch(DRAFT_RESTORED);
	expect(valuesIn(modal)).toEqual([['Ham', 'Basil'], 'Thin']);
	await modal.fill(NOTE_LABEL, 'Thick');
	await sends(app, { id, modal }, ['Ham, Basil. Thick']);
});

it('forgets what was unticked', async ({ app }) => {
	const { id, modal: first } = await asked(app, TOPPINGS);
	await first.choose(0, ['Basil', 'Ham']);
	await first.close();
	const modal = await openSession(app, id);
	await modal.choose(0, []);
	await modal.fill(NOTE_LABEL, 'None');
	await press(app, modal, 'Refresh');
	expect(valuesIn(modal)).toEqual([[], 'None']);
	await sends(app, { id, modal }, ['None']);
});

it('keeps what is ticked secret', async ({ app }) => {
	const form = await asked(app, TOPPINGS);
	await keepSecret(form.modal, (test) => until(app, test));
	await form.modal.choose(0, ['Olives', 'Basil']);
	await press(app, form.modal, 'Refresh');
	await sends(app, form, ['Olives, Basil']);
	expect(app.slack.as('ada').modal()?.text()).not.toContain('Olives');
	expect(await app.said()).not.toContain('Olives, Basil');
});

it.for([['sends'], ['ticks, in a refresh, and sends']] as const)(
	'%s what is chosen in a window with radio buttons, as an older version drew it',
	async ([what], { app }) => {
		const isShownAgain = what !== 'sends';
		const form = await asked(app, TOPPINGS);
		for (const block of form.modal.blocks()) {
			const element = block.element as { type: string } | undefined;
			if (element?.type === 'checkboxes') element.type = 'radio_buttons';
		}
		expect(answerFields(form.modal)[0]?.kind).toBe('radio_buttons');
		await form.modal.choose(0, 'Olives');
		await form.modal.fill(NOTE_LABEL, 'Green');
		if (isShownAgain) {
			await press(app, form.modal, 'Refresh');
			expect(valuesIn(form.modal)).toEqual([['Olives'], 'Green']);
			await form.modal.choose(0, ['Olives', 'Ham']);
		}
		await sends(app, form, [isShownAgain ? 'Ham, Olives. Green' : 'Olives. Green']);
	},
);
