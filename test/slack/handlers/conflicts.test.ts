import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { Modal } from '../../../fake-slack/index.ts';
import { asking, askingSession } from '../../../sandbox/session-service/builders.ts';
import { itemsOf } from '../../../sandbox/session-service/log.ts';
import { type App, answerFields, openSession } from '../support/open-session.ts';
import { startTimedApp } from '../support/timed-app.ts';

let timed: Awaited<ReturnType<typeof startTimedApp>>;
let app: App;
beforeAll(async () => {
	timed = await startTimedApp();
	app = timed.app;
});
afterAll(() => timed[Symbol.asyncDispose]());
afterEach(async () => {
	app.service.faults.clear();
	delete app.service.hooks.onRequest;
	for (const who of ['ada', 'grace']) await app.slack.as(who).modal()?.close(true);
	expect(app.slack.violations()).toEqual([]);
});

let count = 0;
const question = (...titles: string[]) => asking('I need to know.', titles);

/** A session of its own that asks these things. */
function ask(...titles: string[]): string {
	const id = `asks-${++count}`;
	app.service.sessions.put(id, askingSession(titles.length > 0 ? titles : ['First', 'Second']));
	return id;
}

async function fill(modal: Modal, ...texts: string[]): Promise<Modal> {
	for (const [field, text] of texts.entries()) await modal.fill(field, text);
	// Typing takes a while.
	await timed.clock.advance(1);
	return modal;
}

const saved = (id: string) => app.service.log.savedPuts(id).map((put) => itemsOf(put).map((item) => item.value));

/** Holds every PUT until the returned function is called. */
function holdPuts(): () => void {
	const { promise, resolve } = Promise.withResolvers<void>();
	app.service.hooks.onRequest = (entry) => (entry.kind === 'answer' ? promise : undefined);
	return resolve;
}

describe('a question that another person of Handraise answered first', () => {
	it('is told at Submit with their answer, and the second text is kept and can be posted', async () => {
		const id = ask();
		const second = await fill(await openSession(app, id, 'grace'), 'red', 'large');
		const first = await fill(await openSession(app, id), 'blue', 'small');
		await first.submit();
		await timed.shows('Your answer was delivered');

		expect(await second.submit()).toMatchObject({ outcome: 'updated', trouble: null });
		expect(second.text()).toContain('Your answer was not sent: somebody else answered first.');
		expect(second.text()).toContain('@ada');
		for (const value of ['> blue', '> small', '> red', '> large']) expect(second.text()).toContain(value);
		expect(saved(id)).toEqual([['blue', 'small']]);

		await second.press('Post my text in the channel');
		const posted = await app.slack.as('ada').waitForMessage('#agents', 'wanted to answer');
		expect(posted.text()).toContain('> red');
		expect(posted.isEphemeral()).toBe(false);
		await timed.shows('Your text was posted.', 'grace');
	});

	it('is told even while their answer is still on its way', async () => {
		const id = ask();
		const release = holdPuts();
		const second = await fill(await openSession(app, id, 'grace'), 'red', 'large');
		await (await fill(await openSession(app, id), 'blue', 'small')).submit();
		await second.submit();
		expect(second.text()).toContain('somebody else answered first');
		expect(second.text()).toContain('> blue');
		release();
		await timed.shows('the agent went on');
		expect(saved(id)).toEqual([['blue', 'small']]);
	});

	it('goes to exactly one of two who press at the same moment', async () => {
		const id = ask();
		const modals = [
			await fill(await openSession(app, id), 'blue', 'small'),
			await fill(await openSession(app, id, 'grace'), 'red', 'large'),
		];
		await Promise.all(modals.map((modal) => modal.submit()));
		const told = modals.filter((modal) => modal.text().includes('somebody else answered first'));
		expect(told).toHaveLength(1);
		const winner = told[0] === modals[0] ? 'grace' : 'ada';
		await timed.shows('the agent went on', winner);
		expect(app.service.log.puts(id)).toHaveLength(1);
	});

	it('does not show what they answered where it is secret', async () => {
		const id = ask('Password', 'Colour');
		const second = await fill(await openSession(app, id, 'grace'), 'grace-2718', 'red');
		await (await fill(await openSession(app, id), 'ada-3141', 'blue')).submit();
		await timed.shows('the agent went on');
		await second.submit();
		expect(second.text()).toContain('> (hidden)');
		expect(second.text()).toContain('> blue');
		expect(second.text()).toContain('> red');
		expect(await app.said()).not.toMatch(/ada-3141|grace-2718/);
	});

	it('says to one who opens it afterwards that nothing is open', async () => {
		const id = ask();
		await (await fill(await openSession(app, id), 'blue', 'small')).submit();
		await timed.shows('the agent went on');
		const other = await openSession(app, id, 'grace');
		expect(other.submitText()).toBeNull();
	});

	it('names who answered while the agent still says that it waits, and not once it waits for something else', async () => {
		const id = ask();
		await (await fill(await openSession(app, id), 'blue', 'small')).submit();
		await timed.shows('the agent went on');
		app.service.sessions.setStatus(id, 'humanInput');
		const other = await openSession(app, id, 'grace');
		expect(other.text()).toMatch(
			/The newest question has been answered by <?@ada>? .*\. The agent should go on soon\./,
		);
		app.service.sessions.push(id, { role: 'assistant', content: 'Log in, please.', human_input: [] });
		await other.press('Refresh');
		await timed.shows('Its last question was answered, and it asked nothing new that can be answered here', 'grace');
		expect(other.text()).not.toContain('should go on soon');
	});

	it('says so in the form of one who refreshes', async () => {
		const id = ask();
		const other = await fill(await openSession(app, id, 'grace'), 'red', 'large');
		await (await fill(await openSession(app, id), 'blue', 'small')).submit();
		await timed.shows('the agent went on');
		await other.press('Refresh');
		await timed.shows('Answered meanwhile by', 'grace');
		expect(other.text()).toContain('> blue');
		expect(other.submitText()).toBeNull();
	});
});

describe("a question that was answered in the service's own page", () => {
	it('is told with that answer, the own text kept, and nothing is overwritten', async () => {
		const id = ask();
		const modal = await fill(await openSession(app, id), 'blue', 'small');
		app.service.sessions.answerAsPage(id, ['green', 'medium']);
		expect((await modal.submit()).outcome).toBe('updated');
		await timed.shows('Your answer was not sent: somebody else answered first.');
		expect(modal.text()).toContain('Somebody outside Slack answered');
		for (const value of ['> green', '> medium', '> blue', '> small']) expect(modal.text()).toContain(value);
		expect(app.service.log.puts(id)).toEqual([]);
		expect(app.service.sessions.values(id, 1)).toEqual(['green', 'medium']);
		await modal.press('Open the session');
		await timed.shows('Refresh');
	});

	it('with the same words loses nothing, and the receipt says so', async () => {
		const id = ask();
		const modal = await fill(await openSession(app, id), 'blue', 'small');
		app.service.sessions.answerAsPage(id, ['blue', 'small']);
		await modal.submit();
		await timed.shows('answered the same');
		expect(app.service.log.puts(id)).toEqual([]);
	});

	it('in part leaves the rest to be answered, and what is there is sent back as it is', async () => {
		const id = ask('First', 'Second', 'Third');
		app.service.sessions.answerAsPage(id, ['', 'green', '']);
		app.service.sessions.setStatus(id, 'humanInput');
		const modal = await openSession(app, id);
		expect(answerFields(modal).map((field) => field.label)).toEqual(['“First”', '“Third”']);
		await fill(modal, 'blue', 'small');
		await modal.submit();
		await timed.shows('Your answer was delivered');
		expect(saved(id)).toEqual([['blue', 'green', 'small']]);
	});

	it('shows nothing of an item that had its answer before', async () => {
		const id = ask('Password', 'Name');
		app.service.sessions.answerAsPage(id, ['hunter2', '']);
		app.service.sessions.setStatus(id, 'humanInput');
		const modal = await fill(await openSession(app, id), 'Ada');
		app.service.sessions.get(id).messages?.[1]?.human_input?.forEach((item) => {
			item.value ||= 'Grace';
		});
		app.service.sessions.patch(id, {});
		await modal.submit();
		await timed.shows('somebody else answered first');
		expect(modal.text()).toContain('> Grace');
		expect(await app.said()).not.toContain('hunter2');
	});

	it('after ours shows that ours was overwritten', async () => {
		const id = ask();
		const modal = await fill(await openSession(app, id), 'blue', 'small');
		app.service.hooks.onSaved = () => {
			app.service.sessions.get(id).messages?.[1]?.human_input?.forEach((item) => {
				item.value = 'green';
			});
			app.service.sessions.patch(id, {});
			app.service.sessions.setStatus(id, 'humanInput');
		};
		await modal.submit();
		await timed.shows('Your answer was delivered, then somebody outside Handraise overwrote it.');
		delete app.service.hooks.onSaved;
	});
});

describe('a service that shows nothing where our answer was saved', () => {
	it('has overwritten nothing: it may have cleared what the agent took', async () => {
		const id = ask();
		const modal = await fill(await openSession(app, id), 'blue', 'small');
		app.service.hooks.onSaved = () => {
			app.service.sessions.get(id).messages?.[1]?.human_input?.forEach((item) => {
				item.value = '';
			});
			app.service.sessions.patch(id, {});
		};
		await modal.submit();
		await timed.shows('Your answer was delivered and the agent went on.');
		delete app.service.hooks.onSaved;
	});
});

describe('a service that saves an answer without the white space around it', () => {
	it.each([
		['and says so', null],
		['and answers 500 after saving', { kind: 'error', saves: true, method: 'PUT', times: 1 } as const],
	])('%s, has our answer', async (_, fault) => {
		const id = ask('Address');
		const modal = await fill(await openSession(app, id), '  Main Street 1\nTown\n');
		app.service.hooks.onSaved = () => {
			app.service.sessions.get(id).messages?.[1]?.human_input?.forEach((item) => {
				item.value = 'Main Street 1\r\nTown';
			});
			app.service.sessions.patch(id, {});
		};
		if (fault !== null) app.service.faults.add({ ...fault, sessionId: id });
		await modal.submit();
		await timed.shows('Your answer was delivered and the agent went on.');
		delete app.service.hooks.onSaved;
	});
});

describe('a question that changed while the form was open', () => {
	it('is offered anew with the text carried over, and nothing was sent', async () => {
		const id = ask('Which row?');
		const modal = await fill(await openSession(app, id), 'Row 4');
		app.service.sessions.patch(id, {
			messages: [{ role: 'user', content: 'Do it.' }, question('Which row now?', 'Note')],
		});
		expect((await modal.submit()).outcome).toBe('updated');
		await timed.shows('Your answer was not sent: the question has changed.');
		expect(modal.text()).toContain('> Row 4');
		expect(app.service.log.puts(id)).toEqual([]);
		await modal.press('Answer the new question');
		await timed.shows('Which row now?');
		const again = app.slack.as('ada').modal();
		expect((again === null ? [] : answerFields(again)).map((field) => [field.label, field.value])).toEqual([
			['“Which row now?”', 'Row 4'],
			['“Note”', null],
		]);
		await again?.fill('“Note”', 'Thanks');
		expect((await again?.submit())?.outcome).toBe('updated');
		await timed.shows('Your answer was delivered');
		expect(saved(id)).toEqual([['Row 4', 'Thanks']]);
	});

	it('is offered anew in a direct message too, with the text, when the modal was closed', async () => {
		const id = ask('Which aisle?');
		const ada = app.slack.as('ada');
		const modal = await fill(await openSession(app, id), 'Aisle 7');
		app.service.sessions.patch(id, { messages: [{ role: 'user', content: 'Do it.' }, question('Which aisle now?')] });
		await modal.submit();
		await modal.close();
		const told = () => ada.dm().find((post) => post.text().includes('Aisle 7'));
		await timed.until(() => told() !== undefined);
		await told()?.press('Answer the new question');
		await timed.shows('Which aisle now?');
		expect(ada.modal()?.value('“Which aisle now?”')).toBe('Aisle 7');
	});

	it('is offered anew when the agent asks something else since', async () => {
		const id = ask('Which row?');
		const modal = await fill(await openSession(app, id), 'Row 4');
		app.service.sessions.push(id, question('Which seat?'));
		await modal.submit();
		await timed.shows('the question has changed');
		await modal.press('Answer the new question');
		await timed.shows('Which seat?');
		expect(app.service.log.puts(id)).toEqual([]);
	});

	it('is shown by Refresh with the text carried over and a word', async () => {
		const id = ask('Which row?');
		const modal = await fill(await openSession(app, id), 'Row 4');
		app.service.sessions.patch(id, { messages: [{ role: 'user', content: 'Do it.' }, question('Which row now?')] });
		await modal.press('Refresh');
		await timed.shows('The question has changed. This is the new one, with your text where it fits.');
		expect(modal.value('“Which row now?”')).toBe('Row 4');
	});
});

describe('a session that ended while the form was open', () => {
	it.each(['failed', 'stopped', 'completed'])('as %s takes no answer, and the text is kept', async (status) => {
		const id = ask();
		const modal = await fill(await openSession(app, id), 'blue', 'small');
		app.service.sessions.setStatus(id, status);
		await modal.submit();
		await timed.shows('Your answer was not sent: the session is over.');
		expect(modal.text()).toContain('> blue');
		expect(modal.buttons()).toContain('Post my text in the channel');
		expect(app.service.log.puts(id)).toEqual([]);
	});

	it('or is gone: told, and the text is kept', async () => {
		const id = ask();
		const modal = await fill(await openSession(app, id), 'blue', 'small');
		app.service.sessions.remove(id);
		await modal.submit();
		await timed.shows('has no session with this id');
		expect(modal.text()).toContain('> blue');
	});
});

describe('one form submitted again', () => {
	/** Sends the last submission once more with other texts, as when Slack did not see its acknowledgement. */
	async function again(...texts: string[]) {
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

	it('unchanged is one answer', async () => {
		const id = ask();
		await (await fill(await openSession(app, id), 'blue', 'small')).submit();
		expect(await again()).toMatchObject({ ok: true, payload: { response_action: 'update' } });
		await timed.shows('the agent went on');
		expect(await again()).toMatchObject({ ok: true, payload: { response_action: 'update' } });
		expect(app.service.log.puts(id)).toHaveLength(1);
	});

	it('with another text replaces the first while nothing was sent', async () => {
		const id = ask();
		const modal = await fill(await openSession(app, id), 'blue', 'small');
		const { promise, resolve } = Promise.withResolvers<void>();
		app.service.hooks.onRequest = () => promise;
		await modal.submit();
		expect(await again('azure', 'tiny')).toMatchObject({ ok: true });
		resolve();
		await timed.shows('the agent went on');
		expect(saved(id)).toEqual([['azure', 'tiny']]);
	});

	it('with another text once it is on its way says that the first one counts', async () => {
		const id = ask();
		const modal = await fill(await openSession(app, id), 'blue', 'small');
		const arrived = Promise.withResolvers<void>();
		const { promise, resolve } = Promise.withResolvers<void>();
		app.service.hooks.onRequest = (entry) => {
			if (entry.kind !== 'answer') return undefined;
			arrived.resolve();
			return promise;
		};
		await modal.submit();
		await arrived.promise;
		const ack = await again('azure', 'tiny');
		expect(JSON.stringify(ack)).toContain('blue');
		expect(JSON.stringify(ack)).toContain('change came too late');
		resolve();
		await timed.shows('the agent went on');
		expect(saved(id)).toEqual([['blue', 'small']]);
	});
});

describe('a button on an answer of somebody else', () => {
	it('does nothing and says so', async () => {
		const id = ask();
		app.service.faults.add({ kind: 'error', status: 400, method: 'PUT', sessionId: id });
		await (await fill(await openSession(app, id), 'blue', 'small')).submit();
		await timed.shows('refused it');
		const puts = app.service.log.puts(id).length;
		await app.slack.as('ada').modal()?.press('Try again');
		const press = structuredClone(app.slack.traffic.deliveries('block_actions').at(-1)?.request ?? {}) as {
			user: { id: string };
			trigger_id: string;
		};
		await timed.until(() => app.service.log.puts(id).length > puts);
		await timed.shows('refused it');
		const before = app.service.log.puts(id).length;
		press.user.id = 'U0GRACE';
		press.trigger_id = 'forged';
		await app.slack.deliver({
			kind: 'interactive',
			name: 'block_actions',
			payload: press as never,
			acceptsPayload: false,
		});
		await timed.until(() =>
			app.slack
				.as('grace')
				.dm()
				.some((message) => message.text().includes("belongs to somebody else's answer")),
		);
		expect(app.service.log.puts(id)).toHaveLength(before);
	});
});
