import { expectNothingWrong, SOME_REQUESTS, type WatchingApp, watchingApp } from './harness.ts';

/** A program that watches sessions whose agents a test plays itself. */
export const playedApp = (remindAfter: string) =>
	watchingApp({
		env: { ...SOME_REQUESTS, UNDO_SECONDS: '0', REMIND_AFTER: remindAfter },
		service: { resumeAfterMs: 24 * 3_600_000 },
	});

/** After each test. */
export async function leavePlayed(app: WatchingApp): Promise<void> {
	for (const who of ['ada', 'grace']) await app.slack.as(who).modal()?.close(true);
	expectNothingWrong(app);
	await app.command('/session unwatch all');
}

/** The agent takes the value out of its newest question. */
export function emptyNewest({ service: { sessions } }: WatchingApp, id: string): void {
	const messages = structuredClone(sessions.get(id).messages ?? []);
	for (const item of messages.findLast((one) => one.human_input?.length)?.human_input ?? []) item.value = '';
	sessions.patch(id, { messages });
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
