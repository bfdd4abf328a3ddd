import { count, oneOf } from '../../../support/options.ts';
import { faultRun } from '../../frame.ts';
import { history, inEachHistory } from '../histories.ts';
import { REMINDER_TARGETS } from './moments.ts';
import { runReminderFaults } from './run.ts';
import { REMINDER_SABOTAGES } from './sabotage.ts';
import { USUAL } from './times.ts';

const options = {
	sessions: count(30, 'watched sessions'),
	kills: count(12, 'kills and freezes at the moments around reminders'),
	target: oneOf(REMINDER_TARGETS, null, 'aims at one of these moments alone'),
	history,
};

/** Few, so that some reminders come alone. */
const SESSIONS_PER_CHANNEL = 3;
const ASKS_WITHIN_MS = 12_000;

await faultRun({ name: 'reminder-kills', options, sabotages: REMINDER_SABOTAGES, edits: USUAL.edits }, (frame) => {
	const { sessions, kills, target } = frame.values;
	const { remindMs, escalateMs } = USUAL.times;
	const title = `${sessions} watched sessions, reminded after ${remindMs / 1_000} s and escalated after ${escalateMs / 1_000} s; kills and freezes around reminders`;
	return inEachHistory(frame, title, {
		heads: {
			first: [
				'kills / freezes',
				'questions',
				'reminders / of them together with others',
				'met by a kill or a freeze',
				'missed',
			],
			last: ['after the answer', 'after their time, median / longest'],
		},
		run: (stage, historyReadable, harness) =>
			runReminderFaults({
				harness,
				sessions,
				perChannel: SESSIONS_PER_CHANNEL,
				strikes: kills,
				targets: REMINDER_TARGETS.filter((one) => target === null || one === target),
				asksWithinMs: ASKS_WITHIN_MS,
				random: stage.random(),
				pace: USUAL,
				historyReadable,
				onProgress: stage.progress,
			}),
		cells: ({ kills, freezes, questions, reminders, together, struck, missed, afterAnswer }) => ({
			first: [`${kills} / ${freezes}`, questions, `${reminders} / ${together}`, struck, missed],
			last: [afterAnswer],
		}),
		env: USUAL.env,
	});
});
