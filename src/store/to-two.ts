import { type Kysely, sql } from 'kysely';
import { isPostgres } from './database.ts';
import { addQuestions, countSteps, linkAnswers, numberArrivals, renewOutcomes, renewSecond } from './to-two/answers.ts';
import { renewEvidence } from './to-two/evidence.ts';
import { endSwitching, holdReminders, keepWaits } from './to-two/posts.ts';
import { receiptsToPosts, receiptsToViews } from './to-two/receipts.ts';
import { flagsToSettings } from './to-two/settings.ts';

/**
 * Converts the rows of 1.0.0 and 1.1.0 to those of 2.0.0. Each step needs what the ones before it wrote. Decrypts
 * nothing. `now`, here and in each step: clock milliseconds.
 */
export async function toTwo(db: Kysely<unknown>, now: number): Promise<void> {
	// Without statistics PostgreSQL joins these tables row by row.
	if (isPostgres(db)) await sql`analyze answers, questions`.execute(db);
	await linkAnswers(db);
	await addQuestions(db);
	await linkAnswers(db);
	await numberArrivals(db);
	await countSteps(db);
	await renewOutcomes(db, now);
	await renewSecond(db, now);
	await renewEvidence(db);
	await flagsToSettings(db);
	await keepWaits(db);
	await endSwitching(db, now);
	await holdReminders(db, now);
	await receiptsToPosts(db, now);
	await receiptsToViews(db, now);
}
