import { asking, item, task } from '../../fake-session-service/builders.ts';
import { type Actor, type Posted, sampleWorkspace, withMembers } from '../../fake-slack/index.ts';
import { DELIVERED, ESCALATION, headline } from '../support/sentences.ts';
import type { UpgradedApp } from './fixture.ts';

/*
 * What people did with 1.1.0 before the story of every release began, in a channel of its own: answers in the states that
 * the story leaves out, a list of who may answer, an escalation, and watches with flags.
 */

export const CHANNEL = '#stays';
const BEDS = [item('Which bed?', 'One of: Single, Double')];

/** The sessions and what their agents ask. Each is named after the state of its answer, or after how it is watched. */
export const STAYS = {
	/** grace answered, and the agent went on. */
	resumed: ['Which hotel?'],
	/** ada came second. */
	conflicted: ['Which breakfast?'],
	/** ada pressed, grace came second, and ada undid the press: grace decides. */
	waiting: BEDS,
	/** The agent asks something else since ada answered. */
	changed: ['Which pillow?'],
	/** bob may not answer any more. */
	refused: ['Which floor?'],
	/** The session was over before ada's answer was sent. */
	ended: ['Which view?'],
	/** grace's answer waits: the service responds to nothing about this session. */
	secret: ['What is the password of the booking account?'],
	/** grace was mentioned. */
	escalated: BEDS,
	threadOnly: BEDS,
	discreet: BEDS,
	buttonless: BEDS,
} as const;
export type Stay = keyof typeof STAYS;
export const STAY_NAMES = Object.keys(STAYS) as readonly Stay[];
const FLAGS: Partial<Record<Stay, string>> = {
	threadOnly: '--thread-only',
	discreet: '--discreet',
	buttonless: '--no-buttons',
};
/** What grace keeps secret. */
export const PASSWORD = 'swordfish-1998';
/** What the agent of `changed` asks now. */
export const NEW_QUESTION = 'Which blanket?';

/** ada, grace and bob are in the channel. */
export function workspaceOfStays() {
	const whole = sampleWorkspace();
	const members = ['U0ADA', 'U0GRACE', 'U0BOT'];
	const channel = {
		id: 'C0STAYS',
		name: 'stays',
		isPrivate: false,
		isIm: false,
		isArchived: false,
		isExtShared: false,
	};
	return withMembers({ ...whole, channels: [...whole.channels, { ...channel, members }] }, channel.name, ['bob']);
}

const titleOf = (name: Stay): string => {
	const [first] = STAYS[name];
	return typeof first === 'string' ? first : (first.title ?? '');
};

/** The newest message that takes an answer to its question. */
export function stayPost(app: UpgradedApp, name: Stay): Posted | undefined {
	const isOpen = (post: Posted) => post.buttons().some((label) => /^(?:Answer…|Other answer…|Undo)$/.test(label));
	return [...app.thread(name, CHANNEL), ...app.inChannel(CHANNEL)].findLast(
		(post) => isOpen(post) && JSON.stringify(post.blocks()).includes(name),
	);
}

/** Opens the form of a question. */
async function openStay(person: Actor, name: Stay) {
	await person.modal()?.close(true);
	await person.command(CHANNEL, `/session ${name}`);
	return person.waitForModal((modal) => modal.text().includes(titleOf(name)) && modal.submitText() !== null);
}

export async function tellStays(app: UpgradedApp): Promise<void> {
	const { slack, service } = app;
	const [ada, grace] = [slack.as('ada'), slack.as('grace')];

	async function answer(person: Actor, name: Stay, text: string) {
		const form = await openStay(person, name);
		await form.fill(0, text);
		await form.submit();
		return form;
	}
	async function showsHeadline(person: Actor, state: Parameters<typeof headline>[0]): Promise<void> {
		await app.until(
			() => person.modal()?.text().includes(headline(state)),
			() => `${state}: ${person.modal()?.text()}`,
		);
		await person.modal()?.close(true);
	}

	const everybody = { 'Who may answer': ['ada', 'grace', 'bob'] };
	const times = { 'Remind after': '5 min', 'Escalate after': '15 min', Mention: ['grace'] };
	await app.save({ ...everybody, ...times }, { channel: CHANNEL });
	await ada.modal()?.close(true);
	for (const name of STAY_NAMES)
		service.sessions.put(name, { status: 'active', name: `Stay ${name}`, messages: [task('Plan it.')] });
	const usual = STAY_NAMES.filter((name) => FLAGS[name] === undefined);
	await app.command(`/session watch ${usual.join(' ')}`, 'ada', CHANNEL);
	for (const [name, flag] of Object.entries(FLAGS)) await app.command(`/session watch ${name} ${flag}`, 'ada', CHANNEL);
	await app.until(() => STAY_NAMES.every((name) => app.card(name, CHANNEL) && service.log.reads(name).length > 1));
	await app.pass(1_500);

	app.ask('escalated', STAYS.escalated, '');
	await app.pass(14 * 60_000);
	await app.until(() => app.inChannel(CHANNEL).some((post) => ESCALATION.test(post.text())));
	for (const name of STAY_NAMES) if (name !== 'escalated') app.ask(name, STAYS[name], '');
	await app.until(() => STAY_NAMES.every((name) => stayPost(app, name)));

	const resumed = await answer(grace, 'resumed', 'Grand');
	await app.until(() => DELIVERED.test(resumed.text()));
	app.step('resumed', 'The hotel is booked.');
	await showsHeadline(grace, 'resumed');

	const second = await openStay(ada, 'conflicted');
	await second.fill(0, 'Tea');
	const first = await answer(grace, 'conflicted', 'Coffee');
	await app.until(() => DELIVERED.test(first.text()));
	await grace.modal()?.close(true);
	await second.submit();
	await showsHeadline(ada, 'conflicted');

	const later = await openStay(grace, 'waiting');
	await later.choose(0, 'Double');
	const pressed = stayPost(app, 'waiting');
	if (pressed === undefined) throw new Error('There is no post of waiting.');
	await app.choose(pressed, 'Single');
	await later.submit();
	await showsHeadline(grace, 'conflicted');
	await pressed.press('Undo');
	await app.until(() => grace.dm().some((dm) => dm.buttons().includes('Send mine')));

	// The forms are open already when the service fails.
	const unsent = [
		['changed', 'ada', 'Soft'],
		['refused', 'bob', 'The third'],
		['ended', 'ada', 'The sea'],
		['secret', 'grace', PASSWORD],
	] as const;
	for (const [name, who, text] of unsent) {
		const form = await openStay(slack.as(who, name), name);
		await form.fill(0, text);
	}
	for (const [name] of unsent) service.faults.add({ kind: 'error', status: 503, sessionId: name });
	for (const [name, who] of unsent) {
		const form = slack.as(who, name).modal();
		await form?.submit();
		await form?.close(true);
	}
	await app.save({ 'Who may answer': ['ada', 'grace'] }, { channel: CHANNEL });
	await ada.modal()?.close(true);
	await app.pass(2 * 60_000);
	service.sessions.push('changed', asking('', [NEW_QUESTION]));
	service.sessions.setStatus('ended', 'completed');
	service.faults.clear();
	service.faults.add({ kind: 'error', status: 503, sessionId: 'secret' });
	const isTold = (person: Actor, name: Stay) =>
		person.dm().some((dm) => dm.text().includes(`Stay ${name}`) && !dm.text().includes('⏳'));
	for (const [name, who] of unsent) if (name !== 'secret') await app.until(() => isTold(slack.as(who), name));
}
