import { describe, expect, it } from 'vitest';
import { type Answerers, OPERATOR } from '../../../src/domain/answerers.ts';
import { DEFAULT_CHANNEL_SETTINGS } from '../../../src/domain/channel-settings.ts';
import { endRules } from '../../../src/sessions/answerers-store.ts';
import { clearAnswerers } from '../../../src/sessions/channel-settings-store.ts';
import type { WatchEnd } from '../../../src/store/watch.ts';
import { newWatch } from '../../sessions/support.ts';
import type { Subject } from '../contract.ts';
import { ANN, BOB, createRecordingLog, only, storeActs, submission, T0 } from '../support.ts';
import { KEY, news, read, watchActs } from './watch-acts.ts';

const DAY = 86_400_000;
const log = createRecordingLog();
const ONLY_ANN: Answerers = { userIds: ['U-ANN'], groupIds: [] };
const ONLY_BOB: Answerers = { userIds: ['U-BOB'], groupIds: [] };
const ONLY_GROUP: Answerers = { userIds: [], groupIds: ['S1'] };
const NOBODY: Answerers = { userIds: [], groupIds: [] };
const channelAt = (channelId: string) => ({ teamId: 'T1', channelId });

export function describeAnswerers(subject: Subject): void {
	const { lease, leased, patched, rowsOf, setRows } = storeActs(subject);
	const { store, replica, recorded, posted, drawn } = watchActs(subject);

	/** Somebody of these groups gives a channel this list. */
	async function names(
		answerers: Answerers,
		{ channelId = 'C1', person = ANN, groups = [] as readonly string[] } = {},
	) {
		const { settings: before, revision } = await store().channelSettings.read(channelAt(channelId));
		const settings = { ...before, answerers };
		const content = { kind: 'settingsChanged', by: person.userId, before, after: settings } as const;
		const target = { kind: 'channel', ...channelAt(channelId) } as const;
		const post = { target, key: `settings:${revision + 1}`, content };
		const written = { settings, revision, person, post, now: T0, groupIds: new Set(groups) };
		expect(await store().channelSettings.write(channelAt(channelId), written)).toBe(true);
	}

	/** Adds a watch; whether the channel's list decides then. */
	async function watched(overrides: Parameters<typeof newWatch>[0] = {}) {
		const result = await store().watches.add(newWatch(overrides));
		if (result.kind === 'limit') throw new Error(`the limit for ${result.limit} is reached`);
		const { id, channelId, session } = result.watch;
		return { id, watch: result.watch, decides: channelId in (await rules(session.sessionId)) };
	}

	const end = (id: string, reason: WatchEnd) => store().watches.end(id, reason, { now: T0, posts: [] });
	const damage = () => setRows('channel_settings', { settings: '{"v":9' });

	/** The channels whose lists decide about a session, with whom they name. */
	async function rules(sessionId = 's1'): Promise<Readonly<Record<string, Answerers>>> {
		const found = await replica().channelSettings.rulesOf('T1', sessionId);
		return Object.fromEntries(found.map(({ channelId, userIds, groupIds }) => [channelId, { userIds, groupIds }]));
	}

	describe('lists of who may answer', () => {
		it('decide about a session when a channel with one begins to watch it, and about no other', async () => {
			await names(ONLY_ANN);
			expect(await watched()).toMatchObject({ decides: true });
			expect(await watched({ channelId: 'C2' })).toMatchObject({ decides: false });
			expect(await watched({ channelId: 'C2', sessionId: 's2' })).toMatchObject({ decides: false });
			expect(await rules()).toEqual({ C1: ONLY_ANN });
			expect(await rules('s2')).toEqual({});
			expect(await replica().channelSettings.rulesOf('T2', KEY.sessionId)).toEqual([]);
		});

		it('decide about what a channel watches or has watched when it gets one', async () => {
			await watched();
			await end((await watched({ sessionId: 's2' })).id, 'unwatched');
			await end((await watched({ sessionId: 's3' })).id, 'sessionOver');
			await names(ONLY_ANN);
			const decides = [await rules('s1'), await rules('s2'), await rules('s3')];
			expect(decides).toEqual([{ C1: ONLY_ANN }, { C1: ONLY_ANN }, {}]);
		});

		const named = () => names(ONLY_ANN);
		it.each([
			['begins to watch its session', named, watched],
			['that watches it gets one', watched, named],
		])('have an answer that is about to be sent begin again when a channel %s', async (_, before, change) => {
			await before();
			const { id } = await leased(submission({ person: BOB }));
			await change();
			expect(await patched(id, { state: 'delivering', putStartedAt: T0 })).toBeNull();
			expect(await lease(id)).toMatchObject({ state: 'accepted', putStartedAt: null });
		});

		it('are as they are now, in each channel of a session: one that names somebody is enough', async () => {
			await names(ONLY_ANN);
			await watched();
			await names({ userIds: ['U-ANN', 'U-BOB'], groupIds: ['S1'] });
			await names(ONLY_BOB, { channelId: 'C2', person: BOB });
			expect(await watched({ channelId: 'C2', createdBy: 'U-BOB' })).toMatchObject({ decides: true });
			expect(await rules()).toEqual({ C1: { userIds: ['U-ANN', 'U-BOB'], groupIds: ['S1'] }, C2: ONLY_BOB });
		});

		it('do not decide by a watch, or a change, of somebody who may not answer the session at that moment', async () => {
			await names(ONLY_ANN);
			await watched();
			await names(ONLY_BOB, { channelId: 'C2', person: BOB });
			expect(await watched({ channelId: 'C2', createdBy: 'U-BOB' })).toMatchObject({ decides: false });
			await names({ userIds: ['U-BOB', 'U-ANN'], groupIds: [] }, { channelId: 'C2', person: BOB });
			expect(await rules()).toEqual({ C1: ONLY_ANN });
			// Ann may, and so the list of that channel decides too.
			expect(await watched({ channelId: 'C2', createdBy: 'U-ANN' })).toMatchObject({ decides: true });
			expect(Object.keys(await rules()).toSorted()).toEqual(['C1', 'C2']);
		});

		it('know somebody by a user group, and nobody by one that is not known', async () => {
			await names(ONLY_GROUP);
			await watched({ groupIds: new Set() });
			await names(ONLY_BOB, { channelId: 'C2', person: BOB });
			expect(await watched({ channelId: 'C2', createdBy: 'U-BOB' })).toMatchObject({ decides: false });
			const ofGroup = { channelId: 'C2', createdBy: 'U-BOB', groupIds: new Set(['S1']) };
			expect(await watched(ofGroup)).toMatchObject({ decides: true });
			await watched({ channelId: 'C3', createdBy: 'U-EVE' });
			await names({ userIds: ['U-EVE'], groupIds: [] }, { channelId: 'C3', person: { teamId: 'T1', userId: 'U-EVE' } });
			expect(Object.keys(await rules()).toSorted()).toEqual(['C1', 'C2']);
			const eve = { channelId: 'C3', person: { teamId: 'T1', userId: 'U-EVE' }, groups: ['S1'] };
			await names({ userIds: ['U-EVE', 'U-ANN'], groupIds: [] }, eve);
			expect(Object.keys(await rules()).toSorted()).toEqual(['C1', 'C2', 'C3']);
		});

		it('decide on when a channel stops watching or is gone, until the session is over', async () => {
			await names(ONLY_ANN);
			for (const reason of ['unwatched', 'channelArchived', 'botRemoved', 'channelShared', 'noChange'] as const) {
				const { id } = await watched();
				await end(id, reason);
				expect(await rules(), reason).toEqual({ C1: ONLY_ANN });
			}
			const { watch } = await watched();
			await recorded([news(watch, { end: 'sessionOver' })], read());
			expect(await rules()).toEqual({});
		});

		it('decide about nothing any more when they are emptied, and about what is watched when they are filled again', async () => {
			await names(ONLY_ANN);
			await watched();
			await watched({ sessionId: 's2' });
			await names(NOBODY);
			expect([await rules('s1'), await rules('s2')]).toEqual([{}, {}]);
			expect(await watched({ sessionId: 's3' })).toMatchObject({ decides: false });
			await names(ONLY_ANN);
			expect(await rules('s3')).toEqual({ C1: ONLY_ANN });
		});

		it('are given for all sessions at once, and hold for a session at whatever address of the service', async () => {
			await names(ONLY_ANN);
			await watched();
			await watched({ sessionId: 's2' });
			await watched({ session: { service: 'https://other.example', sessionId: 's3' } });
			await watched({ channelId: 'C2', sessionId: 's4' });
			const all = await replica().channelSettings.rulesOfAll('T1');
			expect([...all.keys()].toSorted()).toEqual(['s1', 's2', 's3']);
			expect(await rules('s3')).toEqual({ C1: ONLY_ANN });
			// Known at both addresses, it is over at one of them alone.
			await watched({ sessionId: 's3' });
			await store().db.write((trx) => endRules(trx, { service: 'https://other.example', sessionId: 's3' }));
			expect(await rules('s3')).toEqual({ C1: ONLY_ANN });
			expect(all.get('s2')).toMatchObject([{ channelId: 'C1', revision: 1, ...ONLY_ANN }]);
			expect(await replica().channelSettings.rulesOfAll('T2')).toEqual(new Map());
		});

		it('of settings that cannot be read let nobody answer what they decided about', async () => {
			await names(ONLY_ANN);
			await watched();
			await damage();
			expect(await rules()).toEqual({ C1: NOBODY });
			await watched({ sessionId: 's2' });
			expect(await rules('s2')).toEqual({ C1: NOBODY });
		});

		it('are drawn again in the posts of each session about which they decide or decided', async () => {
			await watched();
			expect(await posted()).toEqual(['card']);
			for (const list of [ONLY_ANN, ONLY_BOB, NOBODY]) {
				await names(list);
				expect(await drawn()).toEqual(['card']);
				await posted();
			}
		});

		it('are cleared by whoever runs Handraise, and the channel is told', async () => {
			await names({ ...ONLY_ANN, groupIds: ['S1'] });
			await watched();
			const clear = (channelId = 'C1') =>
				store().db.write((trx) => clearAnswerers({ trx, now: T0 + 5 }, channelId, log));
			expect(await clear('C2')).toBe(false);
			expect(await rules()).not.toEqual({});
			expect(await clear()).toBe(true);
			expect(await rules()).toEqual({});
			const cleared = { settings: DEFAULT_CHANNEL_SETTINGS, revision: 2, change: { by: OPERATOR, at: T0 + 5 } };
			expect(await replica().channelSettings.read(channelAt('C1'))).toEqual(cleared);
			expect(await clear()).toBe(false);
			const { content } = only(await rowsOf('posts', { uniqueKey: 'settings:2' }));
			expect(JSON.parse(content)).toMatchObject({ kind: 'settingsChanged', by: OPERATOR });
		});

		it('are cleared also where the settings cannot be read, but not where they decide about nothing', async () => {
			await names(ONLY_ANN);
			await watched();
			await damage();
			const clear = () => store().db.write((trx) => clearAnswerers({ trx, now: T0 }, 'C1', log));
			expect(await clear()).toBe(true);
			expect(await rules()).toEqual({});
			await damage();
			expect(await clear()).toBe(false);
		});

		it('are forgotten 400 days after the retention time, of sessions that nobody watches', async () => {
			await names(ONLY_ANN);
			await watched();
			const { id } = await watched({ sessionId: 's2' });
			await end(id, 'unwatched');
			const forget = (now: number) => store().discoveries.removeOldRules(now);
			await forget(T0 + 400 * DAY);
			expect(await rules('s2')).toEqual({ C1: ONLY_ANN });
			await forget(T0 + 400 * DAY + 1);
			expect([await rules('s1'), await rules('s2')]).toEqual([{ C1: ONLY_ANN }, {}]);
		});

		it('tell a channel once for each change that nobody whom it names is left', async () => {
			await names(ONLY_ANN);
			await watched();
			const tell = async (at = store()) => {
				const found = await at.channelSettings.rulesOf('T1', KEY.sessionId);
				await at.channelSettings.tellNobodyLeft('T1', found, T0);
			};
			await Promise.all([tell(), tell(replica())]);
			await tell();
			await names(ONLY_BOB);
			await tell();
			const keys = (await rowsOf('posts', { kind: 'nobodyLeft' })).map(({ uniqueKey }) => uniqueKey);
			expect(keys.toSorted()).toEqual(['nobodyLeft:1', 'nobodyLeft:2']);
		});
	});
}
