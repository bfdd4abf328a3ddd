import { systemClock } from '../clock.ts';
import type { Log } from '../log.ts';
import { createBoltApp } from './bolt-app.ts';

type Body = Readonly<Record<string, unknown>>;
type Options = Pick<Parameters<typeof createBoltApp>[0], 'config' | 'proxy'>;
const SILENT: Log = { debug() {}, info() {}, warn() {}, error() {}, child: () => SILENT };

/**
 * For `npm run doctor -- live`: receives what Slack sends as the program does, acknowledges it, and passes it on. A refused
 * HTTP request is passed on as `{ type: 'refused', reason }`. `auth`: the reply to `auth.test`.
 */
export function createArrivals(options: Options, auth: Body, onArrival: (body: Body) => void) {
	const onRefused = (reason: string) => onArrival({ type: 'refused', reason });
	const [teamId, botId, botUserId] = [String(auth.team_id), String(auth.bot_id), String(auth.user_id)];
	const identity = { teamId, botId, botUserId, enterpriseId: null };
	const { app, listener } = createBoltApp({ ...options, identity, clock: systemClock, log: SILENT, onRefused });
	app.use(async ({ body, ...args }) => {
		if ('ack' in args && typeof args.ack === 'function') await (args.ack as () => Promise<void>)();
		onArrival({ ...body });
	});
	return { app, listener };
}
