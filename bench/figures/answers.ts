import { setTimeout as pause } from 'node:timers/promises';
import type { LogEntry } from '../../fake-session-service/log.ts';
import type { Json, TrafficEntry } from '../../fake-slack/index.ts';
import type { BenchContext } from './context.ts';
import type { Harness } from './harness.ts';
import type { BenchService } from './service.ts';
import type { Rounds } from './stats.ts';

/** By then the delivery of one answer has ended and the next may be given. */
const BETWEEN_MS = 40;
/** On an idle machine, by then deliveries, receipts and the confirmation check after 2 s have ended. */
const QUIET_MS = 3_000;
/** Beside other work, deliveries may take so long. */
const DELIVERED_WITHIN_MS = 120_000;

/** One person's answer, ready to be given. */
export interface ReadyAnswer {
	readonly sessionId: string;
	/** Resolves when it is acknowledged. */
	give(): Promise<unknown>;
}

/** Answers of one kind that are given in the same way. */
export interface AnswerGroup {
	/** The name of its samples. */
	readonly name: string;
	/** In groups of so many at once. */
	readonly atOnce: number;
	readonly answers: readonly ReadyAnswer[];
}

interface GivenAnswers {
	/** The deliveries that give answers. */
	readonly delivery: 'view_submission' | 'block_actions';
	/** Which session a delivery answers. */
	readonly sessionOf: (request: Json) => string;
	readonly groups: readonly AnswerGroup[];
}

/** Gives all answers, and adds samples of their acknowledgements, of the ways to their PUTs and of the read-to-PUT windows. */
export async function takeAnswers(
	{ service }: BenchContext,
	harness: Harness,
	rounds: Rounds,
	{ delivery, sessionOf, groups }: GivenAnswers,
): Promise<void> {
	const isBare = harness.program === 'bare';
	for (const { atOnce, answers } of groups) {
		for (let from = 0; from < answers.length; from += atOnce) {
			await Promise.all(answers.slice(from, from + atOnce).map((answer) => answer.give()));
			if (atOnce === 1 || isBare) await pause(BETWEEN_MS);
			else await delivered(service, answers.slice(0, from + atOnce));
		}
		if (!isBare) await delivered(service, answers);
	}
	const acks = new Map(harness.acknowledged(delivery).map((entry) => [sessionOf(entry.request), entry]));
	const log = isBare ? [] : await service.log();
	for (const { name, answers } of groups) {
		const took = answers.map(({ sessionId }) => acks.get(sessionId)?.tookMs ?? Number.NaN);
		rounds.addSample(name, took);
		if (isBare) continue;
		const ways = answers.map(({ sessionId }) => wayOf(log, sessionId, acks.get(sessionId)));
		const ackToPut = ways.map((way) => way.ackToPutMs);
		const window = ways.map((way) => way.windowMs);
		rounds.addSample(`${name} put`, ackToPut);
		rounds.addSample(`${name} window`, window);
	}
}

/** Resolves when the service has these answers and nothing follows from them any more. */
async function delivered(service: BenchService, answers: readonly ReadyAnswer[]): Promise<void> {
	const end = performance.now() + DELIVERED_WITHIN_MS;
	for (let wasMissing = false; ; ) {
		// The service is asked after the pause, because a request for its log would delay what is measured.
		await pause(QUIET_MS);
		const log = await service.log();
		const put = new Set(log.filter(({ kind }) => kind === 'answer').map(({ sessionId }) => sessionId));
		const missing = answers.filter(({ sessionId }) => !put.has(sessionId));
		if (missing.length === 0 && !wasMissing) return;
		wasMissing = missing.length > 0;
		if (performance.now() > end)
			throw new Error(`No PUT came for ${missing.length} answers, one ${missing[0]?.sessionId}`);
	}
}

/** One answer as the service saw it. @throws Error unless exactly one PUT came and was saved after a read */
function wayOf(log: readonly LogEntry[], id: string, ack: TrafficEntry | undefined) {
	const own = log.filter((entry) => entry.sessionId === id);
	const puts = own.filter((entry) => entry.kind === 'answer');
	const [put] = puts;
	const read = own.findLast((entry) => entry.kind === 'read' && put !== undefined && entry.at < put.at);
	if (put?.effective !== true || puts.length !== 1 || read?.answeredAt == null) {
		throw new Error(`${puts.length} PUTs came for ${id}`);
	}
	return { ackToPutMs: put.at - (ack?.doneAt ?? Number.NaN), windowMs: put.at - read.answeredAt };
}
