import {
	type Accepted,
	accept,
	block,
	composition,
	inActions,
	inMessage,
	type Json,
	LABEL,
	type Refused,
	refuse,
	SECTION,
	type Subject,
	types,
} from './sample.ts';

const cell = { type: 'raw_text', text: 'a' };
const richCell = {
	type: 'rich_text',
	elements: [{ type: 'rich_text_section', elements: [{ type: 'text', text: 'a' }] }],
};
const icon = { type: 'image', image_url: 'https://example.com/a.png', alt_text: 'A logo' };

const line = (series: Json[], categories: string[]): Subject =>
	inMessage({
		type: 'data_visualization',
		title: 'Runs',
		chart: { type: 'line', series, axis_config: { categories } },
	});

const monday = { label: 'Mon', value: 3 };
const tuesday = { label: 'Tue', value: -4.5 };
const eachCategory = 'must have one data point for each of `axis_config.categories`';

export const blockAccepted: Accepted[] = [
	accept(
		'a data point for each category, in any order',
		line([{ name: 'A', data: [tuesday, monday] }], ['Mon', 'Tue']),
	),
	accept(
		'rich text below the first row',
		inMessage({ type: 'data_table', caption: 'Runs', rows: [[cell], [richCell]] }),
	),
	accept('a card with its own icon', inMessage({ type: 'card', title: LABEL, icon })),
];

/** What blocks must hold, and what their parts must have in common. */
export const blockRefused: Refused[] = [
	refuse(
		'a filter of conversations that filters nothing',
		composition('conversation-filter'),
		{
			says: 'must define one of `include`, `exclude_external_shared_channels`, `exclude_bot_users`',
			pointer: '/blocks/0/elements/0/filter',
		},
		inActions({ type: 'conversations_select', filter: {} }),
	),
	refuse(
		'an empty section',
		block('section'),
		{ says: 'must define one of `text`, `fields`', pointer: '/blocks/0' },
		inMessage({ type: 'section' }),
	),
	refuse(
		'a card with a subtitle alone',
		block('card'),
		{ says: 'must define one of `hero_image`, `title`, `actions`, `body`', pointer: '/blocks/0' },
		inMessage({ type: 'card', subtitle: { type: 'mrkdwn', text: 'S' } }),
	),
	refuse(
		'a container without title',
		block('container'),
		{ says: 'must define one of `title`, `rich_text_title`', pointer: '/blocks/0' },
		inMessage({ type: 'container', child_blocks: [SECTION] }),
	),
	refuse(
		'a closed container that nobody can open',
		types('ContainerBlock'),
		{ says: 'must set `is_collapsible` to use `default_collapsed`', pointer: '/blocks/0/default_collapsed' },
		inMessage({ type: 'container', title: LABEL, child_blocks: [SECTION], default_collapsed: true }),
	),
	refuse(
		'a card with two icons',
		`${block('card')}: "only one of icon & slack_icon can be present"`,
		{ says: 'must define only one of `icon`, `slack_icon`', pointer: '/blocks/0' },
		inMessage({ type: 'card', title: LABEL, icon, slack_icon: { type: 'icon', name: 'rocket' } }),
	),
	refuse(
		'a data table with a short row',
		`${block('data-table')}: "All rows must have the same number of values"`,
		{ says: 'must have as many cells as the first row', pointer: '/blocks/0/rows/2' },
		inMessage({ type: 'data_table', caption: 'Runs', rows: [[cell, cell], [cell, cell], [cell]] }),
	),
	refuse(
		'rich text in the first row of a data table',
		`${block('data-table')}: "rich_text cannot be used for header cells"`,
		{ says: 'unsupported type: rich_text', pointer: '/blocks/0/rows/0/1/type' },
		inMessage({
			type: 'data_table',
			caption: 'Runs',
			rows: [
				[cell, richCell],
				[cell, cell],
			],
		}),
	),
	refuse(
		'a plan with a task twice',
		'docs.rs/slack-morphism 2.30, SlackPlanBlock',
		{ says: '`task_id` "t1" already exists', pointer: '/blocks/0/tasks/1/task_id' },
		inMessage({
			type: 'plan',
			title: 'Plan',
			tasks: [
				{ task_id: 't1', title: 'Search' },
				{ task_id: 't1', title: 'Read' },
			],
		}),
	),
	refuse(
		'a segment of nothing',
		`${block('data-visualization')}: "Must be greater than 0"`,
		{ says: 'must be greater than 0', pointer: '/blocks/0/chart/segments/1/value' },
		inMessage({
			type: 'data_visualization',
			title: 'Bars',
			chart: {
				type: 'pie',
				segments: [
					{ label: 'Kit Kat', value: 0.1 },
					{ label: 'Twix', value: 0 },
				],
			},
		}),
	),
	refuse(
		'two series of one name',
		'CopilotKit/CopilotKit #6342',
		{ says: 'series "A" already exists', pointer: '/blocks/0/chart/series/1/name' },
		line(
			[
				{ name: 'A', data: [monday] },
				{ name: 'A', data: [monday] },
			],
			['Mon'],
		),
	),
	refuse(
		'a category twice',
		'CopilotKit/CopilotKit #6342',
		{ says: 'category "Mon" already exists', pointer: '/blocks/0/chart/axis_config/categories/1' },
		line([{ name: 'A', data: [monday, monday] }], ['Mon', 'Mon']),
	),
	refuse(
		'a series with a gap',
		'CopilotKit/CopilotKit #6342',
		{ says: eachCategory, pointer: '/blocks/0/chart/series/0/data' },
		line([{ name: 'A', data: [monday] }], ['Mon', 'Tue']),
	),
	refuse(
		'a data point without category',
		'CopilotKit/CopilotKit #6342',
		{ says: eachCategory, pointer: '/blocks/0/chart/series/1/data' },
		line(
			[
				{ name: 'A', data: [monday] },
				{ name: 'B', data: [tuesday] },
			],
			['Mon'],
		),
	),
];
