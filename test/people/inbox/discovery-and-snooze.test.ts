import { askedSinceWords, othersAskWords, waitingCountWords } from '../../../src/screens/inbox.ts';
import { noListWords } from '../../../src/screens/watch.ts';
import { expect, forCase, type InboxApp, inboxApp, it, said } from '../../kit.ts';
import { auditLines } from '../../support/audit-lines.ts';

const NOTHING = waitingCountWords(0, 0);
const OTHERS = 'Other sessions that ask';
const MINUTE = 60_000;
const DAY = 24 * 60 * MINUTE;

const discovering = (env: Record<string, string> = {}, mode: 'on' | 'off' = 'on') =>
	forCase(inboxApp({ env: { DISCOVER_SESSIONS: 'true', ...env }, service: { list: { mode } } }));

function waiting(app: InboxApp, name: string): string {
	const id = app.session({ name });
	app.ask(id);
	return id;
}

it('shows every waiting session, but to guests, opens it, and leaves it out once answered, although the list is late', async () => {
	const app = await discovering();
	const id = waiting(app, 'Order <new> chairs & lamps');
	await app.pass(15_000);
	await app.openHome();
	const text = await app.homeSays('Order <new> chairs & lamps');
	expect(text).toContain(OTHERS);
	expect(text).toContain(waitingCountWords(0, 0, 0, 1));
	expect(text).toContain(othersAskWords(1));
	expect(text).toMatch(/✋ Order <new> chairs & lamps · asked (?:just now|\d)/);
	await app.home().press('Answer');
	await app.windowSays('Which colour?');
	await app.until(() => auditLines(app.log).some(({ action, session }) => action === 'opened' && session === id));
	expect(await app.openHome('gus')).not.toContain('Order <new>');
	const modal = app.slack.as('ada').modal();
	await modal?.fill(0, 'grey');
	await modal?.submit();
	await app.until(() => app.service.log.puts(id).length === 1);
	await app.openHome('grace');
	await app.homeSays(NOTHING, { who: 'grace', without: ['Order <new>', OTHERS] });
});

it('tells waiting sessions of the same name apart', async () => {
	const app = await discovering();
	const ids = ['Chairs', 'Chairs', 'Lamps'].map((name) => waiting(app, name));
	await app.pass(15_000);
	await app.openHome();
	const text = await app.homeSays(othersAskWords(3));
	expect(text.match(/✋ Chairs · \w+ · /g)).toHaveLength(2);
	for (const id of ids.slice(0, 2)) expect(text).toContain(`✋ Chairs · ${id} · `);
	expect(text).not.toMatch(new RegExp(`Lamps.*${ids[2]}`));
	const labels = JSON.stringify(app.home().blocks()).match(/(?<="accessibility_label":"Answer: )[^"]*/g) ?? [];
	expect(labels.toSorted()).toEqual(['Lamps', ...ids.slice(0, 2).map((id) => `session ${id}`)].toSorted());
});

it('follows the list: sessions come and go by themselves', async () => {
	const app = await discovering();
	await app.openHome();
	await app.homeSays(NOTHING, { without: [OTHERS] });
	const id = waiting(app, 'Order new chairs');
	await app.homeSays('Order new chairs');
	app.service.sessions.setStatus(id, 'active');
	await app.homeSays(NOTHING, { without: ['Order new chairs', OTHERS] });
});

it('tells since when a session waits, also beyond the retention time', async () => {
	const app = await discovering({ RETENTION_DAYS: '2' });
	waiting(app, 'Order new chairs');
	await app.pass(15_000);
	await app.stop();
	await app.clock.advance(3 * DAY + MINUTE);
	await app.restart();
	await app.pass(15_000);
	await app.openHome();
	const text = await app.homeSays('Order new chairs');
	expect(text).toContain(askedSinceWords(0, 3 * DAY));
});

it('shows a session once: as a question where the person sees that, else as a session', async () => {
	const app = await discovering();
	await app.askedIn('#secret', ['Order lamps']);
	await app.openHome();
	const mine = await app.homeSays(waitingCountWords(1, 0));
	expect(mine).not.toContain(OTHERS);
	expect(mine.match(/Order lamps/g)).toHaveLength(1);
	await app.openHome('grace');
	const others = await app.homeSays('Order lamps', { who: 'grace' });
	expect(others).toContain(waitingCountWords(0, 0, 0, 1));
	expect(others).toContain(othersAskWords(1));
});

it('shows the newest ten and counts the rest', async () => {
	const app = await discovering();
	for (let index = 1; index <= 4; index += 1) waiting(app, `Early ${index}`);
	await app.pass(15_000);
	for (let index = 1; index <= 9; index += 1) waiting(app, `Late ${index}`);
	await app.pass(15_000);
	await app.slack.as('ada').command('#agents', '/session inbox');
	const text = await app.windowSays(othersAskWords(13));
	expect(text).toContain('3 more sessions');
	expect(text.match(/Late \d/g)).toHaveLength(9);
	expect(text.match(/Early \d/g)).toHaveLength(1);
});

it('says why there are none when the service has no list', async () => {
	const app = await discovering({}, 'off');
	waiting(app, 'Order new chairs');
	await app.pass(5_000);
	await app.openHome();
	await app.homeSays(said(noListWords('noList', null)), { without: ['Order new chairs'] });
});

it('shows no session that nobody named, unless it is told to', async () => {
	const app = await discovering({ DISCOVER_SESSIONS: 'false' });
	waiting(app, 'Order new chairs');
	await app.pass(MINUTE);
	const text = await app.openHome();
	expect(text).not.toContain('Order new chairs');
	expect(text).not.toContain(OTHERS);
});

/** Minutes pass, in which few reads suffice. */
const watching = () => forCase(inboxApp({ env: { SESSION_SERVICE_RPM: '60' } }));
const SHOWN = waitingCountWords(1, 0);
const SNOOZED = waitingCountWords(0, 1);

it('Snooze hides a question in one inbox alone, and shows it again by itself when the time has come', async () => {
	const app = await watching();
	await app.askedIn('#agents', ['Chairs']);
	await app.openHome('grace');
	await app.openHome();
	const before = app.now();
	const snoozedAt = app.clock.now();
	await app.home().press('Snooze for 1 h');
	await app.homeSays(SNOOZED, { without: ['Which colour?'] });
	expect(app.textOf('ada')).toContain('Chairs is snoozed. It comes back here');
	await app.pass(5 * MINUTE);
	await app.homeSays(SHOWN, { who: 'grace' });
	expect([...app.calls('chat.update', before), ...app.calls('chat.postMessage', before)]).toEqual([]);
	// The inbox follows changes for ten minutes only.
	await app.pass(54 * MINUTE);
	expect(app.textOf('ada')).toContain(SNOOZED);
	await app.homeSays(SHOWN);
	expect(app.clock.now() - snoozedAt).toBeGreaterThanOrEqual(60 * MINUTE);
	expect(app.clock.now() - snoozedAt).toBeLessThan(60 * MINUTE + 5_000);
});

it.each(['users.conversations', 'users.info'])(
	'Snooze ends though %s fails just then, and leaves what Home shows until Slack tells again',
	async (method) => {
		const app = await watching();
		await app.askedIn('#agents', ['Chairs']);
		await app.openHome();
		// Longer than the inbox is followed and what Slack told is kept.
		await app.home().press('Snooze for 1 h');
		await app.homeSays(SNOOZED);
		await app.pass(59 * MINUTE);
		const before = app.publishedTo();
		const lift = app.slack.faults.add({ method, error: 'internal_error' });
		await app.pass(2 * MINUTE);
		expect(app.publishedTo()).toBe(before);
		lift();
		await app.homeSays(SHOWN);
	},
);

it('Snooze hides it in the window too, after a restart, and shows it again with one press', async () => {
	const app = await watching();
	await app.askedIn('#agents', ['Chairs', 'Tables']);
	await app.openHome();
	await app.home().press('Snooze for 1 h');
	await app.homeSays(waitingCountWords(1, 1), { without: ['Chairs ·'] });
	await app.restart();
	await app.slack.as('ada').command('#agents', '/session inbox');
	await app.windowSays(waitingCountWords(1, 1), { without: ['Chairs ·'] });
	await app.slack.as('ada').modal()?.press('Show now');
	await app.windowSays(waitingCountWords(2, 0), { without: ['snoozed'] });
	await app.homeSays(waitingCountWords(2, 0), { without: ['snoozed'] });
});
