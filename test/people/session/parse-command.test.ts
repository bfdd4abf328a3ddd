import { describe, expect, it } from 'vitest';
import { parseSessionCommand } from '../../../src/people/session/parse-command.ts';
import { mistypedMessage } from '../../../src/screens/help.ts';

const DASHBOARD = 'https://agents.example.com/app';
const parse = (text: string, dashboard: string | null = DASHBOARD) => parseSessionCommand(text, dashboard);

describe('/session', () => {
	it.each([
		['3f9a2c1d'],
		['  3f9a2c1d  '],
		['"3f9a2c1d"'],
		["'3f9a2c1d'"],
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
		['help', 'asked'],
		['HELP', 'asked'],
		['?', 'asked'],
		['""', 'missing_id'],
		['history', 'no_history'],
		['history All', 'no_history'],
		['all', 'all_alone'],
		['watch all b', 'all_alone'],
		['unwatch all please', 'all_alone'],
		// More than one reply can hold.
		[`watch ${Array.from({ length: 21 }, (_, index) => `s${index}`).join(' ')}`, 'too_many_ids'],
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
		['what is this', 'one_session', 'what'],
		['3f9a2c1d --discrete', 'unknown_flag', '--discrete'],
		['3f9a2c1d —discreet', 'unknown_flag', '—discreet'],
		['—all', 'unknown_flag', '—all'],
		['--help', 'unknown_flag', '--help'],
		['unwatch --all', 'unknown_flag', '--all'],
		['unwatch a —x', 'unknown_flag', '—x'],
		['history --x', 'unknown_flag', '--x'],
		['history a --x', 'unknown_flag', '--x'],
		['flight demo', 'one_session', 'flight'],
		['setings a', 'unknown_word', 'setings', 'settings'],
		['wacth 3f9a2c1d', 'unknown_word', 'wacth', 'watch'],
		['Unwach a b', 'unknown_word', 'Unwach', 'unwatch'],
		['watch a —DISCREETE', 'unknown_flag', '—DISCREETE'],
		['watch all --thread-only', 'unknown_flag', '--thread-only'],
		['watch a --questions-only --discreet', 'unknown_flag', '--questions-only'],
		[`watch a --${'buttons'.repeat(1000)}`, 'unknown_flag', `--${'buttons'.repeat(1000)}`],
		['<@U123>', 'unclear', '<@U123>'],
		['watch a <!here>', 'unclear', '<!here>'],
		['history a b', 'one_id', 'history'],
		['Inbox 3f9a2c1d', 'stands_alone', 'inbox'],
		['settings 3f9a2c1d', 'stands_alone', 'settings'],
		['query', 'reserved_id', 'query'],
		['NEW', 'reserved_id', 'NEW'],
		['"list"', 'reserved_id', 'list'],
		['`File`', 'reserved_id', 'File'],
		['%71uery', 'reserved_id', '%71uery'],
		['watch 3f9a2c1d query', 'reserved_id', 'query'],
		['watch list', 'reserved_id', 'list'],
		['unwatch new', 'reserved_id', 'new'],
		['history files', 'reserved_id', 'files'],
		['https://agents.example.com/app/sessions/session?id=query', 'reserved_id', 'query'],
		['<https://agents.example.com/app/sessions/session?id=%51uery|the session>', 'reserved_id', 'Query'],
	])('names what it does not take in %j, and what is similar', (text, reason, word, meant?: string) => {
		expect(parse(text)).toEqual({ kind: 'help', reason, word, meant });
	});

	it.each([
		['o\u200bpen, the pod', '/session opens one session: give one id alone. /session help shows all.'],
		['3f9a2c1d --discrete', 'No flag --discrete, so nothing was done. /session settings has what differs'],
		['all', 'all stands alone behind watch and unwatch.'],
		['wacth choices', 'No command wacth. Did you mean watch?'],
		['settings 3f9a2c1d', '/session settings takes nothing after it'],
		['history a b', '/session history takes the id of one session'],
		['https://evil.example/sessions/session?id=choices', 'does not lead to the dashboard'],
		['https://agents.example.com/app/sessions/session', 'has no session id in it'],
		['x'.repeat(500), 'too long for a session id'],
		['history', 'History is of one session: add its id. /session list'],
		[`watch ${Array.from({ length: 21 }, (_, n) => `s${n}`).join(' ')}`, 'up to 20 at once'],
	])('says in one line of at most 15 words what is wrong with %j', (text, words) => {
		const command = parse(text);
		if (command.kind !== 'help' || command.reason === 'asked') throw new Error('it is understood');
		const said = mistypedMessage(command.reason, command.word, command.meant).text;
		expect(said).toContain(words);
		expect(said).not.toContain('\n');
		expect(said.match(/[\p{L}\p{N}][^\s]*/gu)?.length).toBeLessThanOrEqual(15);
	});

	it('accepts a session link of any dashboard when none is configured', () => {
		expect(parse('https://other.test/x/sessions/session?id=ab', null)).toEqual({ kind: 'open', sessionId: 'ab' });
		expect(parse('https://other.test/x?id=ab', null)).toEqual({ kind: 'help', reason: 'foreign_link' });
	});

	it.each(['--loud', '—loud', '–-loud', '-loud', '–LOUD', '−−loud', '‑loud', '--', '—', '--constructor'])(
		'has no flag %s, and watches nothing',
		(word) => {
			const unknown = { kind: 'help', reason: 'unknown_flag', word };
			expect(parse(`watch a ${word}`)).toEqual(unknown);
			expect(parse(`watch ${word} all`)).toEqual(unknown);
		},
	);

	it.each<[string, object]>([
		['\u200b3f9a\u00ad2c1d\u200f', { kind: 'open', sessionId: '3f9a2c1d' }],
		['“\u202a3f9a2c1d\u202c”', { kind: 'open', sessionId: '3f9a2c1d' }],
		[
			'\ufeffWa\u200btch\u00a03f9a2c1d\ufeff \u2066--dis\u2060creet\u2069',
			{ kind: 'help', reason: 'unknown_flag', word: '--discreet' },
		],
		['\u2067inbox\u2069', { kind: 'inbox' }],
		['unwatch a\u200dll', { kind: 'unwatch', sessionIds: 'all' }],
		[
			'https://agents.example.com/app/sessions/session?id=%E2%80%8B3f9a2c1d%C2%AD',
			{ kind: 'open', sessionId: '3f9a2c1d' },
		],
		['3f9a2c1d,', { kind: 'open', sessionId: '3f9a2c1d' }],
		['3f9a2c1d.', { kind: 'open', sessionId: '3f9a2c1d' }],
		['`3f9a2c1d`:', { kind: 'open', sessionId: '3f9a2c1d' }],
		[
			'<https://agents.example.com/app/sessions/session?a=1,2&amp;id=3f9a2c1d|the session>,',
			{ kind: 'open', sessionId: '3f9a2c1d' },
		],
		['unwatch a, b;c\u200b，d , e', { kind: 'unwatch', sessionIds: ['a', 'b', 'c', 'd', 'e'] }],
		['watch "a,b",`c`,d', { kind: 'watch', sessionIds: ['a,b', 'c', 'd'] }],
		['watch: a, b.', { kind: 'watch', sessionIds: ['a', 'b'] }],
		['help!', { kind: 'help', reason: 'asked' }],
		['history "a,b"', { kind: 'history', sessionId: 'a,b' }],
		['bl\u200bah it', { kind: 'help', reason: 'one_session', word: 'blah' }],
		// It may be an id.
		['setings', { kind: 'open', sessionId: 'setings' }],
		['"help"', { kind: 'open', sessionId: 'help' }],
		['"inbox"', { kind: 'open', sessionId: 'inbox' }],
		['"all"', { kind: 'open', sessionId: 'all' }],
		['"-x1"', { kind: 'open', sessionId: '-x1' }],
		['list', { kind: 'list' }],
		// Its list has *Stop watching*.
		['unwatch', { kind: 'list' }],
		['', { kind: 'inbox' }],
		[' \u200b, ', { kind: 'inbox' }],
		['Inbox', { kind: 'inbox' }],
		['history `a`', { kind: 'history', sessionId: 'a' }],
		// For whoever wants to choose one.
		['watch', { kind: 'watch', sessionIds: [] }],
		['watch a b a', { kind: 'watch', sessionIds: ['a', 'b'] }],
		['watch a —no‑buttons', { kind: 'help', reason: 'unknown_flag', word: '—no‑buttons' }],
		['watch "-x1"', { kind: 'watch', sessionIds: ['-x1'] }],
		['watch "all"', { kind: 'watch', sessionIds: ['all'] }],
		['watch "all" b', { kind: 'watch', sessionIds: ['all', 'b'] }],
		['watch all', { kind: 'watchAll' }],
		['Watch ALL', { kind: 'watchAll' }],
		['unwatch "-x1"', { kind: 'unwatch', sessionIds: ['-x1'] }],
		['unwatch a b', { kind: 'unwatch', sessionIds: ['a', 'b'] }],
		['Unwatch ALL', { kind: 'unwatch', sessionIds: 'all' }],
	])('reads %s', (text, command) => {
		expect(parse(text)).toEqual(command);
	});
});
