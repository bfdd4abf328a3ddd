import { expect } from 'vitest';
import { item } from '../../../fake-session-service/builders.ts';
import { sampleWorkspace, withMembers } from '../../../fake-slack/index.ts';
import { inboxApp } from './harness.ts';

/** More people than `users.info`, `users.conversations` and `views.publish` each take in a minute. */
const PEOPLE = 140;
const OPENED_WITHIN_MS = 30_000;
const FILLED_WITHIN_MS = 4 * 60_000;
const FLIES = 'LH 1173';
const FLIGHT = item('Which flight should I book?', `One of: ${FLIES}, TP 570`);
/** Every so many of those who open Home, somebody presses an option. */
const PRESS_EVERY = 20;

/** Many people open Home within half a minute while others answer, with Slack's tiers. Checks that all get what they want. */
export async function crowdOpensHome({ env = {}, replicas = 1 } = {}): Promise<void> {
	const names = Array.from({ length: PEOPLE }, (_, index) => `m${index}`);
	const pressing = Array.from({ length: PEOPLE / PRESS_EVERY }, (_, index) => `p${index}`);
	const workspace = withMembers(sampleWorkspace(), 'agents', [...names, ...pressing]);
	await using app = await inboxApp({
		realRates: true,
		env: { SESSION_SERVICE_RPM: '100000', ...env },
		slack: { workspace },
	});
	for (let count = 1; count < replicas; count += 1) await app.startOther();
	const [waiting = ''] = await app.askedIn('#agents', ['Order chairs']);
	const choices = await app.askedIn(
		'#agents',
		pressing.map((name) => `Fly ${name}`),
		[FLIGHT],
	);
	const postOf = (id: string) => app.thread(id).find((post) => post.buttons().includes(FLIES));
	await app.until(() => choices.every((id) => postOf(id) !== undefined));

	const startedAt = app.clock.now();
	const from = app.slack.traffic.all().length;
	for (const [index, name] of names.entries()) {
		await app.slack.as(name).openApp('home');
		await app.pass(Math.floor(OPENED_WITHIN_MS / PEOPLE));
		if (index % PRESS_EVERY !== 0) continue;
		const [id = '', who = ''] = [choices[index / PRESS_EVERY], pressing[index / PRESS_EVERY]];
		const post = postOf(id);
		if (post !== undefined) await app.seenBy(who, post).press(FLIES);
	}
	/** Each Home is looked at until it is filled: to look at all of them takes longer than to fill them. */
	const unfilled = [...names];
	const isFilled = (name: string) => app.textOf(name).includes('Order chairs');
	await app
		.until(
			() => {
				while (unfilled[0] !== undefined && isFilled(unfilled[0])) unfilled.shift();
				return unfilled.length === 0;
			},
			() => '',
			FILLED_WITHIN_MS - (app.clock.now() - startedAt),
		)
		.catch(() => undefined);
	expect(names.filter((name) => !isFilled(name)).map((name) => [name, app.textOf(name).slice(0, 200)])).toEqual([]);
	await app.until(() => choices.every((id) => app.service.log.savedPuts(id).length === 1));
	expect(app.service.log.savedPuts(waiting)).toEqual([]);
	const refused = app.slack.traffic.all().filter(({ seq, status }) => seq > from && status === 429);
	expect(refused.map(({ name }) => name)).toEqual([]);
}
