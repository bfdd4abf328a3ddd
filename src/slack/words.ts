/* The one place where codes become words for people. Each says what happened, what was kept and what to do. */

export { actionsLine, actionWords } from './words/actions.ts';
export { AFTERMATH_WORDS, receiptHeadline, STATE_WORDS } from './words/answers.ts';
export { type ErrorContext, errorWords } from './words/errors.ts';
export { contactMrkdwn, type Names, personMrkdwn } from './words/people.ts';
export { refusalPlain, refusalWords } from './words/refusals.ts';
export { statusWords } from './words/statuses.ts';
export { agoText, durationText, momentMrkdwn, momentText } from './words/times.ts';
export { channelRefusalWords, expectationWords, watchOutcomeWords } from './words/watching.ts';
