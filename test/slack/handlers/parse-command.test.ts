import { describe, expect, it } from 'vitest';
import { parseSessionCommand } from '../../../src/slack/handlers/session-command.ts';

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
	])('finds the id in %s', (text) => {
		expect(parse(text)).toEqual({ kind: 'open', sessionId: '3f9a2c1d' });
	});

	it.each([
		['', 'asked'],
		['help', 'asked'],
		['HELP', 'asked'],
		['what is this', 'unclear'],
		['<@U123>', 'unclear'],
		['""', 'missing_id'],
		['history', 'missing_id'],
		['history a b', 'unclear'],
		['watch', 'missing_id'],
		['watch a --loud', 'unclear'],
		['unwatch', 'missing_id'],
		['https://evil.example.com/sessions/session?id=1', 'foreign_link'],
		['https://agents.example.com.evil.test/app/sessions/session?id=1', 'foreign_link'],
		['https://agents.example.com/app/sessions/session', 'link_without_id'],
		['x'.repeat(401), 'id_too_long'],
		['“'.repeat(1_000_000), 'id_too_long'],
		[`https://agents.example.com${'/'.repeat(1_000_000)}x`, 'id_too_long'],
		['<http:'.repeat(300_000), 'id_too_long'],
	])('answers %j with help that says why', (text, reason) => {
		expect(parse(text)).toEqual({ kind: 'help', reason });
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
	])("does not take the service's own word in %j for an id", (text, word) => {
		expect(parse(text)).toEqual({ kind: 'help', reason: 'reserved_id', word });
	});

	it('takes a quoted word for an id even when it is a command', () => {
		expect(parse('"help"')).toEqual({ kind: 'open', sessionId: 'help' });
	});

	it('takes a session link of any dashboard when none is configured', () => {
		expect(parse('https://other.test/x/sessions/session?id=ab', null)).toEqual({ kind: 'open', sessionId: 'ab' });
		expect(parse('https://other.test/x?id=ab', null)).toEqual({ kind: 'help', reason: 'foreign_link' });
	});

	it('watches several sessions at once, each only once, with options in any place', () => {
		expect(parse('watch a --questions-only b a --thread-only')).toEqual({
			kind: 'watch',
			sessionIds: ['a', 'b'],
			options: { questionsOnly: true, questionsInChannel: false },
		});
	});

	it('ends one watch, several or all', () => {
		expect(parse('unwatch a b')).toEqual({ kind: 'unwatch', sessionIds: ['a', 'b'] });
		expect(parse('Unwatch ALL')).toEqual({ kind: 'unwatch', sessionIds: 'all' });
	});

	it('lists watches and shows the history of one session', () => {
		expect(parse('list')).toEqual({ kind: 'list' });
		expect(parse('history `a`')).toEqual({ kind: 'history', sessionId: 'a' });
	});

	it('refuses more sessions at once than a reply can hold', () => {
		const ids = Array.from({ length: 21 }, (_, index) => `s${index}`).join(' ');
		expect(parse(`watch ${ids}`)).toEqual({ kind: 'help', reason: 'too_many_ids' });
	});
});
