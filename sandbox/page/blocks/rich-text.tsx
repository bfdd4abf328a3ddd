import type { ReactNode } from 'react';
import { each } from '../each.tsx';
import { type Json, list, obj, str } from '../json.ts';
import { withEmoji } from './emoji.ts';
import { DateWords, Link, Mention } from './mrkdwn.tsx';
import { useNames } from './names.ts';

/** Nothing that is said about an element is in its texts: they are shown as they are, shortcodes too. */
function styled(style: Json | null, words: ReactNode): ReactNode {
	let shown = words;
	if (style?.code === true) shown = <code>{shown}</code>;
	if (style?.strike === true) shown = <s>{shown}</s>;
	if (style?.underline === true) shown = <u>{shown}</u>;
	if (style?.italic === true) shown = <i>{shown}</i>;
	if (style?.bold === true) shown = <b>{shown}</b>;
	return shown;
}

function emojiOf(element: Json): string {
	const points = str(element, 'unicode')
		.split('-')
		.map((point) => Number.parseInt(point, 16));
	const isReadable = points.every((point) => point <= 0x10ffff);
	return isReadable ? String.fromCodePoint(...points) : withEmoji(`:${str(element, 'name')}:`);
}

function Words({ of }: { of: Json }) {
	const names = useNames();
	switch (str(of, 'type')) {
		case 'link':
			return <Link address={str(of, 'url')}>{str(of, 'text') || str(of, 'url')}</Link>;
		case 'user':
		case 'canvas_user_mention': {
			const id = str(of, 'user_id');
			return <Mention mine={id === names.me}>@{names.person(id) ?? id}</Mention>;
		}
		case 'usergroup':
			return <Mention mine={false}>@{names.userGroup(str(of, 'usergroup_id')) ?? 'group'}</Mention>;
		case 'channel':
			return <Mention mine={false}>#{names.channel(str(of, 'channel_id')) ?? str(of, 'channel_id')}</Mention>;
		case 'broadcast':
			return <Mention mine>@{str(of, 'range')}</Mention>;
		case 'date': {
			const { timestamp } = of;
			const words =
				typeof timestamp === 'number' ? (
					<DateWords seconds={timestamp} format={str(of, 'format')} />
				) : (
					str(of, 'fallback')
				);
			return str(of, 'url') === '' ? words : <Link address={str(of, 'url')}>{words}</Link>;
		}
		case 'emoji':
			return emojiOf(of);
		case 'color':
			return str(of, 'value');
		default:
			return str(of, 'text');
	}
}

function Line({ of }: { of: Json }) {
	return each(list(of, 'elements'), (element) => <span>{styled(obj(element, 'style'), <Words of={element} />)}</span>);
}

function Items({ of }: { of: Json }) {
	const indent = typeof of.indent === 'number' ? of.indent : 0;
	const isOrdered = str(of, 'style') === 'ordered';
	const List = isOrdered ? 'ol' : 'ul';
	const start = isOrdered ? { start: (typeof of.offset === 'number' ? of.offset : 0) + 1 } : {};
	return (
		<List className={`rich-list rich-list-${indent % 3}`} style={{ marginLeft: `${indent * 24}px` }} {...start}>
			{each(list(of, 'elements'), (item) => (
				<li>
					<Line of={item} />
				</li>
			))}
		</List>
	);
}

function Part({ of }: { of: Json }) {
	const type = str(of, 'type');
	if (type === 'rich_text_list') return <Items of={of} />;
	const line = <Line of={of} />;
	if (type === 'rich_text_quote') return <blockquote>{line}</blockquote>;
	return type === 'rich_text_preformatted' ? <pre>{line}</pre> : <div className="text">{line}</div>;
}

/** Only `border` is drawn by the block: the bar of a quote, beside what is no quote. */
function isBarred(of: Json): boolean {
	return of.border === 1 && str(of, 'type') !== 'rich_text_quote';
}

/** Rich text as Slack shows it. Untrusted text stays text: everything becomes React children, nothing HTML. */
export function RichText({ block }: { block: Json }) {
	return (
		<div className="block-rich-text">
			{each(list(block, 'elements'), (part) =>
				isBarred(part) ? (
					<div className="rich-bar">
						<Part of={part} />
					</div>
				) : (
					<Part of={part} />
				),
			)}
		</div>
	);
}
