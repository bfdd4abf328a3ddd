import fc from 'fast-check';
import { anyCharacter, anyWebUrl } from '../support/any-text.ts';

const FIELDS = [
	'sessionId',
	'status',
	'name',
	'startTime',
	'endTime',
	'maxSteps',
	'sessionDetails',
	'lastScreenshotUrl',
	'lastScreenshotTimestamp',
	'files',
	'sessionVariables',
	'messages',
];

/** JSON with the service's own keys, so that every reader gets every type. */
const serviceKeys = fc.constantFrom(
	...'session sessionId status name messages role content agent_data action human_input title description value'.split(
		' ',
	),
	...'files filename signedUrl timestamp sessionVariables maxSteps startTime go_to_url url done text'.split(' '),
	...'save_to_file file_path click __proto__ constructor'.split(' '),
);
const { json } = fc.letrec<{ json: unknown }>((tie) => ({
	json: fc.oneof(
		{ maxDepth: 7, withCrossShrink: true },
		fc.constantFrom(null, true, 0, -1, 1e308, ''),
		fc.string({ unit: anyCharacter, maxLength: 20 }),
		anyWebUrl,
		fc.array(tie('json'), { maxLength: 4 }),
		fc.array(fc.tuple(serviceKeys, tie('json')), { maxLength: 8 }).map((pairs) => JSON.parse(toJson(pairs)) as unknown),
	),
}));

/** The service's own shape with any values in its fields, so that most of it is readable. */
const action = fc.record(
	{ go_to_url: json, done: json, save_to_file: json, click: json, ['x'.repeat(99)]: json },
	{ requiredKeys: [] },
);
const message = fc.record(
	{
		role: json,
		content: json,
		agent_data: fc.oneof(json, fc.record({ action: fc.oneof(json, fc.array(action, { maxLength: 4 })) })),
		human_input: fc.oneof(
			json,
			fc.array(fc.record({ title: json, description: json, value: json }, { requiredKeys: [] }), { maxLength: 4 }),
		),
	},
	{ requiredKeys: [] },
);
const shaped = fc.record(
	{
		...Object.fromEntries(FIELDS.map((key) => [key, json])),
		messages: fc.array(fc.oneof(json, message), { maxLength: 6 }),
		status: fc.oneof(json, fc.constant('humanInput')),
	},
	{ requiredKeys: [] },
);

/** Written by hand, because `__proto__` in an object would be an assignment and no key. */
function toJson(pairs: readonly (readonly [string, unknown])[]): string {
	return `{${pairs.map(([key, value]) => `${JSON.stringify(key)}:${JSON.stringify(value) ?? 'null'}`).join(',')}}`;
}

/** Any response to a read, most of them readable. */
export const anyResponse = fc.oneof(
	json,
	fc.oneof(json, shaped, shaped).map((session) => ({ session })),
);
