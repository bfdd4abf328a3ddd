import { type Logger, LogLevel } from '@slack/bolt';
import type { Log } from '../log.ts';

/**
 * Slack's libraries write to our log, warnings and errors only: at debug they print whole payloads, with what people
 * typed in them. What they print of objects is not taken over for the same reason.
 */
export function createSlackLogger(log: Log): Logger {
	const words = (message: unknown[]) =>
		message
			.map((part) => (part instanceof Error ? `${part.name}: ${part.message}` : typeof part === 'string' ? part : ''))
			.filter((part) => part !== '')
			.join(' ')
			.slice(0, 500);
	return {
		debug() {},
		info() {},
		warn: (...message) => log.warn({ from: 'slack' }, words(message)),
		error: (...message) => log.error({ from: 'slack' }, words(message)),
		setLevel() {},
		setName() {},
		getLevel: () => LogLevel.WARN,
	};
}
