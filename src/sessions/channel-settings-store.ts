// Owns `channel_settings`: what people chose for a channel, and what changes with it.
import { type AnswerRule, namesAnybody, OPERATOR, type PersonInGroups } from '../domain/answerers.ts';
import { changedParts, DEFAULT_CHANNEL_SETTINGS, UNKNOWN_STYLE } from '../domain/channel-settings.ts';
import type { Person } from '../domain/person.ts';
import type { Log } from '../kernel/log.ts';
import { recordEvents } from '../store/audit.ts';
import { readChannelSettings } from '../store/channel-settings.ts';
import { addNew, change, channelOf, from, hasChanged, type StoreParts, type Tx } from '../store/database.ts';
import { lockFor } from '../store/locks.ts';
import type { ChannelKey } from '../store/watch.ts';
import { planPosts } from '../surfaces/plan-store.ts';
import type { NewPost } from '../surfaces/post.ts';
import { redrawChannel } from '../surfaces/redraw-store.ts';
import { lookAtChannel } from '../surfaces/reminder-store.ts';
import { changeRules, rulesAmong, rulesAround, tellNobodyLeft } from './answerers-store.ts';

export type StoredChannelSettings = Readonly<Awaited<ReturnType<typeof readChannelSettings>>>;

/**
 * Settings that a person chose for a channel whose settings they saw at `revision`. `groupIds`: the user groups that
 * they are known to be in.
 */
type ChosenSettings = Pick<StoredChannelSettings, 'settings' | 'revision'> &
	Readonly<{ person: Person; post: NewPost; now: number; groupIds?: PersonInGroups['groupIds'] }>;

export type SettingsParts = Pick<StoreParts, 'db'> & { readonly log: Log };

export function createChannelSettingsStore({ db, log }: SettingsParts) {
	return {
		read: (channel: ChannelKey) => readChannelSettings({ db, log }, channel),

		/** The lists of a session, at any address; empty: everybody who may use Handraise may answer it. */
		rulesOf: async (teamId: string, sessionId: string) =>
			(await rulesAmong(db.read, { teamId, sessionId })).get(sessionId) ?? [],
		/** The lists of all sessions that have some, by session id. */
		rulesOfAll: (teamId: string) => rulesAmong(db.read, { teamId }),
		/** The lists that decide about sessions which this channel watches or has watched. */
		rulesAround: (channel: ChannelKey) => rulesAround(db.read, channel),

		tellNobodyLeft: (teamId: string, rules: readonly AnswerRule[], now: number) =>
			db.write((trx) => tellNobodyLeft({ trx, now }, teamId, rules)),

		/**
		 * Replaces the settings, plans `post`, has reminders decided again, and has posts drawn again if their look
		 * changes. False, without a write: somebody else has changed the settings since `revision`.
		 */
		write: (channel: ChannelKey, { settings, revision, person, post, now, groupIds }: ChosenSettings) =>
			db.write(async (trx) => {
				const before = await readChannelSettings({ db: { read: trx }, log }, channel);
				const parts = changedParts(before.settings, settings);
				const isOtherList = parts.includes('answerers');
				if (isOtherList) await lockFor(trx, 'addingWatches');
				const key = channelOf(channel);
				const chosen = { settings: JSON.stringify(settings), changedBy: person.userId, changedAt: now };
				const values = { ...chosen, revision: revision + 1 };
				const isWritten = await hasChanged(
					revision === 0
						? addNew(trx, 'channel_settings', { ...key, ...values })
						: change(trx, 'channel_settings', { ...key, revision }, values),
				);
				if (!isWritten) return false;
				const by = { actor: person.userId, channel: key.channelId };
				recordEvents(trx, { at: now, action: 'settingsChanged', ...by, outcome: parts.join(' ') });
				const tx = { trx, now };
				const named = { userId: person.userId, groupIds: groupIds ?? new Set<string>() };
				if (isOtherList) await changeRules(tx, channel, settings.answerers, named);
				const isOtherStyle = parts.some((part) => part in UNKNOWN_STYLE);
				const hides = parts.includes('discreet') && settings.discreet;
				if (isOtherStyle) await redrawChannel(tx, channel, { isWhole: hides });
				await planPosts(tx, [post]);
				await lookAtChannel(tx, key);
				return true;
			}),
	};
}

/** Empties a channel's list of who may answer, and tells the channel. False, without a write: there is no such list. */
export async function clearAnswerers(tx: Tx, channelId: string, log: Log): Promise<boolean> {
	const { trx, now } = tx;
	await lockFor(trx, 'addingWatches');
	const rows = await from(trx, 'channel_settings', { channelId }).select('teamId').execute();
	let isCleared = false;
	for (const { teamId } of rows) {
		const channel = { teamId, channelId };
		const { settings: before, revision } = await readChannelSettings({ db: { read: trx }, log }, channel);
		if (!namesAnybody(before.answerers)) continue;
		isCleared = true;
		const after = { ...before, answerers: DEFAULT_CHANNEL_SETTINGS.answerers };
		const content = { kind: 'settingsChanged', by: OPERATOR, before, after } as const;
		const values = { settings: JSON.stringify(after), revision: revision + 1, changedBy: OPERATOR, changedAt: now };
		await change(trx, 'channel_settings', channel, values).execute();
		await changeRules(tx, channel, after.answerers, { userId: '', groupIds: new Set() });
		await planPosts(tx, [{ target: { kind: 'channel', ...channel }, key: `settings:${revision + 1}`, content }]);
	}
	return isCleared;
}

export type ChannelSettingsStore = ReturnType<typeof createChannelSettingsStore>;
