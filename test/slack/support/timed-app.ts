import { expect } from 'vitest';
import { createManualClock } from '../../../fake-slack/index.ts';
import { type AppOptions, startApp } from '../../support/app.ts';
import { passFor, passTime, passTimeDuring, watchRequests } from '../../support/pass-time.ts';
import { says } from '../../support/sentences.ts';

/** The whole program on a clock that only moves while a test waits for something. */
export async function startTimedApp(options: AppOptions = {}) {
	const clock = createManualClock();
	const unwatch = watchRequests();
	const app = await startApp({ ...options, clock, service: { clock, ...options.service } });
	const textOf = (who: string) => app.slack.as(who).modal()?.text() ?? 'no modal';

	const until = (condition: () => boolean, describe = () => 'It never came true.', limitMs?: number) =>
		passTime(app, clock, condition, { describe, limitMs });

	return {
		...app,
		app,
		clock,
		/** Waits until the person's modal has these words in it. */
		shows: (words: string | RegExp, who = 'ada') =>
			until(
				() => says(textOf(who), words),
				() => `${who} waited for "${words}" in:\n${textOf(who)}`,
				3_600_000,
			),
		until,
		/** Holds every PUT until `release`. `arrived`: the service has the first one. */
		holdPuts() {
			const [arrived, released] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
			app.service.hooks.onRequest = ({ kind }) => {
				if (kind !== 'answer') return undefined;
				arrived.resolve();
				return released.promise;
			};
			return { arrived: arrived.promise, release: released.resolve };
		},
		/** Lets so much time pass, and all that is due in it be done. */
		pass: (ms: number) => passFor(app, clock, ms),
		/** Stops the program; `restart` starts it again on the same data. It may wait for its clock meanwhile. */
		stop: () => passTimeDuring(app, clock, app.stop()),
		restart: () => passTimeDuring(app, clock, app.restart()),
		async [Symbol.asyncDispose]() {
			await app[Symbol.asyncDispose]();
			unwatch();
			expect(app.service.log.processEnders()).toEqual([]);
		},
	};
}

export type TimedApp = Awaited<ReturnType<typeof startTimedApp>>;
