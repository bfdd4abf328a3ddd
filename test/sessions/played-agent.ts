import { done } from '../../fake-session-service/builders.ts';
import type { MessageJson } from '../../fake-session-service/json.ts';
import { openSession } from '../slack/support/open-session.ts';
import { type WatchingApp, watchingApp } from './harness.ts';

/** A program that watches sessions whose agents a test plays itself. */
export const playedApp = (remindAfter: string) =>
	watchingApp({
		env: { UNDO_SECONDS: '0', REMIND_AFTER: remindAfter },
		service: { resumeAfterMs: 24 * 3_600_000 },
	});

/** The agent takes the value out of its newest question. */
export function emptyNewest({ service: { sessions } }: WatchingApp, id: string): void {
	const messages = structuredClone(sessions.get(id).messages ?? []);
	for (const item of messages.findLast((one) => one.human_input?.length)?.human_input ?? []) item.value = '';
	sessions.patch(id, { messages });
}

/** Ada has typed her answer to this session's question, and sends it when the result is called. */
export async function typed(app: WatchingApp, id: string) {
	await app.slack.as('ada').command('#agents', `/session ${id}`);
	const form = await app.until(() => {
		const modal = app.slack.as('ada').modal();
		return modal?.text().includes('Which colour?') && modal;
	});
	await form.fill('Which colour?', 'Sand');
	return () => form.submit();
}

/** The next PUT is saved and gets a 500. The agent takes its values at once, and works on. */
function takeUnanswered(app: WatchingApp, id: string): void {
	const { faults, hooks, sessions } = app.service;
	faults.add({ kind: 'error', method: 'PUT', sessionId: id, saves: true, times: 1 });
	hooks.onSaved = () => {
		delete hooks.onSaved;
		sessions.setStatus(id, 'active');
		emptyNewest(app, id);
		app.step(id, 'I book it.');
	};
}

export const FLIGHT = { title: 'Which flight?', description: '', value: '' };

export const messagesOf = (app: WatchingApp, id: string): MessageJson[] =>
	structuredClone(app.service.sessions.get(id).messages ?? []);

export const postsOf = (app: WatchingApp, id: string, words = FLIGHT.title) =>
	app.thread(id).filter((post) => post.text().includes(words));

/** The posts that ask. */
export const open = (app: WatchingApp, id: string, words?: string) =>
	postsOf(app, id, words).filter((post) => post.buttons().some((label) => label.startsWith('Answer…')));

/** Ada's direct message about the session. */
export const receipt = (app: WatchingApp, id: string) =>
	app.slack
		.as('ada')
		.dm()
		.findLast((post) => JSON.stringify(post.blocks()).includes(id));

export function step(app: WatchingApp, id: string, count = 1): void {
	for (let left = count; left > 0; left -= 1) app.service.sessions.push(id, done('I book it.'));
}

/** A watched session asks, and its post is there. */
export async function asked(
	app: WatchingApp,
	status = 'humanInput',
	items: Parameters<WatchingApp['ask']>[1] = [FLIGHT],
) {
	const id = await app.watched();
	app.ask(id, items);
	app.service.sessions.setStatus(id, status);
	return { id, post: await app.threadSays(id, FLIGHT.title) };
}

/** Somebody answers in a form. Resolves when the service has it. */
export async function answered(app: WatchingApp, id: string, text: string, who = 'ada'): Promise<void> {
	const form = await openSession(app, id, who);
	await form.fill(0, text);
	const before = app.service.log.savedPuts(id).length;
	await form.submit();
	await app.until(() => app.service.log.savedPuts(id).length > before);
	await form.close();
}

/** Ada's answer may have arrived: its PUT gets a 500, and the agent works on. Resolves when `says` shows that. */
export async function perhapsAnswered(app: WatchingApp, id: string, text: string, says?: { text(): string }) {
	takeUnanswered(app, id);
	const form = await openSession(app, id);
	await form.fill(0, text);
	await form.submit();
	await app.until(() => (says ?? form).text().includes('may have arrived'));
	await form.close();
}
