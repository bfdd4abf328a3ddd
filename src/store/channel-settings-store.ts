import type { Kysely } from 'kysely';
import type { Person } from '../answers/answer.ts';
import type { NewAnnouncement } from '../watches/announcements.ts';
import { type ChannelSettings, channelSettings, DEFAULT_CHANNEL_SETTINGS } from '../watches/channel-settings.ts';
import type { ChannelKey } from '../watches/watch.ts';
import { change, from, type StoreDatabase } from './database.ts';
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

/** Every method is one transaction; throws `StoreUnavailableError` (code `store_unavailable`, retryable). */
export function createChannelSettingsStore({ db, cipher }: { db: StoreDatabase; cipher: Cipher }) {
	return {
		/** The defaults where nobody has set anything. */
		async read(channel: ChannelKey): Promise<StoredChannelSettings> {
			const row = await settingsRow(db.read, channel);
			return {
				settings: readSettings(row?.settings ?? null),
				revision: row?.revision ?? 0,
				changedBy: row?.changed_by ?? null,
				changedAt: row?.changed_at ?? null,
			};
		},

		/**
		 * Replaces the settings, queues `announcement` and looks at the channel's ladders now. False when they are not at
		 * `revision` any more: nothing was written.
		 */
		write: (
			channel: ChannelKey,
			{
				settings: changed,
				revision,
				person,
				announcement,
				now,
			}: {
				settings: ChannelSettings;
				revision: number;
				person: Person;
				announcement: NewAnnouncement;
				now: number;
			},
		) =>
			db.write(async (trx) => {
				const here = channelColumns(channel);
				const row = await from(trx, 'channel_settings', here).selectAll().forUpdate().executeTakeFirst();
				if ((row?.revision ?? 0) !== revision) return false;
				const values = {
					settings: JSON.stringify(changed),
					revision: revision + 1,
					changed_by: person.userId,
					changed_at: now,
				};
				// Of two replicas that find no row, one fails on the key and runs again.
				if (row === undefined)
					await trx
						.insertInto('channel_settings')
						.values({ ...here, ...values })
						.execute();
				else await change(trx, 'channel_settings', here).set(values).execute();
				await queueAnnouncements({ trx, cipher, now }, [announcement]);
				await touchLadders(trx, channelColumns(channel), now);
				return true;
			}),
	};
}

export type ChannelSettingsStore = ReturnType<typeof createChannelSettingsStore>;

export function settingsRow(read: Kysely<Tables>, channel: ChannelKey) {
	return from(read, 'channel_settings', channelColumns(channel)).selectAll().executeTakeFirst();
}

/** The defaults for null. */
export function readSettings(text: string | null): ChannelSettings {
	return text === null ? DEFAULT_CHANNEL_SETTINGS : channelSettings.parse(JSON.parse(text));
}
