import type { Core } from '../core.ts';
import { isRecord, type Json, record, records, text } from '../json.ts';

/** Looks up names of people, channels and groups. */
type Directory = Pick<Core, 'state'>;

/** mrkdwn as it reads on the screen: mentions by name, links by label, escapes undone. */
export function readMrkdwn(slack: Directory, value: string): string {
	return value
		.replace(/<([^<>]+)>/g, (_whole, inner: string) => {
			const [target = '', label] = inner.split('|');
			if (target.startsWith('@'))
				return `@${slack.state.people.find((one) => `@${one.id}` === target)?.name ?? target}`;
			if (target.startsWith('#')) {
				return `#${slack.state.channels.find((one) => `#${one.id}` === target)?.name ?? label ?? target}`;
			}
			if (target.startsWith('!subteam^')) {
				const id = target.slice('!subteam^'.length);
				return `@${slack.state.userGroups.find((one) => one.id === id)?.handle ?? id}`;
			}
			if (target.startsWith('!date')) return label ?? target;
			if (target.startsWith('!')) return `@${target.slice(1)}`;
			return label ?? target.replace(/^mailto:/, '');
		})
		.replaceAll('&lt;', '<')
		.replaceAll('&gt;', '>')
		.replaceAll('&amp;', '&');
}

/** A text object as it reads on the screen. */
export function readText(slack: Directory, object: unknown): string {
	const value = text(object, 'text') ?? '';
	return isRecord(object) && object.type === 'mrkdwn' ? readMrkdwn(slack, value) : value;
}

/** What stands before an item of a list. */
function markOf(list: Json, place: number): string {
	const { indent, offset } = list;
	const shift = '    '.repeat(typeof indent === 'number' ? indent : 0);
	return `${shift}${list.style === 'ordered' ? `${(typeof offset === 'number' ? offset : 0) + place + 1}.` : '•'} `;
}

/** Rich text as it reads on the screen: no marks for its styles, a mark before each quoted line. */
function readRichText(slack: Directory, element: Json): string {
	const parts = records(element, 'elements').map((one) => readRichText(slack, one));
	switch (element.type) {
		case 'text':
		case 'link':
			return text(element, 'text') ?? text(element, 'url') ?? '';
		case 'emoji':
			return `:${text(element, 'name') ?? ''}:`;
		case 'user':
		case 'canvas_user_mention':
			return readMrkdwn(slack, `<@${text(element, 'user_id') ?? ''}>`);
		case 'usergroup':
			return readMrkdwn(slack, `<!subteam^${text(element, 'usergroup_id') ?? ''}>`);
		case 'channel':
			return readMrkdwn(slack, `<#${text(element, 'channel_id') ?? ''}>`);
		case 'broadcast':
			return `@${text(element, 'range') ?? ''}`;
		case 'date':
			return text(element, 'fallback') ?? '';
		case 'rich_text_list':
			return parts.map((part, place) => `${markOf(element, place)}${part}`).join('\n');
		case 'rich_text_quote':
			return `> ${parts.join('').replace(/\n$/, '').replaceAll('\n', '\n> ')}`;
		case 'rich_text':
			// The line end at the end of a part is that of its last line.
			return parts.map((part) => part.replace(/\n$/, '')).join('\n');
		default:
			return parts.join('');
	}
}

function readElement(slack: Directory, element: Json): string {
	if (element.type === 'image') return `[image: ${text(element, 'alt_text') ?? ''}]`;
	if (element.type === 'button' || element.type === 'workflow_button') return `[${readText(slack, element.text)}]`;
	if (element.type === 'overflow') return '[…]';
	if (element.type === 'mrkdwn' || element.type === 'plain_text') return readText(slack, element);
	const placeholder = record(element, 'placeholder');
	return placeholder ? `[${readText(slack, placeholder)}]` : `[${text(element, 'type') ?? ''}]`;
}

function readTable(slack: Directory, block: Json): string {
	const rows = Array.isArray(block.rows) ? block.rows : [];
	return rows
		.map((row) => (Array.isArray(row) ? row : []).map((cell) => readAnything(slack, cell).join(' ')).join(' | '))
		.join('\n');
}

/** A plan's tasks are task cards and may omit their type. */
function tasksOf(plan: Json): Json[] {
	return records(plan, 'tasks').map((task) => ({ ...task, type: 'task_card' }));
}

/** A chart as its description for screen readers: the numbers with their labels. */
function readChart(chart: Json | undefined): string[] {
	const points = (list: Json[]) =>
		list.map((point) => `${text(point, 'label') ?? ''} ${String(point.value)}`).join(', ');
	return [
		...records(chart, 'series').map((series) => `${text(series, 'name') ?? ''}: ${points(records(series, 'data'))}`),
		points(records(chart, 'segments')),
	].filter(Boolean);
}

/** Every text object inside a block that this file does not know. */
function readAnything(slack: Directory, value: unknown): string[] {
	if (Array.isArray(value)) return value.flatMap((one) => readAnything(slack, one));
	if (!isRecord(value)) return [];
	if ((value.type === 'mrkdwn' || value.type === 'plain_text') && typeof value.text === 'string') {
		return [readText(slack, value)];
	}
	if (value.type === 'raw_text' || value.type === 'raw_number') return [text(value, 'text') ?? ''];
	if (typeof value.type === 'string' && value.type.startsWith('rich_text')) return [readRichText(slack, value)];
	return Object.values(value).flatMap((one) => readAnything(slack, one));
}

/** The options that are visible without opening anything. */
function openOptions(slack: Directory, element: Json | undefined): string[] {
	if (element?.type !== 'radio_buttons' && element?.type !== 'checkboxes') return [];
	return records(element, 'options').map((option) =>
		[`( ) ${readText(slack, option.text)}`, readText(slack, option.description)].filter(Boolean).join(': '),
	);
}

/** What a person reads of a block; controls are in brackets. */
function readBlock(slack: Directory, block: Json): string {
	switch (block.type) {
		case 'divider':
			return '---';
		case 'header':
			return readText(slack, block.text);
		case 'section': {
			const accessory = record(block, 'accessory');
			return [
				...(block.text === undefined ? [] : [readText(slack, block.text)]),
				...records(block, 'fields').map((field) => readText(slack, field)),
				...(accessory ? [readElement(slack, accessory)] : []),
			].join('\n');
		}
		case 'context':
		case 'actions':
		case 'context_actions':
			return records(block, 'elements')
				.map((element) => readElement(slack, element))
				.join(' ');
		case 'image':
			return [readText(slack, block.title), `[image: ${text(block, 'alt_text') ?? ''}]`].filter(Boolean).join('\n');
		case 'input':
			return [
				`${readText(slack, block.label)}${block.optional === true ? ' (optional)' : ''}`,
				...openOptions(slack, record(block, 'element')),
				readText(slack, block.hint),
			]
				.filter(Boolean)
				.join('\n');
		case 'markdown':
			return (text(block, 'text') ?? '').replaceAll('&lt;', '<').replaceAll('&gt;', '>').replaceAll('&amp;', '&');
		case 'rich_text':
			return readRichText(slack, block);
		case 'table':
			return readTable(slack, block);
		case 'card':
			return [
				...['title', 'subtitle', 'body', 'subtext'].map((key) => readText(slack, block[key])),
				records(block, 'actions')
					.map((element) => readElement(slack, element))
					.join(' '),
			]
				.filter(Boolean)
				.join('\n');
		case 'data_table':
			return [text(block, 'caption') ?? '', readTable(slack, block)].join('\n');
		case 'data_visualization':
			return [text(block, 'title') ?? '', ...readChart(record(block, 'chart'))].join('\n');
		case 'task_card':
			return [
				`${text(block, 'title') ?? ''} (${text(block, 'status') ?? 'pending'})`,
				...readAnything(slack, [block.details, block.output]),
			].join('\n');
		case 'plan':
			return [text(block, 'title') ?? '', readBlocks(slack, tasksOf(block))].join('\n');
		case 'carousel':
			return readBlocks(slack, records(block, 'elements'));
		case 'container':
			return [
				readText(slack, block.title),
				...readAnything(slack, block.rich_text_title),
				readText(slack, block.subtitle),
				readBlocks(slack, records(block, 'child_blocks')),
			]
				.filter(Boolean)
				.join('\n');
		default:
			return readAnything(slack, block).join('\n');
	}
}

export function readBlocks(slack: Directory, blocks: readonly Json[]): string {
	return blocks.map((block) => readBlock(slack, block)).join('\n');
}

const isTable = ({ type }: Json) => type === 'table' || type === 'data_table';

/** The blocks of a message as they are shown: Slack puts the table below everything else, wherever it was sent. */
export function readMessage(slack: Directory, blocks: readonly Json[]): string {
	return readBlocks(slack, [...blocks.filter((block) => !isTable(block)), ...blocks.filter(isTable)]);
}
