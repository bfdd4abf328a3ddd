import { expect, it } from 'vitest';
import { createPeopleStore, removeUnusedPeople } from '../../../src/store/people-store.ts';
import type { Subject } from '../contract.ts';
import { storeActs, T0 } from '../support.ts';
import { forget } from './person.ts';

const ADA = { teamId: 'T1', userId: 'U0ADA' };
const BOB = { teamId: 'T1', userId: 'U0BOB' };
const told = (name: string, at = T0) => ({ user: { name }, at, isListed: false });

/** What Slack told of people. */
export function describeDirectory(subject: Subject): void {
	const { rowsOf, setRows } = storeActs(subject);
	const people = () => subject.store.people;
	const replica = () => subject.replica.people;
	const tell = (store: ReturnType<typeof people>, { teamId, userId }: typeof ADA, one: ReturnType<typeof told>) =>
		store.told(teamId, new Map([[userId, one]]));
	const ofBoth = () => replica().of('T1', [ADA.userId, BOB.userId]);
	const wanted = async (since: number) => [...(await replica().wanted('T1', since))];

	it('shares what was told of people, the newest', async () => {
		await tell(people(), ADA, told('Ada'));
		const newest = new Map([
			[ADA.userId, told('Ada L.', T0 + 1)],
			[BOB.userId, told('Bob')],
		]);
		await replica().told('T1', newest);
		expect(await ofBoth()).toEqual(newest);
		expect(await replica().of('T2', [ADA.userId])).toEqual(new Map());
	});

	it('knows whose Homes wait, until somebody is told', async () => {
		await people().want(ADA, T0);
		await people().want(BOB, T0 + 1);
		expect(await wanted(T0 - 1)).toEqual(expect.arrayContaining([ADA.userId, BOB.userId]));
		expect(await wanted(T0)).toEqual([BOB.userId]);
		await tell(people(), BOB, told('Bob'));
		expect(await wanted(T0)).toEqual([]);
	});

	it('takes from a list only those who wait, and each their own', async () => {
		await people().want(ADA, T0);
		await people().want(BOB, T0);
		await tell(people(), { teamId: 'T1', userId: 'U0JO' }, told('Jo'));
		const list = new Map([
			[ADA.userId, told('Ada')],
			[BOB.userId, told('Robert')],
			['U0EVE', told('Eve')],
			['U0JO', told('Joanna')],
		]);
		await replica().listed('T1', list);
		expect(await ofBoth()).toEqual(new Map([...list].slice(0, 2)));
		expect(await people().of('T1', ['U0EVE', 'U0JO'])).toEqual(new Map([['U0JO', told('Jo')]]));
		expect(await wanted(0)).toEqual([]);
		await people().listed('T1', new Map());
	});

	it('does not bring back by a list who was forgotten', async () => {
		await tell(people(), ADA, told('Ada'));
		await forget(subject.store);
		await people().listed('T1', new Map([[ADA.userId, told('Ada')]]));
		expect(await rowsOf('people')).toEqual([]);
	});

	it('keeps of what is out of date the name, and nothing is older', async () => {
		await tell(people(), ADA, told('Ada'));
		await tell(people(), BOB, told('Bob'));
		await replica().outdate('T1', [ADA.userId]);
		expect((await ofBoth()).get(ADA.userId)).toEqual({ ...told('Ada'), at: 0 });
		expect((await ofBoth()).get(BOB.userId)).toEqual(told('Bob'));
		await replica().outdate('T2', [BOB.userId]);
		expect((await ofBoth()).get(BOB.userId)).toEqual(told('Bob'));
	});

	it('removes whom nobody has needed for long', async () => {
		await tell(people(), ADA, told('Ada'));
		await tell(people(), BOB, told('Bob', T0 + 1));
		await removeUnusedPeople(subject.store.db, T0 + 1);
		expect([...(await ofBoth()).keys()]).toEqual([BOB.userId]);
	});

	it('has nothing of a row that another key sealed', async () => {
		await tell(people(), ADA, told('Ada'));
		await setRows('people', { facts: 'v2:broken' });
		expect(await createPeopleStore(subject.store).of('T1', [ADA.userId])).toEqual(new Map([[ADA.userId, null]]));
	});
}
