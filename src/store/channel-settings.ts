import {
	channelSettings,
	DEFAULT_CHANNEL_SETTINGS,
	type PostStyle,
	STYLE_PARTS,
	UNKNOWN_STYLE,
} from '../domain/channel-settings.ts';
import { FORGOTTEN } from '../domain/person.ts';
import type { Log } from '../kernel/log.ts';
import { parseOrNull, pick } from '../kernel/values.ts';
import { channelOf, type Db, from, isFound } from './database.ts';
import type { ChannelKey } from './watch.ts';

/** In place of settings that cannot be read. */
const DAMAGED = { ...DEFAULT_CHANNEL_SETTINGS, ...UNKNOWN_STYLE };
/**
 * In place of settings with a list that cannot be read: nobody may answer or change it until an operator empties it.
 */
const CLOSED = { ...DAMAGED, answerers: { userIds: [`${FORGOTTEN}list`], groupIds: [] } };

/**
 * Reads the settings of a channel. Damaged ones count as the defaults, so that they do not stop other channels, but
 * what they may have hidden stays hidden. `revision` counts changes: nobody may overwrite one that they did not see.
 */
export async function readChannelSettings(
	{ db, log }: { readonly db: { readonly read: Db }; readonly log: Log },
	channel: ChannelKey,
) {
	const row = await from(db.read, 'channel_settings', channelOf(channel)).selectAll().executeTakeFirst();
	if (row === undefined) return { settings: DEFAULT_CHANNEL_SETTINGS, revision: 0, change: null };
	const { revision, changedBy: by, changedAt: at } = row;
	const settings = parseOrNull(channelSettings, row.settings);
	if (settings === null) log.warn('channel_settings_damaged', channelOf(channel));
	const closes =
		settings === null && (await isFound(from(db.read, 'answer_rules', channelOf(channel)).select('service')));
	return { settings: settings ?? (closes ? CLOSED : DAMAGED), revision, change: { by, at } };
}

/** How posts of these channels of a workspace look, by channel id. */
export async function stylesOf(db: Db, teamId: string, channelIds: readonly string[]) {
	const rows = await from(db, 'channel_settings', { teamId, channelId: channelIds }).selectAll().execute();
	const stored = new Map(rows.map((row) => [row.channelId, styleIn(row.settings)]));
	return (channelId: string): PostStyle => stored.get(channelId) ?? styleIn(null);
}

/** The style in stored settings. `stored` null: nobody has set anything. */
export function styleIn(stored: string | null): PostStyle {
	const settings = stored === null ? DEFAULT_CHANNEL_SETTINGS : parseOrNull(channelSettings, stored);
	if (settings === null) return UNKNOWN_STYLE;
	return pick(settings, ...STYLE_PARTS);
}
