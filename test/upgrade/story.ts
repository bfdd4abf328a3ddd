import { item, task } from '../../fake-session-service/builders.ts';
import type { Actor, Modal, Posted } from '../../fake-slack/index.ts';
import { keepSecret } from '../slack/support/open-session.ts';
import { DELIVERED, REMINDER, SERVICE_DOWN } from '../support/sentences.ts';
import type { UpgradedApp } from './fixture.ts';
import { STAY_NAMES } from './stays.ts';

const flight = (title: string) => [item(title, 'One of: LH 1173, TP 570')];

/** The sessions of the story and what their agents ask. Each is named after what becomes of its question. */
export const QUESTIONS = {
	/** It has a reminder, and ada snoozed it. */
	reminded: flight('Which flight to Lisbon?'),
	/** Handed over by ada to grace, with a note. */
	handedOver: flight('Which flight to Oslo?'),
	/** ada has its form open and filled it in, but for the last field; grace only looks at it. */
	opened: ['Which colour?', 'Which shop?', 'How many chairs?'],
	/** grace typed something and closed the form. */
	drafted: ['What do I write to the supplier?'],
	/** grace's answer is delivered, and the agent has not gone on. */
	delivered: ['Which date suits you?'],
	/** grace's answer was saved by the service, and its reply was lost. */
	unknown: ['Which size?'],
	/** ada answered while the service was down. */
	queued: ['Which address?'],
	/** ada pressed an option, and can undo it. */
	undone: flight('Which flight to Rome?'),
	sent: flight('Which flight to Cork?'),
	/** Nobody watches its session; #secret watches all. */
	discovered: flight('Which flight to Bonn?'),
} as const;
/** What ada typed as the shop and keeps secret. */
export const SECRET = 'hunter-2';
/** What ada wrote to grace. */
export const NOTE = 'You know Oslo.';
export type Name = keyof typeof QUESTIONS;
export const NAMES = Object.keys(QUESTIONS) as readonly Name[];
export const WATCHED = NAMES.filter((name) => name !== 'discovered');
/** The sessions that lists leave out. */
export const HIDDEN: readonly string[] = [...WATCHED, ...STAY_NAMES];

export const titleOf = (name: Name): string => {
	const [first] = QUESTIONS[name];
	return typeof first === 'string' ? first : (first.title ?? '');
};

/** The message that announced this question in its channel. */
function findPost(app: UpgradedApp, name: Name): Posted | undefined {
	const posts = app.inChannel(name === 'discovered' ? '#secret' : '#agents');
	const isCard = (post: Posted) => post.buttons().includes('Stop watching');
	// While an answer can be taken back, only the notification has the name.
	const pattern = new RegExp(`Trip ${name} ask(?:s|ed)\\b|⏳ Trip ${name}: `);
	return posts.find((post) => !isCard(post) && pattern.test(`${post.text()}\n${post.notification()}`));
}

export function postOf(app: UpgradedApp, name: Name): Posted {
	const post = findPost(app, name);
	if (post === undefined) throw new Error(`There is no post of ${name}.`);
	return post;
}

/** Opens the form of a question; every person and window has one at a time. */
export async function openForm(person: Actor, name: Name): Promise<Modal> {
	await person.command('#agents', `/session ${name}`);
	return person.waitForModal(titleOf(name));
}

/** What people did with 2.0.0 until it was stopped. */
export async function tellStory(app: UpgradedApp): Promise<void> {
	const { slack, service } = app;
	const [ada, grace] = [slack.as('ada'), slack.as('grace')];

	async function ask(...names: readonly Name[]): Promise<void> {
		for (const name of names) app.ask(name, QUESTIONS[name], '');
		// No list names them, so they are read seldom.
		await app.pass(3 * 60_000);
		await app.until(() => names.every((name) => findPost(app, name)));
	}

	await app.save({ 'Remind after': '5 min', 'Escalate after': '4 h', Mention: ['grace'], 'Quiet hours': ['Sun'] });
	await ada.modal()?.close(true);
	await app.command('/session watch all', 'ada', '#secret');
	for (const name of NAMES)
		service.sessions.put(name, { status: 'active', name: `Trip ${name}`, messages: [task('Plan it.')] });
	await app.command(`/session watch ${WATCHED.join(' ')}`);
	await app.until(() => WATCHED.every((name) => app.card(name) && service.log.reads(name).length > 1));
	await app.pass(1_500);

	await ask('reminded');
	await app.pass(4 * 60_000);
	await app.until(() => app.inChannel().some((post) => REMINDER.test(post.text())));
	await ask(...NAMES.filter((name) => name !== 'reminded'));
	await ada.openApp('home');
	// A reminder of these is due soon after the stop.
	await app.pass(3 * 60_000);
	await app.toldAfter(() => postOf(app, 'reminded').press('Snooze for me'));

	// The first question of her Home.
	await grace.openApp('home');
	const label = 'Snooze until tomorrow 9:00';
	await app.until(() => grace.home()?.buttons().includes(label));
	await grace.home()?.press(label);
	await app.until(() => grace.home()?.text().includes('snoozed'));

	await postOf(app, 'handedOver').press('Hand over');
	const handOver = await ada.waitForModal('Hand over to');
	await handOver.choose('Hand over to', 'grace');
	await handOver.fill('Note', NOTE);
	await handOver.submit();
	await app.until(() => grace.dm().some((dm) => dm.text().includes(NOTE)));
	await ada.modal()?.close(true);

	const drafted = await openForm(grace, 'drafted');
	await drafted.fill(0, 'Please deliver before Friday.');
	await drafted.close(true);
	const delivered = await openForm(grace, 'delivered');
	await delivered.fill(0, '2026-02-03');
	await delivered.submit();
	await app.until(() => DELIVERED.test(delivered.text()));

	const opened = await openForm(ada, 'opened');
	await keepSecret(opened, app.until, '2. Which shop?');
	const queued = await openForm(slack.as('ada', 'second'), 'queued');
	await queued.fill(0, '12 Main Street');
	const unknown = await openForm(slack.as('grace', 'second'), 'unknown');
	await unknown.fill(0, '42');
	await openForm(slack.as('grace', 'third'), 'opened');
	service.faults.add({ kind: 'reset', method: 'PUT', sessionId: 'unknown', saves: true, times: 1 });
	await unknown.submit();
	await app.until(() => service.log.savedPuts('unknown').length === 1);
	await service.goDown();

	await queued.submit();
	await app.until(() => app.inChannel().some((post) => post.text().includes(SERVICE_DOWN)));
	await opened.fill(0, 'grey');
	await opened.fill(1, SECRET);
	for (const name of ['undone', 'sent'] as const) await app.choose(postOf(app, name), 'TP 570');
	await app.pass(5_000);
}
