import { randomBytes } from 'node:crypto';
import { expect, it } from 'vitest';
import { asking, done, task } from '../../../sandbox/session-service/builders.ts';
import { switchingWords } from '../../../src/features/watch/post-view.ts';
import { sharedPostgres } from '../../support/shared-postgres.ts';
import { expectNothingWrong, USUAL_REQUESTS, watchingApp } from './harness.ts';

const OFTEN = switchingWords('').split('  ').at(-1) ?? '';

it('gives a session that changes its question often one post for two replicas, and the rested question too', async () => {
	const DATABASE_URL = await (await sharedPostgres()).createDatabase();
	const ENCRYPTION_KEY = randomBytes(32).toString('base64');
	await using app = await watchingApp({ env: { ...USUAL_REQUESTS, DATABASE_URL, ENCRYPTION_KEY } });
	const other = await app.app.startOther();
	const id = await app.watched();
	const broadcasts = () => app.thread(id).filter((post) => post.threadTs() === null);
	async function asksInTurn(from: number, to: number): Promise<void> {
		for (let number = from; number <= to; number += 1) {
			const messages = [task('Order.'), done('I begin.'), asking('Tell me.', [`Question ${number % 2}?`])];
			app.service.sessions.patch(id, { status: 'humanInput', messages });
			const count = app.service.log.reads(id).length;
			await app.until(() => app.service.log.reads(id).length > count + 1);
		}
	}
	await asksInTurn(1, 12);
	await app.until(() => broadcasts().length === 7);
	await other.stop();
	await asksInTurn(13, 15);
	const post = await app.until(() => broadcasts().find((one) => one.text().includes(OFTEN)));
	await app.until(() => post.text().includes('Question 1?'));
	expect(broadcasts()).toHaveLength(7);
	await app.until(() => broadcasts().length === 8);
	await app.until(() => post.buttons().length === 0);
	await app.pass(60_000);
	expect(broadcasts()).toHaveLength(8);
	expectNothingWrong(app);
}, 60_000);
