import type { ItemJson } from '../../../fake-session-service/json.ts';
import { NOTE_LABEL } from '../../../src/slack/form/build.ts';
import { FIELD_ERRORS } from '../../../src/slack/form/fields.ts';
import {
	answerFields,
	asking,
	DRAFT_RESTORED,
	expect,
	item,
	type Modal,
	openSession,
	startTimedApp,
	type TimedApp,
	withApp,
} from '../../kit.ts';
import { press, sends, valuesIn } from './harness.ts';

const it = withApp(() => startTimedApp({ transport: 'http' }));
const TOPPINGS = item('Which toppings? Select all that apply.', '- Ham\n- Olives\n- Basil');
const SHOPS = item('Which shops? Select all that apply.', '- Acme, Inc.\n- Bolt\n- Nut, Ltd.');
const ROOMS = item('Pick 2 rooms', Array.from({ length: 12 }, (_, at) => `- Room ${at + 1}`).join('\n'));

/** A session that asks these items, and Ada's window with the form. */
async function asked(app: TimedApp, ...items: ItemJson[]): Promise<{ id: string; modal: Modal }> {
	const id = 'several-options';
	app.service.sessions.put(id, { status: 'humanInput', messages: [asking('Say which.', items)] });
	return { id, modal: await openSession(app, id) };
}

/* `test/domain/several-options.test.ts` has the texts, `test/slack/form/several-options.test.ts` the fields. */

it('sends what is ticked in the order of the item, and the note with the last question that has options', async ({
	app,
}) => {
	const form = await asked(app, TOPPINGS, SHOPS, item('Anything else?'));
	const options = ['Ham', 'Olives', 'Basil'];
	expect(answerFields(form.modal)[0]).toMatchObject({ kind: 'checkboxes', options });
	await form.modal.choose(0, ['Basil', 'Ham']);
	await form.modal.choose(1, ['Nut, Ltd.', 'Bolt']);
	await form.modal.fill(2, 'Napkins');
	await form.modal.fill(3, 'By Friday');
	await press(app, form.modal, 'Refresh');
	await sends(app, form, ['Ham, Basil', 'Bolt\nNut, Ltd.\nBy Friday', 'Napkins']);
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
