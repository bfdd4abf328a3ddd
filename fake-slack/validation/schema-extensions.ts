import type { Definitions, JsonSchema } from '../json-schema/generated-schema.ts';

/** What Slack takes and @slack/types 3.2 does not know yet; taken out again when the types have caught up. */
export type SchemaExtension = {
	id: string;
	/** Where the shape is known from. */
	source: string;
	/** Changes the definitions that the schema is made of. */
	extend: (definitions: Definitions) => void;
};

const blocks = 'docs.slack.dev/reference/block-kit/blocks';
const elements = 'docs.slack.dev/reference/block-kit/block-elements';
const string: JsonSchema = { type: 'string' };
const number: JsonSchema = { type: 'number' };
const boolean: JsonSchema = { type: 'boolean' };

/** The definition of a type; the generator names them after the types, so an unknown name is a typo or a renamed type. */
function definition(definitions: Definitions, name: string): JsonSchema {
	const found = definitions[name];
	if (found === undefined) throw new Error(`Expected @slack/types to have ${name}.`);
	return found;
}

function addProperties(definitions: Definitions, name: string, properties: Record<string, JsonSchema>): void {
	const schema = definition(definitions, name);
	schema.properties = { ...schema.properties, ...properties };
}

function withoutRequired(schema: JsonSchema, name: string): JsonSchema {
	return { ...schema, required: (schema.required ?? []).filter((required) => required !== name) };
}

/** An object that has these fields and no others. */
function object(required: Record<string, JsonSchema>, optional: Record<string, JsonSchema> = {}): JsonSchema {
	return {
		type: 'object',
		properties: { ...required, ...optional },
		required: Object.keys(required),
		additionalProperties: false,
	};
}

const list = (items: JsonSchema): JsonSchema => ({ type: 'array', items });

const pie = object({
	type: { type: 'string', const: 'pie' },
	segments: list(object({ label: string, value: number })),
});

const seriesChart = (type: string): JsonSchema =>
	object({
		type: { type: 'string', const: type },
		series: list(object({ name: string, data: list(object({ label: string, value: number })) })),
		axis_config: object({ categories: list(string) }, { x_label: string, y_label: string }),
	});

/** The names of docs.slack.dev/reference/block-kit/composition-objects/slack-icon-object. */
const slackIcons =
	'archive book bookmark bot bug calendar call caret-left caret-right check clipboard code comment compass copy cube ' +
	'download edit email eye-closed eye-open file flag folder gear globe heart help image info key lightbulb link map ' +
	'mobile new-window pin plus refine refresh rocket save screen share sparkle star star-filled tag thumbs-down ' +
	'thumbs-up trash upload user warning';

export const schemaExtensions: readonly SchemaExtension[] = [
	{
		id: 'data_visualization',
		source: `${blocks}/data-visualization-block; slackapi/node-slack-sdk #2637 is open`,
		extend: (definitions) => {
			definitions.DataVisualizationBlock = object(
				{
					type: { type: 'string', const: 'data_visualization' },
					title: string,
					chart: { anyOf: [pie, ...['bar', 'area', 'line'].map(seriesChart)] },
				},
				{ block_id: string },
			);
			definition(definitions, 'KnownBlock').anyOf?.push({ $ref: '#/definitions/DataVisualizationBlock' });
		},
	},
	{
		id: 'card.slack_icon',
		source: `${blocks}/card-block; slack-go/slack #1562`,
		extend: (definitions) => {
			const name: JsonSchema = { type: 'string', enum: slackIcons.split(' ') };
			addProperties(definitions, 'CardBlock', {
				slack_icon: object({ type: { type: 'string', const: 'icon' }, name }),
			});
		},
	},
	{
		id: 'card.subtext',
		source: `${blocks}/card-block; slack-go/slack #1562`,
		extend: (definitions) => addProperties(definitions, 'CardBlock', { subtext: { $ref: '#/definitions/TextObject' } }),
	},
	{
		id: 'card texts as plain_text',
		source: `${blocks}/card-block: title, subtitle and body "using plain_text or mrkdwn formatting"`,
		extend: (definitions) => {
			const text: JsonSchema = { $ref: '#/definitions/TextObject' };
			addProperties(definitions, 'CardBlock', { title: text, subtitle: text, body: text });
		},
	},
	{
		id: 'descriptions of radio buttons and checkboxes as mrkdwn',
		source: 'docs.slack.dev/reference/block-kit/composition-objects/option-object; yhatt/jsx-slack 6.1 writes them so',
		extend: (definitions) =>
			addProperties(definitions, 'MrkdwnOption', { description: { $ref: '#/definitions/TextObject' } }),
	},
	{
		id: 'rich_text_list.offset',
		source: 'docs.slack.dev/reference/block-kit/block-elements/rich-text-list-element',
		extend: (definitions) => addProperties(definitions, 'RichTextList', { offset: number }),
	},
	{
		id: 'styles and fields of rich text',
		source: `${elements}/text-element, link, user, usergroup, broadcast, canvas-user-mention, rich-text-preformatted`,
		extend: (definitions) => {
			for (const name of ['Text', 'Link', 'UserMention', 'UsergroupMention', 'BroadcastMention']) {
				const { style } = definition(definitions, `RichText${name}`).properties ?? {};
				const properties = { ...style?.properties, highlight: boolean, client_highlight: boolean, unlink: boolean };
				addProperties(definitions, `RichText${name}`, { style: { ...style, properties } });
			}
			const { style = {} } = definition(definitions, 'RichTextUserMention').properties ?? {};
			const type: JsonSchema = { type: 'string', const: 'canvas_user_mention' };
			definitions.RichTextCanvasUser = object({ type, user_id: string }, { thread_id: string, style });
			definition(definitions, 'RichTextElement').anyOf?.push({ $ref: '#/definitions/RichTextCanvasUser' });
			addProperties(definitions, 'RichTextUserMention', { from_llm: boolean });
			addProperties(definitions, 'RichTextLink', { from_llm: boolean, is_slack_url: boolean, truncated: boolean });
			addProperties(definitions, 'RichTextPreformatted', { language: string });
		},
	},
	{
		id: 'dates and channels in rich text',
		source: `${elements}/date-element, channel-element; an integer: slackapi/python-slack-sdk #1560`,
		extend: (definitions) => {
			const marks = { highlight: boolean, client_highlight: boolean };
			for (const [name, more] of [
				['Date', marks] as const,
				['ChannelMention', { ...marks, unlink: boolean }] as const,
			]) {
				const { style } = definition(definitions, `RichText${name}`).properties ?? {};
				const properties = { ...style?.properties, ...more };
				addProperties(definitions, `RichText${name}`, { style: { ...style, properties } });
			}
			addProperties(definitions, 'RichTextDate', { timestamp: { type: 'integer' }, timezone: string });
			addProperties(definitions, 'RichTextChannelMention', { tab_id: string, from_llm: boolean });
		},
	},
	{
		id: 'task_card without status',
		source: `${blocks}/task-card-block: status is optional`,
		extend: (definitions) => {
			definitions.TaskCardBlock = withoutRequired(definition(definitions, 'TaskCardBlock'), 'status');
		},
	},
	{
		id: 'plan tasks without type',
		source: `${blocks}/plan-block, as docs.rs/slack-morphism 2.30 gives it`,
		extend: (definitions) => {
			definitions.PlanTask = withoutRequired(definition(definitions, 'TaskCardBlock'), 'type');
			addProperties(definitions, 'PlanBlock', { tasks: list({ $ref: '#/definitions/PlanTask' }) });
		},
	},
];
