import { type App, expect, openSession, startApp, withApp } from '../../kit.ts';
import { fingerprintOf } from '../../support/sessions.ts';

const it = withApp(() => startApp({ transport: 'http' }));

/** The service sends this JSON for the items of a session's only question. */
function sends(app: App, id: string, items: string): void {
	app.service.sessions.put(id, { status: 'humanInput', messages: [{}, { human_input: [] }] });
	const message = `{"role":"assistant","content":"Two things.","human_input":[${items}]}`;
	const body = `{"session":{"sessionId":"${id}","status":"humanInput","messages":[{"state":[1.50]},${message}]}}`;
	app.service.faults.add({ kind: 'body', body, method: 'GET', sessionId: id });
}

const DEEP = `${'['.repeat(6_000)}0.10${']'.repeat(6_000)}`;

/** Values of an item as they come. The service cannot save the deepest. */
const VALUES = {
	'a long number': '12345678901234567890',
	'a number beyond the exact ones': '9007199254740993',
	'a price': '1.10',
	'an exponent': '1e3',
	'a negative fraction': '-0.50',
	'a number that is too large': '1e400',
	'numbers in an object': '{"cm":1.10,"ids":[9007199254740993,"1"],"cm":2.0}',
	'numbers in a deep list': DEEP,
	'no number': 'true',
};

it.for(Object.entries(VALUES))('shows %s as it came, and sends it back so', async ([, json], { app }) => {
	const id = 'n1';
	const other = `{"description":"12","\\u0076alue":1.5,"title":"Order","value":${json}}`;
	sends(app, id, `{"title":"Colour","description":null,"value":""},${other}`);
	const modal = await openSession(app, id);
	expect(modal.text()).toContain(json.slice(0, 60));
	await modal.fill(0, 'Sand');
	expect((await modal.submit()).outcome).toBe('updated');
	await app.slack.as('ada').waitForModal(/^(?:✅ Delivered|⏳ Sent)/m, 5_000);
	const [put] = app.service.log.puts(id);
	const items = `[{"title":"Colour","description":null,"value":"Sand"},{"title":"Order","description":"12","value":${json}}]`;
	expect(put?.text).toContain(`"humanInputResponse":${items},`);
});

it.for(['12345678901234567890', '1.10', '9007199254740993', '1.0'])(
	'shows the title %s as it came, sends it back, and knows the question as version 1.0.0 did',
	async (json, { app }) => {
		const id = 't1';
		sends(app, id, `{"title":${json},"description":${json},"value":null}`);
		const modal = await openSession(app, id);
		expect(modal.text()).toContain(json);
		const parsed = String(JSON.parse(json));
		expect(app.slack.state.views[modal.id]?.payload.private_metadata).toContain(
			fingerprintOf([{ title: parsed, description: parsed }]),
		);
		await modal.fill(0, 'Sand');
		expect((await modal.submit()).outcome).toBe('updated');
		await app.slack.as('ada').waitForModal(/^(?:✅ Delivered|⏳ Sent)/m, 5_000);
		const [put] = app.service.log.puts(id);
		expect(put?.text).toContain(`[{"title":${json},"description":${json},"value":"Sand"}]`);
	},
);
