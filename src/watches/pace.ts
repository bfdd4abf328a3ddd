import type { Pace } from '../pace.ts';

/** Posts: Slack takes about one a second in a channel. */
export const POST_PACE: Pace = { intervalMs: 1_050, burst: 1 };
/**
 * `chat.update`: about 50 a minute for the whole workspace. 40 evenly and a burst of 8 make at most 48 in any minute.
 */
export const UPDATE_PACE: Pace = { intervalMs: 1_500, burst: 8 };
/** Of the burst, what progress leaves to questions, answers and endings. */
export const KEPT_FROM_PROGRESS = 6;
