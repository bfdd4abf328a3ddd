import type { RequestListener } from 'node:http';
import { HTTPReceiver, type Receiver } from '@slack/bolt';
import type { Log } from '../../log.ts';
import { createSlackLogger } from '../slack-logger.ts';

export interface HttpReceiver extends Receiver {
	/** Slack's requests; hang it into the process' one server. */
	readonly listener: RequestListener;
}

/** Receives signed requests at `POST /slack/events`. The signatures and their age are Bolt's to check. */
export function createHttpReceiver({ signingSecret, log }: { signingSecret: string; log: Log }): HttpReceiver {
	const receiver = new HTTPReceiver({
		signingSecret,
		endpoints: ['/slack/events'],
		logger: createSlackLogger(log),
		// Nobody acknowledged in time: the status only ends Slack's request, the person was told otherwise.
		unhandledRequestTimeoutMillis: 3_001,
	});
	return {
		init: (app) => receiver.init(app),
		// The server belongs to the process, which also serves health and metrics on it.
		start: async () => {},
		stop: async () => {},
		listener: (request, response) => {
			try {
				receiver.requestListener(request, response);
			} catch {
				// Bolt throws for every address that is not its own.
				response.writeHead(404).end();
			}
		},
	};
}
