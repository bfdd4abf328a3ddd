import { afterEach, expect, it } from 'vitest';
import { loggedId } from '../../../src/core/log.ts';
import { waitingCountWords, waitingSessionsWords, waitingSinceWords } from '../../../src/features/inbox/view.ts';
import { noListWords } from '../../../src/features/watch/view.ts';
import { expectNothingWrong } from '../watch/harness.ts';
import { inboxApp } from './harness.ts';

const MINUTE = 60_000;
const DAY = 24 * 60 * MINUTE;
let app: Awaited<ReturnType<typeof inboxApp>>;

async function start(env: Record<string, string> = {}, mode: 'on' | 'off' = 'on'): Promise<void> {
	app = await inboxApp({ env: { DISCOVER_SESSIONS: 'true', ...env }, service: { list: { mode } } });
}

afterEach(async () => {
	expectNothingWrong(app);
	await app[Symbol.asyncDispose]();
});

function waiting(name: string): string {
	const id = app.session({ name });
	app.ask(id);
	return id;
}

it('shows every waiting session of the account, and opens it', async () => {
	await start();
	const id = waiting('Order <new> chairs & lamps');
	await app.pass(15_000);
	await app.openHome();
	const text = await app.homeSays('Order <new> chairs & lamps');
	expect(text).toContain('Other waiting sessions');
	expect(text).toContain('One more session of the account waits for a person.');
	expect(text).toMatch(/asked just now|waiting \d/);
	await app.slack.as('ada').home()?.press('Open');
	await app.windowSays('Which colour?');
	const opened = await app.until(() => app.log.find((line) => line.includes('"access":"open"')));
	expect(opened).toContain(loggedId(id));
});

it('follows the list: sessions come and go by themselves', async () => {
	await start();
	await app.openHome();
	await app.homeSays('No other session of the account waits for a person.');
	const id = waiting('Order new chairs');
	await app.homeSays('Order new chairs');
	app.service.sessions.setStatus(id, 'active');
	await app.homeSays(waitingSessionsWords(0), { without: ['Order new chairs'] });
});

it('tells since when a session waits, also beyond the retention time', async () => {
	await start({ RETENTION_DAYS: '2' });
	waiting('Order new chairs');
	await app.pass(15_000);
	await app.stop();
	await app.clock.advance(3 * DAY + MINUTE);
	await app.restart();
	await app.pass(15_000);
	await app.openHome();
	const text = await app.homeSays('Order new chairs');
	expect(text).toContain(waitingSinceWords(0, 3 * DAY));
});

it('shows a session once: as a question where the person sees that, else as a session', async () => {
	await start();
	await app.askedIn('#secret', ['Order lamps']);
	await app.openHome();
	const mine = await app.homeSays(waitingCountWords(1, 0));
	expect(mine).toContain(waitingSessionsWords(0));
	expect(mine.match(/Order lamps/g)).toHaveLength(1);
	await app.openHome('grace');
	const others = await app.homeSays('Order lamps', { who: 'grace' });
	expect(others).toContain(waitingCountWords(0, 0));
	expect(others).toContain(waitingSessionsWords(1));
});

it('shows the newest ten and counts the rest', async () => {
	await start();
	for (let index = 1; index <= 4; index += 1) waiting(`Early ${index}`);
	await app.pass(15_000);
	for (let index = 1; index <= 9; index += 1) waiting(`Late ${index}`);
	await app.pass(15_000);
	await app.slack.as('ada').command('#agents', '/session inbox');
	const text = await app.windowSays('13 more sessions of the account wait');
	expect(text).toContain('3 more sessions');
	expect(text.match(/Late \d/g)).toHaveLength(9);
	expect(text.match(/Early \d/g)).toHaveLength(1);
});

it('leaves out what somebody has just answered, although the list is late', async () => {
	await start();
	const id = waiting('Order new chairs');
	await app.pass(15_000);
	await app.openHome();
	await app.homeSays('Order new chairs');
	await app.slack.as('ada').home()?.press('Open');
	await app.windowSays('Which colour?');
	const modal = app.slack.as('ada').modal();
	await modal?.fill(0, 'grey');
	await modal?.submit();
	await app.until(() => app.service.log.puts(id).length === 1);
	await app.openHome('grace');
	await app.homeSays(waitingSessionsWords(0), { who: 'grace', without: ['Order new chairs'] });
});

it('says why there are none when the service has no list', async () => {
	await start({}, 'off');
	waiting('Order new chairs');
	await app.pass(5_000);
	await app.openHome();
	await app.homeSays(noListWords('noList', null), { without: ['Order new chairs'] });
});

it('shows no session that nobody named, unless it is told to', async () => {
	await start({ DISCOVER_SESSIONS: 'false' });
	waiting('Order new chairs');
	await app.pass(MINUTE);
	const text = await app.openHome();
	expect(text).not.toContain('Order new chairs');
	expect(text).not.toContain('Other waiting sessions');
});

it('shows nothing to a guest', async () => {
	await start();
	waiting('Order new chairs');
	await app.pass(15_000);
	expect(await app.openHome('gus')).not.toContain('Order new chairs');
});
