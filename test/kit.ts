import { it as base, onTestFinished } from 'vitest';

/*
 * What a test of the whole program imports: the program between the doubles, what people do in it, and what they read.
 * A test of a rule or of one part imports Vitest and that part.
 */
export { afterAll, afterEach, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest';
export * from '../fake-session-service/builders.ts';
export * from '../fake-slack/index.ts';
export * from './people/answerers/harness.ts';
export * from './people/hand-over/harness.ts';
export * from './people/inbox/harness.ts';
export * from './people/settings/harness.ts';
export * from './sessions/discover/harness.ts';
export * from './sessions/harness.ts';
export * from './slack/support/open-session.ts';
export * from './slack/support/timed-app.ts';
export * from './support/app.ts';
export * from './support/said.ts';
export * from './support/sentences.ts';

/** `it` of a file whose cases need an app: each gets its own, `{ app }`, which is checked and closed after it. */
export function withApp<App extends AsyncDisposable>(make: () => Promise<App>) {
	// biome-ignore lint/correctness/noEmptyPattern: Vitest reads the names of the fixtures that this one needs.
	return base.extend('app', async ({}, { onCleanup }) => {
		const app = await make();
		onCleanup(() => app[Symbol.asyncDispose]());
		return app;
	});
}

/** For cases that say what their app is: it is checked and closed after the case. */
export async function forCase<App extends AsyncDisposable>(starting: Promise<App>): Promise<App> {
	const app = await starting;
	onTestFinished(() => app[Symbol.asyncDispose]());
	return app;
}
