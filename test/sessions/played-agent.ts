import { done } from '../../fake-session-service/builders.ts';
import type { MessageJson } from '../../fake-session-service/json.ts';
import { openSession } from '../slack/support/open-session.ts';
import { expectNothingWrong, SOME_REQUESTS, type WatchingApp, watchingApp } from './harness.ts';

/** A program that watches sessions whose agents a test plays itself. */
export const playedApp = (remindAfter: string) =>
	watchingApp({
		env: { ...SOME_REQUESTS, UNDO_SECONDS: '0', REMIND_AFTER: remindAfter },
		service: { resumeAfterMs: 24 * 3_600_000 },
	});

/** After each test: no fault and no hook is left, nothing went wrong, and nothing is watched. */
export async function leavePlayed(app: WatchingApp): Promise<void> {
	app.service.faults.clear();
	delete app.service.hooks.onSaved;
	for (const who of ['ada', 'grace']) await app.slack.as(who).modal()?.close(true);
	expectNothingWrong(app);
	await app.unwatchAll();
}

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
export function takeUnanswered(app: WatchingApp, id: string): void {
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

/** What tests of one question, which an agent asks again and again, have in common. `app`: of the test file. */
export function flightsOf(app: () => WatchingApp) {
	const messagesOf = (id: string): MessageJson[] => structuredClone(app().service.sessions.get(id).messages ?? []);
	const postsOf = (id: string, words = FLIGHT.title) =>
		app()
			.thread(id)
			.filter((post) => post.text().includes(words));
	return {
		messagesOf,
		postsOf,
		/** The posts that ask. */
		open: (id: string, words?: string) =>
			postsOf(id, words).filter((post) => post.buttons().some((label) => label.startsWith('Answer…'))),
		/** Ada's direct message about the session. */
		receipt: (id: string) =>
			app()
				.slack.as('ada')
				.dm()
				.findLast((post) => JSON.stringify(post.blocks()).includes(id)),
		step(id: string, count = 1): void {
			for (let left = count; left > 0; left -= 1) app().service.sessions.push(id, done('I book it.'));
		},
		/** A watched session asks, and its post is there. */
		async asked(status = 'humanInput') {
			const id = await app().watched();
			app().ask(id, [FLIGHT]);
			app().service.sessions.setStatus(id, status);
			return { id, post: await app().threadSays(id, FLIGHT.title) };
		},
		/** Ada answers in a form. Resolves when the service has it. */
		async answered(id: string, text: string): Promise<void> {
			const form = await openSession(app().app, id);
			await form.fill(0, text);
			const before = app().service.log.savedPuts(id).length;
			await form.submit();
			await app().until(() => app().service.log.savedPuts(id).length > before);
			await form.close();
		},
		/** Ada's answer may have arrived: its PUT gets a 500, and the agent works on. Resolves when `says` shows that. */
		async perhapsAnswered(id: string, text: string, says?: { text(): string }): Promise<void> {
			takeUnanswered(app(), id);
			const form = await openSession(app().app, id);
			await form.fill(0, text);
			await form.submit();
			await app().until(() => (says ?? form).text().includes('may have arrived'));
			await form.close();
		},
	};
}
