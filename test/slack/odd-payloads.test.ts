import { WHAT_IT_IS } from '../../src/screens/help.ts';
import { errorWords } from '../../src/slack/error-view.ts';
import { expect, signedHeaders, startTimedApp, type TimedApp, whatHappened, withApp } from '../kit.ts';

const it = withApp(() => startTimedApp({ transport: 'http' }));
const team = (app: TimedApp) => app.slack.state.team.id;

async function deliver(app: TimedApp, body: string, type: string): Promise<number> {
	const headers = { 'content-type': type, ...signedHeaders(app.slack.tokens.signingSecret, body, Date.now()) };
	return (await fetch(`${app.url}/slack/events`, { method: 'POST', body, headers })).status;
}

/** Delivers a press on a button of another version, as Slack does. */
function pressed(app: TimedApp, action: object, place: object): Promise<number> {
	const user = { id: 'U0ADA', team_id: team(app) };
	const actions = [{ type: 'button', block_id: 'b', ...action }];
	const payload = { type: 'block_actions', user, team: { id: team(app) }, actions, ...place };
	const body = new URLSearchParams({ payload: JSON.stringify(payload) }).toString();
	return deliver(app, body, 'application/x-www-form-urlencoded');
}

function told(app: TimedApp, words: string): () => boolean {
	const posts = () => app.slack.as('ada').messages('#agents', { all: true });
	const before = posts().length;
	return () =>
		posts()
			.slice(before)
			.some((post) => post.text().includes(words));
}

it('replies to a history request without a trigger, which cannot open a modal', async ({ app }) => {
	const command = {
		command: '/session',
		text: 'history demo',
		user_id: 'U0ADA',
		team_id: team(app),
		channel_id: 'C0AGENTS',
	};
	const hears = told(app, 'Please press History');
	expect(await deliver(app, new URLSearchParams(command).toString(), 'application/x-www-form-urlencoded')).toBe(200);
	await app.until(hears);
});

it('handles each mention without an event id', async ({ app }) => {
	for (const ts of ['1700000001.000100', '1700000002.000100']) {
		const hears = told(app, WHAT_IT_IS);
		const nothing = { thread_ts: null, user_team: null, bot_id: null };
		const event = { type: 'app_mention', user: 'U0ADA', channel: 'C0AGENTS', ts, text: 'hello', ...nothing };
		const body = JSON.stringify({ type: 'event_callback', team_id: team(app), event });
		expect(await deliver(app, body, 'application/json')).toBe(200);
		await app.until(hears);
	}
});

it('replies outside the form when the service responds to Refresh after the trigger expired', async ({ app }) => {
	const ada = app.slack.as('ada');
	await ada.command('#agents', '/session choices');
	await app.shows('Which colour?');
	// The form's reading is not in memory any more, so the form cannot show a notice.
	await app.clock.advance(11 * 60_000);
	app.service.faults.add({ kind: 'hang', method: 'GET' });
	app.slack.faults.add({ method: 'views.push', error: 'expired_trigger_id' });
	const hears = told(app, errorWords('timed_out', { kept: 'text', adminContact: null }).plain);
	await ada.modal()?.press('Refresh');
	await app.until(hears);
	expect(ada.modal()?.text()).toContain('Which colour?');
});

it('replies in a message when Slack refuses every update of the view', async ({ app }) => {
	app.service.faults.add({ kind: 'error', status: 404, method: 'GET' });
	app.slack.faults.add({ method: 'views.update', error: 'internal_error' });
	const hears = told(app, whatHappened('session_not_found'));
	await app.slack.as('ada').command('#agents', '/session choices');
	await app.until(hears);
});

it('works with a bot token for which Slack names no bot_id', async ({ app }) => {
	const { app: known } = app.slack.state;
	Object.assign(known, { botId: undefined });
	await app.restart();
	await app.slack.as('ada').command('#agents', '/session choices');
	await app.shows('Which colour?');
});

it('replies in a direct message to a press in a view of an older version', async ({ app }) => {
	const outdated = { private_metadata: '{"v":0}', callback_id: 'handraise.session', blocks: [] };
	const place = { view: { id: 'V0OLD', hash: '1.a', ...outdated } };
	for (const action_id of ['session.refresh', 'question.choose_item', 'history.older']) {
		const before = app.slack.as('ada').dm().length;
		expect(await pressed(app, { action_id, value: '0' }, { ...place, trigger_id: action_id })).toBe(200);
		await app.until(
			() => app.slack.as('ada').dm().length > before,
			() => action_id,
		);
		expect(app.slack.as('ada').dm().at(-1)?.text()).toContain(
			'This button is from an older version. Nothing was sent.',
		);
	}
});

const ON_POSTS =
	'question.answer session.open session.watch session.unwatch card.files menu.more answer.answer_new question.hand_over';

it('says of a button on a post of an older version that nothing was sent', async ({ app }) => {
	const place = {
		channel: { id: 'C0AGENTS' },
		container: { type: 'message', message_ts: '1700000009.000100', channel_id: 'C0AGENTS' },
		message: { ts: '1700000009.000100' },
	};
	for (const action_id of [...ON_POSTS.split(' '), 'question.choose_1']) {
		const hears = told(app, 'This button is from an older version. Nothing was sent.');
		expect(
			await pressed(
				app,
				{ action_id, value: '1:choices', action_ts: '1700000010.1' },
				{ ...place, trigger_id: action_id },
			),
		).toBe(200);
		await app.until(hears, () => action_id);
	}
});

it('logs a post that Slack refuses', async ({ app }) => {
	app.slack.faults.add({
		method: 'chat.postMessage',
		error: 'restricted_action',
		when: ({ blocks }) => JSON.stringify(blocks).includes('"text":" asks"'),
	});
	await app.slack.as('ada').command('#agents', '/session watch choices');
	await app.until(() => app.log.some((line) => line.includes('a post is refused')));
	const line = app.log.find((one) => one.includes('a post is refused'));
	expect(JSON.parse(line ?? '')).toMatchObject({ place: 'C0AGENTS', what: 'question', code: 'restricted_action' });
});

it.for([['file_share'], [undefined]] as const)(
	'replies to a direct message of subtype %s with help',
	async ([subtype], { app }) => {
		const ada = app.slack.as('ada');
		const { channel } = await ada.say('dm', 'hello?');
		await app.until(() => ada.dm().at(-1)?.author() === 'handraise');
		const before = ada.dm().length;
		const event = { type: 'message', channel_type: 'im', channel, user: 'U0ADA', text: '', subtype, bot_id: null };
		const body = JSON.stringify({ type: 'event_callback', team_id: team(app), event_id: 'Ev1', event });
		expect(await deliver(app, body, 'application/json')).toBe(200);
		await app.until(() => ada.dm().length > before);
	},
);
