import type { Kysely } from 'kysely';
import type { Person } from '../answers/answer.ts';
import type { NewAnnouncement } from '../watches/announcements.ts';
import { type ChannelSettings, channelSettings, DEFAULT_CHANNEL_SETTINGS } from '../watches/channel-settings.ts';
import type { ChannelKey } from '../watches/watch.ts';
import { change, countChanged, from, type StoreDatabase } from './database.ts';
import type { Cipher } from './encryption.ts';
import { channelColumns, type Tables } from './tables.ts';
import { queueAnnouncements, touchLadders } from './watch-writes.ts';

/** The settings of a channel as stored. */
export interface StoredChannelSettings {
	readonly settings: ChannelSettings;
	/** Counts the changes, so that nobody overwrites a change that they did not see; 0: never changed. */
	readonly revision: number;
	readonly changedBy: string | null;
	readonly changedAt: number | null;
}

/** Settings that a person chose for a channel whose settings they saw at `revision`. */
type ChosenSettings = Pick<StoredChannelSettings, 'settings' | 'revision'> &
	Readonly<{ person: Person; announcement: NewAnnouncement; now: number }>;

/** The settings of channels. Every method is one transaction. */
export function createChannelSettingsStore({ db, cipher }: { db: StoreDatabase; cipher: Cipher }) {
	return {
		/** The defaults where nobody has set anything. */
		read: (channel: ChannelKey) => readSettings(db.read, channel),

		/**
		 * Replaces the settings, queues `announcement` and looks at the channel's ladders now. False when they are not at
		 * `revision` any more: nothing was written.
		 */
		write: (channel: ChannelKey, { settings, revision, person, announcement, now }: ChosenSettings) =>
			db.write(async (trx) => {
				const key = channelColumns(channel);
				const chosen = { settings: JSON.stringify(settings), changed_by: person.userId, changed_at: now };
				const values = { ...chosen, revision: revision + 1 };
				const insert = trx.insertInto('channel_settings').values({ ...key, ...values });
				const changed = await countChanged(
					revision === 0
						? insert.onConflict((conflict) => conflict.columns(['team_id', 'channel_id']).doNothing())
						: change(trx, 'channel_settings', { ...key, revision }).set(values),
				);
				if (changed === 0) return false;
				await queueAnnouncements({ trx, cipher, now }, [announcement]);
				await touchLadders(trx, key, now);
				return true;
			}),
	};
}

/** The settings of a channel; the defaults where it has none. */
export async function readSettings(read: Kysely<Tables>, channel: ChannelKey): Promise<StoredChannelSettings> {
	const row = await from(read, 'channel_settings', channelColumns(channel)).selectAll().executeTakeFirst();
	if (row === undefined) return { settings: DEFAULT_CHANNEL_SETTINGS, revision: 0, changedBy: null, changedAt: null };
	const { settings, revision, changed_by: changedBy, changed_at: changedAt } = row;
	return { settings: channelSettings.parse(JSON.parse(settings)), revision, changedBy, changedAt };
}
