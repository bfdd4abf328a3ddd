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
	if (element.type === 'button') return `[${readText(slack, element.text)}]`;
	if (element.type === 'overflow') return '[…]';
	if (element.type === 'mrkdwn' || element.type === 'plain_text') return readText(slack, element);
	const placeholder = record(element, 'placeholder');
	return placeholder ? `[${readText(slack, placeholder)}]` : `[${text(element, 'type') ?? ''}]`;
}

function readTable(slack: Directory, block: Json): string {
	const read = (cell: unknown) =>
		isRecord(cell) && cell.type === 'rich_text' ? readRichText(slack, cell) : (text(cell, 'text') ?? '');
	const rows = Array.isArray(block.rows) ? block.rows : [];
	return rows.map((row) => (Array.isArray(row) ? row : []).map(read).join(' | ')).join('\n');
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
		default:
			throw new Error(`This fake Slack does not show a ${String(block.type)}.`);
	}
}

export function readBlocks(slack: Directory, blocks: readonly Json[]): string {
	return blocks.map((block) => readBlock(slack, block)).join('\n');
}

/** The blocks of a message as they are shown: Slack puts the table below everything else, wherever it was sent. */
export function readMessage(slack: Directory, blocks: readonly Json[]): string {
	const isTable = ({ type }: Json) => type === 'table';
	return readBlocks(slack, [...blocks.filter((block) => !isTable(block)), ...blocks.filter(isTable)]);
}
