import { expect, it } from 'vitest';
import { z } from 'zod';
import { draftColumn } from '../../src/delivery/draft-store.ts';
import * as rows from '../../src/delivery/rows-store.ts';
import { SUBMISSION } from '../../src/domain/answer.ts';
import { evidence } from '../../src/domain/asked.ts';
import { channelSettings } from '../../src/domain/channel-settings.ts';
import { positions } from '../../src/domain/session.ts';
import { digest } from '../../src/domain/session-digest.ts';
import { sessionSnapshot } from '../../src/domain/session-snapshot.ts';
import { PERSON_RECORD } from '../../src/slack/directory.ts';
import { columnsOf, TABLE_NAMES } from '../../src/store/database.ts';
import { PERSON_TABLES, peopleColumns } from '../../src/store/person-ids.ts';
import { questionContentColumn } from '../../src/store/question-store.ts';
import { sessionReads } from '../../src/store/session-reads.ts';
import { content } from '../../src/surfaces/post.ts';

const ANY_TEXT = z.null();

const JSON_COLUMNS: Readonly<Record<string, Readonly<Record<string, z.ZodType>>>> = {
	answers: {
		submission: SUBMISSION,
		timeline: rows.timeline,
		beforePut: rows.storedBeforePut,
		other: rows.otherColumn.schema,
		content: rows.answerContentColumn.schema,
		secrets: rows.secretsColumn.schema,
		secretPositions: positions,
	},
	drafts: { content: draftColumn.schema },
	people: { facts: PERSON_RECORD },
	// What Slack shows, which names whoever is answering.
	views: { view: ANY_TEXT },
	watched_sessions: { digest, snapshot: sessionSnapshot, reads: sessionReads },
	posts: { content },
	questions: { content: questionContentColumn.schema, evidence, handOverNote: ANY_TEXT },
	channel_settings: { settings: channelSettings },
	waiting_sessions: { name: ANY_TEXT },
	shared_states: { state: ANY_TEXT },
};

/** Fields of JSON that may hold any text, but no id of a person; `{}`: the names of a record. */
const OTHER_FIELDS: Readonly<Record<string, string>> = {
	'answers.submission': 'viewId origin.channelId origin.threadTs shownHash',
	'answers.beforePut': 'status',
	'answers.other': 'answerId person.teamId values[]',
	'answers.content':
		'items[].title items[].value sessionName repeats[] asked.context asked.items[].title asked.items[].description',
	'answers.secrets': '{}',
	'drafts.content': 'values.{} shownHash sessionName',
	// The id of the row, sealed with it: whoever forgets the person removes the row.
	'people.facts': `user.enterprise_user.enterprise_id user.enterprise_user.teams[] user.id user.name
		user.profile.display_name user.profile.real_name user.real_name user.team_id user.tz`,
	'watched_sessions.digest': 'status question.fingerprint question.shownHash result files',
	'watched_sessions.snapshot': `sessionId name status steps[].text steps[].actions[].text question.fingerprint question.shownHash
		question.context question.items[].title question.items[].description question.items[].value
		question.quick.options[] result digest.status digest.question.fingerprint digest.question.shownHash
		digest.result digest.files`,
	'posts.content': `to code answerId
		entries[].watchId entries[].sessionId
		entries[].questionId entries[].postTs before.mention.groupIds[] before.quietHours.from
		before.quietHours.to before.quietHours.timeZone after.mention.groupIds[] after.quietHours.from
		after.quietHours.to after.quietHours.timeZone watchId handOverId questionId channelId sessionId
		sessionIds[] status before.answerers.groupIds[] after.answerers.groupIds[]`,
	'watched_sessions.reads': 'unread.code',
	'questions.evidence': 'value.answerId lost',
	'questions.content': `question.fingerprint question.shownHash question.context question.items[].title
		question.items[].description question.items[].value question.quick.options[] answered[].title answered[].description
		answered[].value`,
	'channel_settings.settings':
		'mention.groupIds[] quietHours.from quietHours.to quietHours.timeZone answerers.groupIds[]',
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

it('knows the schema of each column with JSON', () => {
	const described = TABLE_NAMES.flatMap((table) =>
		columnsOf(table).flatMap(([name, column]) =>
			'bound' in column || ('people' in column && typeof column.people === 'object') ? `${table}.${name}` : [],
		),
	);
	const listed = Object.entries(JSON_COLUMNS).flatMap(([table, columns]) =>
		Object.keys(columns).map((name) => `${table}.${name}`),
	);
	expect(listed.sort()).toEqual(described.sort());
});

it('classifies each text in JSON: it is the id of a person, or none', () => {
	const found = Object.entries(JSON_COLUMNS).flatMap(([table, columns]) =>
		Object.entries(columns).flatMap(([column, schema]) =>
			textsIn(z.toJSONSchema(schema, { io: 'input' }) as JsonSchema).map((path) => `${table}.${column}: ${path}`),
		),
	);
	const people = PERSON_TABLES.filter((table) => table !== 'shared_states').flatMap((table) =>
		peopleColumns(table).flatMap(({ column, people: fields }) =>
			typeof fields === 'string' ? [] : fields.map((path) => `${table}.${column}: ${path}`),
		),
	);
	const others = Object.entries(OTHER_FIELDS).flatMap(([column, paths]) =>
		paths.split(/\s+/).map((path) => `${column}: ${path}`),
	);
	expect([...new Set(found)].sort()).toEqual([...people, ...others].sort());
});
