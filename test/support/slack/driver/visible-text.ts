import type { Core } from '../core.ts';
import { isRecord, type Json, record, records, text } from '../json.ts';

/** mrkdwn as it reads on the screen: mentions by name, links by label, escapes undone. */
export function readMrkdwn(core: Core, value: string): string {
	return value
		.replace(/<([^<>]+)>/g, (_whole, inner: string) => {
			const [target = '', label] = inner.split('|');
			if (target.startsWith('@')) return `@${core.state.people.find((one) => `@${one.id}` === target)?.name ?? target}`;
			if (target.startsWith('#')) {
				return `#${core.state.channels.find((one) => `#${one.id}` === target)?.name ?? label ?? target}`;
			}
			if (target.startsWith('!subteam^')) {
				const id = target.slice('!subteam^'.length);
				return `@${core.state.userGroups.find((one) => one.id === id)?.handle ?? id}`;
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
export function readText(core: Core, object: unknown): string {
	const value = text(object, 'text') ?? '';
	return isRecord(object) && object.type === 'mrkdwn' ? readMrkdwn(core, value) : value;
}

function readRichText(core: Core, element: Json): string {
	switch (element.type) {
		case 'text':
		case 'link':
			return text(element, 'text') ?? text(element, 'url') ?? '';
		case 'emoji':
			return `:${text(element, 'name') ?? ''}:`;
		case 'user':
			return readMrkdwn(core, `<@${text(element, 'user_id') ?? ''}>`);
		case 'channel':
			return readMrkdwn(core, `<#${text(element, 'channel_id') ?? ''}>`);
		case 'broadcast':
			return `@${text(element, 'range') ?? ''}`;
		case 'rich_text_list':
			return records(element, 'elements')
				.map((one) => `• ${readRichText(core, one)}`)
				.join('\n');
		default:
			return records(element, 'elements')
				.map((one) => readRichText(core, one))
				.join('');
	}
}

function readElement(core: Core, element: Json): string {
	if (element.type === 'image') return `[image: ${text(element, 'alt_text') ?? ''}]`;
	if (element.type === 'button' || element.type === 'workflow_button') return `[${readText(core, element.text)}]`;
	if (element.type === 'overflow') return '[…]';
	if (element.type === 'mrkdwn' || element.type === 'plain_text') return readText(core, element);
	const placeholder = record(element, 'placeholder');
	return placeholder ? `[${readText(core, placeholder)}]` : `[${text(element, 'type') ?? ''}]`;
}

function readTable(core: Core, block: Json): string {
	const rows = Array.isArray(block.rows) ? block.rows : [];
	return rows
		.map((row) => (Array.isArray(row) ? row : []).map((cell) => readAnything(core, cell).join(' ')).join(' | '))
		.join('\n');
}

/** A plan's tasks are task cards, and may leave out saying so. */
function tasksOf(plan: Json): Json[] {
	return records(plan, 'tasks').map((task) => ({ ...task, type: 'task_card' }));
}

/** A chart as its description for screen readers would say it: the numbers by their labels. */
function readChart(chart: Json | undefined): string[] {
	const points = (list: Json[]) =>
		list.map((point) => `${text(point, 'label') ?? ''} ${String(point.value)}`).join(', ');
	return [
		...records(chart, 'series').map((series) => `${text(series, 'name') ?? ''}: ${points(records(series, 'data'))}`),
		points(records(chart, 'segments')),
	].filter(Boolean);
}

/** Every text object inside a block this file has no better word for. */
function readAnything(core: Core, value: unknown): string[] {
	if (Array.isArray(value)) return value.flatMap((one) => readAnything(core, one));
	if (!isRecord(value)) return [];
	if ((value.type === 'mrkdwn' || value.type === 'plain_text') && typeof value.text === 'string') {
		return [readText(core, value)];
	}
	if (value.type === 'raw_text' || value.type === 'raw_number') return [text(value, 'text') ?? ''];
	if (typeof value.type === 'string' && value.type.startsWith('rich_text')) return [readRichText(core, value)];
	return Object.values(value).flatMap((one) => readAnything(core, one));
}

/** The options that stand on the screen without opening anything. */
function openOptions(core: Core, element: Json | undefined): string[] {
	if (element?.type !== 'radio_buttons' && element?.type !== 'checkboxes') return [];
	return records(element, 'options').map((option) =>
		[`( ) ${readText(core, option.text)}`, readText(core, option.description)].filter(Boolean).join(': '),
	);
}

/** What a person reads of a block; controls stand in brackets. */
function readBlock(core: Core, block: Json): string {
	switch (block.type) {
		case 'divider':
			return '---';
		case 'header':
			return readText(core, block.text);
		case 'section': {
			const accessory = record(block, 'accessory');
			return [
				...(block.text === undefined ? [] : [readText(core, block.text)]),
				...records(block, 'fields').map((field) => readText(core, field)),
				...(accessory ? [readElement(core, accessory)] : []),
			].join('\n');
		}
		case 'context':
		case 'actions':
		case 'context_actions':
			return records(block, 'elements')
				.map((element) => readElement(core, element))
				.join(' ');
		case 'image':
			return [readText(core, block.title), `[image: ${text(block, 'alt_text') ?? ''}]`].filter(Boolean).join('\n');
		case 'input':
			return [
				`${readText(core, block.label)}${block.optional === true ? ' (optional)' : ''}`,
				...openOptions(core, record(block, 'element')),
				readText(core, block.hint),
			]
				.filter(Boolean)
				.join('\n');
		case 'markdown':
			return (text(block, 'text') ?? '').replaceAll('&lt;', '<').replaceAll('&gt;', '>').replaceAll('&amp;', '&');
		case 'rich_text':
			return records(block, 'elements')
				.map((element) => readRichText(core, element))
				.join('\n');
		case 'table':
			return readTable(core, block);
		case 'card':
			return [
				...['title', 'subtitle', 'body', 'subtext'].map((key) => readText(core, block[key])),
				records(block, 'actions')
					.map((element) => readElement(core, element))
					.join(' '),
			]
				.filter(Boolean)
				.join('\n');
		case 'data_table':
			return [text(block, 'caption') ?? '', readTable(core, block)].join('\n');
		case 'data_visualization':
			return [text(block, 'title') ?? '', ...readChart(record(block, 'chart'))].join('\n');
		case 'task_card':
			return [
				`${text(block, 'title') ?? ''} (${text(block, 'status') ?? 'pending'})`,
				...readAnything(core, [block.details, block.output]),
			].join('\n');
		case 'plan':
			return [text(block, 'title') ?? '', readBlocks(core, tasksOf(block))].join('\n');
		case 'carousel':
			return readBlocks(core, records(block, 'elements'));
		case 'container':
			return [
				readText(core, block.title),
				...readAnything(core, block.rich_text_title),
				readText(core, block.subtitle),
				readBlocks(core, records(block, 'child_blocks')),
			]
				.filter(Boolean)
				.join('\n');
		default:
			return readAnything(core, block).join('\n');
	}
}

export function readBlocks(core: Core, blocks: readonly Json[]): string {
	return blocks.map((block) => readBlock(core, block)).join('\n');
}
