import { expect, it } from 'vitest';
import { mapPostgresError } from '../../src/store/postgres-errors.ts';

const withState = (code: string) => Object.assign(new Error('from the server'), { code });

it.each([
	['08P01', 'a pooler lost the server’s connection'],
	['08006', 'the connection failed'],
	['57P01', 'an administrator ended the connection'],
	['57P02', 'another process of the server crashed'],
	['40003', 'the server itself does not know'],
])('does not know whether a statement was committed after SQLSTATE %s: %s', (code) => {
	expect(mapPostgresError(withState(code), { sent: true })).toMatchObject({
		code: 'store_unavailable',
		commitUnknown: true,
	});
});

it('knows that nothing was committed when nothing had been sent, or the server refused the statement', () => {
	expect(mapPostgresError(withState('57P01'), { sent: false })).toMatchObject({ commitUnknown: false });
	expect(mapPostgresError(withState('57014'), { sent: true })).toMatchObject({ commitUnknown: false });
	expect(mapPostgresError(withState('53100'), { sent: true })).toMatchObject({ commitUnknown: false });
});
