import type { Core } from '../core.ts';
import type { SlackCalls } from './calls.ts';
import type { SlackClients } from './clients.ts';
import type { Directory } from './directory.ts';

/** The core of parts that call Slack. */
export interface SlackCore<S = unknown> extends Core<S> {
	readonly clients: SlackClients;
	readonly calls: SlackCalls;
	/** Names and time zones of people whom the access policy has looked up. */
	readonly directory: Directory;
	/** The id of a person's direct message with the app. Throws Slack's errors. */
	readonly directChannelOf: (userId: string) => Promise<string>;
}
