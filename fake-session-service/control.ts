import type { HttpBindings } from '@hono/node-server';
import type { Hono } from 'hono';
import { z } from 'zod';
import { FAULT_KINDS, type Fault, type Faults } from './faults.ts';
import type { MessageJson, SessionJson } from './json.ts';
import type { LogFilter, RequestLog } from './log.ts';
import type { Sessions } from './sessions.ts';

const startSchema = z.object({ scenario: z.string(), id: z.string().min(1).optional() });
const answerSchema = z.object({ values: z.array(z.string()), messageIndex: z.int().optional() });
const budgetSchema = z.object({ requests: z.int().positive().max(10_000), address: z.string().optional() });
const statusSchema = z.object({ status: z.string() });
const recordSchema = z.record(z.string(), z.unknown());
const sessionSchema = z.object({ session: recordSchema, foreign: z.boolean().optional() });
const faultSchema = z
	.looseObject({
		kind: z.enum(FAULT_KINDS),
		times: z.int().positive().optional(),
		ms: z.number().nonnegative().optional(),
		location: z.string().optional(),
	})
	.refine((fault) => (fault.kind !== 'slow' && fault.kind !== 'late') || fault.ms !== undefined, 'ms is missing')
	.refine((fault) => fault.kind !== 'body' || typeof fault.body === 'string', 'body is missing')
	.refine((fault) => fault.kind !== 'redirect' || fault.location !== undefined, 'location is missing');

/** Names by which a browser on this machine reaches the loopback interface: a page elsewhere cannot pose as one. */
const LOOPBACK = /^(?:127\.0\.0\.1|localhost|\[::1\])(?::\d+)?$/;

export interface ControlSettings {
	readonly sessions: Sessions;
	readonly faults: Faults;
	readonly log: RequestLog;
	readonly useBudget: (requests: number, address?: string) => void;
}

/**
 * The interface for the sandbox's page and for fault runs in other processes, all JSON under `/control`:
 *
 * - `GET scenarios`, `POST start {scenario, id?}`
 * - `GET sessions`, `GET|PUT|DELETE sessions/:id` (`{session, foreign?}`), `POST sessions/:id/answer {values,
 * messageIndex?}` (as the service's web page), `POST sessions/:id/messages`, `POST sessions/:id/status {status}`, `POST
 * sessions/:id/renew-links`
 * - `GET log?since=&sessionId=&kind=&method=`, `DELETE log`
 * - `GET faults`, `POST faults` (one fault), `DELETE faults`, `DELETE faults/:id`
 * - `POST budget {requests, address?}`: others use up some of the rate limit
 */
export function registerControl(
	app: Hono<{ Bindings: HttpBindings }>,
	{ sessions, faults, log, useBudget }: ControlSettings,
): void {
	app.use('/control/*', async (c, next) => {
		const origin = c.req.header('origin');
		const foreignOrigin = origin !== undefined && !LOOPBACK.test(origin.replace(/^https?:\/\//, ''));
		if (!LOOPBACK.test(c.req.header('host') ?? '') || foreignOrigin) return c.json({ error: 'loopback only' }, 403);
		const id = c.req.path.match(/^\/control\/sessions\/([^/]+)/)?.[1];
		if (id !== undefined && c.req.method !== 'PUT' && !sessions.has(decodeURIComponent(id))) {
			return c.json({ error: 'there is no such session' }, 404);
		}
		return next();
	});

	app.get('/control/scenarios', (c) => c.json(sessions.scenarios.map(({ id, summary }) => ({ id, summary }))));
	app.post('/control/start', async (c) => {
		const { scenario, id } = startSchema.parse(await c.req.json());
		if (!sessions.scenarios.some((candidate) => candidate.id === scenario)) {
			return c.json({ error: 'there is no such scenario' }, 404);
		}
		return c.json({ id: sessions.start(scenario, id) });
	});

	app.get('/control/sessions', (c) =>
		c.json(
			sessions.ids().map((id) => {
				const json = sessions.get(id);
				return {
					id,
					name: json.name ?? null,
					status: json.status ?? null,
					messages: json.messages?.length ?? 0,
					askingIndex: sessions.askingIndex(id),
				};
			}),
		),
	);
	app.get('/control/sessions/:id', (c) => c.json({ session: sessions.get(c.req.param('id')) }));
	app.put('/control/sessions/:id', async (c) => {
		const { session, foreign } = sessionSchema.parse(await c.req.json());
		sessions.put(c.req.param('id'), session as SessionJson, foreign === undefined ? {} : { foreign });
		return c.json({ ok: true });
	});
	app.delete('/control/sessions/:id', (c) => {
		sessions.remove(c.req.param('id'));
		return c.json({ ok: true });
	});
	app.post('/control/sessions/:id/answer', async (c) => {
		const { values, messageIndex } = answerSchema.parse(await c.req.json());
		const verdict = sessions.answerAsPage(c.req.param('id'), values, messageIndex);
		return c.json(verdict, verdict.ok ? 200 : 409);
	});
	app.post('/control/sessions/:id/messages', async (c) => {
		const message = recordSchema.parse(await c.req.json());
		return c.json({ index: sessions.push(c.req.param('id'), message as MessageJson) });
	});
	app.post('/control/sessions/:id/status', async (c) => {
		sessions.setStatus(c.req.param('id'), statusSchema.parse(await c.req.json()).status);
		return c.json({ ok: true });
	});
	app.post('/control/sessions/:id/renew-links', (c) => {
		sessions.renewLinks(c.req.param('id'));
		return c.json({ ok: true });
	});

	app.get('/control/log', (c) => {
		const { since, sessionId, method, kind } = c.req.query();
		return c.json(
			log.list({
				...(since === undefined ? {} : { since: Number(since) }),
				...(sessionId === undefined ? {} : { sessionId }),
				...(method === undefined ? {} : { method }),
				...(kind === undefined ? {} : { kind: kind as NonNullable<LogFilter['kind']> }),
			}),
		);
	});
	app.delete('/control/log', (c) => {
		log.clear();
		return c.json({ ok: true });
	});

	app.post('/control/budget', async (c) => {
		const { requests, address } = budgetSchema.parse(await c.req.json());
		useBudget(requests, address);
		return c.json({ ok: true });
	});

	app.get('/control/faults', (c) => c.json(faults.list()));
	app.post('/control/faults', async (c) => {
		const fault = faultSchema.parse(await c.req.json());
		return c.json({ id: faults.add(fault as unknown as Fault) });
	});
	app.delete('/control/faults/:id?', (c) => {
		const id = c.req.param('id');
		faults.clear(id === undefined ? undefined : Number(id));
		return c.json({ ok: true });
	});
	app.onError((error, c) => {
		if (error instanceof z.ZodError) return c.json({ error: error.issues }, 400);
		if (error instanceof SyntaxError) return c.json({ error: 'not JSON' }, 400);
		throw error;
	});
}
