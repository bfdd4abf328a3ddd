import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import type { ExpectStatic } from 'vitest';
import { systemClock } from '../../src/kernel/clock.ts';
import { readExpression, readRules, type Sample, samplesOf } from '../../tools/ops/rules.ts';
import { type App, type AppOptions, asking, DELIVERED, describe, it, openSession, startApp } from '../kit.ts';
import { startProgram } from '../support/program.ts';
import { sharedPostgres } from '../support/shared-postgres.ts';
import { createCuttableProxy } from '../support/tcp-proxy.ts';
import { createWorld } from '../support/world.ts';

interface WatchedRule {
	readonly expect: ExpectStatic;
	/** Scrapes `/metrics`; of a program that does not run, nothing. */
	look(url: string): Promise<boolean>;
	/** Scrapes once: the rule is not active. */
	quiet(url: string): Promise<void>;
	/** Scrapes until the rule is active, each time after `act`. */
	active(url: string, act?: () => Promise<unknown>): Promise<void>;
}

function watch(expr: string, expect: ExpectStatic): WatchedRule {
	const { isTrue } = readExpression(expr);
	const scrapes: (readonly Sample[])[] = [];
	async function look(url: string): Promise<boolean> {
		const text = await fetch(`${url}/metrics`).then(
			(response) => response.text(),
			() => '',
		);
		scrapes.push(samplesOf(text));
		return isTrue(scrapes);
	}
	return {
		expect,
		look,
		quiet: async (url) => expect(await look(url)).toBe(false),
		async active(url, act = async () => {}) {
			const actAndLook = () => act().then(() => look(url));
			await expect.poll(actAndLook, { timeout: 20_000, interval: 100 }).toBe(true);
		},
	};
}

/** The program on a clock that a test sets forward, and `answer`, which sends the answer of one more session. */
async function answering(options: AppOptions = {}) {
	let aheadMs = 0;
	const clock = { now: () => Date.now() + aheadMs, sleep: systemClock.sleep };
	// More is asked and sent at once than the service usually lets through.
	const env = { SESSION_SERVICE_RPM: '2000', ...options.env };
	const service = { rateLimit: false, ...options.service } as const;
	const app = await startApp({ ...options, env, service, clock });
	let count = 0;
	async function openForm() {
		const id = `asking${++count}`;
		app.service.sessions.put(id, { status: 'humanInput', name: id, messages: [asking('Tell me.', ['Which colour?'])] });
		const modal = await openSession(app, id);
		await modal.fill(0, 'blue');
		return modal;
	}
	return {
		app,
		openForm,
		setAhead: (ms: number) => {
			aheadMs = ms;
		},
		[Symbol.asyncDispose]: () => app[Symbol.asyncDispose](),
	};
}

async function withoutDatabase() {
	const postgres = await sharedPostgres();
	const proxy = await createCuttableProxy(await postgres.createDatabase());
	const program = await answering({ env: { DATABASE_URL: proxy.url, ENCRYPTION_KEY: 'ab'.repeat(32) } });
	return {
		...program,
		cut: proxy.cut,
		async [Symbol.asyncDispose]() {
			proxy.mend();
			await program.app[Symbol.asyncDispose]();
			await proxy[Symbol.asyncDispose]();
		},
	};
}

const open = (app: App, id: string) => app.slack.as('ada').command('#agents', `/session ${id}`);

const MINUTE_MS = 60_000;

/** These mostly wait. */
const WAITING = [
	'HandraiseCannotPost',
	'HandraiseServiceDown',
	'HandraiseListLost',
	'HandraiseWipeBlocked',
	'HandraiseRestarts',
];

/** A fault of a program that runs as usual, in which the rule is not active before. */
const ofApp = (fault: (app: App, rule: WatchedRule) => Promise<void>) => async (rule: WatchedRule) => {
	await using app = await startApp();
	await rule.quiet(app.url);
	await fault(app, rule);
};

/** For each alert the fault that it is about. The rule is not active before it, and is during it. */
const FAULTS: Readonly<Record<string, (rule: WatchedRule) => Promise<void>>> = {
	HandraiseDown: ofApp(async (app, { active }) => {
		await app.stop();
		await active(app.url);
	}),

	HandraiseNoSlack: ofApp(async (app, { active }) => {
		app.slack.faults.add({ method: 'apps.connections.open', status: 503 });
		app.slack.sockets.drop('all');
		await active(app.url);
	}),

	async HandraiseRequestsRefused({ expect, quiet, active }) {
		await using app = await startApp({ transport: 'http' });
		const wrong = {
			'content-type': 'application/json',
			'x-slack-request-timestamp': String(Math.floor(Date.now() / 1000)),
			'x-slack-signature': `v0=${'ab'.repeat(32)}`,
		};
		const send = () => fetch(`${app.url}/slack/events`, { method: 'POST', headers: wrong, body: '{}' });
		await send();
		await quiet(app.url);
		for (let sent = 0; sent < 6; sent++) expect((await send()).status).toBe(401);
		await active(app.url);
	},

	HandraiseCannotPost: ofApp(async (app, { active }) => {
		app.slack.faults.add({ method: 'chat.postMessage', error: 'token_revoked' });
		await app.slack.as('ada').command('#agents', '/session watch three');
		await active(app.url);
	}),

	async HandraiseDatabaseAway({ quiet, active }) {
		await using program = await withoutDatabase();
		await quiet(program.app.url);
		program.cut();
		await active(program.app.url);
	},

	async HandraiseSubmissionsFail({ expect, quiet, active }) {
		await using program = await withoutDatabase();
		const modal = await program.openForm();
		await quiet(program.app.url);
		program.cut();
		for (let tries = 0; tries < 3; tries++) expect((await modal.submit()).outcome).toBe('fieldErrors');
		await active(program.app.url);
	},

	HandraiseKeyRefused: ofApp(async (app, { active }) => {
		app.service.changeApiKey('another-key');
		await active(app.url, () => open(app, 'three'));
	}),

	HandraiseServiceDown: ofApp(async (app, { active }) => {
		await app.service.goDown();
		await active(app.url, () => open(app, 'three'));
	}),

	async HandraiseAnswersLate({ quiet, active }) {
		await using program = await answering();
		const modal = await program.openForm();
		await program.app.service.goDown();
		await modal.submit();
		await quiet(program.app.url);
		program.setAhead(11 * MINUTE_MS);
		await active(program.app.url);
	},

	async HandraiseAnswersWait({ quiet, active }) {
		await using program = await answering();
		await quiet(program.app.url);
		program.app.service.faults.add({ kind: 'error', status: 503, method: 'PUT' });
		for (let count = 0; count < 21; count++) await (await program.openForm()).submit();
		await active(program.app.url);
	},

	async HandraiseAnswersGivenUp({ quiet, active }) {
		await using program = await answering();
		const modal = await program.openForm();
		await program.app.service.goDown();
		await modal.submit();
		await quiet(program.app.url);
		program.setAhead((24 * 60 + 1) * MINUTE_MS);
		await active(program.app.url);
	},

	async HandraiseSlackLimits({ quiet, active }) {
		await using app = await startApp();
		app.slack.faults.rateLimit('views.open', { retryAfter: 30 });
		await open(app, 'three');
		await quiet(app.url);
		await active(app.url, () => open(app, 'three'));
	},

	async HandraiseListLost({ expect, look, quiet, active }) {
		await using app = await startApp({ env: { DISCOVER_SESSIONS: 'true' }, service: { list: { mode: 'on' } } });
		await quiet(app.url);
		await expect.poll(() => app.log.join('')).toContain('"event":"list_works"');
		await look(app.url);
		app.service.list.mode = 'off';
		await active(app.url);
	},

	async HandraiseWipeBlocked({ quiet, active }) {
		await using app = await startApp();
		const modal = await openSession(app, 'code');
		await modal.fill(0, '141421');
		using reader = new DatabaseSync(join(app.dataDir, 'handraise.db'), { readOnly: true });
		reader.exec('begin; select * from meta');
		await quiet(app.url);
		await modal.submit();
		await app.slack.as('ada').waitForModal(DELIVERED);
		await active(app.url);
	},

	async HandraiseLoopBlocked({ quiet, active }) {
		await using app = await startApp();
		// The longest pause is that since the scrape before: the start of a program is one.
		await fetch(`${app.url}/metrics`);
		await quiet(app.url);
		await active(app.url, async () => {
			Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1_100);
		});
	},

	async HandraiseRestarts({ expect, look, quiet }) {
		await using world = await createWorld();
		const start = async () => {
			const program = startProgram({ ...world.env });
			await program.says('Handraise is ready');
			const port = /"port":(\d+)/.exec(program.output())?.[1];
			return { ...program, url: `http://127.0.0.1:${port}` };
		};
		let program = await start();
		try {
			await quiet(program.url);
			// Start times are in whole seconds, so two starts may show as one.
			for (let restarts = 1, isActive = false; !isActive; restarts++) {
				program.child.kill('SIGKILL');
				await program.closed;
				program = await start();
				isActive = await look(program.url);
				expect(isActive && restarts < 3).toBe(false);
			}
		} finally {
			program.child.kill('SIGKILL');
			await program.closed;
		}
	},
};

const [waiting = [], others = []] = [true, false].map((isWaiting) =>
	readRules().filter(({ alert }) => WAITING.includes(alert) === isWaiting),
);

it('every alert has a fault here', ({ expect }) => {
	const alerts = readRules().map(({ alert }) => alert);
	expect(Object.keys(FAULTS).toSorted()).toEqual(alerts.toSorted());
});

describe.each([
	['one after the other', others, it],
	['at once', waiting, it.concurrent],
] as const)('under the fault that it is about, %s', (_, rules, test) => {
	test.for(rules)('$alert becomes active, and not before', async ({ alert, expr }, { expect }) => {
		await FAULTS[alert]?.(watch(expr, expect));
	});
});
