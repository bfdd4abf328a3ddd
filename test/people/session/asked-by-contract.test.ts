import type { ItemJson } from '../../../fake-session-service/json.ts';
import { itemsOf } from '../../../fake-session-service/log.ts';
import { FIELD_ERRORS } from '../../../src/slack/form/fields.ts';
import {
	answerFields,
	asking,
	DELIVERED,
	expect,
	item,
	type Modal,
	openSession,
	startTimedApp,
	type TimedApp,
	withApp,
} from '../../kit.ts';

const it = withApp(() => startTimedApp({ transport: 'http' }));
/** A session that asks these items, and Ada's window with the form. */
async function asked(app: TimedApp, ...items: ItemJson[]): Promise<{ id: string; modal: Modal }> {
	const id = `contract-${app.service.log.list().length}`;
	app.service.sessions.put(id, { status: 'humanInput', messages: [asking('Say which.', items)] });
	return { id, modal: await openSession(app, id) };
}

/** What arrived, once, with the titles and descriptions that were sent back. */
const sent = (app: TimedApp, id: string) => app.service.log.savedPuts(id).map((put) => itemsOf(put));

async function submitted(app: TimedApp, modal: Modal): Promise<void> {
	expect((await modal.submit()).outcome).toBe('updated');
	await app.shows(DELIVERED);
}

const DRAFT = item('Reply to Ada', 'Your parcel came back.\nDraft:\nHello Ada,\n\n- your parcel\n- is here');

it('begins a field with the draft of the agent, which is sent as it is, as it is edited, or not at all', async ({
	app,
}) => {
	const text = 'Hello Ada,\n\n- your parcel\n- is here';
	const untouched = await asked(app, DRAFT);
	expect(answerFields(untouched.modal).map(({ value }) => value)).toEqual([text]);
	// The draft stands in the field alone.
	expect(JSON.stringify(untouched.modal.view().payload).match(/is here/g)).toHaveLength(1);
	await submitted(app, untouched.modal);
	expect(sent(app, untouched.id)).toEqual([[{ ...DRAFT, value: text }]]);

	const edited = await asked(app, DRAFT);
	await edited.modal.fill(0, 'No.');
	await submitted(app, edited.modal);
	expect(sent(app, edited.id)[0]?.[0]?.value).toBe('No.');

	const emptied = await asked(app, DRAFT);
	await emptied.modal.fill(0, '');
	expect((await emptied.modal.submit()).outcome).toBe('fieldErrors');
	expect(sent(app, emptied.id)).toEqual([]);
});

it('sends all of a draft that a field in Slack cannot show', async ({ app }) => {
	const long = 'A very long letter. '.repeat(300).trim();
	const { id, modal } = await asked(app, item('Letter', `Draft: ${long}`));
	expect(answerFields(modal)[0]?.value?.length).toBeLessThan(long.length);
	await submitted(app, modal);
	expect(sent(app, id)[0]?.[0]?.value).toBe(long);
});

it('lets an optional field stay empty beside others, and shows no mark', async ({ app }) => {
	const items = [item('Nights (number)', ''), item('Wishes (optional)', '')];
	const { id, modal } = await asked(app, ...items);
	expect(answerFields(modal).map(({ label }) => label)).toEqual(['Nights', 'Wishes']);
	expect(answerFields(modal)[0]?.kind).toBe('number_input');
	expect((await modal.submit()).outcome).toBe('fieldErrors');
	await modal.fill(0, '3');
	await submitted(app, modal);
	expect(sent(app, id)).toEqual([
		[
			{ ...items[0], value: '3' },
			{ ...items[1], value: '' },
		],
	]);
});

it('asks for something where every field is optional', async ({ app }) => {
	const { modal } = await asked(app, item('Wishes (optional)', ''));
	expect((await modal.submit()).errors).toEqual({ Wishes: FIELD_ERRORS.allEmpty });
});

it('hides what is marked as secret', async ({ app }) => {
	const { modal } = await asked(app, item('Nickname (secret)', ''));
	expect(modal.fields().some(({ actionId }) => actionId === 'form.secret')).toBe(true);
});

it('sends an option of any length exactly, alone and of several, also after a refresh', async ({ app }) => {
	const long = `The first plan: ${'we wait, and then go on. '.repeat(20)}`.trim();
	const other = `The other plan | with bars, ${'and more of it '.repeat(20)}`.trim();
	const description = `Options:\n- ${long}\n- ${other}\n- None`;
	const one = await asked(app, item('Which plan?', description));
	const label = (at: number, { modal }: { modal: Modal } = one) => answerFields(modal)[0]?.options[at] ?? '';
	expect(label(1)).toMatch(/^The other plan \| with bars, .*…$/);
	await one.modal.choose(0, [label(1)]);
	await one.modal.fill(1, 'Go');
	await one.modal.press('Refresh');
	await submitted(app, one.modal);
	expect(sent(app, one.id)[0]?.[0]?.value).toBe(`${other}. Go`);

	const several = await asked(app, item('Plans', description.replace('Options', 'Options (several)')));
	await several.modal.choose(0, [label(0, several), 'None']);
	await submitted(app, several.modal);
	expect(sent(app, several.id)[0]?.[0]?.value).toBe(`${long}\nNone`);
});
