import { MAY_STAY_EMPTY } from '../../../src/screens/form.ts';
import { claimsWords } from '../../../src/screens/question.ts';
import { NOTE_LABEL } from '../../../src/slack/form/build.ts';
import { FIELD_ERRORS } from '../../../src/slack/form/fields.ts';
import {
	answerFields,
	asking,
	DELIVERED,
	DRAFT_RESTORED,
	describe,
	expect,
	item,
	openSession,
	said,
	startTimedApp,
	type TimedApp,
	whatHappened,
	withApp,
} from '../../kit.ts';
import { arrived, press, sends, valuesIn } from './harness.ts';

const it = withApp(startTimedApp);
/** A session in which the agent of `scenario` has just asked, and Ada's window with the form. */
async function opened(app: TimedApp, scenario: string) {
	const id = app.service.sessions.start(scenario, `${scenario}-1`);
	await app.until(() => app.service.sessions.askingIndex(id) >= 0);
	return { id, modal: await openSession(app, id) };
}

describe('what was typed', () => {
	it('asks for items with the values 0 and false, as the page of the service does, and fills them', async ({ app }) => {
		const id = 'falsy';
		const items = [
			{ ...item('How many?'), value: 0 },
			{ ...item('Which colour?'), value: false },
			{ ...item('Which day?'), value: 0 },
		];
		app.service.sessions.put(id, { status: 'humanInput', messages: [asking('I need three things.', items)] });
		const modal = await openSession(app, id);
		expect(valuesIn(modal)).toHaveLength(3);
		await press(app, modal, 'Skip some questions');
		await modal.fill(0, '12');
		await modal.fill(1, 'Sand');
		await sends(app, { id, modal }, ['12', 'Sand', '']);
	});

	it('keeps typed texts over paging and refreshing, and sends them', async ({ app }) => {
		const { id, modal } = await opened(app, 'report');
		await modal.fill(0, 'Prices, <b> & "more" 😀');
		for (const button of ['Older steps', 'Newer steps', 'Refresh', 'Older steps', 'Refresh']) {
			await press(app, modal, button);
			expect(valuesIn(modal), `after ${button}`).toEqual(['Prices, <b> & "more" 😀']);
		}
		await sends(app, { id, modal }, ['Prices, <b> & "more" 😀']);
	});

	it('keeps typed texts over plain text and back in every kind of field, and sends them when Slack leaves them out', async ({
		app,
	}) => {
		const { id, modal } = await opened(app, 'fields');
		const typed = ['12', 'ada@example.com', 'https://example.com/agenda', '2026-12-24', '09:30'];
		await modal.fill(0, '12');
		await modal.fill(1, 'ada@example.com');
		await modal.fill(2, 'https://example.com/agenda');
		await modal.choose(3, '2026-12-24');
		await modal.choose(4, '09:30');
		await press(app, modal, 'Type freely');
		expect(answerFields(modal).map((field) => field.kind)).toEqual(Array(5).fill('plain_text_input'));
		expect(valuesIn(modal)).toEqual(typed);
		await press(app, modal, 'Suggested fields');
		expect(valuesIn(modal)).toEqual(typed);
		await press(app, modal, 'Type freely');
		await press(app, modal, 'Refresh');
		await sends(app, { id, modal }, typed);
	});

	it('keeps a typed text where the guessed field cannot hold it: beside its options', async ({ app }) => {
		const { id, modal } = await opened(app, 'yesno');
		await press(app, modal, 'Type freely');
		await modal.fill(0, 'No. Only below 25 €');
		await press(app, modal, 'Suggested fields');
		expect(valuesIn(modal)).toEqual(['No', 'Only below 25 €']);
		await sends(app, { id, modal }, ['No. Only below 25 €']);
	});

	it('keeps a typed text at its item when two items have the same title', async ({ app }) => {
		const { id, modal } = await opened(app, 'three');
		await modal.fill('Name (question 2 of 3)', 'Grace Hopper');
		await press(app, modal, 'Refresh');
		await modal.fill('Name (question 1 of 3)', 'Ada Lovelace');
		await modal.fill('Affiliation', 'Navy');
		await sends(app, { id, modal }, ['Ada Lovelace', 'Grace Hopper', 'Navy']);
		// Handraise's words stand outside the agent's.
		expect(modal.text()).toContain('Name (question 2 of 3)\n> Grace Hopper');
		const put = app.service.log.savedPuts(id)[0]?.body as { humanInputResponse: object[]; messageIndex: number };
		expect(put.messageIndex).toBe(2);
		expect(put.humanInputResponse).toEqual([
			{ title: 'Name', description: 'The first speaker, as on the badge', value: 'Ada Lovelace' },
			{ title: 'Name', description: 'The second speaker, as on the badge', value: 'Grace Hopper' },
			{ title: 'Affiliation', description: '', value: 'Navy' },
		]);
	});

	it('keeps typed texts when a refresh fails, and shows the error on top', async ({ app }) => {
		const { id, modal } = await opened(app, 'three');
		await modal.fill(0, 'Ada');
		app.service.faults.add({ kind: 'unauthorized', sessionId: id });
		await modal.press('Refresh');
		const error = await app.slack.as('ada').waitForModal(whatHappened('unauthorized'));
		expect(error.id).not.toBe(modal.id);
		expect(error.text()).toContain('Your text is still here.');
		app.service.faults.clear();
		await error.close();
		expect(valuesIn(modal)).toEqual(['Ada', null, null]);
	});
});

describe('the fields', () => {
	const OTHERS = Array.from({ length: 9 }, (_, at) => `- Colour ${at + 1}`);
	const ELEVEN = ['- Forest green', '- Sand', ...OTHERS].join('\n');
	it('requires all fields until "Skip some questions" makes them optional, and sends empty ones as ""', async ({
		app,
	}) => {
		const { id, modal } = await opened(app, 'three');
		await modal.fill(1, 'Grace');
		const refused = await modal.submit();
		expect(refused.outcome).toBe('fieldErrors');
		expect(Object.keys(refused.errors)).toEqual(['Name (question 1 of 3)', 'Affiliation']);
		for (const entry of ['Skip some questions', 'Answer all', 'Skip some questions']) {
			await press(app, modal, entry);
			expect(answerFields(modal).map((field) => field.optional)).toEqual(Array(3).fill(entry !== 'Answer all'));
		}
		expect(modal.text()).toContain(MAY_STAY_EMPTY);
		expect(valuesIn(modal)).toEqual([null, 'Grace', null]);
		await sends(app, { id, modal }, ['', 'Grace', '']);
	});

	it.for<[asks: string, kind: string, description: string]>([
		['Which colour?', 'radio_buttons', 'Choose one:\n- Forest green\n- Sand'],
		['Which colour?', 'static_select', `Choose one:\n${ELEVEN}`],
		['Which colours? Select all that apply.', 'checkboxes', '- Forest green\n- Sand'],
		['Which colours? Select all that apply.', 'multi_static_select', ELEVEN],
	] as const)(
		'takes an option alone, a text alone or both where "%s" has %s, and asks for one of them',
		async ([title, kind, description], { app }) => {
			const answers: [option: string | null, text: string | null, sent: string][] = [
				['Forest green', null, 'Forest green'],
				['Sand', 'The lighter one, please', 'Sand. The lighter one, please'],
				[null, 'Oak', 'Oak'],
			];
			for (const [at, [option, text, sent]] of answers.entries()) {
				const id = `choices-${at}`;
				app.service.sessions.put(id, {
					status: 'humanInput',
					messages: [asking('Say which.', [item(title, description)])],
				});
				const modal = await openSession(app, id);
				expect(answerFields(modal)[0]?.kind).toBe(kind);
				expect((await modal.submit()).errors).toEqual({ [title]: FIELD_ERRORS.missingChoice });
				if (option !== null)
					await modal.choose(0, kind === 'checkboxes' || kind === 'multi_static_select' ? [option] : option);
				if (text !== null) await modal.fill(NOTE_LABEL, text);
				await sends(app, { id, modal }, [sent]);
				// The receipt shows exactly what was sent.
				expect(modal.text()).toContain(`> ${sent}`);
				await modal.close();
			}
		},
	);

	it('keeps an option and its note over a refresh, a closing and plain text', async ({ app }) => {
		const { id, modal } = await opened(app, 'choices');
		await modal.choose('Which colour?', 'Sand');
		await modal.fill(NOTE_LABEL, 'The lighter one');
		await press(app, modal, 'Refresh');
		expect(valuesIn(modal)).toEqual(['Sand', 'The lighter one']);
		await modal.close();
		const again = await openSession(app, id);
		expect(valuesIn(again)).toEqual(['Sand', 'The lighter one']);
		await press(app, again, 'Type freely');
		expect(valuesIn(again)).toEqual(['Sand. The lighter one']);
	});
});

describe('a draft', () => {
	it('restores a draft for the same person only, who can empty a field and fill it again', async ({ app }) => {
		const { id, modal } = await opened(app, 'three');
		await modal.fill(0, 'Ada Lovelace');
		await modal.close();
		const other = await openSession(app, id, 'grace');
		expect(valuesIn(other)).toEqual([null, null, null]);
		const again = await openSession(app, id);
		expect(again.text()).toContain(DRAFT_RESTORED);
		expect(valuesIn(again)).toEqual(['Ada Lovelace', null, null]);
		// A field that the person empties stays empty.
		await again.clear(0);
		for (const button of ['Type freely', 'Refresh']) {
			await press(app, again, button);
			expect(valuesIn(again), `after ${button}`).toEqual([null, null, null]);
		}
		await again.fill(0, 'Ada Lovelace');
		await again.fill(1, 'Grace Hopper');
		await again.fill(2, 'Navy');
		await sends(app, { id, modal: again }, ['Ada Lovelace', 'Grace Hopper', 'Navy']);
	});

	it('keeps a draft over a restart and a modal that was lost without a closing', async ({ app }) => {
		const { id, modal } = await opened(app, 'three');
		await modal.fill(2, 'Navy');
		await app.restart();
		expect(valuesIn(await openSession(app, id))).toEqual([null, null, 'Navy']);
	});

	it('saves no draft of a secret', async ({ app }) => {
		const { id, modal } = await opened(app, 'code');
		await modal.fill(0, '918273');
		await press(app, modal, 'Type freely');
		await press(app, modal, 'Refresh');
		await modal.close();
		const again = await openSession(app, id);
		expect(valuesIn(again)).toEqual([null]);
		expect(again.text()).not.toContain(DRAFT_RESTORED);
		expect(await app.said()).not.toContain('918273');
	});
});

describe('somebody who is answering', () => {
	it('shows who is answering to the next person until they cancel', async ({ app }) => {
		const { id, modal } = await opened(app, 'choices');
		const other = await openSession(app, id, 'grace');
		expect(other.text()).toContain(said(claimsWords(['@ada'])));
		expect(other.submitText()).toBe('Send answer');
		await modal.close();
		await press(app, other, 'Refresh');
		expect(other.text()).not.toContain('is answering');
	});

	it('does not show who is answering to the same person, nor after Submit', async ({ app }) => {
		const { id, modal } = await opened(app, 'three');
		await press(app, modal, 'Refresh');
		expect(modal.text()).not.toContain('is answering');
		for (const [field, text] of ['a', 'b', 'c'].entries()) await modal.fill(field, text);
		await sends(app, { id, modal }, ['a', 'b', 'c']);
		const other = await openSession(app, id, 'grace');
		expect(other.text()).not.toContain('is answering');
	});
});

it.for([
	['Private key (PEM)', '-----BEGIN PRIVATE KEY-----\nMIIfake\n-----END PRIVATE KEY-----\n'],
	['The contents of your .env', 'A=1\r\nB="two words"\r\n'],
	['Recovery codes', 'aaaa-1111\nbbbb-2222'],
] as const)(
	'takes the lines of "%s" as they are, and says first how many characters fit',
	async ([title, secret], { app }) => {
		const id = 'lines';
		app.service.sessions.put(id, {
			status: 'humanInput',
			messages: [asking('To go on:', [item(title), item('Password')])],
		});
		const modal = await openSession(app, id);
		const [field, password] = answerFields(modal);
		expect(field).toMatchObject({ multiline: true, hint: expect.stringContaining('Up to 3,000 characters fit here.') });
		expect(password).toMatchObject({ multiline: false, hint: '' });
		await modal.fill(0, secret);
		await modal.fill(1, 'one line');
		await press(app, modal, 'Refresh');
		expect((await modal.submit()).outcome).toBe('updated');
		await app.shows(DELIVERED);
		expect(arrived(app, id)).toEqual([[secret, 'one line']]);
	},
);
