import { type App, expect, type Modal, openSession, startApp, withApp } from '../../kit.ts';
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

/** Values of items as they come: the service cannot save the deepest, so its answer is not asked for. */
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

/** Sends the form; resolves to the text of the PUT. */
async function sent(app: App, id: string, modal: Modal): Promise<string | undefined> {
	expect((await modal.submit()).outcome).toBe('updated');
	await app.slack.as('ada').waitForModal(/^(?:✅ Delivered|⏳ Sent)/m, 5_000);
	return app.service.log.puts(id)[0]?.text;
}

it('shows values as they came, and sends them back so', async ({ app }) => {
	const values = Object.entries(VALUES);
	const others = values.map(
		([what, json]) => `{"description":"12","\\u0076alue":1.5,"title":"${what}","value":${json}}`,
	);
	sends(app, 'n1', `{"title":"Colour","description":null,"value":""},${others.join()}`);
	const modal = await openSession(app, 'n1');
	for (const [what, json] of values) expect(modal.text(), what).toContain(json.slice(0, 60));
	await modal.fill(0, 'Sand');
	const items = values.map(([what, json]) => `{"title":"${what}","description":"12","value":${json}}`);
	expect(await sent(app, 'n1', modal)).toContain(
		`"humanInputResponse":[{"title":"Colour","description":null,"value":"Sand"},${items.join()}],`,
	);
});

it('shows titles as they came, sends them back, and knows the question as version 1.0.0 did', async ({ app }) => {
	const titles = ['12345678901234567890', '1.10', '9007199254740993', '1.0'];
	sends(app, 't1', titles.map((json) => `{"title":${json},"description":${json},"value":null}`).join());
	const modal = await openSession(app, 't1');
	for (const json of titles) expect(modal.text()).toContain(json);
	const parsed = titles.map((json) => String(JSON.parse(json)));
	const fingerprint = fingerprintOf(parsed.map((title) => ({ title, description: title })));
	expect(app.slack.state.views[modal.id]?.payload.private_metadata).toContain(fingerprint);
	for (const at of titles.keys()) await modal.fill(at, 'Sand');
	const items = titles.map((json) => `{"title":${json},"description":${json},"value":"Sand"}`);
	expect(await sent(app, 't1', modal)).toContain(`[${items.join()}]`);
});
