import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { plainMessage, row, section } from '../../src/slack/blocks.ts';
import {
	bold,
	code,
	escapeMrkdwn,
	isEmpty,
	joined,
	line,
	lines,
	listed,
	notificationText,
	type Part,
	piecesText,
	plainWords,
	quote,
	quotedText,
	rich,
	richText,
	sentences,
	smallElements,
	struck,
	template,
	unescaped,
} from '../../src/slack/rich-text.ts';
import { runs } from '../support/runs.ts';
import { hostileText } from './support/hostile-text.ts';

const text = (shown: string, style?: Part['style']) =>
	style === undefined ? { type: 'text', text: shown } : { type: 'text', text: shown, style };
const ADA = [{ type: 'user', user_id: 'U0ADA' }] as const;
const AT = [{ type: 'date', timestamp: 1_795_164_000, format: '{time}', fallback: '08:40 UTC' }] as const;

describe('our words', () => {
	it('have bold words and code, and what is put in has the style around it', () => {
		expect(rich`✋ *${'Book *a* `hall`'}* asks · \`/session ${'*x*'}\` ${7}`).toEqual([
			text('✋ '),
			text('Book *a* `hall`', { bold: true }),
			text(' asks · '),
			text('/session *x*', { code: true }),
			text(' 7'),
		]);
		expect(rich`*${ADA}* and ${bold('b')}${struck('c')}`).toEqual([
			{ ...ADA[0], style: { bold: true } },
			text(' and '),
			text('b', { bold: true }),
			text('c', { strike: true }),
		]);
		expect(template('{who} has *{what}*: {who}', { who: ADA, what: '{who}' })).toEqual([
			ADA[0],
			text(' has '),
			text('{who}', { bold: true }),
			text(': '),
			ADA[0],
		]);
	});

	it('never read a mark in what is put in: any text comes out as it is, in one element', () => {
		fc.assert(
			fc.property(hostileText, (outside) => {
				const [first, second, third] = rich`a${outside}b*${outside}*`;
				const shown = plainWords(outside);
				expect(first).toEqual(text(`a${shown}b`));
				expect([second, third]).toEqual(
					shown === '' ? [undefined, undefined] : [text(shown, { bold: true }), undefined],
				);
				expect(template('{outside}', { outside })).toEqual(shown === '' ? [] : [text(shown)]);
			}),
			{ numRuns: runs(300) },
		);
	});

	it('are joined, what is empty left out; strings alone make a string', () => {
		expect(joined('a', '', 'b')).toBe('a · b');
		expect(sentences('a', '', 'b')).toBe('a b');
		expect(lines('a', '', 'b')).toBe('a\nb');
		expect(listed('a', ADA, '')).toEqual([text('a, '), ADA[0]]);
		expect(joined('a', rich`*b*`, '')).toEqual([text('a · '), text('b', { bold: true })]);
		expect(isEmpty(joined('', []))).toBe(true);
	});
});

describe('pieces', () => {
	it('are none where nothing is visible', () => {
		for (const words of ['', ' \u200b\n', [text(' ')] as never]) {
			expect([line(words), quote(words)]).toEqual([[], []]);
			expect(section(words)).toEqual([]);
		}
		expect(quotedText(' \n', 100)).toEqual([]);
		expect(richText()).toEqual([]);
		expect(line(ADA)).toHaveLength(1);
	});

	it('stand behind one bar when they are neighbours, and code has a frame', () => {
		const [block] = richText(...line('a'), ...quote('b'), ...quote(bold('c')), code('d'), ...quote('e'));
		expect(block?.elements).toEqual([
			{ type: 'rich_text_section', elements: [text('a')] },
			{ type: 'rich_text_quote', elements: [text('b\n'), text('c', { bold: true })] },
			{ type: 'rich_text_preformatted', border: 1, elements: [text('d')] },
			{ type: 'rich_text_quote', elements: [text('e')] },
		]);
	});

	it('quote what a person wrote with all its lines, and say how much is cut', () => {
		expect(piecesText(quotedText('a\n<b> *c*', 100))).toBe('a\n<b> *c*');
		expect(piecesText(quotedText('x'.repeat(200), 136))).toBe(`${'x'.repeat(100)}… (100 more characters)`);
	});
});

describe('words elsewhere', () => {
	const words = rich`*Ada & <b>* ${ADA} in ${[{ type: 'channel', channel_id: 'C1' }]} at ${AT}`;

	it('are escaped in a notification, with mentions and dates', () => {
		expect(notificationText(words)).toBe(
			'Ada &amp; &lt;b&gt; <@U0ADA> in <#C1> at <!date^1795164000^{time}|08:40 UTC>',
		);
		expect(notificationText([{ type: 'usergroup', usergroup_id: 'S1' }])).toBe('<!subteam^S1>');
		expect(notificationText([{ type: 'link', url: 'https://a.example', text: 'a <b>' }])).toBe(
			'<https://a.example|a &lt;b&gt;>',
		);
	});

	it('name nobody in plain text', () => {
		expect(plainWords(words)).toBe('Ada & <b> somebody in a channel at 08:40 UTC');
		expect(plainWords(words, 'an admin')).toContain('an admin');
	});

	it('are plain text in small lines, and mrkdwn only for what Slack fills in', () => {
		const elements = smallElements(words);
		expect(elements.filter(({ type }) => type === 'mrkdwn').map(({ text: shown }) => shown)).toEqual([
			'<@U0ADA>',
			'<#C1>',
			'<!date^1795164000^{time}|08:40 UTC>',
		]);
		expect(elements[0]).toMatchObject({ type: 'plain_text', text: 'Ada & <b>', emoji: false });
		expect(smallElements(' ')).toEqual([]);
		expect(smallElements(rich`session *a* and 2 more`)).toMatchObject([{ text: 'session a and 2 more' }]);
	});

	it('are plain text beside a button, within the limit of a section', () => {
		const [block] = row(`<!here> ${'x'.repeat(5_000)}`, { type: 'button', text: { type: 'plain_text', text: 'Go' } });
		expect(block).toMatchObject({ type: 'section', text: { type: 'plain_text', emoji: false } });
		expect(JSON.stringify(block)).toContain(`<!here> ${'x'.repeat(2_991)}…`);
	});

	it('escape what has a meaning for Slack, and nothing else', () => {
		expect(escapeMrkdwn('<!here> & <@U1> &lt; *a*')).toBe('&lt;!here&gt; &amp; &lt;@U1&gt; &amp;lt; *a*');
		fc.assert(
			fc.property(hostileText, (outside) => unescaped(escapeMrkdwn(outside)) === outside),
			{ numRuns: runs(100) },
		);
	});
});

it('sends a message that Slack refused once more in plain text, with its buttons', () => {
	const actions = { type: 'actions' as const, elements: [] };
	const table = { type: 'table' as const, rows: [[{ type: 'raw_text' as const, text: 'a' }]] };
	const unknown = { type: 'carousel', elements: [{ type: 'card', title: { type: 'mrkdwn', text: 'd\ne' } }] };
	const { blocks, text: told } = plainMessage({
		text: 'told',
		blocks: [...richText(...line(bold('a')), ...quote('b\nc')), ...richText(...line(' ')), actions, table, unknown],
	} as never) as { blocks: unknown[]; text: string };
	const plain = (shown: string) => ({ type: 'section', text: { type: 'plain_text', text: shown, emoji: false } });
	const shown = [plain('a\n> b\n> c'), actions, plain('> a'), plain('> d\n> e')];
	expect({ blocks, told }).toEqual({ blocks: shown, told: 'told' });
});
