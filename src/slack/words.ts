/* The one place where codes become words for people. Each says what happened, what was kept and what to do. */

export { actionsLine, actionWords } from './words/actions.ts';
export { AFTERMATH_WORDS, mayHaveArrived, receiptHeadline, timelineWords } from './words/answers.ts';
export { ERROR_CODES, type ErrorContext, errorWords } from './words/errors.ts';
export { refusedFilesWords, refusedScreenshotWords } from './words/links.ts';
export { contactMrkdwn, type Names, personMrkdwn } from './words/people.ts';
export { REFUSALS, refusalAtSubmit, refusalWords } from './words/refusals.ts';
export { sessionIdMrkdwn, sessionName, sessionTitle, viewTitle } from './words/sessions.ts';
export { type SettledBy, statusWords, waitingWords } from './words/statuses.ts';
export { agoText, durationText, momentMrkdwn, momentText, stillWaitingWords } from './words/times.ts';
export { channelRefusalWords, expectationWords, tooFastWords, watchOutcomeWords } from './words/watching.ts';
