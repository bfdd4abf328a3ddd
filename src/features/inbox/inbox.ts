/** Tomorrow 9:00 is at most 33 hours ahead, or 34 when clocks are put back. */
export const LONGEST_SNOOZE_MS = 36 * 60 * 60_000;

/** An inbox follows changes for so long after its person opened it or did something in it. */
export const FOLLOWED_MS = 10 * 60_000;

/** Presses in one inbox show in it at most so often. */
export const PRESS_SPACING_MS = 1_000;

/** Questions on a page. With everything else, a view holds at most 100 blocks. */
export const QUESTIONS_PER_PAGE = 10;
export const MOST_WAITING_SHOWN = 10;
/** Old sessions on a page of theirs. */
export const OLD_PER_PAGE = 10;
export const MOST_OWN_ANSWERS = 5;
export const MOST_DRAFTS = 5;
export const MOST_LAST_ANSWERS = 10;
