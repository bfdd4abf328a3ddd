import { type AppOptions, startApp } from '../../support/app.ts';
import { createManualClock } from '../../support/manual-clock.ts';
import { passTime, watchRequests } from '../../support/pass-time.ts';

/** The whole program on a clock that only moves while a test waits for something. */
export async function startTimedApp(options: AppOptions = {}) {
	const clock = createManualClock();
	const unwatch = watchRequests();
	const app = await startApp({ ...options, clock, service: { clock, ...options.service } });
	const textOf = (who: string) => app.slack.as(who).modal()?.text() ?? 'no modal';

	return {
		app,
		clock,
		/** Waits until the person's modal has these words in it. */
		shows: (words: string, who = 'ada') =>
			passTime(
				app,
				clock,
				() => textOf(who).includes(words),
				() => `${who} waited for "${words}" in:\n${textOf(who)}`,
			),
		until: (condition: () => boolean, describe: () => string = () => 'It never came true.') =>
			passTime(app, clock, condition, describe),
		/** Stops and starts the program, which may wait for its clock in between. */
		async restart(): Promise<void> {
			let isBack = false;
			const restarted = app.restart().then(() => {
				isBack = true;
			});
			await passTime(
				app,
				clock,
				() => isBack,
				() => 'It did not come back.',
			);
			await restarted;
		},
		async [Symbol.asyncDispose]() {
			await app[Symbol.asyncDispose]();
			unwatch();
		},
	};
}
