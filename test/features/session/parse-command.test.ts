import { describe, expect, it } from 'vitest';
import { parseSessionCommand } from '../../../src/features/session/command.ts';

const DASHBOARD = 'https://agents.example.com/app';
const parse = (text: string, dashboard: string | null = DASHBOARD) => parseSessionCommand(text, dashboard);

describe('/session', () => {
	it.each([
		['3f9a2c1d'],
		['  3f9a2c1d  '],
		['"3f9a2c1d"'],
		['`3f9a2c1d`'],
		['“3f9a2c1d”'],
		['`"3f9a2c1d"`'],
		['https://agents.example.com/app/sessions/session?id=3f9a2c1d'],
		['https://agents.example.com/app/sessions/session/?tab=2&id=3f9a2c1d#top'],
		['<https://agents.example.com/app/sessions/session?id=3f9a2c1d>'],
		['<https://agents.example.com/app/sessions/session?a=1&amp;id=3f9a2c1d|the session>'],
	])('finds the session id in %s', (text) => {
		expect(parse(text)).toEqual({ kind: 'open', sessionId: '3f9a2c1d' });
	});

	it.each([
		['', 'asked'],
		['help', 'asked'],
		['HELP', 'asked'],
		['""', 'missing_id'],
		['history', 'missing_id'],
		['unwatch', 'missing_id'],
		['watch --discreet', 'missing_id'],
		['https://evil.example.com/sessions/session?id=1', 'foreign_link'],
		['https://agents.example.com.evil.test/app/sessions/session?id=1', 'foreign_link'],
		['https://agents.example.com/app/sessions/session', 'link_without_id'],
		['x'.repeat(401), 'id_too_long'],
		['“'.repeat(1_000_000), 'id_too_long'],
		[`https://agents.example.com${'/'.repeat(1_000_000)}x`, 'id_too_long'],
		['<http:'.repeat(300_000), 'id_too_long'],
	])('returns help with the reason for %j', (text, reason) => {
		expect(parse(text)).toEqual({ kind: 'help', reason });
	});

	it.each([
		['what is this', 'unknown_word', 'what'],
		['<@U123>', 'unclear', '<@U123>'],
		['watch a <!here>', 'unclear', '<!here>'],
		['history a b', 'one_id', 'history'],
		['Inbox 3f9a2c1d', 'stands_alone', 'inbox'],
		['settings 3f9a2c1d', 'stands_alone', 'settings'],
	])('names what it does not understand in %j', (text, reason, word) => {
		expect(parse(text)).toEqual({ kind: 'help', reason, word });
	});

	it.each([
		['query', 'query'],
		['NEW', 'NEW'],
		['"list"', 'list'],
		['`File`', 'File'],
		['%71uery', '%71uery'],
		['watch 3f9a2c1d query', 'query'],
		['watch list', 'list'],
		['unwatch new', 'new'],
		['history files', 'files'],
		['https://agents.example.com/app/sessions/session?id=query', 'query'],
		['<https://agents.example.com/app/sessions/session?id=%51uery|the session>', 'Query'],
	])('refuses the reserved word in %j as an id', (text, word) => {
		expect(parse(text)).toEqual({ kind: 'help', reason: 'reserved_id', word });
	});

	it('reads a quoted command word as an id', () => {
		expect(parse('"help"')).toEqual({ kind: 'open', sessionId: 'help' });
	});

	it('accepts a session link of any dashboard when none is configured', () => {
		expect(parse('https://other.test/x/sessions/session?id=ab', null)).toEqual({ kind: 'open', sessionId: 'ab' });
		expect(parse('https://other.test/x?id=ab', null)).toEqual({ kind: 'help', reason: 'foreign_link' });
	});

	it('reads several sessions to watch, each once, with options in any position', () => {
		expect(parse('watch a --questions-only b a --thread-only')).toEqual({
			kind: 'watch',
			sessionIds: ['a', 'b'],
			settings: { mode: 'questionsOnly', questionsInChannel: false },
		});
	});

	it.each(['--discreet', '—discreet', '–-discreet', '-discreet', '–DISCREET', '−−discreet', '‑discreet'])(
		'takes %s for --discreet',
		(flag) => {
			expect(parse(`watch a ${flag}`)).toEqual({ kind: 'watch', sessionIds: ['a'], settings: { discreet: true } });
			expect(parse(`watch ${flag} all`)).toEqual({ kind: 'watchAll', settings: { discreet: true } });
		},
	);

	it('reads no session to watch, for whoever wants to choose one', () => {
		expect(parse('watch')).toEqual({ kind: 'watch', sessionIds: [], settings: {} });
	});

	it('reads other dashes within a flag', () => {
		expect(parse('watch a —no‑buttons')).toMatchObject({ settings: { buttons: false } });
	});

	it.each(['--loud', '—loud', '-discret', '--', '—', '--constructor'])(
		'has no flag %s, and watches nothing',
		(word) => {
			const unknown = { kind: 'help', reason: 'unknown_flag', word };
			expect(parse(`watch a ${word}`)).toEqual(unknown);
			expect(parse(`watch ${word} all`)).toEqual(unknown);
		},
	);

	it('reads a word that begins with a dash as an id in quotes, and where no flags are', () => {
		expect(parse('watch "-x1"')).toEqual({ kind: 'watch', sessionIds: ['-x1'], settings: {} });
		expect(parse('unwatch -x1')).toEqual({ kind: 'unwatch', sessionIds: ['-x1'] });
		expect(parse('-x1')).toEqual({ kind: 'open', sessionId: '-x1' });
	});

	it('reads the watch of all sessions, with the options that it has', () => {
		expect(parse('watch all')).toEqual({ kind: 'watchAll', settings: {} });
		const settings = { discreet: true, buttons: false };
		expect(parse('Watch --discreet ALL --no-buttons')).toEqual({ kind: 'watchAll', settings });
		expect(parse('watch all --thread-only')).toEqual({ kind: 'help', reason: 'all_alone' });
		expect(parse('watch all --questions-only')).toEqual({ kind: 'help', reason: 'all_alone' });
		expect(parse('watch "all"')).toEqual({ kind: 'watch', sessionIds: ['all'], settings: {} });
		expect(parse('watch all b')).toEqual({ kind: 'help', reason: 'all_alone' });
		expect(parse('all')).toEqual({ kind: 'help', reason: 'all_alone' });
		expect(parse('"all"')).toEqual({ kind: 'open', sessionId: 'all' });
		expect(parse('unwatch all please')).toEqual({ kind: 'help', reason: 'all_alone' });
		expect(parse('watch "all" b')).toEqual({ kind: 'watch', sessionIds: ['all', 'b'], settings: {} });
	});

	it('reads one session to unwatch, several or all', () => {
		expect(parse('unwatch a b')).toEqual({ kind: 'unwatch', sessionIds: ['a', 'b'] });
		expect(parse('Unwatch ALL')).toEqual({ kind: 'unwatch', sessionIds: 'all' });
	});

	it('reads list, inbox and the history of one session', () => {
		expect(parse('list')).toEqual({ kind: 'list' });
		expect(parse('Inbox')).toEqual({ kind: 'inbox' });
		expect(parse('"inbox"')).toEqual({ kind: 'open', sessionId: 'inbox' });
		expect(parse('history `a`')).toEqual({ kind: 'history', sessionId: 'a' });
	});

	it('refuses more sessions than one reply can hold', () => {
		const ids = Array.from({ length: 21 }, (_, index) => `s${index}`).join(' ');
		expect(parse(`watch ${ids}`)).toEqual({ kind: 'help', reason: 'too_many_ids' });
	});
});
