import { asking, item, task } from '../../fake-session-service/builders.ts';
import { type Actor, type Posted, sampleWorkspace, withMembers } from '../../fake-slack/index.ts';
import { DELIVERED, ESCALATION, headline } from '../support/sentences.ts';
import type { UpgradedApp } from './fixture.ts';

/*
 * What people did with 2.0.0 before the story of every release began, in channels of their own: answers in the states that
 * the story leaves out, a list of who may answer, an escalation, and a channel with other posts.
 */

export const CHANNEL = '#stays';
/** Its questions stand in the card's thread, without a word of them and without options. */
export const QUIET = '#quiet';
const BEDS = [item('Which bed?', 'One of: Single, Double')];

/** The sessions and what their agents ask. Each is named after the state of its answer, or after how it is watched. */
export const STAYS = {
	/** Nothing worked for a day: ada decides. */
	waiting: ['Which garden?'],
	/** grace answered, and the agent went on. */
	resumed: ['Which hotel?'],
	/** ada came second. */
	conflicted: ['Which breakfast?'],
	/** ada pressed, grace came second, and ada undid the press: grace's text is a draft. */
	second: BEDS,
	/** ada pressed and undid it. */
	withdrawn: BEDS,
	/** The agent asks something else since ada answered. */
	changed: ['Which pillow?'],
	/** bob may not answer any more. */
	refused: ['Which floor?'],
	/** The session was over before ada's answer was sent. */
	ended: ['Which view?'],
	/** grace's answer waits: the service responds to nothing about this session. */
	secret: ['What is the password of the booking account?'],
	/** grace's answer arrived, and is wiped. */
	hidden: ['What is the PIN of the booking account?'],
	/** grace's answer may have arrived: the reply was lost, and the agent has emptied the field and worked on. */
	perhaps: ['Which towel?'],
	/** grace's answer arrived, the agent emptied the field and asks again. */
	askedAgain: ['Which soap?'],
	/** grace left the second field empty. */
	half: ['Which lamp?', 'Which shade?'],
	/** ada mentioned the app in the thread, and pressed neither Send nor No. */
	offered: ['Which carpet?'],
	/** The service will spell its id in small letters. */
	SPELLED: ['Which curtain?'],
	/** grace was mentioned. */
	escalated: BEDS,
	/** In the channel with other posts. */
	quiet: BEDS,
} as const;
export type Stay = keyof typeof STAYS;
export const STAY_NAMES = Object.keys(STAYS) as readonly Stay[];
const USUAL = STAY_NAMES.filter((name) => name !== 'quiet' && name !== 'waiting');
/** What grace keeps secret. */
export const PASSWORD = 'swordfish-1998';
export const PIN = '493817';
/** What ada's mention says. */
export const OFFERED = 'The blue one';
/** What the agent of `changed` asks now. */
export const NEW_QUESTION = 'Which blanket?';

/** ada, grace and bob are in the channels. */
export function workspaceOfStays() {
	const whole = sampleWorkspace();
	const members = ['U0ADA', 'U0GRACE', 'U0BOT'];
	const usual = { isPrivate: false, isIm: false, isArchived: false, isExtShared: false, members };
	const channels = [
		{ id: 'C0STAYS', name: 'stays', ...usual },
		{ id: 'C0QUIET', name: 'quiet', ...usual },
	];
	return withMembers({ ...whole, channels: [...whole.channels, ...channels] }, 'stays', ['bob']);
}

const titleOf = (name: Stay): string => {
	const [first] = STAYS[name];
	return typeof first === 'string' ? first : (first.title ?? '');
};

/** The newest message that takes an answer to its question. */
export function stayPost(app: UpgradedApp, name: Stay): Posted | undefined {
	const isOpen = (post: Posted) => post.buttons().some((label) => /^(?:Answer…|Other answer…|Undo)$/.test(label));
	const channel = name === 'quiet' ? QUIET : CHANNEL;
	return [...app.thread(name, channel), ...app.inChannel(channel)].findLast(
		(post) => isOpen(post) && JSON.stringify(post.blocks()).includes(name),
	);
}

/** Opens the form of a question. */
async function openStay(person: Actor, name: Stay) {
	await person.modal()?.close(true);
	await person.command(name === 'quiet' ? QUIET : CHANNEL, `/session ${name}`);
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

	/** The agent reads the answer, empties the field and goes on as it was told. */
	function takeValue(name: Stay): void {
		const messages = structuredClone(service.sessions.get(name).messages ?? []);
		for (const one of messages.findLast(({ human_input: asked }) => asked?.length)?.human_input ?? []) one.value = '';
		service.sessions.patch(name, { messages });
	}

	for (const name of STAY_NAMES)
		service.sessions.put(name, { status: 'active', name: `Stay ${name}`, messages: [task('Plan it.')] });

	// First, because a day passes.
	app.ask('waiting', STAYS.waiting, '');
	const garden = await openStay(ada, 'waiting');
	await garden.fill(0, 'The rose garden');
	service.faults.add({ kind: 'error', status: 503, sessionId: 'waiting' });
	await garden.submit();
	await app.pass(1_000);
	await garden.close(true);
	await app.clock.advance(25 * 3_600_000);
	await app.until(() => ada.dm().some((dm) => dm.text().includes('Stay waiting')));
	service.faults.clear();

	const everybody = { 'Who may answer': ['ada', 'grace', 'bob'] };
	const times = { 'Remind after': '5 min', 'Escalate after': '15 min', Mention: ['grace'] };
	await app.save({ ...everybody, ...times }, { channel: CHANNEL });
	await ada.modal()?.close(true);
	await app.setPosts({ questionsInThread: true, discreet: true, buttons: false }, { channel: QUIET });
	await app.command(`/session watch ${USUAL.join(' ')}`, 'ada', CHANNEL);
	await app.command('/session watch quiet', 'ada', QUIET);
	await app.until(() => USUAL.every((name) => app.card(name, CHANNEL) && service.log.reads(name).length > 1));
	await app.until(() => app.card('quiet', QUIET));
	await app.pass(1_500);

	const others = [...USUAL, 'quiet' as const].filter((name) => name !== 'escalated');
	// What a list names is read at once. Nobody watches all sessions yet.
	for (const name of others) service.list.hidden.delete(name);
	app.ask('escalated', STAYS.escalated, '');
	await app.pass(14 * 60_000);
	await app.until(() => app.inChannel(CHANNEL).some((post) => ESCALATION.test(post.text())));
	for (const name of others) app.ask(name, STAYS[name], '');
	await app.until(() => others.every((name) => stayPost(app, name)));

	const resumed = await answer(grace, 'resumed', 'Grand');
	await app.until(() => DELIVERED.test(resumed.text()));
	app.step('resumed', 'The hotel is booked.');
	service.sessions.setStatus('resumed', 'active');
	await showsHeadline(grace, 'resumed');

	const second = await openStay(ada, 'conflicted');
	await second.fill(0, 'Tea');
	const first = await answer(grace, 'conflicted', 'Coffee');
	await app.until(() => DELIVERED.test(first.text()));
	await grace.modal()?.close(true);
	await second.submit();
	await showsHeadline(ada, 'conflicted');

	const later = await openStay(grace, 'second');
	await later.choose(0, 'Double');
	const pressed = stayPost(app, 'second');
	if (pressed === undefined) throw new Error('There is no post of second.');
	await app.choose(pressed, 'Single');
	await later.submit();
	await showsHeadline(grace, 'conflicted');
	await pressed.press('Undo');
	await app.until(() => grace.dm().some((dm) => dm.text().includes('Stay second')));

	const undone = stayPost(app, 'withdrawn');
	if (undone === undefined) throw new Error('There is no post of withdrawn.');
	await app.choose(undone, 'Single');
	await undone.press('Undo');
	await app.until(() => undone.buttons().includes('Single'));

	const pin = await answer(grace, 'hidden', PIN);
	await app.until(() => DELIVERED.test(pin.text()));
	await grace.modal()?.close(true);

	const half = await openStay(grace, 'half');
	await half.press('Skip some questions');
	await app.until(() => grace.modal()?.buttons().includes('Answer all'));
	await grace.modal()?.fill(0, 'The round one');
	await grace.modal()?.submit();
	await app.until(() => DELIVERED.test(grace.modal()?.text() ?? ''));
	await grace.modal()?.close(true);

	const soap = await answer(grace, 'askedAgain', 'Lavender');
	await app.until(() => DELIVERED.test(soap.text()));
	await grace.modal()?.close(true);
	takeValue('askedAgain');
	await app.pass(2 * 60_000);
	await app.until(() => stayPost(app, 'askedAgain'));

	const towel = await openStay(grace, 'perhaps');
	await towel.fill(0, 'The large one');
	service.faults.add({ kind: 'reset', method: 'PUT', sessionId: 'perhaps', saves: true, times: 1 });
	await towel.submit();
	await app.until(() => service.log.savedPuts('perhaps').length === 1);
	service.faults.add({ kind: 'error', status: 503, method: 'GET', sessionId: 'perhaps' });
	takeValue('perhaps');
	app.step('perhaps', 'The towel is ordered.');
	service.sessions.setStatus('perhaps', 'active');
	await app.pass(60_000);
	service.faults.clear();
	await app.pass(60_000);
	await grace.modal()?.close(true);

	const carpet = stayPost(app, 'offered');
	if (carpet === undefined) throw new Error('There is no post of offered.');
	await app.toldAfter(() => ada.mention(CHANNEL, OFFERED, { thread: carpet }), 'ada', CHANNEL);

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
	for (const name of others) service.list.hidden.add(name);
}
