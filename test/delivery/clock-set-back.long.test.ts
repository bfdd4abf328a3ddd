import { systemClock } from '../../src/kernel/clock.ts';
import {
	askingSession,
	DELIVERED,
	expect,
	headline,
	line,
	type Modal,
	openSession,
	startApp,
	withApp,
} from '../kit.ts';

const HOUR = 3_600_000;
const LOST = line('delivered', { agentOutcome: 'lost' });

/** The program on the machine's clock, which can be set. */
async function start() {
	let shift = 0;
	const clock = { now: () => Date.now() + shift, uptime: () => performance.now(), sleep: systemClock.sleep };
	const app = await startApp({ clock, service: { resumeAfterMs: 600_000 }, env: { UNDO_SECONDS: '0' } });
	return {
		...app,
		setClock(by: number) {
			shift = by;
		},
	};
}
type App = Awaited<ReturnType<typeof start>>;
const it = withApp(start);

const until = (app: App, isThere: () => boolean, what: string) => app.slack.changes.until(isThere, () => what);

/** The agent empties the field and waits: nothing in the session shows that there was an answer. */
function takeAndEmpty(app: App, id: string): void {
	const { sessions } = app.service;
	const messages = structuredClone(sessions.get(id).messages ?? []);
	for (const item of messages.flatMap(({ human_input: items }) => items ?? [])) item.value = '';
	sessions.patch(id, { status: 'humanInput', messages });
}

/** The service produces its next reading, but the response takes until `now` to arrive. */
function holdNextRead(app: App) {
	const arriving = Promise.withResolvers<void>();
	const workedOut = Promise.withResolvers<void>();
	app.service.hooks.onWorkedOut = async (entry) => {
		if (entry.kind !== 'read') return;
		delete app.service.hooks.onWorkedOut;
		workedOut.resolve();
		await arriving.promise;
	};
	return { workedOut: workedOut.promise, now: arriving.resolve };
}

/** The agent waits beside the empty field for more than a minute, and Ada is told that her answer is gone. */
async function asksAgain(app: App, by: number): Promise<void> {
	const ada = app.slack.as('ada');
	const told = () => ada.dm().filter((dm) => dm.text().includes(LOST)).length;
	const before = told();
	// Two checks have to find it empty, more than a minute apart. On a slow machine the first one came before it was emptied.
	for (let shifted = by; told() === before && shifted < by + 15 * 80_000; ) {
		shifted += 80_000;
		app.setClock(shifted);
		await app.slack.changes
			.until(
				() => told() > before,
				() => '',
				3_000,
			)
			.catch(() => undefined);
	}
	expect(told(), 'Ada was not told that her answer is gone').toBeGreaterThan(before);
}

async function filled(app: App, id: string, who: string, text: string): Promise<Modal> {
	const form = await openSession(app, id, who);
	await form.fill(0, text);
	return form;
}

it.for([
	['stands still', 0],
	['is set back by an hour', -HOUR],
	['is set forward by an hour', HOUR],
] as const)(
	'sends no second answer over the first, whose form was read before it, when the clock %s meanwhile',
	async ([, by], { app }) => {
		const id = 'form';
		app.service.sessions.put(id, askingSession(['Name']));
		const [first, second] = [await filled(app, id, 'ada', 'From Ada'), await filled(app, id, 'grace', 'From Grace')];
		app.setClock(by);
		await first.submit();
		await (await app.slack.as('ada').waitForModal(DELIVERED, 10_000)).close();
		takeAndEmpty(app, id);
		await second.submit();
		const told = await app.slack.as('grace').waitForModal(headline('conflicted'), 10_000);
		expect(told.text()).toMatch(/@ada>? answered/);
		expect(app.service.log.savedPuts(id)).toHaveLength(1);
		await told.close();
		// Whoever opens the question when it is asked again knows of the first answer.
		await asksAgain(app, by);
		const again = await filled(app, id, 'grace', 'From Grace');
		await again.submit();
		await (await app.slack.as('grace').waitForModal(DELIVERED, 10_000)).close();
		expect(app.service.log.savedPuts(id)).toHaveLength(2);
	},
);

it('sends no second press over the first when the clock is set back meanwhile', async ({ app }) => {
	app.service.sessions.put('press', askingSession(['Which colour? One of: Sand, Forest']));
	await app.slack.as('ada').command('#agents', '/session watch press');
	const posts = (who: string) => app.slack.as(who).messages('#agents');
	const asked = (who: string) => posts(who).find((message) => message.buttons().includes('Sand'));
	await until(app, () => asked('grace') !== undefined, 'the question was not posted');
	const [ofAda, ofGrace] = [asked('ada'), asked('grace')];
	app.slack.faults.add({ method: 'chat.update', error: 'internal_error' });
	app.slack.faults.add({
		method: 'response_url',
		status: 500,
		when: ({ replace_original: replaces }) => replaces === true,
	});
	app.setClock(-HOUR);
	await ofAda?.press('Sand');
	await until(app, () => app.service.log.savedPuts('press').length === 1, 'the first press was not sent');
	takeAndEmpty(app, 'press');
	await ofGrace?.press('Forest');
	const words = '@ada answered Sand before you.';
	const told = () =>
		app.slack
			.as('grace')
			.messages('#agents', { all: true })
			.some((message) => message.text().includes(words));
	await until(app, told, 'the second person was not told');
	expect(app.service.log.savedPuts('press')).toHaveLength(1);
});

it.for([
	['stands still', 0],
	['is set back by an hour', -HOUR],
] as const)(
	'sends no second answer over the first, which arrived during the read of the form, when the clock %s',
	async ([, by], { app }) => {
		const id = 'late';
		app.service.sessions.put(id, askingSession(['Name']));
		const first = await filled(app, id, 'ada', 'From Ada');
		const arrive = holdNextRead(app);
		const opening = openSession(app, id, 'grace');
		await arrive.workedOut;
		app.setClock(by);
		await first.submit();
		await app.slack.as('ada').waitForModal(DELIVERED, 10_000);
		arrive.now();
		const second = await opening;
		takeAndEmpty(app, id);
		await second.fill(0, 'From Grace');
		await second.submit();
		const told = await app.slack.as('grace').waitForModal(headline('conflicted'), 10_000);
		expect(told.text()).toMatch(/@ada>? answered/);
		expect(told.text()).not.toContain('outside');
		expect(app.service.log.savedPuts(id)).toHaveLength(1);
	},
);
