import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { expect, it } from 'vitest';
import { z } from 'zod';
import { channelSettings } from '../../src/database/channel-settings.ts';
import { PERSON_IDS } from '../../src/database/person-ids.ts';
import { stepRate } from '../../src/database/watch.ts';
import { draftColumn } from '../../src/features/answer/answering-store.ts';
import * as rows from '../../src/features/answer/rows-store.ts';
import { content } from '../../src/posts/kinds.ts';
import { contentColumn } from '../../src/posts/question-store.ts';
import { RECEIPT_STATE, SUBMISSION } from '../../src/questions/answer.ts';
import { evidence } from '../../src/questions/asked.ts';
import { digest } from '../../src/questions/changes.ts';
import { sessionSnapshot } from '../../src/questions/session-snapshot.ts';
import { makeDataDir, open } from './support.ts';

/** Columns, and their JSON, that hold no id of a person. A new column has to be added here or to `PERSON_IDS`. */
const OTHERS: Readonly<Record<string, string>> = {
	migrations: 'number name appliedAt',
	meta: 'name value',
	answers: `id teamId service sessionId messageIndex fingerprint content secrets state attempts
		acceptedAt giveUpAt undoUntil nextAttemptAt putStartedAt beforePut deliveredAt agentOutcome endedAt
		lastError timeline receiptState leaseToken leasedUntil editCount notBefore missingCount startFailed
		restartAskedAt secretPositions submission dismissedAt questionId evidence missingSince`,
	drafts: 'formId teamId service sessionId messageIndex fingerprint content updatedAt',
	claims: 'service sessionId messageIndex teamId claimedAt until',
	windows: `viewId teamId service sessionId messageIndex fingerprint shownHash hash learned notice touchedAt dueAt
		leaseToken leasedUntil`,
	watches: `id teamId channelId service sessionId mode questionsInChannel createdAt revision
		lastChangeAt endedReason endedAt discreet buttons`,
	watched_sessions: `service sessionId rhythm digest view nextReadAt readBy lastReadAt lastChangeAt touchedAt
		failures overSince hurry leaseToken leasedUntil reads`,
	questions: `id service sessionId messageIndex number sameBefore fingerprint shownHash
		content rewordedCount rewordedAt askedAt settledAt settledHow answerId handOverId heldWatchId heldTeamId
		heldChannelId handOverCount handedOverAt handOverNote givenBackAt evidence`,
	posts: `id number teamId watchId service sessionId questionId kind state createdAt dueAt urgency wanted attempts
		sendingSince ts shownKey shownAt lastError leaseToken leasedUntil`,
	inboxes: `teamId viewId page openedAt askedCount changeCount nextUpdateAt shownCount shownKey builtAt
		leaseToken leasedUntil`,
	ladders: `watchId teamId channelId service sessionId questionId postTs postedAt remindedAt escalationCount
		lastReminderAt isSending reminderDueAt dueAt changeCount leaseToken leasedUntil waitingSince fewSince`,
	channel_settings: 'teamId channelId revision changedAt',
	snoozes: 'teamId service sessionId fingerprint until',
	waiting_sessions: 'service sessionId name since loweredAt loweredCount isNew goneAt',
	discoveries: 'teamId channelId service discreet buttons createdAt',
	service_outages: 'service downSince',
	shared_states: 'changedAt',
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
		.map(({ table, column }) => `${table}.${String(column).replace(/_(.)/g, (_, letter) => letter.toUpperCase())}`);
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
	answers: {
		submission: SUBMISSION,
		timeline: rows.timeline,
		beforePut: rows.beforePut,
		receiptState: RECEIPT_STATE,
		evidence,
		other: rows.otherColumn.schema,
		content: rows.contentColumn.schema,
		secrets: rows.secretsColumn.schema,
		secretPositions: rows.positions,
	},
	drafts: { content: draftColumn.schema },
	watched_sessions: { rhythm: stepRate, digest, view: sessionSnapshot },
	posts: { content },
	questions: { content: contentColumn.schema, evidence },
	channel_settings: { settings: channelSettings },
};

/** Fields of JSON that may hold any text, but no id of a person; `{}`: the names of a record. */
const OTHER_FIELDS: Readonly<Record<string, string>> = {
	'answers.submission': 'viewId origin.channelId origin.threadTs shownHash',
	'answers.beforePut': 'status',
	'answers.evidence': 'arrived.answerId lost',
	'answers.receiptState': 'dm.channelId dm.ts',
	'answers.other': 'answerId person.teamId values[]',
	'answers.content': '[].title [].value',
	'answers.secrets': '{}',
	'drafts.content': 'values.{} shownHash',
	'watched_sessions.digest': 'status question.fingerprint question.shownHash result files',
	'watched_sessions.view': `sessionId name status steps[].text steps[].actions[].text question.fingerprint question.shownHash
		question.context question.items[].title question.items[].description question.items[].value
		question.quick.options[] result digest.status digest.question.fingerprint digest.question.shownHash
		digest.result digest.files`,
	'posts.content': `to code
		entries[].watchId entries[].sessionId
		entries[].questionId entries[].postTs before.mention.groupIds[] before.quietHours.from
		before.quietHours.to before.quietHours.timeZone after.mention.groupIds[] after.quietHours.from
		after.quietHours.to after.quietHours.timeZone watchId handOverId questionId channelId sessionId
		sessionIds[]`,
	'questions.evidence': 'arrived.answerId lost',
	'questions.content': `question.fingerprint question.shownHash question.context question.items[].title
		question.items[].description question.items[].value question.quick.options[] answered[].title answered[].description
		answered[].value`,
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
