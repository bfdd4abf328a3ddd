import { describe, expect, it } from 'vitest';
import { type ChannelSettings, DEFAULT_CHANNEL_SETTINGS } from '../../../src/domain/channel-settings.ts';
import { type NewPost, streamOf } from '../../../src/surfaces/post.ts';
import { beginReminders } from '../../../src/surfaces/reminder-store.ts';
import { addWatch } from '../../sessions/support.ts';
import type { Subject } from '../contract.ts';
import { ANN, BOB, LEASE, storeActs, T0 } from '../support.ts';

const CHANNEL = { teamId: 'T1', channelId: 'C1' };
const SETTINGS: ChannelSettings = {
	...DEFAULT_CHANNEL_SETTINGS,
	remindAfterMs: 300_000,
	escalateAfterMs: null,
	mention: { userIds: ['U-ANN'], groupIds: ['S1'] },
	quietHours: { days: [6, 7], from: '18:00', to: '08:00', timeZone: 'Europe/Berlin' },
	progress: true,
};
const OTHERS: ChannelSettings = { ...DEFAULT_CHANNEL_SETTINGS, escalateAfterMs: 7_200_000 };
const NOTHING_SET = { settings: DEFAULT_CHANNEL_SETTINGS, revision: 0, change: null };

function postOf(revision: number, after: ChannelSettings): NewPost {
	return {
		target: { kind: 'channel', ...CHANNEL },
		key: `settings:${revision}`,
		content: { kind: 'settingsChanged', by: 'U-ANN', before: DEFAULT_CHANNEL_SETTINGS, after },
	};
}

export function describeChannelSettings(subject: Subject): void {
	const { rowsOf, setRows } = storeActs(subject);
	const store = () => subject.store.channelSettings;
	const replica = () => subject.replica.channelSettings;
	const change = (settings: ChannelSettings, revision: number, { person = ANN, now = T0 } = {}) => ({
		settings,
		revision,
		person,
		post: postOf(revision + 1, settings),
		now,
	});

	/** The posts that are due, in the order in which they were queued. */
	async function queued(): Promise<NewPost[]> {
		const due = await subject.store.posts.takeDue(LEASE, 10, T0 + 60_000);
		return due.map(({ post }) => post);
	}

	describe('settings of channels', () => {
		it('are the defaults where nobody has set anything', async () => {
			await store().write(CHANNEL, change(SETTINGS, 0));
			expect(await replica().read({ ...CHANNEL, channelId: 'C2' })).toEqual(NOTHING_SET);
			expect(await replica().read({ ...CHANNEL, teamId: 'T2' })).toEqual(NOTHING_SET);
		});

		it('are replaced as a whole, with who did it and when', async () => {
			expect(await store().write(CHANNEL, change(SETTINGS, 0))).toBe(true);
			const first = { settings: SETTINGS, revision: 1, change: { by: 'U-ANN', at: T0 } };
			expect(await replica().read(CHANNEL)).toEqual(first);
			expect(await replica().write(CHANNEL, change(OTHERS, 1, { person: BOB, now: T0 + 5 }))).toBe(true);
			const second = { settings: OTHERS, revision: 2, change: { by: 'U-BOB', at: T0 + 5 } };
			expect(await store().read(CHANNEL)).toEqual(second);
		});

		it('are not written over a revision that was not seen, and nothing is announced then', async () => {
			await store().write(CHANNEL, change(SETTINGS, 0));
			for (const unseen of [0, 2, 7]) expect(await replica().write(CHANNEL, change(OTHERS, unseen))).toBe(false);
			expect((await store().read(CHANNEL)).settings).toEqual(SETTINGS);
			expect(await queued()).toMatchObject([postOf(1, SETTINGS)]);
		});

		it('are written once when two people save at the same moment', async () => {
			for (let revision = 0; revision < 20; revision += 1) {
				const saves = [store(), replica(), store(), replica()].map((one, index) =>
					one.write(CHANNEL, change(index % 2 === 0 ? SETTINGS : OTHERS, revision)),
				);
				expect((await Promise.all(saves)).filter(Boolean)).toHaveLength(1);
			}
			expect((await store().read(CHANNEL)).revision).toBe(20);
		});

		it('make the reminders of the channel due now, and of no other', async () => {
			const { db, watches } = subject.store;
			const later = T0 + 600_000;
			const channelIds = ['C1', 'C2'];
			for (const channelId of channelIds) {
				const watch = await addWatch(watches, { channelId });
				const posted = [{ postId: 'question', watch: { ...watch, ...watch.session } }];
				await db.write((trx) => beginReminders({ trx, now: T0 }, posted, T0));
			}
			await setRows('posts', { dueAt: later }, { kind: 'reminder' });
			const held = async () => {
				const rows = await rowsOf('posts', { kind: 'reminder' });
				return Object.fromEntries(rows.map(({ stream, dueAt }) => [stream, dueAt]));
			};
			expect(await store().write(CHANNEL, change(SETTINGS, 1))).toBe(false);
			const [here, other] = channelIds.map((channelId) => streamOf({ ...CHANNEL, kind: 'channel', channelId }));
			expect(await held()).toEqual({ [`${here}`]: later, [`${other}`]: later });
			await store().write(CHANNEL, change(SETTINGS, 0));
			expect(await held()).toEqual({ [`${here}`]: T0, [`${other}`]: later });
		});

		it('hold reminders in the threads of the watches whose questions are to stay there', async () => {
			const { watches } = subject.store;
			const ids: string[] = [];
			for (const sessionId of ['s1', 's2']) ids.push((await addWatch(watches, { sessionId })).id);
			await addWatch(watches, { sessionId: 's3', channelId: 'C2' });
			await store().write(CHANNEL, change({ ...SETTINGS, questionsInThread: true }, 0));
			const all = [streamOf({ ...CHANNEL, kind: 'channel' }), ...ids.map((id) => `watch:${id}`)];
			const held = (await rowsOf('posts', { kind: 'reminder' })).map(({ stream }) => stream);
			expect(held.toSorted()).toEqual(all.toSorted());
		});

		it('escalate nothing in a row of 1.1.0 without a time of its own', async () => {
			const settings = JSON.stringify({ ...SETTINGS, escalateAfterMs: 'default' });
			const row = { teamId: 'T1', channelId: 'C1', settings, revision: 3, changedBy: 'U-ANN', changedAt: T0 };
			await subject.store.db.writeOne((trx) => trx.insertInto('channel_settings').values(row).execute());
			const read = await store().read({ teamId: 'T1', channelId: 'C1' });
			expect(read.settings).toEqual({ ...SETTINGS, escalateAfterMs: null });
		});

		it('have posts of the channel drawn again when these look different; also those that are over when less is told', async () => {
			const { db, watches } = subject.store;
			const here = await addWatch(watches);
			await addWatch(watches, { sessionId: 's2', channelId: 'C2' });
			const place = { stream: `watch:${here.id}`, number: 9, uniqueKey: 'q', teamId: 'T1', placeId: 'C1' };
			const shown = { kind: 'question', content: '{}', state: 'closed', createdAt: T0, ts: '2.2' };
			const closed = { id: 'closed', watchId: here.id, ...place, ...shown };
			await db.write(async (trx) => {
				await trx.updateTable('posts').set({ state: 'shown', dueAt: null, ts: '1.1' }).execute();
				await trx.insertInto('posts').values(closed).execute();
			});
			const due = async () => {
				const again = db.read.selectFrom('posts').select(['placeId', 'kind', 'state']).where('watchId', 'is not', null);
				const rows = await again.where('dueAt', 'is not', null).orderBy('kind').execute();
				await setRows('posts', { dueAt: null });
				return rows.map(({ placeId, kind, state }) => `${placeId} ${kind} ${state}`);
			};
			await store().write(CHANNEL, change(OTHERS, 0));
			expect(await due()).toEqual([]);
			await store().write(CHANNEL, change({ ...OTHERS, buttons: false }, 1));
			expect(await due()).toEqual(['C1 card shown']);
			await store().write(CHANNEL, change({ ...OTHERS, discreet: true }, 2));
			expect(await due()).toEqual(['C1 card shown', 'C1 question shown']);
		});
	});
}
