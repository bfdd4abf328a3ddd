import { SlackError } from '../core.ts';
import { type Json, scalar } from '../json.ts';

interface Page<T> {
	items: T[];
	/** The cursor of the next page; empty on the last. */
	next: string;
}

interface Sizes {
	defaultLimit?: number;
	/** The highest limit that may be asked for. To refuse more, and 0, is stricter than documented. */
	maxLimit?: number;
	/** The most items in one page, whatever the limit. */
	mostItems?: number;
}

function limitArg(args: Json, { defaultLimit = 100, maxLimit = 1000, mostItems = 1000 }: Sizes): number {
	if (args.limit === undefined || args.limit === '') return Math.min(defaultLimit, mostItems);
	const limit = scalar(args, 'limit') ?? '';
	if (!/^\d+$/.test(limit) || Number(limit) < 1 || Number(limit) > maxLimit) throw new SlackError('invalid_limit');
	return Math.min(Number(limit), mostItems);
}

/**
 * A page of a list. A cursor works only for the list it came with: `list` names it (the method and its arguments).
 * Throws invalid_cursor and invalid_limit.
 */
export function page<T>(items: T[], args: Json, list: string, sizes: Sizes = {}): Page<T> {
	const limit = limitArg(args, sizes);
	const cursor = scalar(args, 'cursor') ?? '';
	const mark = `${list}:`;
	const decoded = Buffer.from(cursor, 'base64url').toString('utf8');
	const offset = decoded.slice(mark.length);
	if (cursor !== '' && !(decoded.startsWith(mark) && /^\d+$/.test(offset))) throw new SlackError('invalid_cursor');
	const from = cursor === '' ? 0 : Number(offset);
	const next = from + limit < items.length ? Buffer.from(`${mark}${from + limit}`).toString('base64url') : '';
	return { items: items.slice(from, from + limit), next };
}

/** `oldest` and `latest` in seconds. Throws invalid_ts_oldest and invalid_ts_latest. */
export function timeArg(args: Json, name: 'oldest' | 'latest'): number | undefined {
	if (args[name] === undefined || args[name] === '') return undefined;
	const value = scalar(args, name) ?? '';
	// Slack refuses the mark of a channel that was never read, 0000000000.000000 (reported by clients), and takes 0.
	const isTime = /^\d{1,12}(\.\d{1,6})?$/.test(value) && !/^0+\.0+$/.test(value);
	if (!isTime) throw new SlackError(`invalid_ts_${name}`);
	return Number(value);
}
