import { expect, it } from 'vitest';
import { createLog } from '../../src/kernel/log.ts';

const SECRET = 'canary-of-a-header-or-body';

/** As HTTP libraries make them: with the whole exchange in fields of their own. */
function httpError(message: string, cause?: Error): Error {
	const exchange = { request: { headers: { 'x-api-key': SECRET } }, response: { data: SECRET }, sent: SECRET };
	return Object.assign(new Error(message, { cause }), { code: 'failed', ...exchange });
}

it('logs a name with its words, and errors without their other fields, which hold headers and bodies', () => {
	const lines: string[] = [];
	const log = createLog('debug', { write: (line) => void lines.push(line) });
	log.warn('retention_failed', { err: httpError('the call failed', httpError('the connection was reset')) });
	log.child({ part: 'outbox' }).error('request_failed', { err: httpError('no response') });
	const logged = lines.join('');
	expect(logged).not.toContain(SECRET);
	expect(lines.map((line) => JSON.parse(line))).toMatchObject([
		{ level: 'warn', event: 'retention_failed', msg: 'could not remove expired data; trying again in an hour' },
		{ level: 'error', event: 'request_failed', part: 'outbox', msg: 'a request failed' },
	]);
	for (const words of ['the call failed', 'the connection was reset', 'no response', '"code":"failed"', '"stack":']) {
		expect(logged).toContain(words);
	}
});
