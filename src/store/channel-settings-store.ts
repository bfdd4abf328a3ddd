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
				const values = {
					settings: JSON.stringify(changed),
					revision: revision + 1,
					changed_by: person.userId,
					changed_at: now,
				};
				const isWritten =
					revision === 0 ? await insert(trx, channel, values) : await update(trx, channel, revision, values);
				if (!isWritten) return false;
				await queueAnnouncements({ trx, cipher, now }, [announcement]);
				await touchLadders(trx, channelColumns(channel), now);
				return true;
			}),
	};
}

export type ChannelSettingsStore = ReturnType<typeof createChannelSettingsStore>;

type Values = Pick<Tables['channel_settings'], 'settings' | 'revision' | 'changed_by' | 'changed_at'>;

async function insert(trx: Kysely<Tables>, channel: ChannelKey, values: Values): Promise<boolean> {
	const result = await trx
		.insertInto('channel_settings')
		.values({ ...channelColumns(channel), ...values })
		.onConflict((conflict) => conflict.columns(['team_id', 'channel_id']).doNothing())
		.executeTakeFirst();
	return Number(result.numInsertedOrUpdatedRows ?? 0n) > 0;
}

async function update(trx: Kysely<Tables>, channel: ChannelKey, revision: number, values: Values): Promise<boolean> {
	return (
		(await countChanged(change(trx, 'channel_settings', { ...channelColumns(channel), revision }).set(values))) > 0
	);
}

export function settingsRow(read: Kysely<Tables>, channel: ChannelKey) {
	return from(read, 'channel_settings', channelColumns(channel)).selectAll().executeTakeFirst();
}

/** The defaults for null. */
export function readSettings(text: string | null): ChannelSettings {
	return text === null ? DEFAULT_CHANNEL_SETTINGS : channelSettings.parse(JSON.parse(text));
}
