import { randomBytes } from 'node:crypto';
import { type AnswererApp, answererApp, expect, ONLY, WHO, withApp } from '../../kit.ts';
import { sharedPostgres } from '../../support/shared-postgres.ts';

/* Two replicas on one database. Slack gives each press to either of them, so each is tried several times. */

const TIMES = 6;

const it = withApp(async () => {
	const app = await answererApp({
		DATABASE_URL: await (await sharedPostgres()).createDatabase(),
		ENCRYPTION_KEY: randomBytes(32).toString('base64'),
		UNDO_SECONDS: '20',
	});
	await app.startOther();
	return app;
});

const puts = (app: AnswererApp, id: string) => app.service.log.effectivePuts(id);

it('a list that one replica stores holds at once for presses and windows at the other', async ({ app }) => {
	const { id, post } = await app.asked();
	expect(await app.may('cleo', id)).toBe(true);
	await app.names(['ada', 'grace']);
	for (let time = 0; time < TIMES; time += 1) {
		const told = await app.toldAfter(() => app.press(post, 'cleo', 'TP 570'), 'cleo');
		expect(told.text()).toContain('Only ada and grace may answer.');
	}
	for (let time = 0; time < 3; time += 1) expect(await app.may('cleo', id)).toBe(false);
	await app.names(['cleo', 'ada'], 'grace');
	for (let time = 0; time < 3; time += 1) expect(await app.may('cleo', id)).toBe(true);
	expect(await app.may('grace', id)).toBe(false);
	expect(puts(app, id)).toEqual([]);
});

it('an answer that one replica took is not sent by the other after the list changed', async ({ app }) => {
	const questions = [await app.asked(), await app.asked(), await app.asked()];
	for (const { post } of questions) await app.press(post, 'cleo', 'TP 570');
	await app.until(() => questions.every(({ post }) => post.buttons().includes('Undo')));
	await app.names(['ada', 'grace']);
	await app.until(
		() => questions.every(({ post }) => post.buttons().includes('LH 1173')),
		() => questions.map(({ post }) => post.text()).join(),
	);
	expect(questions.flatMap(({ id }) => puts(app, id))).toEqual([]);
});

it('two people who save at once at two replicas make one list', async ({ app }) => {
	const { id, post } = await app.asked();
	const windows = [await app.openSettings(), await app.openSettings({ who: 'cleo' })] as const;
	await windows[0].choose(WHO, ['ada']);
	await windows[1].choose(WHO, ['cleo']);
	await Promise.all(windows.map(app.submit));
	await app.until(() => /Only (?:ada|cleo) may answer/.test(post.text()));
	const winners: string[] = [];
	for (const who of ['ada', 'cleo']) if (await app.may(who, id)) winners.push(who);
	expect(winners).toHaveLength(1);
	expect(post.text()).toContain(ONLY(winners.join()));
	await app.told(1);
	await app.pass(5_000);
	expect(app.changes()).toHaveLength(1);
});
