import { NOT_TOLD_ANY_MORE } from '../../../src/screens/hand-over.ts';
import { SETTLED_WORDS } from '../../../src/screens/question-post.ts';
import { FRESH_MS } from '../../../src/slack/directory.ts';
import {
	answeredBy,
	DID_NOT_GET_IT,
	describe,
	expect,
	forCase,
	HANDED_OVER,
	HANDED_TO_YOU,
	handedOver,
	handOverApp,
	it,
	openButtons,
	youHandedOver,
} from '../../kit.ts';

/** With a question. */
const start = async (env: Record<string, string> = {}) => {
	const app = await forCase(handOverApp(env));
	return { app, ...(await app.asked()) };
};
/** With a question that Ada handed over to Tess. */
const startHanded = async () => {
	const app = await forCase(handOverApp());
	return { app, ...(await app.handed()) };
};
/** Tess has a question, and now only these people may use Handraise. */
async function startWithFormer(...names: string[]) {
	const { app, ...question } = await startHanded();
	// Slack would wait 3 s for a stopped program to acknowledge the event of the direct message.
	await app.pass(500);
	await app.restartFor(...names);
	return { app, ...question };
}

describe('Hand over', () => {
	it('goes round three times, and then says who had it last and what to do', async () => {
		const { app, post } = await start();
		await app.handOver(post, 'ada', 'bob');
		const bobs = await app.handedTo('bob');
		await app.handOver(bobs, 'bob', 'cleo');
		const cleos = await app.handedTo('cleo');
		await app.until(() => openButtons(bobs)?.length === 0);
		expect(bobs.text()).toContain(SETTLED_WORDS.handedOn);
		await app.handOver(cleos, 'cleo', 'ada');
		const adas = await app.handedTo('ada');
		expect(adas.buttons()).toEqual(['LH 1173', 'TP 570', 'Other answer…', 'Give back']);
		await app.openHome();
		await app.homeSays(HANDED_TO_YOU, { without: ['Hand over'] });
		await app.press(post, 'bob', 'Hand over');
		await app.windowSays('Only @ada can give it back', { who: 'bob', without: ['over or give'] });
		await adas.press('Give back');
		await app.givenBackTo('cleo');
		await app.press(post, 'dan', 'Hand over');
		await app.windowSays('handed over 3 times, last by @cleo to @ada. It cannot be handed over again. Answer it', {
			who: 'dan',
			without: ['bob'],
		});
	});

	it('refuses people who may not answer, in the window, and keeps the window', async () => {
		const { app, post } = await start();
		const { modal, errors } = await app.handOver(post, 'ada', 'gus');
		expect(Object.values(errors)[0]).toContain('This person is a guest');
		const refusals: [string, string][] = [
			['otherbot', 'is an app or a bot'],
			['slackbot', 'is an app or a bot'],
			['ada', 'That is you.'],
			['eve', 'belongs to another workspace'],
		];
		for (const [who, words] of refusals) {
			await modal.choose('Hand over to', who);
			expect(Object.values((await modal.submit()).errors)[0]).toContain(words);
		}
		await modal.choose('Hand over to', 'cleo');
		// Slack offers nobody who has left: she leaves while the window is open.
		Object.assign(app.slack.state.people.find(({ name }) => name === 'cleo') ?? {}, { deleted: true });
		expect(Object.values((await modal.submit()).errors)[0]).toContain('has a deactivated account');
		app.slack.faults.add({ method: 'users.info', error: 'internal_error' });
		await modal.choose('Hand over to', 'tess');
		expect(Object.values((await modal.submit()).errors)[0]).toContain('could not check');
		app.slack.faults.clear();
		await app.pass(3_000);
		expect(post.text()).not.toContain(HANDED_OVER);
		expect((await modal.submit()).outcome).toBe('updated');
		await app.handedTo('tess');
	});

	it('has one winner when two people hand over at the same moment, and tells the other who has it', async () => {
		const { app, post } = await start();
		const press = async (who: string, to: string) => {
			await app.press(post, who, 'Hand over');
			const modal = await app.slack.as(who).waitForModal('Hand over to');
			await modal.choose('Hand over to', to);
			return modal;
		};
		const windows = [await press('ada', 'bob'), await press('grace', 'cleo')];
		await Promise.all(windows.map((modal) => modal.submit()));
		const texts = windows.map((modal) => modal.text());
		expect(texts.filter((text) => ['bob', 'cleo'].some((who) => text.includes(youHandedOver(who))))).toHaveLength(1);
		expect(texts.filter((text) => /@(bob|cleo) has this question \(from @(ada|grace)\)/.test(text))).toHaveLength(1);
		await app.pass(5_000);
		expect(app.dms('bob').length + app.dms('cleo').length).toBe(1);
		// Somebody who does not have it hears that at once.
		await app.press(post, 'dan', 'Hand over');
		await app.windowSays('has this question (from @', { who: 'dan' });
	});

	it('tells nobody about a question who may not use Handraise any more', async () => {
		const { app, id, post, dm } = await startWithFormer('tess', 'bob');
		await dm.press('Give back');
		await app.until(() => openButtons(dm)?.length === 0);
		await app.pass(10_000);
		expect(app.dms('ada')).toEqual([]);
		app.slack.faults.add({ method: 'chat.postMessage', error: 'internal_error' });
		await app.handOver(post, 'bob', 'tess');
		await app.restartFor('bob');
		app.slack.faults.clear();
		await app.threadSays(id, HANDED_OVER);
		await app.pass(30_000);
		expect(app.dms('tess')).toHaveLength(1);
	});

	it('sends the direct message when Slack can tell again whether its person may answer', async () => {
		const { app, post } = await start();
		app.slack.faults.add({ method: 'conversations.open', error: 'internal_error' });
		await app.handOver(post, 'ada', 'tess');
		app.slack.faults.add({ method: 'users.info', error: 'internal_error' });
		// What was known of them is too old then.
		await app.pass(FRESH_MS);
		await app.restart({});
		app.slack.faults.clear();
		app.slack.faults.add({ method: 'users.info', error: 'internal_error' });
		await app.pass(10_000);
		expect(app.dms('tess')).toEqual([]);
		app.slack.faults.clear();
		await app.handedTo('tess');
	});

	it.each([
		['rate_limited', 6],
		['not_documented', 4],
	])('is not given back while Slack refuses the direct message with %s, %i times', async (error, times) => {
		const { app, post } = await start();
		app.slack.faults.add({ method: 'chat.postMessage', error, times });
		await app.handOver(post, 'ada', 'tess');
		await app.handedTo('tess');
		expect(post.text()).toContain(HANDED_OVER);
		expect(app.dms('ada')).toEqual([]);
	});

	it('is given back when Slack refuses the direct message, and whoever handed it over hears that', async () => {
		const { app, id, post } = await start();
		const lift = app.slack.faults.add({
			method: 'conversations.open',
			error: 'user_disabled',
			when: ({ users }) => users === app.slack.as('tess').user,
		});
		await app.handOver(post, 'ada', 'tess');
		await app.until(() => app.log.some((line) => line.includes('a post is refused')));
		lift();
		const dm = await app.newestDm('ada', '@tess did not get the question that you handed over');
		expect(dm.text()).toContain('Which flight?');
		expect(post.text()).not.toContain(HANDED_OVER);
		await app.pass(5_000);
		expect(app.card(id)?.text()).not.toContain(HANDED_OVER);
		expect((await app.handOver(post, 'bob', 'tess')).modal.text()).toContain(youHandedOver('tess'));
		await app.handedTo('tess');
		await app.until(() => openButtons(dm)?.length === 0);
	});

	it('is given back when the app may send no direct message for minutes, and whoever handed it over hears that later', async () => {
		const { app, post } = await start();
		const lift = app.slack.faults.add({ method: 'conversations.open', error: 'missing_scope' });
		await app.handOver(post, 'ada', 'tess');
		await app.pass(5 * 60_000);
		expect(post.text()).toContain(HANDED_OVER);
		await app.pass(5 * 60_000);
		expect(post.text()).not.toContain(HANDED_OVER);
		lift();
		await app.newestDm('ada', DID_NOT_GET_IT);
		expect(app.dms('tess')).toEqual([]);
	});

	it('is given back when the chosen person may not answer any more before the direct message is posted', async () => {
		const { app, post } = await start();
		const lift = app.slack.faults.add({ method: 'conversations.open', error: 'internal_error' });
		await app.handOver(post, 'ada', 'tess');
		await app.until(() => app.slack.traffic.calls('conversations.open').length > 0);
		await app.restartFor('ada', 'bob');
		lift();
		await app.newestDm('ada', DID_NOT_GET_IT);
		await app.until(() => !post.text().includes(HANDED_OVER));
		expect(app.dms('tess')).toEqual([]);
	});

	it('can be handed over by anybody while whoever has it may not answer any more', async () => {
		const { app, id, post } = await startWithFormer('ada', 'bob', 'cleo');
		expect((await app.handOver(post, 'bob', 'cleo')).modal.text()).toContain(youHandedOver('cleo'));
		const dm = await app.handedTo('cleo');
		await app.threadSays(id, handedOver('bob', 'cleo'));
		await app.until(() => openButtons(app.dms('tess')[0])?.length === 0);
		expect(app.dms('tess')[0]?.text()).toBe(NOT_TOLD_ANY_MORE);
		await app.press(post, 'ada', 'Hand over');
		await app.windowSays('@cleo has this question (from @bob)');
		await dm.press('Give back');
		await app.givenBackTo('bob');
	});

	it.each(['answered', 'changed'])(
		'tells nothing more to whoever may not answer any more when it is %s',
		async (how) => {
			const { app, id, post, dm } = await startWithFormer('ada', 'bob');
			if (how === 'answered') await app.press(post, 'bob', 'TP 570');
			else app.ask(id, ['Which hotel?'], '');
			await app.until(() => openButtons(dm)?.length === 0);
			await app.pass(10_000);
			expect(dm.text()).toBe(NOT_TOLD_ANY_MORE);
		},
	);

	it('does not tell what came of it while Slack does not say whether whoever has it may answer', async () => {
		const { app, post, dm } = await startHanded();
		await app.pass(60_000);
		const { user: tess } = app.slack.as('tess');
		const lift = app.slack.faults.add({
			method: 'users.info',
			error: 'internal_error',
			when: ({ user }) => user === tess,
		});
		await app.press(post, 'bob', 'TP 570');
		await app.until(() => openButtons(post)?.length === 0);
		await app.pass(10_000);
		expect(dm.text()).not.toContain('@bob');
		lift();
		await app.until(() => answeredBy('bob', 'TP 570').test(dm.text()));
	});

	it('cannot be handed over by others while Slack does not say whether whoever has it may answer', async () => {
		const { app, post } = await startHanded();
		await app.press(post, 'bob', 'Hand over');
		await app.windowSays('@tess has this question (from @ada)', { who: 'bob' });
		await app.slack.as('bob').modal()?.close();
		await app.pass(60_000);
		app.slack.faults.add({ method: 'users.info', error: 'internal_error' });
		await app.press(post, 'bob', 'Hand over');
		await app.windowSays('@tess has this question (from @ada)', { who: 'bob' });
	});
});
