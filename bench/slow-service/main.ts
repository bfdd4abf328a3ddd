import { discoveringApp } from '../../test/sessions/discover/harness.ts';
import { amount, count, readOptions } from '../../test/support/options.ts';
import { createRandom } from '../../test/support/random.ts';
import { spread } from '../figures/stats.ts';

/*
 * The whole program in virtual time against a service that checks keys one after another: 55 ms of its processor for each
 * of 12 keys. Beside it, the same without anything that is watched or listed: what an answer needs alone.
 */

const { minutes, seed } = readOptions('npm run bench -- slow-service', {
	minutes: amount(30, 'of virtual time'),
	seed: count(1, 'of the random choices'),
});
const KEYS = 12;
const SESSIONS = 1_000;
/** Of them: those that wait for ever, and those of the others that are watched. */
const [WAITING, WATCHES] = [150, 40];
const KEY_MS = 55;
const WARM_UP_MS = 5 * 60_000;
const EVERY_MS = 20_000;
const SHARES = [0.5, 0.95, 1];
const QUESTION = [{ title: 'Which colour?', description: '' }];

const keyCheckMs = KEY_MS * KEYS;
const durationMs = minutes * 60_000;
const random = createRandom(seed);

interface Figures {
	readonly seen: readonly number[];
	/** From the command until the window shows its session. */
	readonly shown: readonly number[];
	readonly put: readonly number[];
	readonly listsPerMinute: number;
	readonly requestsPerMinute: number;
	readonly limited: number;
}

/** Agents ask again and again; somebody answers each question as soon as it is posted, in its form. */
async function run({ reads }: { reads: boolean }): Promise<Figures> {
	await using app = await discoveringApp({
		env: {
			SESSION_SERVICE_RPM: '250',
			SESSION_SERVICE_TIMEOUT_MS: '20000',
			DISCOVER_SESSIONS: String(reads),
			REMIND_AFTER: 'off',
		},
		limits: { watches: { channel: 100 } },
		service: { keyCheckMs, ...(!reads && { list: { mode: 'off' } }) },
	});
	const ids = Array.from({ length: SESSIONS }, (_, index) => app.session({ name: `Task ${index}` }));
	const waiting = ids.splice(0, WAITING);
	for (const id of waiting) app.ask(id, QUESTION);
	if (reads) {
		const watched = ids.slice(0, WATCHES);
		for (let first = 0; first < watched.length; first += 20) {
			await app.command(`/session watch ${watched.slice(first, first + 20).join(' ')}`, 'ada', '#secret');
		}
		await app.pass(60_000);
		await app.watchAll();
		await app.pass(WARM_UP_MS);
	}
	const seen: number[] = [];
	const shown: number[] = [];
	const put: number[] = [];
	const from = app.clock.now();
	for (let next = from; next < from + durationMs; next += random.between(0.5, 1.5) * EVERY_MS) {
		await app.pass(Math.max(1, next - app.clock.now()));
		const id = random.pick(ids);
		const index = app.ask(id, QUESTION);
		const askedAt = app.clock.now();
		if (reads) {
			const isPosted = () =>
				[...app.asked(id), ...app.thread(id, '#secret')].some((post) => post.buttons().includes('Answer…'));
			await app.until(isPosted);
			seen.push(app.clock.now() - askedAt);
		}
		const ada = app.slack.as('ada');
		const typedAt = app.clock.now();
		await ada.command('#agents', `/session ${id}`);
		const modal = await app.until(() => (ada.modal()?.text().includes('Which colour?') ? ada.modal() : null));
		shown.push(app.clock.now() - typedAt);
		await modal.fill(0, 'red');
		const submittedAt = app.clock.now();
		await modal.submit();
		const isSaved = () => app.service.log.puts(id).some(({ savedAt }) => savedAt !== null && savedAt >= submittedAt);
		await app.until(isSaved);
		put.push(app.clock.now() - submittedAt);
		await ada.modal()?.close();
		app.service.sessions.setStatus(id, 'active');
		app.service.sessions.push(id, { role: 'assistant', content: `I take it (${index}).` });
	}
	const tookMinutes = (app.clock.now() - from) / 60_000;
	const requests = [...app.service.log.reads(), ...app.service.log.lists(), ...app.service.log.puts()];
	const since = requests.filter(({ at }) => at >= from);
	return {
		seen,
		shown,
		put,
		listsPerMinute: app.service.log.lists().filter(({ at }) => at >= from).length / tookMinutes,
		requestsPerMinute: since.length / tookMinutes,
		limited: since.filter(({ status }) => status === 429).length,
	};
}

const own = await run({ reads: true });
const alone = await run({ reads: false });
console.log(`${SESSIONS} sessions, ${WAITING} wait for ever, ${WATCHES} watched, \`watch all\`; ${KEYS} keys: ${keyCheckMs} ms a call, one after another; ${minutes} min of virtual time

| figure | value | goal |
|---|---|---|
| raised hands seen, median / p95 / longest of ${own.seen.length} | ${spread(own.seen, SHARES)} | median ≤ 6 s |
| sessions shown, median / p95 / longest of ${own.shown.length} | ${spread(own.shown, SHARES)} | median ≤ 4 s |
| answers put, median / p95 / longest of ${own.put.length} | ${spread(own.put, SHARES)} | p95 ≤ 4 s |
| the same without our reads and lists | ${spread(alone.put, SHARES)} | |
| requests a minute; of these lists | ${own.requestsPerMinute.toFixed(0)}; ${own.listsPerMinute.toFixed(1)} | |
| 429s | ${own.limited} | 0 |`);
