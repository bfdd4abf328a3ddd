import type { ManualClock, Modal, Posted } from '../../../fake-slack/index.ts';
import { asking, done, item, task } from '../../../sandbox/session-service/builders.ts';
import type { ItemJson } from '../../../sandbox/session-service/json.ts';
import { type App, openSession } from '../../slack/support/open-session.ts';
import { passTime } from '../../support/pass-time.ts';
import { SECRETS } from './fixture.ts';

/** Longer than delivery is attempted (`GIVE_UP_HOURS=1`). */
const GIVEN_UP_MS = 2 * 3_600_000;
const CHANNEL = '#agents';
const PLAIN = [item('Which colour?')];
const SECRET = [item('Password for the shop')];

/**
 * The actions of people before the program was killed: one session for each kind of row, named after it. Returns while a
 * PUT is running, so that the database is one of a killed program.
 */
export async function workUntilKilled(app: App, clock: ManualClock): Promise<void> {
	const { service, slack } = app;
	async function until(condition: () => boolean): Promise<void> {
		const told = () =>
			['ada', 'grace'].flatMap((who) =>
				slack
					.as(who)
					.dm()
					.map((message) => message.text()),
			);
		await passTime(app, clock, condition, {
			describe: () => [condition.toString(), ...told()].join('\n'),
			limitMs: GIVEN_UP_MS,
		});
	}

	async function pass(ms: number): Promise<void> {
		const end = clock.now() + ms;
		await until(() => clock.now() >= end);
	}

	function ask(id: string, items: readonly ItemJson[] = PLAIN): void {
		const messages = [task('Order six desk chairs.'), asking('I need to know something.', items)];
		service.sessions.put(id, { status: 'humanInput', name: `Chairs: ${id}`, maxSteps: 30, messages });
	}

	/** Fills a form without submitting it. */
	async function fillIn(id: string, values = [`Words for ${id}`], who = 'ada'): Promise<Modal> {
		const form = await openSession(app, id, who);
		for (const [field, value] of values.entries()) await form.fill(field, value);
		return form;
	}

	/** Submits, waits for the confirmation and closes the modal. */
	async function submit(form: Modal, words: string): Promise<void> {
		const { outcome } = await form.submit();
		if (outcome !== 'updated') throw new Error(`Submit was ${outcome}: ${form.text()}`);
		await until(() => form.text().includes(words));
		await form.close();
	}

	const saved = 'Your answer is saved';
	const failing = 'cannot be reached or reports an error';
	const breakReads = (id: string) =>
		void service.faults.add({ kind: 'error', status: 503, method: 'GET', sessionId: id });
	/** The connection breaks during the PUT, and its outcome stays unknown. */
	function losePut(id: string, { saves }: { saves: boolean }): void {
		service.faults.add({ kind: 'reset', saves, method: 'PUT', sessionId: id, times: 1 });
		losing.add(id);
	}
	const losing = new Set<string>();
	service.hooks.onRequest = ({ kind, sessionId }) => {
		if (kind === 'answer' && sessionId !== null && losing.delete(sessionId)) breakReads(sessionId);
	};

	async function leaveWaiting(): Promise<void> {
		for (const id of ['unknown-long', 'waiting']) ask(id);
		ask('waiting-secret', SECRET);
		losePut('unknown-long', { saves: true });
		await submit(await fillIn('unknown-long'), failing);
		const plain = await fillIn('waiting');
		breakReads('waiting');
		await submit(plain, saved);
		const secret = await fillIn('waiting-secret', [SECRETS.waiting]);
		breakReads('waiting-secret');
		await submit(secret, saved);
		await until(
			() =>
				slack
					.as('ada')
					.dm()
					.filter((message) => message.buttons().includes('Try again')).length === 2,
		);
	}

	async function end(): Promise<void> {
		for (const id of ['resumed', 'conflicted', 'conflicted-by-grace', 'changed', 'refused', 'ended', 'withdrawn'])
			ask(id);

		const resumed = await fillIn('resumed');
		service.hooks.onSaved = () => {
			service.sessions.push('resumed', done('I order them.', { click: { index: 1 } }));
			service.sessions.setStatus('resumed', 'active');
		};
		await submit(resumed, 'the agent went on');
		delete service.hooks.onSaved;

		const late = await fillIn('conflicted');
		service.sessions.answerAsPage('conflicted', ['Somebody else was faster']);
		await submit(late, 'answered first');

		const second = await fillIn('conflicted-by-grace');
		await submit(await fillIn('conflicted-by-grace', ['Grace was faster'], 'grace'), 'Your answer was delivered');
		await submit(second, 'Grace');

		const old = await fillIn('changed');
		ask('changed', [item('Which size?')]);
		await submit(old, 'The agent asks something else now');

		service.faults.add({ kind: 'error', status: 400, method: 'PUT', sessionId: 'refused' });
		await submit(await fillIn('refused'), 'refused it');

		const tooLate = await fillIn('ended');
		service.sessions.setStatus('ended', 'stopped');
		await submit(tooLate, 'The agent of this session no longer reads answers');

		const unwanted = await fillIn('withdrawn');
		breakReads('withdrawn');
		await unwanted.submit();
		await until(() => unwanted.buttons().includes('Discard answer'));
		await unwanted.press('Discard answer');
		await until(() => unwanted.text().includes('You discarded this answer'));
		await unwanted.close();
	}

	function cardOf(id: string, channel = CHANNEL, who = 'ada'): Posted | undefined {
		return slack
			.as(who)
			.messages(channel)
			.find((message) => !message.isEphemeral() && message.threadTs() === null && message.text().includes(id));
	}

	async function watch(id: string, channel = CHANNEL): Promise<void> {
		await slack.as('ada').command(channel, `/session watch ${id}`);
		await until(() => cardOf(id, channel) !== undefined);
	}

	async function watchSome(): Promise<void> {
		for (const id of ['asking', 'working']) {
			const messages = [
				task('Order six desk chairs.'),
				done('I open the shop.', { go_to_url: { url: 'https://shop.example/' } }),
			];
			service.sessions.put(id, { status: 'active', name: `Chairs: ${id}`, maxSteps: 30, messages });
			await watch(id);
		}
		await watch('working', '#secret');
		await slack.as('ada').command('#secret', '/session unwatch working');
		await pass(10_000);
		service.sessions.push('asking', asking('Three are in stock.', PLAIN));
		service.sessions.setStatus('asking', 'humanInput');
		const question = (who: string) => cardOf('asking', CHANNEL, who)?.thread()[0];
		await until(() => question('ada') !== undefined);
		// Grace closes the form (a draft), Ada keeps it open (a draft and a claim).
		for (const who of ['grace', 'ada']) {
			await question(who)?.press('Answer');
			const form = await slack.as(who).waitForModal((modal) => modal.submitText() !== null);
			await form.fill(0, `What ${who} typed so far`);
			if (who === 'grace') await form.close();
		}
		await until(() => cardOf('asking')?.text().includes('answering') === true);
	}

	async function leaveLive(): Promise<void> {
		ask('live', [item('Which colour?'), item('Which size?')]);
		ask('live-secret', SECRET);
		for (const id of ['unknown-saved', 'unknown-lost', 'killed', 'delivered']) ask(id);

		const plain = await openSession(app, 'live', 'grace');
		await plain.press("I can't answer all of it");
		await until(() => plain.text().includes('I can answer all of it'));
		await plain.fill(0, 'Words for live');
		breakReads('live');
		await submit(plain, saved);
		const secret = await fillIn('live-secret', [SECRETS.live], 'grace');
		breakReads('live-secret');
		await submit(secret, saved);
		losePut('unknown-saved', { saves: true });
		await submit(await fillIn('unknown-saved', undefined, 'grace'), failing);
		// Then all three authors have a direct message.
		await until(() => slack.as('grace').dm().length === 3);

		await submit(await fillIn('delivered', undefined, 'grace'), 'Your answer was delivered');

		const limited = {
			status: 429,
			retryAfter: 30,
			when: ({ channel }: { channel?: unknown }) => channel === 'C0AGENTS',
		};
		for (const method of ['chat.postMessage', 'chat.update']) slack.faults.add({ method, ...limited });
		const calls = slack.traffic.calls('chat.postMessage').length;
		service.sessions.push('working', asking('I have found two shops.', [item('Which shop?')]));
		service.sessions.setStatus('working', 'humanInput');
		await until(() => slack.traffic.calls('chat.postMessage').length > calls);
		await pass(1_000);

		losePut('unknown-lost', { saves: false });
		await submit(await fillIn('unknown-lost', undefined, 'grace'), failing);

		service.faults.add({ kind: 'hang', saves: true, method: 'PUT', sessionId: 'killed' });
		const { outcome } = await (await fillIn('killed', undefined, 'grace')).submit();
		if (outcome !== 'updated') throw new Error(`Submit was ${outcome}`);
		await until(() => service.log.savedPuts('killed').length === 1);
	}

	await leaveWaiting();
	await end();
	await watchSome();
	await leaveLive();
}
