import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import pg from 'pg';
import { errorWords, REFUSAL_CODES } from '../../../src/slack/error-view.ts';
import type { WatchingApp } from '../../features/watch/harness.ts';
import type { Act, Member } from './acts.ts';

/** Whose rows are theirs in which table, and what in them is an effect of what somebody did. */
const ROWS = `
	select user_id as who, 'answer ' || id || state || edit_count || coalesce(cast(restart_asked_at as text), '') as row from answers
	union all select user_id, 'draft ' || form_id || content from drafts
	union all select user_id, 'claim ' || session_id || until from claims
	union all select user_id, 'inbox ' || id || asked_count from inboxes
	union all select changed_by, 'settings ' || channel_id || revision from channel_settings
	union all select created_by, 'watch ' || id from watches where ended_at is null`;

const firstSentence = (words: string) => words.split('. ')[0] ?? words;
/** How each refusal begins, whichever way it is told. */
const SENTENCES = REFUSAL_CODES.map((refusal) => {
	const { text } = errorWords(refusal, { kept: 'nothing', adminContact: null });
	const { plain } = errorWords(refusal, { kept: 'text', adminContact: null });
	return { refusal, sentences: [text, plain].map(firstSentence) };
});

/** What there is of one person. */
export interface Trace {
	/** All that is on their screen, and how often it was put there. */
	readonly screen: string;
	readonly rows: ReadonlySet<string>;
	/** How many requests the service got for their session. */
	readonly requests: number;
}

/** Asks the database of the program for rows. */
export type Query = <Row>(sql: string) => Promise<Row[]>;

/** @param databaseUrl of PostgreSQL; left out: the file in `dataDir`. Call `close` at the end. */
export async function openQuery(dataDir: string, databaseUrl?: string): Promise<{ query: Query; close(): unknown }> {
	if (databaseUrl === undefined) {
		const db = new DatabaseSync(join(dataDir, 'handraise.db'), { readOnly: true });
		return { query: async <Row>(sql: string) => db.prepare(sql).all() as Row[], close: () => db.close() };
	}
	const client = new pg.Client({ connectionString: databaseUrl });
	await client.connect();
	return { query: async <Row>(sql: string) => (await client.query(sql)).rows as Row[], close: () => client.end() };
}

/** What there is of everybody now, by name. */
export async function tracesOf(
	app: WatchingApp,
	members: readonly Member[],
	query: Query,
): Promise<Map<string, Trace>> {
	const { slack, service } = app;
	const rows = await query<{ who: string; row: string }>(ROWS);
	const screenOf = (id: string, name: string) => {
		const views = Object.values(slack.state.views).filter(({ user }) => user === id);
		const alone = slack.state.messages.filter(({ ephemeralFor }) => ephemeralFor === id);
		return JSON.stringify([
			views.map((view) => [view.id, view.updates, view.fieldErrors, view.payload.blocks]),
			alone.map(({ blocks }) => blocks),
			slack
				.as(name)
				.dm()
				.map((message) => message.text()),
		]);
	};
	return new Map(
		members.map(({ id, name, session }) => [
			name,
			{
				screen: screenOf(id, name),
				rows: new Set(rows.filter(({ who }) => who === id).map(({ row }) => row)),
				requests: service.log.list({ sessionId: session }).length,
			},
		]),
	);
}

/**
 * What became of an act: the refusal that was told, `nothing` when nothing was said and done, else `allowed` (`no check`
 * for what asks for none). Names what a refused person caused all the same.
 *
 * @param ack what the acknowledgement said
 */
export function outcomeOf({ group }: Act, before: Trace, after: Trace, ack: string): string {
	const screen = after.screen + ack;
	const isNew = (words: string) => screen.includes(words) && !before.screen.includes(words);
	const told = SENTENCES.find(({ sentences }) => sentences.some(isNew))?.refusal;
	const requests = after.requests - before.requests;
	const caused = [...after.rows].filter((row) => !before.rows.has(row));
	if (requests > 0) caused.push(`${requests} requests to the service`);
	const kept = told ?? (group === 'free' ? 'no check' : null);
	if (kept !== null) return caused.length === 0 ? kept : `${kept}, but: ${caused.join(', ')}`;
	const isEnded = [...before.rows].some((row) => row.startsWith('watch ') && !after.rows.has(row));
	return caused.length > 0 || isEnded || screen !== before.screen ? 'allowed' : 'nothing';
}
