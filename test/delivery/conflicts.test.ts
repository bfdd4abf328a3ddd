import { itemsOf } from '../../fake-session-service/log.ts';
import { NOTICES } from '../../src/screens/form-notices.ts';
import { waitingWords } from '../../src/slack/phrases.ts';
import {
	answeredMeanwhile,
	answerFields,
	asking,
	askingSession,
	DELIVERED,
	describe,
	done,
	expect,
	headline,
	type Modal,
	openSession,
	said,
	startTimedApp,
	type TimedApp,
	whatHappened,
	withApp,
} from '../kit.ts';

const it = withApp(startTimedApp);
const question = (...titles: string[]) => asking('I need to know.', titles);

/** Creates a session that asks these items. */
function ask(app: TimedApp, ...titles: string[]): string {
	app.service.sessions.put('asks', askingSession(titles.length > 0 ? titles : ['First', 'Second']));
	return 'asks';
}

async function fill(app: TimedApp, modal: Modal, ...texts: string[]): Promise<Modal> {
	for (const [field, text] of texts.entries()) await modal.fill(field, text);
	// A person needs time to type.
	await app.clock.advance(1);
	return modal;
}

const saved = (app: TimedApp, id: string) =>
	app.service.log.savedPuts(id).map((put) => itemsOf(put).map((item) => item.value));

const [, soon = ''] = said(waitingWords({ goneOn: false }, null)).split('. ');

/** From now on, all items of the question have this value. */
function valuesBecome(app: TimedApp, id: string, value: string): void {
	app.service.sessions.get(id).messages?.[1]?.human_input?.forEach((item) => {
		item.value = value;
	});
	app.service.sessions.patch(id, {});
}

/** A session, and the form of its question, filled in. */
async function filled(app: TimedApp, who = 'ada', ...texts: string[]) {
	const id = ask(app);
	return {
		id,
		modal: await fill(app, await openSession(app, id, who), ...(texts.length > 0 ? texts : ['blue', 'small'])),
	};
}

describe('a question that another person of Handraise answered first', () => {
	it.for(['before it is delivered', 'at Submit'])(
		'tells the second person the first answer %s, and keeps their text',
		async (when, { app }) => {
			const { id, modal: second } = await filled(app, 'grace', 'red', 'large');
			const { release } = app.holdPuts();
			if (when === 'at Submit') release();
			await (await fill(app, await openSession(app, id), 'blue', 'small')).submit();
			if (when === 'at Submit') await app.shows(DELIVERED);
			expect(await second.submit()).toMatchObject({ outcome: 'updated', trouble: null });
			expect(second.text()).toContain(headline('conflicted'));
			expect(second.text()).toContain('@ada');
			for (const value of ['> blue', '> small', '> red', '> large']) expect(second.text()).toContain(value);
			expect(second.buttons()).toEqual(['Open session']);
			release();
			await app.shows(headline('resumed'));
			expect(saved(app, id)).toEqual([['blue', 'small']]);
		},
	);

	it('accepts one answer when two people press Submit at the same moment', async ({ app }) => {
		const id = ask(app);
		const modals = [
			await fill(app, await openSession(app, id), 'blue', 'small'),
			await fill(app, await openSession(app, id, 'grace'), 'red', 'large'),
		];
		await Promise.all(modals.map((modal) => modal.submit()));
		const told = modals.filter((modal) => modal.text().includes(headline('conflicted')));
		expect(told).toHaveLength(1);
		const winner = told[0] === modals[0] ? 'grace' : 'ada';
		await app.shows(headline('resumed'), winner);
		expect(app.service.log.puts(id)).toHaveLength(1);
	});

	it('hides the first answer from the second person when it is secret', async ({ app }) => {
		const id = ask(app, 'Password', 'Colour');
		const second = await fill(app, await openSession(app, id, 'grace'), 'grace-2718', 'red');
		await (await fill(app, await openSession(app, id), 'ada-3141', 'blue')).submit();
		await app.shows(headline('resumed'));
		await second.submit();
		expect(second.text()).toContain('\n(hidden)\n');
		expect(second.text()).toContain('> blue');
		expect(second.text()).toContain('> red');
		expect(await app.said()).not.toMatch(/ada-3141|grace-2718/);
	});

	it('says who answered on Refresh, has no form then, and names them until the agent waits for something else', async ({
		app,
	}) => {
		const { id, modal: other } = await filled(app, 'grace', 'red', 'large');
		await (await fill(app, await openSession(app, id), 'blue', 'small')).submit();
		await app.shows(headline('resumed'));
		await other.press('Refresh');
		await app.shows(answeredMeanwhile('ada'), 'grace');
		expect(other.text()).toContain('> blue');
		expect(other.submitText()).toBeNull();
		await other.close(true);
		const again = await openSession(app, id, 'grace');
		expect(again.submitText()).toBeNull();
		app.service.sessions.setStatus(id, 'humanInput');
		app.service.sessions.push(id, { role: 'assistant', content: 'Log in, please.', human_input: [] });
		await again.press('Refresh');
		await app.shows(said(waitingWords({ goneOn: true }, null)), 'grace');
		expect(again.text()).not.toContain(soon);
	});
});

describe('a question that was answered in the dashboard', () => {
	it('shows the outside answer, keeps the own text and overwrites nothing', async ({ app }) => {
		const { id, modal } = await filled(app);
		app.service.sessions.answerAsPage(id, ['green', 'medium']);
		expect((await modal.submit()).outcome).toBe('updated');
		await app.shows(headline('conflicted'));
		expect(modal.text()).toContain('Somebody in the dashboard answered');
		for (const value of ['> green', '> medium', '> blue', '> small']) expect(modal.text()).toContain(value);
		expect(app.service.log.puts(id)).toEqual([]);
		expect(app.service.sessions.values(id, 1)).toEqual(['green', 'medium']);
		await modal.press('Open session');
		await app.shows('Refresh');
	});

	it('says that nothing was lost when the outside answer has the same words', async ({ app }) => {
		const { id, modal } = await filled(app);
		app.service.sessions.answerAsPage(id, ['blue', 'small']);
		await modal.submit();
		await app.shows('answered the same');
		expect(app.service.log.puts(id)).toEqual([]);
	});

	it('does not show items that had an answer before', async ({ app }) => {
		const id = ask(app, 'Password', 'Name');
		app.service.sessions.answerAsPage(id, ['hunter2', '']);
		app.service.sessions.setStatus(id, 'humanInput');
		const modal = await fill(app, await openSession(app, id), 'Ada');
		app.service.sessions.get(id).messages?.[1]?.human_input?.forEach((item) => {
			item.value ||= 'Grace';
		});
		app.service.sessions.patch(id, {});
		await modal.submit();
		await app.shows(headline('conflicted'));
		expect(modal.text()).toContain('> Grace');
		expect(await app.said()).not.toContain('hunter2');
	});
});

describe('a service that changes what it saves', () => {
	it('does not report an overwritten answer when the service shows an empty one', async ({ app }) => {
		const { id, modal } = await filled(app);
		app.service.hooks.onSaved = () => valuesBecome(app, id, '');
		await modal.submit();
		await app.shows(headline('resumed'));
	});

	it('recognises our answer when the service saves it without the white space around it, and answers 500', async ({
		app,
	}) => {
		const id = ask(app, 'Address');
		const modal = await fill(app, await openSession(app, id), '  Main Street 1\nTown\n');
		app.service.hooks.onSaved = () => valuesBecome(app, id, 'Main Street 1\r\nTown');
		app.service.faults.add({ kind: 'error', saves: true, method: 'PUT', times: 1, sessionId: id });
		await modal.submit();
		await app.shows(headline('resumed'));
	});
});

describe('a question that changed while the form was open', () => {
	function replaceBy(app: TimedApp, id: string, ...titles: string[]): void {
		app.service.sessions.patch(id, { messages: [{ role: 'user', content: 'Do it.' }, question(...titles)] });
	}

	it('offers the changed question with the text carried over, and sends nothing', async ({ app }) => {
		const id = ask(app, 'Which row?');
		const modal = await fill(app, await openSession(app, id), 'Row 4');
		replaceBy(app, id, 'Which row now?', 'Note');
		expect((await modal.submit()).outcome).toBe('updated');
		await app.shows(headline('changed'));
		expect(modal.text()).toContain('> Row 4');
		expect(app.service.log.puts(id)).toEqual([]);
		await modal.press('Answer the new question');
		await app.shows('Which row now?');
		const again = app.slack.as('ada').modal();
		expect((again === null ? [] : answerFields(again)).map((field) => [field.label, field.value])).toEqual([
			['Which row now?', 'Row 4'],
			['Note', null],
		]);
		await again?.fill('Note', 'Thanks');
		expect((await again?.submit())?.outcome).toBe('updated');
		await app.shows(DELIVERED);
		expect(saved(app, id)).toEqual([['Row 4', 'Thanks']]);
	});

	it('offers the changed question with the text in a direct message when the modal was closed', async ({ app }) => {
		const id = ask(app, 'Which aisle?');
		const ada = app.slack.as('ada');
		const modal = await fill(app, await openSession(app, id), 'Aisle 7');
		replaceBy(app, id, 'Which aisle now?');
		await modal.submit();
		await modal.close();
		const told = () => ada.dm('Aisle 7')[0];
		await app.until(() => told() !== undefined);
		await told()?.press('Answer the new question');
		await app.shows('Which aisle now?');
		expect(ada.modal()?.value('Which aisle now?')).toBe('Aisle 7');
	});

	it('does not say that the question changed when it stands at another place, and sends the text there', async ({
		app,
	}) => {
		const id = ask(app, 'Which row?');
		app.service.sessions.patch(id, {
			messages: [{ role: 'user', content: 'Do it.' }, done('Well.'), question('Which row?')],
		});
		const modal = await fill(app, await openSession(app, id), 'Row 4');
		app.service.sessions.patch(id, { messages: [{ role: 'user', content: 'Do it.' }, question('Which row?')] });
		expect((await modal.submit()).outcome).toBe('updated');
		await app.shows('Not sent: the question has another place now');
		expect(modal.text()).not.toContain('changed');
		expect(app.service.log.puts(id)).toEqual([]);
		await modal.press('Answer again');
		await app.shows(said(NOTICES.prefilled('Your earlier answer')));
		const again = app.slack.as('ada').modal();
		expect(again?.value('Which row?')).toBe('Row 4');
		expect((await again?.submit())?.outcome).toBe('updated');
		await app.shows(DELIVERED);
		expect(saved(app, id)).toEqual([['Row 4']]);
	});

	it('shows the same question at another place on Refresh with what was typed and chosen, without a notice', async ({
		app,
	}) => {
		const id = ask(app, 'Which row?');
		const messages = [{ role: 'user', content: 'Do it.' }, question('Which row?', 'Shall I go on? (yes/no)')] as const;
		app.service.sessions.patch(id, { messages: [messages[0], done('Well.'), messages[1]] });
		const modal = await fill(app, await openSession(app, id), 'Row 4');
		await modal.choose(1, 'Yes');
		app.service.sessions.patch(id, { messages: [...messages] });
		await modal.press('Refresh');
		await app.until(() => !modal.text().includes('Well.'));
		expect(modal.text()).not.toContain('has changed');
		expect(modal.value('Which row?')).toBe('Row 4');
		expect((await modal.submit()).outcome).toBe('updated');
		await app.shows(DELIVERED);
		expect(saved(app, id)).toEqual([['Row 4', 'Yes']]);
	});

	it('shows the changed question on Refresh with the text carried over and a notice', async ({ app }) => {
		const id = ask(app, 'Which row?');
		const modal = await fill(app, await openSession(app, id), 'Row 4');
		replaceBy(app, id, 'Which row now?');
		await modal.press('Refresh');
		await app.shows(said(NOTICES.questionChanged(true)));
		expect(modal.value('Which row now?')).toBe('Row 4');
	});
});

describe('a session that ended while the form was open', () => {
	it.for(['stopped', 'removed'])(
		'accepts no answer and keeps the text when the session is %s',
		async (end, { app }) => {
			const { id, modal } = await filled(app);
			if (end === 'removed') app.service.sessions.remove(id);
			else app.service.sessions.setStatus(id, end);
			await modal.submit();
			await app.shows(end === 'removed' ? whatHappened('service_missing') : headline('ended'));
			expect(modal.text()).toContain('> blue');
			expect(modal.buttons()).toContain(end === 'removed' ? 'Discard answer' : 'Open session');
			expect(app.service.log.puts(id)).toEqual([]);
		},
	);
});

describe('one form submitted again', () => {
	/** Sends the last submission once more with other texts, as when Slack did not see its acknowledgement. */
	async function again(app: TimedApp, ...texts: string[]) {
		const sent = app.slack.traffic.deliveries('view_submission').at(-1)?.request;
		const payload = structuredClone(sent ?? {}) as {
			view: { state: { values: Record<string, Record<string, { value: string }>> } };
		};
		for (const [field, entry] of Object.values(payload.view.state.values).entries()) {
			for (const element of Object.values(entry)) element.value = texts[field] ?? element.value;
		}
		return app.slack.deliver({
			kind: 'interactive',
			name: 'view_submission',
			payload: payload as never,
			acceptsPayload: true,
		});
	}

	it('stores one answer for an unchanged repeat', async ({ app }) => {
		const id = ask(app);
		await (await fill(app, await openSession(app, id), 'blue', 'small')).submit();
		expect(await again(app)).toMatchObject({ ok: true, payload: { response_action: 'update' } });
		await app.shows(headline('resumed'));
		expect(await again(app)).toMatchObject({ ok: true, payload: { response_action: 'update' } });
		expect(app.service.log.puts(id)).toHaveLength(1);
	});

	it('says that the first text counts when the second comes after the sending began', async ({ app }) => {
		const { id, modal } = await filled(app);
		const { arrived, release } = app.holdPuts();
		await modal.submit();
		await arrived;
		const ack = await again(app, 'azure', 'tiny');
		expect(JSON.stringify(ack)).toContain('blue');
		expect(JSON.stringify(ack)).toContain('Your change came too late: the text below was already being sent.');
		release();
		await app.shows(headline('resumed'));
		expect(saved(app, id)).toEqual([['blue', 'small']]);
	});
});
