import { count } from '../../support/options.ts';
import { faultRun } from '../frame.ts';
import { history, inEachHistory } from './histories.ts';
import { runWatchFaults } from './run.ts';
import { POST_SABOTAGES } from './sabotage.ts';

const options = {
	sessions: count(50, 'watched sessions'),
	kills: count(6, 'kills of one process at a time'),
	questions: count(20, 'questions asked around each kill'),
	history,
};

const SESSIONS_PER_CHANNEL = 5;
/** Within this time another replica reads a dead one's sessions, and posts a question that was held back. */
const TAKEN_OVER_WITHIN_MS = 30_000;
/** The answers' texts tell whether they were posted, so none of them may be hidden as a possible code. */
const ENV = { LOG_LEVEL: 'info', SESSION_SERVICE_RPM: '2000', SHOW_ANSWERS: 'always' };

await faultRun({ name: 'watches', options, sabotages: POST_SABOTAGES }, (frame) => {
	const { sessions, kills, questions } = frame.values;
	const title = `${sessions} watched sessions, SIGKILL of one process at a time`;
	return inEachHistory(frame, title, {
		heads: {
			first: ['kills', 'questions and answers', 'posts answered with 500', 'missed'],
			last: ['told after the kill, median / longest'],
		},
		async run(stage, historyReadable, harness) {
			const result = await runWatchFaults({
				harness,
				sessions,
				perChannel: SESSIONS_PER_CHANNEL,
				kills,
				questions,
				random: stage.random(),
				historyReadable,
				onProgress: stage.progress,
			});
			const late = result.delays.filter((ms) => ms > TAKEN_OVER_WITHIN_MS).length;
			const tooLate = late > 0 ? [`${late} questions were told later than 30 s after the kill`] : [];
			return { ...result, problems: [...result.problems, ...tooLate] };
		},
		cells: (result) => ({ first: [result.kills, result.expected, result.lost, result.missed], last: [] }),
		env: ENV,
	});
});
