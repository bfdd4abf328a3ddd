import { expect, handOverApp, it } from '../kit.ts';
import { KEY } from '../store/support.ts';
import { runPerson } from '../support/commands.ts';

const DAY = 86_400_000;
const HOUR = 3_600_000;

it('forgets who answered when HISTORY_RETENTION_DAYS are over, and keeps what was answered when', async () => {
	await using app = await handOverApp({ ENCRYPTION_KEY: KEY, RETENTION_DAYS: '1', HISTORY_RETENTION_DAYS: '2' });
	const { id, post } = await app.asked();
	await app.seenBy('ada', post).press('LH 1173');
	await app.until(() => post.text().includes('· continued'));
	await app.slack.as('ada').command('#agents', `/session unwatch ${id}`);
	const answers = async () => {
		const { stdout } = await runPerson(['export', 'U0ADA'], { DATA_DIR: app.dataDir });
		return JSON.parse(stdout).answers?.length ?? 0;
	};
	await app.stop();
	await app.clock.advance(2 * DAY - HOUR);
	await app.restart();
	await app.pass(HOUR / 2);
	expect(await answers()).toBe(1);
	await app.pass(HOUR);
	expect(await answers()).toBe(0);
	await app.slack.as('grace').command('#agents', `/session history ${id}`);
	await app.windowSays('Somebody', { who: 'grace' });
}, 60_000);
