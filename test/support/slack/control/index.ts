import { type Context, Hono } from 'hono';
import { streamSSE } from 'hono/streaming';
import { z } from 'zod';
import { type Core, personOf } from '../core.ts';
import type { Deliverer } from '../delivery.ts';
import type { Viewer } from '../payloads.ts';
import type { Sockets } from '../sockets.ts';
import { MAIN_WINDOW } from '../windows.ts';
import { actSchema, perform } from './acts.ts';
import { seenBy } from './seen.ts';

const troubleSchema = z.discriminatedUnion('do', [
	z.object({
		do: z.literal('fault'),
		method: z.string(),
		times: z.number().optional(),
		status: z.number().optional(),
		retryAfter: z.number().optional(),
		error: z.string().optional(),
		drop: z.boolean().optional(),
		delayMs: z.number().optional(),
		afterEffect: z.boolean().optional(),
	}),
	z.object({ do: z.literal('clear') }),
	z.object({ do: z.literal('duplicateNext'), type: z.string() }),
	z.object({ do: z.literal('disconnect'), reason: z.enum(['warning', 'refresh_requested', 'link_disabled']) }),
	z.object({ do: z.literal('drop') }),
]);

/** Any other name in the Host header is a page that had its own name point here. */
const LOCAL_NAMES = ['127.0.0.1', 'localhost', '[::1]'];

/** Drops the keys whose value is undefined, for callers that tell "absent" from "undefined". */
function present<T extends object>(value: T): { [K in keyof T]: Exclude<T[K], undefined> } {
	return Object.fromEntries(Object.entries(value).filter(([, one]) => one !== undefined)) as never;
}

function viewerOf(core: Core, context: Context): Viewer {
	const user = personOf(core, context.req.query('user') ?? '').id;
	return { user, window: context.req.query('window') ?? MAIN_WINDOW };
}

/**
 * What a page in front of the stand-in needs, under any prefix; `?user=` and `?window=` say whose eyes and hands:
 * GET /seen, POST /act, GET /traffic?after=seq, POST /trouble, GET /events (server-sent: something has changed).
 * Requests that a browser sends for a page of another origin are refused.
 */
export function createControlApi(core: Core, deliverer: Deliverer, sockets: Sockets): Hono {
	const app = new Hono();

	app.use(async (context, next) => {
		const origin = context.req.header('origin');
		const own = new URL(context.req.url);
		const foreign = !LOCAL_NAMES.includes(own.hostname) || (origin !== undefined && own.origin !== origin);
		if (foreign || context.req.header('sec-fetch-site') === 'cross-site') {
			return context.json({ error: 'This origin may not.' }, 403);
		}
		await next();
		return undefined;
	});
	app.onError((error, context) => context.json({ error: error.message }, 400));

	app.get('/seen', (context) => context.json(seenBy(core, viewerOf(core, context))));

	app.post('/act', async (context) => {
		const act = actSchema.parse(await context.req.json());
		return context.json(await perform(core, deliverer, viewerOf(core, context), act));
	});

	app.get('/traffic', (context) => {
		const after = Number(context.req.query('after') ?? 0);
		const entries = core.traffic.all().filter((entry) => entry.seq > after || entry.doneAt === null);
		return context.json({ entries, violations: core.traffic.violations(), sockets: sockets.count() });
	});

	app.post('/trouble', async (context) => {
		const trouble = troubleSchema.parse(await context.req.json());
		switch (trouble.do) {
			case 'fault': {
				const { do: _do, ...fault } = trouble;
				core.faults.add(present(fault));
				break;
			}
			case 'clear':
				core.faults.clear();
				break;
			case 'duplicateNext':
				core.faults.duplicateNext(trouble.type);
				break;
			case 'disconnect':
				sockets.disconnect(trouble.reason);
				break;
			case 'drop':
				sockets.drop();
				break;
		}
		return context.json({ ok: true });
	});

	app.get('/events', (context) =>
		streamSSE(context, async (stream) => {
			const gone = Promise.withResolvers<void>();
			const stop = core.changes.listen((change) => {
				void stream.writeSSE({ event: change.kind, data: change.id });
			});
			stream.onAbort(() => {
				stop();
				gone.resolve();
			});
			await stream.writeSSE({ event: 'hello', data: core.state.team.name });
			await gone.promise;
		}),
	);

	return app;
}
