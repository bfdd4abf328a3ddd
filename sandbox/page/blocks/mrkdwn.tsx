import type { MouseEvent, ReactNode } from 'react';
import { each } from '../each.tsx';
import { useNow } from '../now.ts';
import { addressOf, placeOfPermalink, usePlace } from '../place.ts';
import { slackDate } from '../times.ts';
import { withEmoji } from './emoji.ts';
import { type Names, useNames } from './names.ts';

/** The escapes that Slack undoes (docs.slack.dev, "Formatting message text"). */
function plainText(text: string): string {
	return text.replaceAll('&lt;', '<').replaceAll('&gt;', '>').replaceAll('&amp;', '&');
}

/** Only ordinary addresses become links: no javascript:, no data:. */
export function safeAddress(address: string): string | null {
	return /^(https?|mailto|tel|slack):/i.test(address) ? address : null;
}

export function Link({ address, children }: { address: string; children: ReactNode }) {
	const safe = safeAddress(address);
	const [, go] = usePlace();
	const { domain } = useNames();
	if (safe === null) return <>{children}</>;
	const place = placeOfPermalink(safe, domain);
	if (place !== null) {
		const open = (event: MouseEvent) => {
			event.preventDefault();
			go(place);
		};
		return (
			<a href={addressOf(place)} onClick={open} className="link">
				{children}
			</a>
		);
	}
	return (
		<a href={safe} target="_blank" rel="noreferrer noopener" className="link">
			{children}
		</a>
	);
}

export function Mention({ mine, children }: { mine: boolean; children: ReactNode }) {
	return <span className={mine ? 'mention mention-me' : 'mention'}>{children}</span>;
}

export function DateWords({ seconds, format }: { seconds: number; format: string }) {
	const now = useNow();
	return <>{slackDate(seconds, format, now())}</>;
}

/** The text between < and >. */
function angle(inner: string, names: Names): ReactNode {
	const bar = inner.indexOf('|');
	const target = bar < 0 ? inner : inner.slice(0, bar);
	const label = bar < 0 ? '' : plainText(inner.slice(bar + 1));
	if (target.startsWith('@')) {
		const id = target.slice(1);
		return <Mention mine={id === names.me}>@{names.person(id) ?? (label || id)}</Mention>;
	}
	if (target.startsWith('#'))
		return <Mention mine={false}>#{names.channel(target.slice(1)) ?? (label || target.slice(1))}</Mention>;
	if (target.startsWith('!subteam^')) {
		return <Mention mine={false}>@{names.userGroup(target.slice('!subteam^'.length)) ?? (label || 'group')}</Mention>;
	}
	if (target.startsWith('!date^')) {
		const [, seconds = '', format = '', address] = target.split('^');
		const isDate = Number.isFinite(Number(seconds)) && format !== '';
		const words = isDate ? <DateWords seconds={Number(seconds)} format={format} /> : label;
		return address === undefined ? words : <Link address={plainText(address)}>{words}</Link>;
	}
	if (target.startsWith('!')) return <Mention mine>@{target.slice(1)}</Mention>;
	const address = plainText(target);
	return <Link address={address}>{label === '' ? address.replace(/^mailto:/, '') : withEmoji(label)}</Link>;
}

/** One line or paragraph: code first, then angle brackets, then bold, italic and strike. */
const INLINE =
	/(`[^`\n]+`)|<([^<>\n]+)>|(?<![\w*])\*(?=\S)([^*\n]*[^*\s])\*(?![\w*])|(?<![\w_])_(?=\S)([^_\n]*[^_\s])_(?![\w_])|(?<![\w~])~(?=\S)([^~\n]*[^~\s])~(?![\w~])/g;

function inline(text: string, names: Names): ReactNode[] {
	const parts: ReactNode[] = [];
	let last = 0;
	const plain = (value: string) => withEmoji(plainText(value));
	for (const match of text.matchAll(INLINE)) {
		if (match.index > last) parts.push(plain(text.slice(last, match.index)));
		last = match.index + match[0].length;
		const [, code, bracket, bold, italic, strike] = match;
		if (code !== undefined) parts.push(<code>{plainText(code.slice(1, -1))}</code>);
		else if (bracket !== undefined) parts.push(angle(bracket, names));
		else if (bold !== undefined) parts.push(<b>{inline(bold, names)}</b>);
		else if (italic !== undefined) parts.push(<i>{inline(italic, names)}</i>);
		else parts.push(<s>{inline(strike ?? '', names)}</s>);
	}
	if (last < text.length) parts.push(plain(text.slice(last)));
	return each(parts, (part) => part);
}

type Piece = { kind: 'pre' | 'quote' | 'text'; text: string };

/** Code blocks, runs of quoted lines, and the text between them. */
function pieces(text: string): Piece[] {
	return text.split(/(```[\s\S]*?```)/).flatMap((part): Piece[] => {
		if (part.startsWith('```') && part.length >= 6)
			return [{ kind: 'pre', text: part.slice(3, -3).replace(/^\n/, '') }];
		const found: Piece[] = [];
		for (const line of part.split('\n')) {
			const kind = /^(&gt;|>)/.test(line) ? 'quote' : 'text';
			const words = kind === 'quote' ? line.replace(/^(&gt;|>) ?/, '') : line;
			const before = found.at(-1);
			if (before?.kind === kind) before.text += `\n${words}`;
			else found.push({ kind, text: words });
		}
		return found.filter((piece) => piece.text !== '' || piece.kind === 'quote');
	});
}

/** mrkdwn as Slack shows it. Untrusted text stays text: everything becomes React children, nothing HTML. */
export function Mrkdwn({ text }: { text: string }) {
	const names = useNames();
	return each(pieces(text), (piece) => {
		if (piece.kind === 'pre') return <pre>{plainText(piece.text)}</pre>;
		if (piece.kind === 'quote') return <blockquote>{inline(piece.text, names)}</blockquote>;
		return <span className="text">{inline(piece.text, names)}</span>;
	});
}
