import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { expect, it } from 'vitest';
import { z } from 'zod';
import { channelSettings } from '../../src/database/channel-settings.ts';
import type { Tables } from '../../src/database/tables.ts';
import { draftColumn } from '../../src/features/answer/answering-store.ts';
import { ANSWER_JSON } from '../../src/features/answer/rows-store.ts';
import { QUESTION_JSON } from '../../src/posts/question-store.ts';
import { WATCH_JSON } from '../../src/posts/watch-rows.ts';
import { makeDataDir, open } from './support.ts';

/**
 * Where rows hold ids of people, to find all that is stored of a person. `id`: the column is the id. `part`: the id is part
 * of a text. A list: fields of the column's JSON, from its root; `[]` is each entry of a list and `{}` each name of a record.
 * Most JSON is encrypted. A new column or field with such an id has to be added here.
 */
const PERSON_IDS = {
	answers: { user_id: 'id', other: ['person.userId'] },
	drafts: { user_id: 'id' },
	claims: { user_id: 'id' },
	watches: { created_by: 'id' },
	posts: {
		stream: 'part',
		unique_key: 'part',
		place_id: 'id',
		content: ['by', 'from', 'entries[].heldBy', 'before.mention.userIds[]', 'after.mention.userIds[]'],
	},
	questions: { from_user_id: 'id', to_user_id: 'id' },
	inboxes: { id: 'part', user_id: 'id' },
	ladders: { held_by: 'id' },
	channel_settings: { settings: ['mention.userIds[]'], changed_by: 'id' },
	snoozes: { user_id: 'id' },
	discoveries: { created_by: 'id' },
	shared_states: { name: 'part', state: ['{}'] },
} as const satisfies {
	readonly [Table in keyof Tables]?: {
		readonly [Column in keyof Tables[Table]]?: 'id' | 'part' | readonly string[];
	};
};

/** Columns, and their JSON, that hold no id of a person. A new column has to be added here or to `PERSON_IDS`. */
const OTHERS: Readonly<Record<string, string>> = {
	migrations: 'number name applied_at',
	meta: 'name value',
	answers: `id submission_key team_id service session_id message_index fingerprint content secrets state attempts
		accepted_at give_up_at undo_until next_attempt_at put_started_at before_put delivered_at agent_outcome ended_at
		last_error timeline receipt_state lease_token leased_until edit_count not_before missing_count start_failed
		restart_asked_at secret_positions submission`,
	drafts: 'form_id team_id service session_id message_index fingerprint content updated_at',
	claims: 'service session_id message_index team_id claimed_at until',
	watches: `id team_id channel_id service session_id mode questions_in_channel created_at revision
		last_change_at ended_reason ended_at discreet buttons`,
	watched_sessions: `service session_id rhythm digest view next_read_at read_by last_read_at last_change_at touched_at
		failures over_since hurry lease_token leased_until`,
	questions: `id service session_id message_index number same_before fingerprint shown_hash open_items answered_items
		content reworded_count reworded_at asked_at settled_at settled_how answer_id hand_over_id held_watch_id held_team_id
		held_channel_id hand_over_count handed_over_at given_back_at`,
	posts: `id number team_id watch_id service session_id question_id kind state created_at due_at urgency wanted attempts
		sending_since ts shown_key shown_at last_error lease_token leased_until`,
	inboxes: `team_id view_id page opened_at asked_count change_count next_update_at shown_count shown_key built_at
		lease_token leased_until`,
	ladders: `watch_id team_id channel_id service session_id question_id post_ts posted_at reminded_at escalation_count
		last_reminder_at is_sending reminder_due_at due_at change_count lease_token leased_until waiting_since few_since`,
	channel_settings: 'team_id channel_id revision changed_at',
	snoozes: 'team_id service session_id fingerprint until',
	waiting_sessions: 'service session_id name since lowered_at lowered_count is_new gone_at',
	discoveries: 'team_id channel_id service discreet buttons created_at',
	service_outages: 'service down_since',
	shared_states: 'changed_at',
};

it('classifies each column: it holds ids of people, or none', async () => {
	const directory = makeDataDir();
	await (await open({ dataDir: directory.path })).close();
	const database = new DatabaseSync(join(directory.path, 'handraise.db'));
	const found = database
		.prepare(
			`select t.name as "table", c.name as "column" from sqlite_schema as t, pragma_table_info(t.name) as c
			where t.type = 'table' order by 1, 2`,
		)
		.all()
		.map(({ table, column }) => `${table}.${column}`);
	database.close();
	await directory.remove();
	const listed = (lists: Readonly<Record<string, readonly string[]>>) =>
		Object.entries(lists).flatMap(([table, columns]) => columns.map((column) => `${table}.${column}`));
	const columnsOf = <T>(tables: Readonly<Record<string, T>>, names: (columns: T) => readonly string[]) =>
		listed(Object.fromEntries(Object.entries(tables).map(([table, columns]) => [table, names(columns)])));
	const people = columnsOf<object>(PERSON_IDS, Object.keys);
	const others = columnsOf(OTHERS, (names) => names.split(/\s+/));
	expect([...people, ...others].sort()).toEqual(found.sort());
});

const JSON_COLUMNS: Readonly<Record<string, Readonly<Record<string, z.ZodType>>>> = {
	answers: ANSWER_JSON,
	drafts: { content: draftColumn.schema },
	...WATCH_JSON,
	...QUESTION_JSON,
	channel_settings: { settings: channelSettings },
};

/** Fields of JSON that may hold any text, but no id of a person; `{}`: the names of a record. */
const OTHER_FIELDS: Readonly<Record<string, string>> = {
	'answers.submission': 'viewId origin.channelId origin.threadTs shownHash',
	'answers.before_put': 'status',
	'answers.receipt_state': 'dm.channelId dm.ts',
	'answers.other': 'answerId person.teamId values[]',
	'answers.content': '[].title [].value',
	'answers.secrets': '{}',
	'drafts.content': 'values.{} shownHash',
	'watched_sessions.digest': 'status question.fingerprint question.shownHash result files',
	'watched_sessions.view': `sessionId name task status steps[].text steps[].actions[].text question.fingerprint question.shownHash
		question.context question.items[].title question.items[].description question.items[].value
		question.quick.options[] result digest.status digest.question.fingerprint digest.question.shownHash
		digest.result digest.files`,
	'posts.content': `question.fingerprint question.shownHash question.context question.items[].title
		question.items[].description question.items[].value question.quick.options[] to status result
		entries[].watchId entries[].sessionId
		entries[].questionId entries[].postTs before.mention.groupIds[] before.quietHours.from
		before.quietHours.to before.quietHours.timeZone after.mention.groupIds[] after.quietHours.from
		after.quietHours.to after.quietHours.timeZone watchId handOverId channelId sessionIds[]`,
	'questions.content': `question.fingerprint question.shownHash question.context question.items[].title
		question.items[].description question.items[].value question.quick.options[]`,
	'channel_settings.settings': 'mention.groupIds[] quietHours.from quietHours.to quietHours.timeZone',
};

interface JsonSchema {
	readonly type?: string | readonly string[];
	readonly enum?: readonly unknown[];
	readonly const?: unknown;
	readonly anyOf?: readonly JsonSchema[];
	readonly oneOf?: readonly JsonSchema[];
	readonly items?: JsonSchema;
	readonly prefixItems?: readonly JsonSchema[];
	readonly properties?: Readonly<Record<string, JsonSchema>>;
	readonly additionalProperties?: JsonSchema | false;
}

/** The paths of all fields that may hold any text, and of records, whose names may be any text. */
function textsIn(schema: JsonSchema, path = ''): readonly string[] {
	const below = (name: string) => (path === '' ? name : `${path}.${name}`);
	if ([schema.type].flat().includes('string') && schema.enum === undefined && schema.const === undefined) return [path];
	const record = schema.additionalProperties;
	return [
		...[...(schema.anyOf ?? []), ...(schema.oneOf ?? [])].flatMap((one) => textsIn(one, path)),
		...[...(schema.prefixItems ?? []), ...[schema.items].flat()].flatMap((one) =>
			one === undefined ? [] : textsIn(one, `${path}[]`),
		),
		...Object.entries(schema.properties ?? {}).flatMap(([name, one]) => textsIn(one, below(name))),
		...(record === undefined || record === false ? [] : [below('{}'), ...textsIn(record, below('{}'))]),
	];
}

it('classifies each text in JSON: it is the id of a person, or none', () => {
	const found = Object.entries(JSON_COLUMNS).flatMap(([table, columns]) =>
		Object.entries(columns).flatMap(([column, schema]) =>
			textsIn(z.toJSONSchema(schema, { io: 'input' }) as JsonSchema).map((path) => `${table}.${column}: ${path}`),
		),
	);
	const people = Object.entries(PERSON_IDS).flatMap(([table, columns]) =>
		Object.entries<string | readonly string[]>(columns).flatMap(([column, fields]) =>
			typeof fields === 'string' || table === 'shared_states'
				? []
				: fields.map((path) => `${table}.${column}: ${path}`),
		),
	);
	const others = Object.entries(OTHER_FIELDS).flatMap(([column, paths]) =>
		paths.split(/\s+/).map((path) => `${column}: ${path}`),
	);
	expect([...new Set(found)].sort()).toEqual([...people, ...others].sort());
});
