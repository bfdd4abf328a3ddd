import { expect } from 'vitest';
import { createHandraise } from '../../src/app.ts';
import { parseConfig } from '../../src/config.ts';
import { HandraiseError } from '../../src/kernel/errors.ts';
import { createLog } from '../../src/kernel/log.ts';

/** The one line that the program prints before it exits with 1 when it does not start with these settings. In this process. */
export async function refusedStart(env: Readonly<Record<string, string>>): Promise<string> {
	const error = await startAndStop(env).then(
		() => null,
		(thrown: unknown) => thrown,
	);
	expect(error).toBeInstanceOf(HandraiseError);
	const { message } = error as HandraiseError;
	expect(message.split('\n')).toHaveLength(1);
	return message;
}

async function startAndStop(env: Readonly<Record<string, string>>): Promise<void> {
	const log = createLog('error', { write: () => {} });
	const handraise = await createHandraise({ config: parseConfig({ ...env }), log });
	await handraise.start(new AbortController().signal).finally(() => handraise.stop());
}
